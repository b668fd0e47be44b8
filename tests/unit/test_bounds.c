/* What files claim costs no more than the readers' bounds (docs/format.md): each hostile file is read in a child that may take
 * so much processor time and memory, and no more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "analysis/json/analyze.h"
#include "analysis/profile/watchpoints.h"
#include "base/json_file.h"
#include "base/log.h"
#include "collector/import/perf_file.h"
#include "format/reader.h"
#include "tests/fuzz/wrap.h"
#include "tests/unit/amount.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

/* Seconds of processor time: what has no bound takes hours; what has one takes a tenth of them where others want the caches, too. */
enum { SECONDS = 100, MEBIBYTES = 1500 };

static char folder[64], path[128];

/* `read` leaves with 0 when it found what it expects. */
static void within_bounds(int (*read)(const void *), const void *of)
{
    int ended;
    struct rusage used;
    pid_t child = fork();
    if (!child) {
        setrlimit(RLIMIT_CPU, &(struct rlimit){SECONDS, SECONDS});
        lwp_log_set_level(LWP_LOG_ERROR);
        _exit(read(of));
    }
    assert_int_equal(wait4(child, &ended, 0, &used), child);
    assert_int_equal(ended, 0);
    assert_true(used.ru_maxrss < (long)MEBIBYTES << 10);
}

static void file_begin(const char *name, const void *bytes, size_t size, long long claimed)
{
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    if (claimed)
        assert_int_equal(truncate(path, claimed), 0); /* the rest is a hole */
}

static int json_refused(const void *text)
{
    json_error_t problem;
    return lwp_json_read(path, 0, &problem) != NULL || !strstr(problem.text, text);
}

static int json_taken(const void *unused)
{
    (void)unused;
    return lwp_json_read(path, 0, NULL) == NULL;
}

static void repeated(const char *name, const char *first, const char *again, size_t times, const char *last)
{
    size_t size = strlen(again), start = strlen(first);
    char *text = malloc(start + times * size + strlen(last) + 1), *to = stpcpy(text, first);
    for (size_t i = 0; i < times; i++, to += size)
        memcpy(to, again, size);
    to = stpcpy(to, last);
    file_begin(name, text, (size_t)(to - text), 0);
    free(text);
}

static void test_json(void **state)
{
    (void)state;
    file_begin("gigabyte.json", "[", 1, 1 << 30);
    within_bounds(json_refused, "more than 256 MiB");
    repeated("objects.json", "[", "{},", 20000000, "{}]");
    within_bounds(json_refused, "more values");
    repeated("deep.json", "", "[", 1000000, "");
    within_bounds(json_refused, "depth");
    repeated("text.json", "[\"", "abcdefgh", 10000000, "\"]");
    within_bounds(json_taken, NULL);
    repeated("keys.json", "{", "\"\":0,", 1000000, "\"\":0}"); /* all of one name */
    within_bounds(json_taken, NULL);
}

static uint64_t records;

static int on_thread_end(void *to, const struct lwps_thread_end *record)
{
    (void)to, (void)record;
    records++;
    return 0;
}

static int lwps_bounded(const void *least_bad)
{
    static const struct lwps_visitor visitor = {.thread_end = on_thread_end};
    struct lwps_damage damage;
    struct lwp_error err;
    lwps_read(path, &visitor, NULL, &damage, &err);
    return damage.bad_blocks + damage.torn_bytes < *(const uint64_t *)least_bad;
}

/* Packs of 48 bytes, of a mebibyte of records each. */
static void test_packs(void **state)
{
    (void)state;
    enum { PACKS = AMOUNT(20000, 1000) };
    static uint8_t raw[LWPS_PACK_RAW_MAX], packed[4096];
    uint8_t nothing[1] = {0};
    const uint64_t most = 1;
    struct lwps_disk_block block = {.type = LWPS_BLOCK_RECORDS, .bytes = sizeof raw - sizeof block};
    memset(raw + sizeof block, 12, block.bytes); /* thread end, whose length is 12 ... */
    block.crc = lwps_crc32c(lwps_crc32c(0, raw + sizeof block, block.bytes), &block, offsetof(struct lwps_disk_block, crc));
    memcpy(raw, &block, sizeof block);
    size_t size, bytes = ZSTD_compress(packed, sizeof packed, raw, sizeof raw, 19);
    assert_false(ZSTD_isError(bytes));
    uint8_t *start = fuzz_wrap(nothing, sizeof nothing, &size), *file = malloc(size + PACKS * (sizeof block + bytes)), *to = file;
    to = (uint8_t *)memcpy(to, start, sizeof(struct lwps_disk_header)) + sizeof(struct lwps_disk_header);
    struct lwps_disk_block pack = {.type = LWPS_BLOCK_PACK, .bytes = (uint32_t)bytes, .count = 1};
    pack.crc = lwps_crc32c(lwps_crc32c(0, packed, bytes), &pack, offsetof(struct lwps_disk_block, crc));
    for (int i = 0; i < PACKS; i++) {
        to = (uint8_t *)memcpy(to, &pack, sizeof pack) + sizeof pack;
        to = (uint8_t *)memcpy(to, packed, bytes) + bytes;
    }
    file_begin("packs.lwps", file, (size_t)(to - file), 0);
    free(start);
    free(file);
    within_bounds(lwps_bounded, &most);
}

static void test_claims(void **state)
{
    (void)state;
    uint8_t nothing[1] = {0};
    const uint64_t most = 1, none = 0;
    size_t size;
    uint8_t *file = fuzz_wrap(nothing, sizeof nothing, &size);
    file_begin("hole.lwps", file, sizeof(struct lwps_disk_header), 1 << 30);
    within_bounds(lwps_bounded, &none);
    struct lwps_disk_block block = {.type = LWPS_BLOCK_RECORDS, .bytes = UINT32_MAX - 8, .count = UINT32_MAX};
    memcpy(file + sizeof(struct lwps_disk_header), &block, sizeof block);
    file_begin("claims.lwps", file, size, 0);
    within_bounds(lwps_bounded, &most);
    free(file);
}

static int perf_bounded(const void *unused)
{
    static const struct lwp_perf_visitor visitor = {.sample = NULL};
    struct lwp_perf_about about;
    struct lwp_error err;
    (void)unused;
    return lwp_perf_read(path, &visitor, NULL, &about, &err) == 0;
}

static void test_perf(void **state)
{
    (void)state;
    uint64_t header[13] = {0x32454c4946524550, 104, 1 << 20, 104, 1ull << 40, 104, 1ull << 50, 104, 1ull << 60, ~0ull, ~0ull, ~0ull, ~0ull};
    file_begin("perf.data", header, sizeof header, 1 << 30);
    within_bounds(perf_bounded, NULL);
}

/* Everything that a record may ask for by number or count. */
static int analyzed(const void *unused)
{
    struct lwp_error err;
    char out[128];
    const char *dirs[] = {folder};
    (void)unused;
    snprintf(out, sizeof out, "%s/analysis.json", folder);
    return lwp_analyze(dirs, 1, out, &err) != 0;
}

/* Two threads with different pairs, and a few that are met again after all the others. */
static int pairs_bounded(const void *unused)
{
    enum { PAIRS = 2000000, KINDS = 3, EACH = 10 };
    struct lwp_watchpoints both[2] = {0};
    (void)unused;
    for (unsigned side = 0; side < 2; side++) {
        lwp_watchpoint_begin(&both[side]);
        for (uint32_t i = 0; i < PAIRS + 10; i++) {
            uint32_t pair = i < PAIRS ? i : 0, first = pair * 7919u % 2000000;
            lwp_watchpoint_add(&both[side], &(struct lwp_watchpoint_verdict){.kind = pair % KINDS, .outcome = LWP_WATCHPOINT_WASTE, .first = first,
                            .second = pair * 2 + side, .object = pair % 5, .weight = EACH, .count = 1, .bytes = 8});
        }
        lwp_watchpoint_end(&both[side]);
    }
    lwp_watchpoint_merge(&both[0], &both[1]);
    const struct lwp_watchpoints *all = &both[0];
    uint64_t decided = 0, paired = 0, weight = 0;
    for (size_t i = 0; i < all->origin_count; i++) {
        decided += all->origins[i].decided;
        weight += all->origins[i].sampled.weight - all->origins[i].decided_weight - all->origins[i].dropped_weight;
    }
    for (size_t i = 0; i < all->pair_count; i++)
        paired += all->pairs[i].waste.samples;
    return !all->beyond || all->pair_count != 1 << 20 || all->pairs[0].waste.samples != 11 || decided != paired || weight;
}

static void test_pairs(void **state)
{
    (void)state;
    if (AMOUNT(true, false)) /* sanitizers make that many take a minute on a busy machine */
        within_bounds(pairs_bounded, NULL);
}

static uint8_t *varint(uint8_t *to, uint64_t value)
{
    for (; value > 127; value >>= 7)
        *to++ = (uint8_t)value | 128;
    *to++ = (uint8_t)value;
    return to;
}

static uint8_t *record(uint8_t *to, uint8_t tag, const uint64_t *fields, size_t count, size_t text)
{
    uint8_t body[256], *at = body;
    for (size_t i = 0; i < count; i++)
        at = varint(at, fields[i]);
    memset(at, 'a', text);
    at += text;
    *to++ = tag;
    to = varint(to, (uint64_t)(at - body));
    return (uint8_t *)memcpy(to, body, (size_t)(at - body)) + (at - body);
}

static void test_records(void **state)
{
    (void)state;
    enum { TIMES = AMOUNT(60000, 4000), ROOM = TIMES * 128 };
    uint8_t *input = calloc(1, ROOM), *to = input + 1;
    size_t size;
    *input = 1 + 4 * 1;
    for (uint64_t i = 0; i < TIMES; i++) {
        const uint64_t module[] = {2, 0, 2 << 20, 4096, 0, 0, 8 + i % 8}, context[] = {2 * i * 64, 2, 2}, pool[] = {2 * i * 64, i, 64};
        to = record(to, 2, module, 7, 8 + i % 8);
        to = record(to, 4, context, 3, 0);
        to = record(to, 5, pool, 3, 0);
    }
    uint8_t *file = fuzz_wrap(input, (size_t)(to - input), &size);
    char dir[128];
    snprintf(dir, sizeof dir, "%s/p1", folder);
    mkdir(dir, 0700);
    file_begin("p1/process.lwps", file, size, 0);
    file_begin("p1/t1.lwps", file, size, 0);
    within_bounds(analyzed, NULL);
    free(file);
    free(input);
}

static int make(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/lwp-bounds-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int clean(void **state)
{
    char command[100];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_json),  cmocka_unit_test(test_packs),   cmocka_unit_test(test_claims),
                                       cmocka_unit_test(test_perf),  cmocka_unit_test(test_records), cmocka_unit_test(test_pairs)};
    return cmocka_run_group_tests(tests, make, clean);
}
