/* Candidates, and others that were only looked at, written to a file and read again among watches: each watch finds exactly those of its own
 * instruction and call path before it that came before it, and none is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collector/light/watch/candidates.c"
#include "format/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PLACES = 300, STEPS = 40000 };

/* What became of each instruction and call path; store and load share a site's number. */
struct site {
    uint64_t count[8], weight[8]; /* by the verdicts' mask */
};

static struct site chosen[PLACES], read_back[PLACES], at_watch[STEPS];
static unsigned watch_count, watches_read;
static uint64_t records;
static uint32_t random_state = 1;

static uint32_t random_below(uint32_t below)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)(random_state >> 4) * below >> 28);
}

static unsigned place_of(uint64_t ip, uint32_t context)
{
    return (unsigned)((ip - 0x401000) / 4 * 3 + context);
}

static int on_candidates(void *to, const struct lwps_candidates *record)
{
    (void)to;
    struct site *site = &read_back[place_of(record->ip, record->context)];
    site->count[record->verdicts] += record->count;
    site->weight[record->verdicts] += record->weight;
    records++;
    return 0;
}

static int on_watch(void *to, const struct lwps_watch *record)
{
    (void)to;
    unsigned site = place_of(record->first.ip, record->first_context);
    assert_memory_equal(&read_back[site], &at_watch[watches_read++], sizeof *read_back);
    return 0;
}

static void test_nothing_is_lost(void **state)
{
    (void)state;
    static const uint8_t masks[] = {LWPS_VERDICT_DEAD_STORE | LWPS_VERDICT_SILENT_STORE, LWPS_VERDICT_SILENT_STORE,
                                    LWPS_VERDICT_SILENT_LOAD};
    static const struct lwps_visitor visitor = {.watch = on_watch, .candidates = on_candidates};
    static struct lwp_watch_candidates candidates;
    static struct lwp_thread self;
    char path[] = "test_candidates.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    unlink(path);
    const struct lwps_file head = {.engine = LWPS_ENGINE_TIMER, .weight_unit = LWPS_WEIGHT_NS, .pid = 1, .tid = 1};
    assert_int_equal(lwps_writer_open(&self.file, path, &head), 0);
    for (unsigned step = 0; step < STEPS; step++) {
        /* few places have most of it, as in programs */
        uint32_t site = random_below(random_below(4) ? 6 : PLACES);
        struct lwps_watch record = {.time = step * 1000u, .end_time = step * 1000u, .weight = 1000 * (1 + random_below(5000)),
                                    .verdicts = masks[random_below(3)], .first_context = site % 3,
                                    .first.ip = 0x401000 + site / 3 * 4};
        if (random_below(10) == 0) {
            lwp_candidates_write_before(&candidates, &self, record.first.ip, record.first_context);
            assert_int_equal(lwps_put_watch(&self.file, &record), 0);
            at_watch[watch_count++] = chosen[site];
            continue;
        }
        const struct lwps_candidates more = {.time = record.time, .weight = record.weight, .count = random_below(2),
                                             .verdicts = record.verdicts, .context = record.first_context, .ip = record.first.ip};
        lwp_candidates_count(&candidates, &self, &more);
        chosen[site].count[record.verdicts] += more.count;
        chosen[site].weight[record.verdicts] += record.weight;
    }
    lwp_candidates_write(&candidates, &self);
    lwps_writer_close(&self.file);
    struct lwps_damage damage;
    struct lwp_error err;
    assert_int_equal(lwps_read(path, &visitor, NULL, &damage, &err), 0);
    unlink(path);
    assert_int_equal(watches_read, watch_count);
    assert_memory_equal(read_back, chosen, sizeof chosen);
    assert_true(records < STEPS * 2 / 3);
}

/* There is room for a few again and again; for ever new ones only once those before are old. */
static void test_room(void **state)
{
    (void)state;
    enum { FEW = 8, NEW = 100000 };
    static struct lwp_watch_candidates candidates;
    static struct lwp_thread self; /* nothing is written: it has no file */
    struct lwps_candidates one = {.weight = 1, .verdicts = LWPS_VERDICT_DEAD_STORE};
    unsigned room = 0;
    for (unsigned i = 0; i < NEW; i++) {
        one.ip = 0x401000 + i % FEW * 4;
        one.time = i * 1000000ull;
        room += lwp_candidates_room(&candidates, &one);
        lwp_candidates_count(&candidates, &self, &one);
    }
    assert_int_equal(room, NEW);
    memset(&candidates, 0, sizeof candidates);
    room = 0;
    for (unsigned i = 0; i < NEW; i++) { /* in 100 s */
        one.ip = 0x401000 + i * 4;
        one.time = i * 1000000ull;
        if (!lwp_candidates_room(&candidates, &one))
            continue;
        lwp_candidates_count(&candidates, &self, &one);
        room++;
    }
    assert_true(room > LWP_CANDIDATE_SETS * LWP_CANDIDATE_WAYS);
    assert_true(room <= 101 * LWP_CANDIDATE_SETS * LWP_CANDIDATE_WAYS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing_is_lost), cmocka_unit_test(test_room)};
    return cmocka_run_group_tests_name("candidates", tests, NULL, NULL);
}
