/* Sample files: what is written is read back, whatever happens in between. */
#include "format/crc32c.h"
#include "format/layout.h"
#include "format/reader.h"
#include "format/seal.h"
#include "format/writer.h"
#include "tests/unit/amount.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];
static char path[128];

static uint64_t random_state = 88172645463325252u;

static uint64_t random_number(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

static uint64_t random_any(void) /* of every length */
{
    return random_number() >> (random_number() % 64);
}

static const struct lwps_file head = {.engine = LWPS_ENGINE_TIMER, .weight_unit = LWPS_WEIGHT_NS, .pid = 7, .tid = 9,
                                      .start_ns = 123456789, .start_wall_ns = 987654321};

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/lwp-format.XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/t9.lwps", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

/* ---- a realistic and a hostile sample ---- */

static struct lwps_sample plausible_sample(uint64_t i)
{
    struct lwps_sample sample = {.time = 5000000000u + i * 2003000 + random_number() % 30000,
                                 .weight = 2000000 + random_number() % 20000, .ip = 0x555555554000 + random_number() % 8 * 7,
                                 .context = 5 + random_number() % 2, .kind = LWPS_SAMPLE_STALL, .access_count = 2};
    for (unsigned k = 0; k < 2; k++)
        sample.access[k] = (struct lwps_access){
            .ip = sample.ip - 4 + k * (random_number() % 5 * 4), .address = 0x7ffff0000000 + random_number() % 100000000 / 8 * 8,
            .bytes = 8, .flags = (uint8_t)(LWPS_ACCESS_LOAD | LWPS_ACCESS_KNOWN | (k ? 0 : LWPS_ACCESS_WEIGHTED)),
            .source = k ? LWPS_SOURCE_DITHERED : LWPS_SOURCE_UNDO};
    return sample;
}

static struct lwps_access any_access(void)
{
    struct lwps_access access = {.ip = random_any(), .bytes = (uint16_t)random_any(), .flags = random_number() & 0x3f,
                                 .source = random_number() & 7, .level = (uint8_t)random_number(),
                                 .home = random_number() % 3};
    if (!(access.flags & LWPS_ACCESS_KNOWN))
        return access;
    access.address = random_any();
    if (access.home != LWPS_HOME_ADDRESS) {
        access.home_id = (uint32_t)random_any();
        access.home_base = random_any();
    }
    return access;
}

static struct lwps_sample any_sample(void)
{
    struct lwps_sample sample = {.time = random_any() / 1000 * 1000, .weight = random_any() / 1000 * 1000,
                                 .ip = random_any(), .context = (uint32_t)random_any(),
                                 .kind = random_number() & 3, .access_count = random_number() % (LWPS_ACCESSES_MAX + 1)};
    for (unsigned k = 0; k < sample.access_count; k++)
        sample.access[k] = any_access();
    return sample;
}

static struct lwps_watch any_watch(void)
{
    uint64_t time = random_any() / 2000 * 1000;
    struct lwps_watch watch = {.time = time, .end_time = time + random_any() / 2000 * 1000,
                               .weight = random_any() / 1000 * 1000, .verdicts = (uint8_t)random_number(),
                               .end = (uint8_t)random_number(), .value = (uint8_t)random_number(),
                               .overlap = (uint16_t)random_number(), .first_tid = (uint32_t)random_any(),
                               .first_context = (uint32_t)random_any(), .first = any_access(), .watched_ns = random_any()};
    if (random_number() & 1) {
        watch.second = any_access();
        watch.second.ip |= 1;
        watch.second_context = (uint32_t)random_any();
    }
    return watch;
}

/* ---- everything read is kept as text, so that whole files compare ---- */

struct log {
    char *text;
    size_t size;
    FILE *to;
    uint64_t samples, weight;
};

static void log_begin(struct log *log)
{
    *log = (struct log){0};
    log->to = open_memstream(&log->text, &log->size);
    assert_non_null(log->to);
}

static void log_end(struct log *log)
{
    fclose(log->to);
}

static void log_access(struct log *log, const struct lwps_access *access)
{
    fprintf(log->to, " %" PRIx64 " %" PRIx64 " %u %u %u %u %u %" PRIx64 " %u\n", access->ip, access->address,
            access->bytes, access->flags, access->source, access->home, access->home_id, access->home_base,
            access->level);
}

static void log_sample(struct log *log, const struct lwps_sample *s)
{
    log->samples++;
    log->weight += s->weight;
    fprintf(log->to, "S %" PRIu64 " %" PRIu64 " %" PRIx64 " %u %u %u\n", s->time, s->weight, s->ip, s->context, s->kind,
            s->access_count);
    for (unsigned i = 0; i < s->access_count; i++)
        log_access(log, &s->access[i]);
}

static int on_watch(void *to, const struct lwps_watch *w)
{
    struct log *log = to;
    fprintf(log->to, "W %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %u %u %u %u %u %u %u\n", w->time, w->end_time, w->watched_ns, w->weight,
            w->verdicts, w->end, w->value, w->overlap, w->first_tid, w->first_context, w->second_context);
    log_access(log, &w->first);
    log_access(log, &w->second);
    return 0;
}

static int on_candidates(void *to, const struct lwps_candidates *c)
{
    struct log *log = to;
    fprintf(log->to, "C %" PRIu64 " %" PRIu64 " %u %u %u %" PRIx64 "\n", c->time, c->weight, c->count, c->verdicts,
            c->context, c->ip);
    return 0;
}

static int on_pair(void *to, const struct lwps_pair *p)
{
    struct log *log = to;
    fprintf(log->to, "P %" PRIu64 " %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %u %u\n", p->time,
            p->verdict, p->use, p->waste, p->close, p->open, p->times, p->again, p->first_context, p->second_context);
    log_access(log, &p->first);
    log_access(log, &p->second);
    return 0;
}

static int on_registers(void *to, const struct lwps_registers *r)
{
    struct log *log = to;
    fprintf(log->to, "R %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", r->flags, r->bytes, r->same, r->close,
            r->instructions, r->of_instructions);
    return 0;
}

static int on_contribution(void *to, const struct lwps_contribution *r)
{
    struct log *log = to;
    fprintf(log->to, "C %u %u %u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", r->verdict, r->moves, r->thread, r->all, r->waste, r->close);
    return 0;
}

static int on_trace(void *to, const struct lwps_trace *r)
{
    struct log *log = to;
    fprintf(log->to, "a %u %u %u %" PRIu64 " ", r->window, r->part, r->tid, r->time);
    fwrite(r->bytes, 1, r->size, log->to);
    return 0;
}

static int on_flows(void *to, const struct lwps_flows *r)
{
    fprintf(((struct log *)to)->to, "f %u %" PRIu64 " %u %u %" PRIu64 "\n", r->granule_bytes, r->alone_bytes, r->thinned,
            r->distances_thinned, r->accesses);
    return 0;
}

static int on_party(void *to, const struct lwps_party *r)
{
    fprintf(((struct log *)to)->to, "p %u %u %s\n", r->number, r->tid, r->name);
    return 0;
}

static int on_flow(void *to, const struct lwps_flow *r)
{
    fprintf(((struct log *)to)->to, "F %" PRIu64 " %" PRIx64 " %u %u %u %" PRIu64 " %" PRIu64 "\n", r->time, r->ip, r->bytes, r->writer,
            r->reader, r->first, r->again);
    return 0;
}

static int on_flow_distance(void *to, const struct lwps_flow_distance *r)
{
    fprintf(((struct log *)to)->to, "d %" PRIu64 " %" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIx64 "\n", r->time, r->ip, r->up_to, r->count, r->before);
    return 0;
}

static int on_flow_pieces(void *to, const struct lwps_flow_pieces *r)
{
    fprintf(((struct log *)to)->to, "i %" PRIu64 " %" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRId64 "\n", r->time,
            r->ip, r->count, r->lines, r->bytes, r->even, r->step);
    return 0;
}

static int on_sample(void *to, const struct lwps_sample *record)
{
    log_sample(to, record);
    return 0;
}

static int on_process(void *to, const struct lwps_process *r)
{
    struct log *log = to;
    fprintf(log->to, "P %u %u %" PRIu64 " %u ", r->pid, r->parent_pid, r->time, r->command_bytes);
    fwrite(r->command, 1, r->command_bytes, log->to);
    return 0;
}

static int on_module(void *to, const struct lwps_module *r)
{
    fprintf(((struct log *)to)->to, "M %u %" PRIu64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %u %02x %s\n", r->id, r->time,
            r->start, r->end, r->bias, r->build_id_bytes, r->build_id[0], r->path);
    return 0;
}

static int on_context(void *to, const struct lwps_context *r)
{
    fprintf(((struct log *)to)->to, "C %u %u %" PRIx64 "\n", r->id, r->parent, r->ip);
    return 0;
}

static int on_pool(void *to, const struct lwps_pool *r)
{
    fprintf(((struct log *)to)->to, "O %u %u %" PRIu64 "\n", r->id, r->context, r->size);
    return 0;
}

static int on_pool_count(void *to, const struct lwps_pool_count *r)
{
    fprintf(((struct log *)to)->to, "N %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", r->id, r->allocations,
            r->frees, r->peak_blocks, r->bytes);
    return 0;
}

static int on_block(void *to, const struct lwps_block *r)
{
    fprintf(((struct log *)to)->to, "B %u %u %u %" PRIu64 " %" PRIx64 " %" PRIu64 "\n", r->id, r->kind, r->context,
            r->time, r->address, r->size);
    return 0;
}

static int on_block_end(void *to, const struct lwps_block_end *r)
{
    fprintf(((struct log *)to)->to, "b %u %" PRIu64 "\n", r->id, r->time);
    return 0;
}

static int on_module_end(void *to, const struct lwps_module_end *r)
{
    fprintf(((struct log *)to)->to, "m %u %" PRIu64 "\n", r->id, r->time);
    return 0;
}

static int on_totals(void *to, const struct lwps_totals *r)
{
    fprintf(((struct log *)to)->to,
            "T %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
            " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
            r->time, r->user_ns, r->system_ns, r->own_ns, r->samples, r->samples_with_address, r->samples_lost, r->allocations,
            r->instructions, r->instructions_recorded, r->resident_bytes, r->allocations_unrecorded, r->page_faults, r->native_instructions,
            r->native_ns, r->native_least_ns, r->native_most_ns, r->native_page_faults);
    return 0;
}

static int on_note(void *to, const struct lwps_note *r)
{
    fprintf(((struct log *)to)->to, "n %s\n", r->text);
    return 0;
}

static int on_thread(void *to, const struct lwps_thread *r)
{
    fprintf(((struct log *)to)->to, "t %u %" PRIu64 " %" PRIx64 " %" PRIx64 " %s %" PRIx64 "\n", r->tid, r->time, r->stack_low,
            r->stack_high, r->name, r->pointer);
    return 0;
}

static int on_thread_end(void *to, const struct lwps_thread_end *r)
{
    fprintf(((struct log *)to)->to, "e %" PRIu64 " %" PRIu64 "\n", r->time, r->cpu_ns);
    return 0;
}

static const struct lwps_visitor visitor = {
    .process = on_process,
    .module = on_module,
    .module_end = on_module_end,
    .context = on_context,
    .pool = on_pool,
    .pool_count = on_pool_count,
    .block = on_block,
    .block_end = on_block_end,
    .totals = on_totals,
    .note = on_note,
    .thread = on_thread,
    .thread_end = on_thread_end,
    .watch = on_watch,
    .candidates = on_candidates,
    .pair = on_pair,
    .registers = on_registers,
    .contribution = on_contribution,
    .trace = on_trace,
    .flows = on_flows,
    .party = on_party,
    .flow = on_flow,
    .flow_distance = on_flow_distance,
    .flow_pieces = on_flow_pieces,
    .sample = on_sample,
};

static uint64_t any_time(void)
{
    return random_any() / 1000 * 1000;
}

/* Writes one record of a random kind; tells the log what should come back. */
static void put_any(struct lwps_writer *writer, struct log *expected)
{
    char text[64];
    snprintf(text, sizeof text, "name %" PRIx64 " \xff<>\n", random_number());
    uint32_t id = (uint32_t)random_any();
    switch (random_number() % 23) {
    case 0: {
        struct lwps_process r = {id, (uint32_t)random_any(), any_time(), "a\0b c\0", 6};
        assert_int_equal(lwps_put_process(writer, &r), 0);
        on_process(expected, &r);
        break;
    }
    case 1: {
        struct lwps_module r = {.id = id, .time = any_time(), .start = random_any() >> 1, .bias = random_any(),
                                .build_id = {id & 0xff}, .build_id_bytes = random_number() % 33, .path = text};
        if (!r.build_id_bytes)
            r.build_id[0] = 0;
        r.end = r.start + (random_any() >> 1);
        assert_int_equal(lwps_put_module(writer, &r), 0);
        on_module(expected, &r);
        break;
    }
    case 2: {
        struct lwps_module_end r = {id, any_time()};
        assert_int_equal(lwps_put_module_end(writer, &r), 0);
        on_module_end(expected, &r);
        break;
    }
    case 3: {
        struct lwps_context r = {.id = id ? id : 1, .ip = random_any()};
        r.parent = (uint32_t)(random_number() % r.id);
        assert_int_equal(lwps_put_context(writer, &r), 0);
        on_context(expected, &r);
        break;
    }
    case 4: {
        struct lwps_pool r = {id, (uint32_t)random_any(), random_any()};
        assert_int_equal(lwps_put_pool(writer, &r), 0);
        on_pool(expected, &r);
        break;
    }
    case 5: {
        struct lwps_pool_count r = {id, random_any(), random_any(), random_any(), random_any()};
        assert_int_equal(lwps_put_pool_count(writer, &r), 0);
        on_pool_count(expected, &r);
        break;
    }
    case 6: {
        struct lwps_block r = {id, 1 + random_number() % 2, (uint32_t)random_any(), any_time(), random_any() >> 1,
                               random_any() >> 1};
        assert_int_equal(lwps_put_block(writer, &r), 0);
        on_block(expected, &r);
        break;
    }
    case 7: {
        struct lwps_block_end r = {id, any_time()};
        assert_int_equal(lwps_put_block_end(writer, &r), 0);
        on_block_end(expected, &r);
        break;
    }
    case 8: {
        struct lwps_totals r = {any_time(),   random_any(), random_any(), random_any(), random_any(), random_any(),
                                random_any(), random_any(), random_any(), random_any(), random_any(), random_any(),
                                random_any(), random_any(), random_any(), random_any(), random_any(), random_any()};
        assert_int_equal(lwps_put_totals(writer, &r), 0);
        on_totals(expected, &r);
        break;
    }
    case 9: {
        struct lwps_note r = {text};
        assert_int_equal(lwps_put_note(writer, &r), 0);
        on_note(expected, &r);
        break;
    }
    case 10: {
        struct lwps_thread r = {id, any_time(), random_any(), random_any(), text, random_any()};
        assert_int_equal(lwps_put_thread(writer, &r), 0);
        on_thread(expected, &r);
        break;
    }
    case 11: {
        struct lwps_thread_end r = {any_time(), random_any()};
        assert_int_equal(lwps_put_thread_end(writer, &r), 0);
        on_thread_end(expected, &r);
        break;
    }
    case 12: {
        struct lwps_watch r = any_watch();
        assert_int_equal(lwps_put_watch(writer, &r), 0);
        on_watch(expected, &r);
        break;
    }
    case 13: {
        struct lwps_candidates r = {any_time(), random_any() / 1000 * 1000, 1 + (uint32_t)random_any() % 1000, (uint8_t)random_any(), id, random_any()};
        assert_int_equal(lwps_put_candidates(writer, &r), 0);
        on_candidates(expected, &r);
        break;
    }
    case 14: {
        struct lwps_pair r = {(uint8_t)random_number(), random_any(), random_any(), random_any(), random_any(), random_any(),
                              random_any(), any_time(), id, (uint32_t)random_any(), any_access(), any_access()};
        assert_int_equal(lwps_put_pair(writer, &r), 0);
        on_pair(expected, &r);
        break;
    }
    case 15: {
        struct lwps_registers r = {(uint8_t)random_number(), random_any(), random_any(), random_any(), random_any(), random_any()};
        assert_int_equal(lwps_put_registers(writer, &r), 0);
        on_registers(expected, &r);
        break;
    }
    case 22: {
        struct lwps_contribution r = {
            (uint8_t)random_number(), (uint8_t)random_number(), (uint32_t)random_any(), random_any(), random_any(), random_any()};
        assert_int_equal(lwps_put_contribution(writer, &r), 0);
        on_contribution(expected, &r);
        break;
    }
    case 16: {
        struct lwps_trace r = {id, (uint32_t)random_any(), (uint32_t)random_any(), any_time(), "\xff\0\x80 bytes", 9};
        assert_int_equal(lwps_put_trace(writer, &r), 0);
        on_trace(expected, &r);
        break;
    }
    case 17: {
        struct lwps_flows r = {id, random_any(), (uint32_t)random_any(), (uint32_t)random_any(), random_any()};
        assert_int_equal(lwps_put_flows(writer, &r), 0);
        on_flows(expected, &r);
        break;
    }
    case 18: {
        struct lwps_party r = {id, (uint32_t)random_any(), text};
        assert_int_equal(lwps_put_party(writer, &r), 0);
        on_party(expected, &r);
        break;
    }
    case 19: {
        struct lwps_flow r = {any_time(), random_any(), id, (uint32_t)random_any(), (uint32_t)random_any(), random_any(), random_any()};
        assert_int_equal(lwps_put_flow(writer, &r), 0);
        on_flow(expected, &r);
        break;
    }
    case 20: {
        struct lwps_flow_distance r = {any_time(), random_any(), random_any(), random_any(), random_any()};
        assert_int_equal(lwps_put_flow_distance(writer, &r), 0);
        on_flow_distance(expected, &r);
        break;
    }
    case 21: {
        struct lwps_flow_pieces r = {any_time(), random_any(), random_any(), random_any(), random_any(), random_any(), (int64_t)random_any()};
        assert_int_equal(lwps_put_flow_pieces(writer, &r), 0);
        on_flow_pieces(expected, &r);
        break;
    }
    default: {
        struct lwps_sample r = any_sample();
        assert_int_equal(lwps_put_sample(writer, &r), 0);
        log_sample(expected, &r);
    }
    }
}

static void expect_same(const struct log *expected)
{
    struct log got;
    struct lwps_damage damage;
    struct lwp_error err;
    log_begin(&got);
    assert_int_equal(lwps_read(path, &visitor, &got, &damage, &err), 0);
    log_end(&got);
    assert_int_equal(got.size, expected->size);
    assert_memory_equal(got.text, expected->text, got.size);
    assert_int_equal(damage.bad_blocks + damage.torn_bytes + damage.unknown_blocks, 0);
    assert_false(damage.incomplete);
    free(got.text);
}

static void test_round_trip(void **state)
{
    (void)state;
    struct lwps_writer writer;
    struct lwp_error err;
    struct log expected;
    assert_int_equal(lwps_writer_open(&writer, path, &head), 0);
    assert_int_equal(lwps_writer_open(&(struct lwps_writer){0}, path, &head), -EEXIST);
    log_begin(&expected);
    for (int i = 0; i < 30000; i++)
        put_any(&writer, &expected);
    lwps_writer_close(&writer);
    log_end(&expected);
    expect_same(&expected);
    struct stat live, sealed;
    assert_int_equal(stat(path, &live), 0);
    assert_int_equal(lwps_seal(path, &err), 0);
    assert_int_equal(stat(path, &sealed), 0);
    assert_true(sealed.st_size < live.st_size);
    expect_same(&expected);
    assert_int_equal(lwps_seal(path, &err), 0);
    expect_same(&expected);
    free(expected.text);
}

static void test_sealed_bytes_a_sample(void **state)
{
    (void)state;
    enum { SAMPLES = 20000 };
    struct lwps_writer writer;
    struct lwp_error err;
    uint64_t weight = 0;
    assert_int_equal(lwps_writer_open(&writer, path, &head), 0);
    for (uint64_t i = 0; i < SAMPLES; i++) {
        struct lwps_sample sample = plausible_sample(i);
        weight += sample.weight;
        assert_int_equal(lwps_put_sample(&writer, &sample), 0);
    }
    lwps_writer_close(&writer);
    assert_int_equal(lwps_seal(path, &err), 0);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    print_message("%.1f bytes a sample with two random addresses\n", (double)st.st_size / SAMPLES);
    assert_true(st.st_size <= 16 * SAMPLES);
    struct log got;
    log_begin(&got);
    assert_int_equal(lwps_read(path, &visitor, &got, NULL, &err), 0);
    log_end(&got);
    assert_int_equal(got.samples, SAMPLES);
    assert_true(weight - got.weight < 1000); /* rounding does not add up */
    free(got.text);
}

static void test_killed(void **state)
{
    (void)state;
    for (int round = 0; round < AMOUNT(20, 8); round++) {
        unlink(path);
        int progress[2];
        assert_int_equal(pipe(progress), 0);
        pid_t child = fork();
        if (child == 0) {
            struct lwps_writer writer;
            lwps_writer_open(&writer, path, &head);
            for (uint64_t i = 0;; i++) {
                struct lwps_sample sample = plausible_sample(i);
                lwps_put_sample(&writer, &sample);
                if (i % 64 == 63 && write(progress[1], "x", 1) < 0)
                    _exit(1);
            }
        }
        close(progress[1]);
        char byte;
        int chunks = 1 + round * AMOUNT(7, 18);
        for (int i = 0; i < chunks; i++)
            assert_int_equal(read(progress[0], &byte, 1), 1);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        close(progress[0]);
        for (int sealed = 0; sealed < 2; sealed++) {
            struct log got;
            struct lwps_damage damage;
            struct lwp_error err;
            log_begin(&got);
            assert_int_equal(lwps_read(path, &visitor, &got, &damage, &err), 0);
            log_end(&got);
            free(got.text);
            assert_true(damage.incomplete);
            assert_true(damage.bad_blocks + damage.torn_bytes == 0 || got.samples > 0);
            assert_true(got.samples >= (uint64_t)chunks * 64 - 1 || damage.bad_blocks == 1);
            assert_int_equal(lwps_seal(path, &err), 0);
        }
    }
}

/* Up to the end of the last block: an unsealed file is longer. */
static size_t size_used(const char *bytes, size_t size)
{
    struct lwps_disk_header disk;
    struct lwps_disk_block block;
    memcpy(&disk, bytes, sizeof disk);
    size_t at = disk.header_bytes;
    for (; size - at >= sizeof block; at += sizeof block + block.bytes) {
        memcpy(&block, bytes + at, sizeof block);
        if (!block.type)
            break;
    }
    return at;
}

static char *slurp(size_t *size)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    char *bytes = malloc((size_t)st.st_size + 1);
    int fd = open(path, O_RDONLY);
    assert_true(bytes && fd >= 0);
    assert_int_equal(read(fd, bytes, (size_t)st.st_size), st.st_size);
    close(fd);
    *size = size_used(bytes, (size_t)st.st_size);
    return bytes;
}

static void read_quietly(const char *bytes, size_t size, struct log *got, struct lwps_damage *damage, int *status)
{
    struct lwp_error err;
    log_begin(got);
    *status = lwps_read_memory("test", (const uint8_t *)bytes, size, &visitor, got, damage, &err);
    log_end(got);
    free(got->text);
}

static void test_cut_and_flipped(void **state)
{
    (void)state;
    for (int sealed = 0; sealed < 2; sealed++) {
        unlink(path);
        struct lwps_writer writer;
        struct lwp_error err;
        struct log expected;
        assert_int_equal(lwps_writer_open(&writer, path, &head), 0);
        log_begin(&expected);
        for (int i = 0; i < 120; i++)
            put_any(&writer, &expected);
        lwps_writer_close(&writer);
        log_end(&expected);
        free(expected.text);
        if (sealed)
            assert_int_equal(lwps_seal(path, &err), 0);
        size_t size;
        char *bytes = slurp(&size);
        struct lwps_damage damage;
        struct log got;
        int status;
        for (size_t cut = 0; cut < size; cut += AMOUNT(1, 3)) {
            /* a copy of the exact length, so that reading past it is caught by the sanitizer */
            char *part = malloc(cut ? cut : 1);
            memcpy(part, bytes, cut);
            read_quietly(part, cut, &got, &damage, &status);
            assert_true(status ? status == LWP_ERR_FORMAT : damage.incomplete);
            free(part);
        }
        for (size_t at = 0; at < size; at += AMOUNT(1, 3)) {
            char was = bytes[at];
            bytes[at] ^= (char)(1 + random_number() % 255);
            read_quietly(bytes, size, &got, &damage, &status);
            if (!sealed && !status && at >= LWPS_HEADER_BYTES)
                assert_true(damage.bad_blocks || damage.torn_bytes || damage.unknown_blocks || damage.incomplete);
            bytes[at] = was;
        }
        free(bytes);
    }
}

/* Changes the header and makes its checksum right again. */
static void patch_header(void (*change)(struct lwps_disk_header *))
{
    int fd = open(path, O_RDWR);
    struct lwps_disk_header disk;
    assert_int_equal(read(fd, &disk, sizeof disk), sizeof disk);
    change(&disk);
    disk.crc = lwps_crc32c(0, &disk, offsetof(struct lwps_disk_header, lost_records));
    assert_int_equal(pwrite(fd, &disk, sizeof disk, 0), sizeof disk);
    close(fd);
}

static void make_newer(struct lwps_disk_header *disk)
{
    disk->version = disk->oldest_reader = LWPS_VERSION + 1;
}

static void make_swapped(struct lwps_disk_header *disk)
{
    disk->byte_order = 0x0201;
}

static void test_foreign(void **state)
{
    (void)state;
    struct lwps_writer writer;
    struct lwp_error err;
    assert_int_equal(lwps_writer_open(&writer, path, &head), 0);
    lwps_writer_close(&writer);
    patch_header(make_newer);
    assert_int_equal(lwps_read(path, &visitor, NULL, NULL, &err), LWP_ERR_NEWER);
    assert_non_null(strstr(err.text, "upgrade"));
    patch_header(make_swapped);
    assert_int_equal(lwps_read(path, &visitor, NULL, NULL, &err), LWP_ERR_FORMAT);
    assert_int_equal(lwps_read(folder, &visitor, NULL, NULL, &err), LWP_ERR_FORMAT);
    assert_int_equal(lwps_read("/dev/null", &visitor, NULL, NULL, &err), LWP_ERR_FORMAT);
    assert_int_equal(lwps_read("/proc/nonexistent", &visitor, NULL, NULL, &err), LWP_ERR_SYSTEM);
    assert_int_equal(lwps_seal("/proc/nonexistent", &err), LWP_ERR_SYSTEM);
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(lwps_read(path, &visitor, NULL, NULL, &err), LWP_ERR_FORMAT);
}

static void test_file_limit(void **state)
{
    (void)state;
    struct rlimit before, small = {64 * 1024, 64 * 1024};
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small.rlim_max = before.rlim_max;
    struct lwps_writer writer;
    assert_int_equal(lwps_writer_open(&writer, path, &head), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    uint64_t dropped = 0;
    for (uint64_t i = 0; i < 20000; i++) {
        struct lwps_sample sample = plausible_sample(i);
        dropped += lwps_put_sample(&writer, &sample) != 0;
    }
    assert_true(dropped > 10000);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    lwps_writer_close(&writer);
    size_t size;
    char *bytes = slurp(&size);
    struct log got;
    struct lwps_damage damage;
    int status;
    read_quietly(bytes, size, &got, &damage, &status);
    assert_int_equal(status, 0);
    assert_int_equal(got.samples + dropped, 20000);
    assert_int_equal(((const struct lwps_disk_header *)bytes)->lost_records, dropped);
    free(bytes);
}

static void test_fd_taken(void **state)
{
    (void)state;
    struct lwps_writer writer;
    assert_int_equal(lwps_writer_open(&writer, path, &head), 0);
    char other[160];
    snprintf(other, sizeof other, "%s/other", folder);
    int theirs = open(other, O_RDWR | O_CREAT, 0600);
    assert_true(theirs >= 0);
    assert_true(dup2(theirs, writer.fd) >= 0); /* the program closed ours and opened its own under the number */
    struct log expected;
    log_begin(&expected);
    for (int i = 0; i < 5000; i++)
        put_any(&writer, &expected);
    lwps_writer_close(&writer);
    log_end(&expected);
    struct stat st;
    assert_int_equal(fstat(theirs, &st), 0);
    assert_int_equal(st.st_size, 0);
    close(theirs);
    expect_same(&expected);
    free(expected.text);
}

/* Damage that the checksums do not tell: what records say is not trusted either. */
static void test_wrong_contents(void **state)
{
    (void)state;
    struct lwps_writer writer;
    struct log expected;
    assert_int_equal(lwps_writer_open(&writer, path, &head), 0);
    log_begin(&expected);
    for (int i = 0; i < 600; i++)
        put_any(&writer, &expected);
    lwps_writer_close(&writer);
    log_end(&expected);
    free(expected.text);
    size_t size, before = LWPS_HEADER_BYTES, bad = 0;
    char *bytes = slurp(&size);
    for (int round = 0; round < AMOUNT(4000, 1000); round++) {
        char *copy = malloc(size); /* of the exact length, so that reading past it is caught by the sanitizer */
        memcpy(copy, bytes, size);
        for (uint64_t flips = 1 + random_number() % 4; flips; flips--) {
            size_t at = before + random_number() % (size - before);
            copy[at] = (char)(random_number() % 3 ? random_number() : 0xff);
        }
        struct lwps_disk_block block;
        for (size_t at = before; size - at >= sizeof block; at += sizeof block + block.bytes) {
            memcpy(&block, copy + at, sizeof block);
            if (block.bytes > size - at - sizeof block)
                break;
            block.crc = lwps_crc32c(lwps_crc32c(0, copy + at + sizeof block, block.bytes), &block,
                                    offsetof(struct lwps_disk_block, crc));
            memcpy(copy + at, &block, sizeof block);
        }
        struct log got;
        struct lwps_damage damage;
        int status;
        read_quietly(copy, size, &got, &damage, &status);
        assert_int_equal(status, 0);
        bad += damage.bad_blocks;
        free(copy);
    }
    assert_true(bad > AMOUNT(1000, 250)); /* many of them could be told */
    free(bytes);
}

/* The bytes that docs/format.md shows. */
static void test_documented_example(void **state)
{
    (void)state;
    static const uint8_t documented[] = {0xc5, 0xd0, 0x0f, 0xa0, 0x1f, 0x88, 0xc0, 0x80, 0x04, 0x07, 0x0d,
                                         0x81, 0x00, 0xb0, 0x80, 0x81, 0x06};
    const struct lwps_sample sample = {
        .time = 1000000, .weight = 2000000, .ip = 0x401004, .kind = LWPS_SAMPLE_STALL, .access_count = 1,
        .access = {{.ip = 0x401000, .address = 0x602018, .bytes = 8, .source = LWPS_SOURCE_UNDO,
                    .flags = LWPS_ACCESS_LOAD | LWPS_ACCESS_WEIGHTED | LWPS_ACCESS_KNOWN}}};
    struct lwps_writer writer;
    assert_int_equal(lwps_writer_open(&writer, path, &head), 0);
    assert_int_equal(lwps_put_sample(&writer, &sample), 0);
    lwps_writer_close(&writer);
    size_t size;
    char *bytes = slurp(&size);
    assert_int_equal(size, LWPS_HEADER_BYTES + 2 * sizeof(struct lwps_disk_block) + sizeof documented);
    assert_memory_equal(bytes + LWPS_HEADER_BYTES + sizeof(struct lwps_disk_block), documented, sizeof documented);
    free(bytes);
}

/* A block damaged in the middle costs that block only, sealed or not. */
static void test_damage_inside(void **state)
{
    (void)state;
    struct lwps_writer writer;
    struct lwp_error err;
    assert_int_equal(lwps_writer_open(&writer, path, &head), 0);
    for (uint64_t i = 0; i < 5000; i++) {
        struct lwps_sample sample = plausible_sample(i);
        assert_int_equal(lwps_put_sample(&writer, &sample), 0);
    }
    lwps_writer_close(&writer);
    size_t size;
    char *bytes = slurp(&size);
    int fd = open(path, O_RDWR);
    bytes[size / 2] ^= 0x10;
    assert_int_equal(pwrite(fd, bytes + size / 2, 1, (off_t)(size / 2)), 1);
    close(fd);
    free(bytes);
    for (int sealed = 0; sealed < 2; sealed++) {
        struct log got;
        struct lwps_damage damage;
        log_begin(&got);
        assert_int_equal(lwps_read(path, &visitor, &got, &damage, &err), 0);
        log_end(&got);
        free(got.text);
        assert_int_equal(damage.bad_blocks, 1);
        assert_false(damage.incomplete);
        assert_true(got.samples > 3000 && got.samples < 5000);
        assert_int_equal(lwps_seal(path, &err), 0);
    }
}

static void test_long_strings(void **state)
{
    (void)state;
    struct lwps_writer writer;
    struct lwp_error err;
    static char text[100000];
    memset(text, 'x', sizeof text - 1);
    assert_int_equal(lwps_writer_open(&writer, path, &head), 0);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(lwps_put_note(&writer, &(struct lwps_note){text}), 0);
        assert_int_equal(lwps_put_process(&writer, &(struct lwps_process){1, 2, 3, text, sizeof text}), 0);
    }
    lwps_writer_close(&writer);
    struct log got;
    struct lwps_damage damage;
    log_begin(&got);
    assert_int_equal(lwps_read(path, &visitor, &got, &damage, &err), 0);
    log_end(&got);
    assert_int_equal(damage.bad_blocks, 0);
    assert_true(got.size > 100 * (size_t)LWPS_STRING_MAX);
    free(got.text);
}

/* A file of one block with these bytes. */
static void write_block(const uint8_t *payload, size_t size, uint32_t count)
{
    struct lwps_writer writer;
    assert_int_equal(lwps_writer_open(&writer, path, &head), 0);
    lwps_writer_close(&writer);
    struct lwps_disk_block block = {.type = LWPS_BLOCK_RECORDS, .bytes = (uint32_t)size, .count = count};
    block.crc = lwps_crc32c(lwps_crc32c(0, payload, size), &block, offsetof(struct lwps_disk_block, crc));
    int fd = open(path, O_RDWR);
    assert_int_equal(ftruncate(fd, LWPS_HEADER_BYTES), 0);
    assert_int_equal(pwrite(fd, &block, sizeof block, LWPS_HEADER_BYTES), sizeof block);
    assert_int_equal(pwrite(fd, payload, size, LWPS_HEADER_BYTES + sizeof block), (ssize_t)size);
    close(fd);
}

struct seen {
    struct lwps_thread_end ends[3];
    unsigned end_count, notes, threads;
    struct lwps_totals totals;
};

static int see_end(void *to, const struct lwps_thread_end *end)
{
    struct seen *seen = to;
    assert_true(seen->end_count < 3);
    seen->ends[seen->end_count++] = *end;
    return 0;
}

static int see_totals(void *to, const struct lwps_totals *totals)
{
    ((struct seen *)to)->totals = *totals;
    return 0;
}

static int see_note(void *to, const struct lwps_note *note)
{
    ((struct seen *)to)->notes++;
    assert_string_equal(note->text, "");
    return 0;
}

static int see_thread(void *to, const struct lwps_thread *thread)
{
    ((struct seen *)to)->threads++;
    assert_int_equal(thread->tid, 9);
    assert_int_equal(thread->stack_high, 0);
    assert_string_equal(thread->name, "");
    return 0;
}

/* Records of newer writers, with more fields, and of older ones, with fewer; and what follows them. */
static void test_more_and_fewer_fields(void **state)
{
    (void)state;
    static const uint8_t payload[] = {
        LWPS_TAG_THREAD_END, 6, 20, 7, 0x85, 0x85, 0x05, 0xff, /* time 10, cpu 7, and what is not known yet */
        LWPS_TAG_THREAD_END, 1, 20,                            /* time 20 */
        LWPS_TAG_TOTALS, 3, 0, 5, 6,                           /* time 20, user 5, system 6 */
        LWPS_TAG_NOTE, 0,
        LWPS_TAG_THREAD, 1, 9,
        LWPS_TAG_THREAD_END, 4, 2, 0xff, 0x01, 0x33,           /* time 21, cpu 255 */
    };
    static const struct lwps_visitor sees = {
        .thread_end = see_end, .totals = see_totals, .note = see_note, .thread = see_thread};
    struct seen seen = {.end_count = 0};
    struct lwps_damage damage;
    struct lwp_error err;
    write_block(payload, sizeof payload, 6);
    assert_int_equal(lwps_read(path, &sees, &seen, &damage, &err), 0);
    assert_int_equal(damage.bad_blocks, 0);
    assert_int_equal(seen.end_count, 3);
    assert_int_equal(seen.ends[0].time, 10000);
    assert_int_equal(seen.ends[0].cpu_ns, 7);
    assert_int_equal(seen.ends[1].time, 20000);
    assert_int_equal(seen.ends[1].cpu_ns, 0);
    assert_int_equal(seen.ends[2].time, 21000);
    assert_int_equal(seen.ends[2].cpu_ns, 255);
    assert_int_equal(seen.totals.time, 20000);
    assert_int_equal(seen.totals.system_ns, 6);
    assert_int_equal(seen.totals.samples, 0);
    assert_int_equal(seen.notes, 1);
    assert_int_equal(seen.threads, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round_trip, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sealed_bytes_a_sample, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_killed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cut_and_flipped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_foreign, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_file_limit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_fd_taken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_long_strings, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damage_inside, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_wrong_contents, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_documented_example, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_more_and_fewer_fields, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
