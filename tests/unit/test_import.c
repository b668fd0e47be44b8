/* perf.data files built byte by byte from the kernel's documented layout: what is read from them, and what of cut,
 * flipped and foreign ones. The whole way to a result directory is in tests/e2e/import.sh too, with files of perf
 * itself. */
#include "collector/import/import.h"
#include "collector/import/perf_file.h"
#include "format/reader.h"
#include "tests/unit/amount.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include <cmocka.h>

/* ---- a file under construction ---- */

struct bytes {
    uint8_t at[1 << 16];
    size_t size;
};

static void put(struct bytes *to, const void *from, size_t size)
{
    assert_true(to->size + size <= sizeof to->at);
    memcpy(to->at + to->size, from, size);
    to->size += size;
}

static void put8(struct bytes *to, uint64_t value)
{
    put(to, &value, 8);
}

static void put4(struct bytes *to, uint32_t value)
{
    put(to, &value, 4);
}

static void put_text(struct bytes *to, const char *text)
{
    static const char zero[8];
    size_t size = strlen(text) + 1;
    put(to, text, size);
    put(to, zero, (8 - size % 8) % 8);
}

static size_t record_begin(struct bytes *to, uint32_t type, uint16_t misc)
{
    size_t start = to->size;
    put4(to, type);
    put(to, &misc, 2);
    put(to, "\0\0", 2);
    return start;
}

static void record_end(struct bytes *to, size_t start)
{
    uint16_t size = (uint16_t)(to->size - start);
    memcpy(to->at + start + 6, &size, 2);
}

enum { LOADS_ID = 71, STORES_ID = 72, PID = 4000, TID = 4001 };

static const uint64_t load_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                  PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN |
                                  PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC;

static struct perf_event_attr attr_of(uint64_t config)
{
    return (struct perf_event_attr){.type = PERF_TYPE_RAW,
                                    .size = sizeof(struct perf_event_attr),
                                    .config = config,
                                    .sample_period = 1000,
                                    .sample_type = load_type,
                                    .sample_id_all = 1,
                                    .precise_ip = 2};
}

/* The time and ids that other records end with: tid, time, cpu, identifier. */
static void put_trailer(struct bytes *to, uint64_t time)
{
    put4(to, PID);
    put4(to, TID);
    put8(to, time);
    put8(to, 1);
    put8(to, LOADS_ID);
}

static void put_mapping(struct bytes *to, uint64_t start, uint64_t size, uint64_t offset, bool code, const char *path)
{
    size_t record =
        record_begin(to, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | (code ? 0 : PERF_RECORD_MISC_MMAP_DATA) | 1 << 14);
    put4(to, PID);
    put4(to, PID);
    put8(to, start);
    put8(to, size);
    put8(to, offset);
    put4(to, 4); /* build id: size, then 20 bytes */
    put(to, "\xde\xad\xbe\xef\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20);
    put4(to, code ? 5 : 3); /* protection */
    put4(to, 2);
    put_text(to, path);
    put_trailer(to, 100);
    record_end(to, record);
}

static void put_sample(struct bytes *to, uint64_t id, uint64_t time, uint64_t ip, uint64_t address, uint32_t latency,
                       uint64_t source)
{
    size_t record = record_begin(to, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP);
    put8(to, id);
    put8(to, ip);
    put4(to, PID);
    put4(to, TID);
    put8(to, time);
    put8(to, address);
    put8(to, 3); /* cpu */
    put8(to, 1000);
    put8(to, 5); /* call path: a mark, ip, two callers, and a kernel part that does not count */
    put8(to, (uint64_t)PERF_CONTEXT_USER);
    put8(to, ip);
    put8(to, 0x401100);
    put8(to, 0x401200);
    put8(to, (uint64_t)PERF_CONTEXT_KERNEL);
    put4(to, latency);
    put4(to, 0x00070009); /* var2, var3: not the latency */
    put8(to, source);
    record_end(to, record);
}

static void put_comm(struct bytes *to, const char *name, bool exec, uint64_t time)
{
    size_t record = record_begin(to, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
    put4(to, PID);
    put4(to, PID);
    put_text(to, name);
    put_trailer(to, time);
    record_end(to, record);
}

static uint64_t source_of(uint64_t op, uint64_t level, uint64_t snoop, uint64_t tlb, uint64_t remote)
{
    union perf_mem_data_src source = {.val = 0};
    source.mem_op = op & 31;
    source.mem_lvl = level & 0x3fff;
    source.mem_snoop = snoop & 31;
    source.mem_dtlb = tlb & 127;
    source.mem_remote = remote & 1;
    return source.val;
}

static void put_records(struct bytes *to)
{
    put_comm(to, "app", true, 90);
    put_mapping(to, 0x400000, 0x10000, 0, true, "/no/such/program");
    put_mapping(to, 0x7f0000000000, 0x100000, 0, false, "//anon");
    put_sample(to, LOADS_ID, 1000, 0x400123, 0x7f0000000040, 250,
               source_of(PERF_MEM_OP_LOAD, PERF_MEM_LVL_HIT | PERF_MEM_LVL_LOC_RAM, PERF_MEM_SNOOP_MISS,
                         PERF_MEM_TLB_WK | PERF_MEM_TLB_HIT, 0));
    put_sample(to, LOADS_ID, 2000, 0x400123, 0x7f0000000080, 90,
               source_of(PERF_MEM_OP_LOAD, PERF_MEM_LVL_HIT | PERF_MEM_LVL_REM_CCE1, PERF_MEM_SNOOP_HITM,
                         PERF_MEM_TLB_L1 | PERF_MEM_TLB_HIT, 1));
    put_sample(to, STORES_ID, 3000, 0x400150, 0x7f00000000c0, 0,
               source_of(PERF_MEM_OP_STORE, PERF_MEM_LVL_HIT | PERF_MEM_LVL_L1, 0, 0, 0));
    size_t lost = record_begin(to, PERF_RECORD_LOST, 0);
    put8(to, LOADS_ID);
    put8(to, 17);
    put_trailer(to, 3500);
    record_end(to, lost);
}

static void put_feature_text(struct bytes *to, const char *text)
{
    put4(to, (uint32_t)((strlen(text) + 8) / 8 * 8));
    put_text(to, text);
}

/* A whole file: header, ids, attributes, data, two features. */
static void build(struct bytes *file)
{
    file->size = 0;
    uint8_t header[104] = "PERFILE2";
    put(file, header, sizeof header);
    uint64_t ids = file->size;
    put8(file, LOADS_ID);
    put8(file, STORES_ID);
    uint64_t attrs = file->size;
    for (int i = 0; i < 2; i++) {
        struct perf_event_attr attr = attr_of(i ? 0x82d0 : 0x1cd);
        put(file, &attr, sizeof attr);
        put8(file, ids + 8 * (uint64_t)i);
        put8(file, 8);
    }
    uint64_t attr_bytes = file->size - attrs, data = file->size;
    put_records(file);
    uint64_t data_bytes = file->size - data, sections = file->size;
    for (int i = 0; i < 4; i++)
        put8(file, 0);
    uint64_t host = file->size;
    put_feature_text(file, "bare-metal");
    uint64_t command = file->size;
    put4(file, 3);
    put_feature_text(file, "perf");
    put_feature_text(file, "mem");
    put_feature_text(file, "record");
    uint64_t end = file->size,
             values[] = {104, sizeof(struct perf_event_attr) + 16, attrs, attr_bytes, data, data_bytes, 0,
                         0,   (uint64_t)1 << 3 | (uint64_t)1 << 11};
    memcpy(file->at + 8, values, sizeof values);
    uint64_t places[] = {host, command - host, command, end - command};
    memcpy(file->at + sections, places, sizeof places);
}

/* ---- what is read ---- */

struct seen {
    struct lwp_perf_sample samples[8];
    uint64_t callers[8][8];
    unsigned count, mappings, comms, exits;
    uint64_t lost;
    char path[64];
    uint8_t build_id_bytes;
};

static void on_sample(void *to, const struct lwp_perf_event *event, const struct lwp_perf_sample *sample)
{
    (void)event;
    struct seen *seen = to;
    if (seen->count < 8) {
        seen->samples[seen->count] = *sample;
        for (uint32_t i = 0; i < sample->caller_count && i < 8; i++)
            seen->callers[seen->count][i] = sample->callers[i];
    }
    seen->count++;
}

static void on_mapping(void *to, const struct lwp_perf_mapping *mapping)
{
    struct seen *seen = to;
    if (!seen->mappings++) {
        snprintf(seen->path, sizeof seen->path, "%s", mapping->path);
        seen->build_id_bytes = mapping->build_id_bytes;
    }
}

static void on_comm(void *to, const struct lwp_perf_task *task)
{
    ((struct seen *)to)->comms += strcmp(task->name, "app") == 0 && task->exec;
}

static void on_lost(void *to, uint64_t records)
{
    ((struct seen *)to)->lost += records;
}

static const struct lwp_perf_visitor visitor = {
    .sample = on_sample, .mapping = on_mapping, .comm = on_comm, .lost = on_lost};

static void check_seen(const struct seen *seen)
{
    assert_int_equal(seen->count, 3);
    assert_int_equal(seen->mappings, 2);
    assert_int_equal(seen->comms, 1);
    assert_int_equal(seen->lost, 17);
    assert_string_equal(seen->path, "/no/such/program");
    assert_int_equal(seen->build_id_bytes, 4);
    const struct lwp_perf_sample *first = &seen->samples[0];
    assert_int_equal(first->pid, PID);
    assert_int_equal(first->tid, TID);
    assert_int_equal(first->time, 1000);
    assert_int_equal(first->ip, 0x400123);
    assert_int_equal(first->address, 0x7f0000000040);
    assert_int_equal(first->weight, 250);
    assert_int_equal(first->period, 1000);
    assert_true(first->user && first->exact_ip && first->has_data_source);
    assert_int_equal(first->caller_count, 2);
    assert_int_equal(seen->callers[0][0], 0x4010ff);
    assert_int_equal(seen->callers[0][1], 0x4011ff);
}

static void reads_every_field(void **state)
{
    (void)state;
    static struct bytes file;
    struct seen seen = {0};
    struct lwp_perf_about about;
    struct lwp_error err;
    build(&file);
    assert_int_equal(lwp_perf_read_memory("x", file.at, file.size, &visitor, &seen, &about, &err), LWP_OK);
    check_seen(&seen);
    assert_string_equal(about.host, "bare-metal");
    assert_int_equal(about.command_bytes, sizeof "perf\0mem\0record");
    assert_memory_equal(about.command, "perf\0mem\0record", sizeof "perf\0mem\0record");
    assert_false(about.torn);
    assert_int_equal(about.bad_records, 0);
}

static void put_pipe_head(struct bytes *file)
{
    file->size = 0;
    put(file, "PERFILE2", 8);
    put8(file, 16); /* bytes of this header */
    for (int i = 0; i < 2; i++) {
        struct perf_event_attr attr = attr_of(7);
        size_t record = record_begin(file, 64, 0);
        put(file, &attr, sizeof attr);
        put8(file, i ? STORES_ID : LOADS_ID);
        record_end(file, record);
    }
}

static void put_pipe(struct bytes *file, bool compressed)
{
    put_pipe_head(file);
    if (!compressed) {
        put_records(file);
        return;
    }
    /* one zstd stream, cut in the middle of a record: half of it in each of two records */
    static struct bytes plain;
    static uint8_t packed[1 << 16];
    plain.size = 0;
    put_records(&plain);
    size_t size = ZSTD_compress(packed, sizeof packed, plain.at, plain.size, 3);
    assert_false(ZSTD_isError(size));
    for (size_t done = 0; done < size;) {
        size_t part = done ? size - done : size / 2, record = record_begin(file, 81, 0);
        put(file, packed + done, part);
        record_end(file, record);
        done += part;
    }
}

static void reads_pipes_and_compressed_records(void **state)
{
    (void)state;
    static struct bytes file;
    for (int compressed = 0; compressed < 2; compressed++) {
        struct seen seen = {0};
        struct lwp_perf_about about;
        struct lwp_error err;
        put_pipe(&file, compressed);
        assert_int_equal(lwp_perf_read_memory("x", file.at, file.size, &visitor, &seen, &about, &err), LWP_OK);
        check_seen(&seen);
        assert_false(about.torn);
    }
}

static void put_round(struct bytes *to)
{
    record_end(to, record_begin(to, 68, 0));
}

struct times {
    uint64_t at[8];
    unsigned count;
};

static void on_sample_time(void *to, const struct lwp_perf_event *event, const struct lwp_perf_sample *sample)
{
    (void)event;
    struct times *times = to;
    times->at[times->count++ % 8] = sample->time;
}

static void on_comm_time(void *to, const struct lwp_perf_task *task)
{
    struct times *times = to;
    times->at[times->count++ % 8] = task->time;
}

/* perf writes one CPU's ring after another; a ring's first records of a round may come before the last ones of the round before. */
static void puts_rings_in_order(void **state)
{
    (void)state;
    static struct bytes file;
    struct times times = {0};
    struct lwp_perf_about about;
    struct lwp_error err;
    put_pipe_head(&file);
    put_sample(&file, LOADS_ID, 300, 0x400123, 0x40, 1, 0);
    put_sample(&file, LOADS_ID, 500, 0x400123, 0x40, 1, 0);
    put_comm(&file, "app", true, 200); /* of another CPU */
    put_round(&file);
    put_sample(&file, LOADS_ID, 600, 0x400123, 0x40, 1, 0);
    put_sample(&file, LOADS_ID, 400, 0x400123, 0x40, 1, 0);
    put_round(&file);
    put_sample(&file, LOADS_ID, 550, 0x400123, 0x40, 1, 0);
    const struct lwp_perf_visitor in_time = {.sample = on_sample_time, .comm = on_comm_time};
    assert_int_equal(lwp_perf_read_memory("x", file.at, file.size, &in_time, &times, &about, &err), LWP_OK);
    assert_int_equal(times.count, 6);
    for (unsigned i = 0; i < 5; i++)
        assert_true(times.at[i] < times.at[i + 1]);
}

static int read_bytes(const uint8_t *at, size_t size, struct seen *seen, struct lwp_perf_about *about)
{
    struct lwp_error err = {0};
    uint8_t *exact = malloc(size ? size : 1); /* so that a sanitizer sees every byte beyond */
    memcpy(exact, at, size);
    int status = lwp_perf_read_memory("x", exact, size, &visitor, seen, about, &err);
    if (status)
        assert_true(strlen(err.text) > 10);
    free(exact);
    return status;
}

static void survives_cuts_and_flips(void **state)
{
    (void)state;
    static struct bytes files[3];
    build(&files[0]);
    put_pipe(&files[1], false);
    put_pipe(&files[2], true);
    for (int f = 0; f < 3; f++) {
        for (size_t size = 0; size < files[f].size; size += AMOUNT(1, 3)) {
            struct seen seen = {0};
            struct lwp_perf_about about;
            int status = read_bytes(files[f].at, size, &seen, &about);
            assert_true(seen.count <= 3);
            if (size < 16)
                assert_int_not_equal(status, LWP_OK);
        }
        uint32_t random = 12345;
        for (int i = 0; i < AMOUNT(4000, 1000); i++) {
            struct bytes copy = files[f];
            for (int k = 0; k < 1 + i % 3; k++) {
                random = random * 1664525u + 1013904223u;
                copy.at[(random >> 8) % copy.size] ^=
                    (uint8_t)(1u << (random & 7)) | (uint8_t)(i % 5 ? 0 : random >> 24);
            }
            struct seen seen = {0};
            struct lwp_perf_about about;
            read_bytes(copy.at, copy.size, &seen, &about);
        }
    }
}

static void refuses_what_is_foreign(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        const char *word;
    } cases[] = {
        {"2ELIFREP................", 24, "byte order"},
        {"\x7f"
         "ELF....................",
         24, "not a perf.data"},
        {"PERFILE2\x77\0\0\0\0\0\0\0", 16, "header"},
        {"PERFILE2\x10\0\0\0\0\0\0\0", 16, "no event"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lwp_perf_about about;
        struct lwp_error err;
        assert_int_not_equal(
            lwp_perf_read_memory("x", (const uint8_t *)cases[i].bytes, cases[i].size, &visitor, NULL, &about, &err),
            LWP_OK);
        assert_non_null(strstr(err.text, cases[i].word));
    }
}

/* ---- and written ---- */

struct written {
    struct lwps_sample samples[8];
    unsigned count, blocks, modules;
    uint8_t unit, engine;
};

static int on_file(void *to, const struct lwps_file *file)
{
    ((struct written *)to)->unit = file->weight_unit;
    ((struct written *)to)->engine = file->engine;
    return 0;
}

static int on_lwps_sample(void *to, const struct lwps_sample *sample)
{
    struct written *written = to;
    if (written->count < 8)
        written->samples[written->count] = *sample;
    written->count++;
    return 0;
}

static int on_block(void *to, const struct lwps_block *block)
{
    ((struct written *)to)->blocks += block->address == 0x7f0000000000 && block->size == 0x100000;
    return 0;
}

static int on_module(void *to, const struct lwps_module *module)
{
    ((struct written *)to)->modules +=
        module->start == 0x400000 && module->bias == 0x400000 && module->build_id_bytes == 4;
    return 0;
}

static void writes_a_result(void **state)
{
    (void)state;
    static struct bytes file;
    static const struct lwps_visitor reader = {
        .file = on_file, .sample = on_lwps_sample, .block = on_block, .module = on_module};
    char folder[] = "/tmp/lwp-import.XXXXXX", path[128], name[160];
    struct lwp_imported imported;
    struct lwp_error err;
    struct lwps_damage damage;
    build(&file);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s.data", folder);
    FILE *out = fopen(path, "we");
    assert_non_null(out);
    assert_int_equal(fwrite(file.at, 1, file.size, out), file.size);
    fclose(out);
    assert_int_equal(lwp_import_perf(path, folder, &imported, &err), LWP_OK);
    assert_int_equal(imported.samples, 3);
    assert_int_equal(imported.with_address, 3);
    assert_int_equal(imported.lost, 17);

    struct written thread = {0}, process = {0};
    snprintf(name, sizeof name, "%s/p%d/t%d.lwps", folder, PID, TID);
    assert_int_equal(lwps_read(name, &reader, &thread, &damage, &err), LWP_OK);
    assert_int_equal(thread.count, 3);
    assert_int_equal(thread.unit, LWPS_WEIGHT_CYCLES);
    assert_int_equal(thread.engine, LWPS_ENGINE_PMU);
    const struct lwps_access *access = &thread.samples[0].access[0];
    assert_int_equal(thread.samples[0].weight, 250 * 1000); /* latency times events */
    assert_int_equal(access->flags, LWPS_ACCESS_KNOWN | LWPS_ACCESS_WEIGHTED | LWPS_ACCESS_LOAD);
    assert_int_equal(access->level, LWPS_LEVEL_MEMORY | LWPS_TLB_WALK << LWPS_TLB_SHIFT);
    assert_int_equal(thread.samples[1].access[0].level,
                     LWPS_LEVEL_L3 | LWPS_LEVEL_REMOTE | LWPS_LEVEL_MODIFIED | LWPS_TLB_L1 << LWPS_TLB_SHIFT);
    assert_int_equal(thread.samples[2].kind, LWPS_SAMPLE_STORE);
    assert_int_equal(thread.samples[2].weight, 1000);
    snprintf(name, sizeof name, "%s/p%d/process.lwps", folder, PID);
    assert_int_equal(lwps_read(name, &reader, &process, &damage, &err), LWP_OK);
    assert_int_equal(process.blocks, 1);
    assert_int_equal(process.modules, 1);
    snprintf(name, sizeof name, "rm -rf %s %s", folder, path);
    assert_int_equal(system(name), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_field),       cmocka_unit_test(reads_pipes_and_compressed_records),
        cmocka_unit_test(survives_cuts_and_flips), cmocka_unit_test(refuses_what_is_foreign),
        cmocka_unit_test(puts_rings_in_order),     cmocka_unit_test(writes_a_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
