/* Communication between threads as the exact engine counts it, against references made in the plainest way: who reads what
 * whose bytes, and distances by going back through the trace; on random accesses, and by hand. The exact engine's files are
 * included, as they are no part of lwp. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/advice/threads/communication_matrix.h"
#include "collector/exact/detect/communication/comm_counts.c"
#include "collector/exact/detect/communication/comm_distance.c"
#include "collector/exact/detect/communication/comm_sets.c"
#include "collector/exact/detect/communication/comm_shadow.c"
#include "tests/unit/amount.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *test_map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void test_unmap(void *memory, size_t bytes)
{
    assert_int_equal(munmap(memory, bytes), 0);
}

static void *test_alloc(size_t bytes)
{
    return calloc(1, bytes);
}

static const struct lwp_comm_port test_port = {test_map, test_unmap, test_alloc, free};

static uint64_t random_state = 88172645463325252u;

static unsigned random_below(unsigned most)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)(random_state >> 33) % most;
}

/* ---- algorithm 1 ---- */

enum { THREADS = 70, SPAN = 256 };
static const uint64_t base = ((uint64_t)5 << LWP_COMM_LEAF_BITS) - SPAN / 2; /* around the border of two leaves */

struct cells {
    uint64_t first[THREADS + 1][THREADS + 1], again[THREADS + 1][THREADS + 1];
};

struct reference {
    unsigned granule;
    unsigned writer[SPAN]; /* of each granule */
    bool readers[SPAN][THREADS + 1];
    struct cells cells;
};

static void reference_access(struct reference *r, unsigned thread, unsigned at, unsigned bytes, bool store)
{
    enum { NOT_SEEN, SEEN_AGAIN, SEEN_FIRST } seen[THREADS + 1] = {NOT_SEEN};
    for (unsigned g = at / r->granule; g <= (at + bytes - 1) / r->granule; g++) {
        unsigned writer = r->writer[g];
        if (store) {
            r->writer[g] = thread;
            memset(r->readers[g], 0, sizeof r->readers[g]);
        } else if (writer != thread) {
            if (writer && seen[writer] != SEEN_FIRST)
                seen[writer] = r->readers[g][thread] ? SEEN_AGAIN : SEEN_FIRST;
            r->readers[g][thread] = true;
        }
    }
    for (unsigned w = 1; w <= THREADS; w++) {
        r->cells.first[w][thread] += seen[w] == SEEN_FIRST;
        r->cells.again[w][thread] += seen[w] == SEEN_AGAIN;
    }
}

/* As communication.c does it; adds `times` for each event. */
static void shadow_access(struct lwp_comm_shadow *shadow, struct cells *cells, uint64_t address, unsigned bytes, bool store)
{
    struct lwp_comm_event events[LWP_COMM_EVENTS];
    if (lwp_comm_nothing(shadow, address, lwp_comm_way_of(bytes, store)))
        return;
    if (store) {
        lwp_comm_store_slowly(shadow, address, bytes);
        return;
    }
    unsigned count = lwp_comm_load_slowly(shadow, address, bytes, events);
    for (unsigned i = 0; i < count; i++) {
        uint64_t *cell = events[i].again ? &cells->again[events[i].writer][shadow->thread] : &cells->first[events[i].writer][shadow->thread];
        *cell += (uint64_t)1 << shadow->thinned;
    }
}

/* What is in use, and by how many threads, by counting cells. */
static void assert_counts(const struct lwp_comm_shadow *shadow)
{
    uint64_t touched = 0, shared = 0;
    for (uint64_t at = 0; at < SPAN; at += (uint64_t)1 << shadow->granule_bits) {
        uint32_t *leaf = shadow->top[(base + at) >> 32][(base + at) >> 16 & 0xffff];
        uint32_t cell = leaf ? leaf[((base + at) & 0xffff) >> shadow->granule_bits] : 0;
        touched += cell != 0;
        shared += (cell & LWP_COMM_SHARED) != 0;
    }
    assert_int_equal(shadow->touched, touched);
    assert_int_equal(shadow->shared, shared);
}

static void random_run(unsigned granule_bits, unsigned threads, unsigned steps)
{
    static struct reference r;
    static struct cells cells;
    struct lwp_comm_shadow *shadow = malloc(sizeof *shadow);
    unsigned granule = 1u << granule_bits, piece = granule > 8 ? granule : 8, thread = 1;
    memset(&r, 0, sizeof r);
    memset(&cells, 0, sizeof cells);
    r.granule = granule;
    assert_true(lwp_comm_init(shadow, &test_port, granule_bits, 64 << 20));
    for (unsigned i = 0; i < steps; i++) {
        if (random_below(4) == 0) {
            thread = 1 + random_below(threads);
            lwp_comm_run(shadow, thread);
        }
        unsigned bytes = random_below(3) ? 1u << random_below(4) : 1 + random_below(piece);
        unsigned at = random_below(SPAN - bytes);
        at = random_below(3) ? at / bytes * bytes : at;
        if (random_below(200) == 0) {
            unsigned size = random_below(SPAN - at), first = (at + granule - 1) / granule, last = (at + size) / granule;
            lwp_comm_forget(shadow, base + at, size);
            for (unsigned g = first; g < last; g++) {
                r.writer[g] = 0;
                memset(r.readers[g], 0, sizeof r.readers[g]);
            }
        }
        bool store = random_below(3) == 0;
        reference_access(&r, thread, at, bytes, store);
        shadow_access(shadow, &cells, base + at, bytes, store);
    }
    assert_memory_equal(&r.cells, &cells, sizeof cells);
    assert_counts(shadow);
    assert_int_equal(shadow->sets.lost, 0);
    lwp_comm_fini(shadow);
    free(shadow);
}

static void against_reference(void **state)
{
    (void)state;
    for (unsigned granule_bits = 0; granule_bits <= 6; granule_bits += 2) {
        random_run(granule_bits, 2, 20000);
        random_run(granule_bits, 5, 50000);
        random_run(granule_bits, THREADS, 50000); /* sets of two words */
    }
}

/* Many short traces, of few threads and steps. */
static void small_traces(void **state)
{
    (void)state;
    for (unsigned trace = 0; trace < AMOUNT(10000, 2500); trace++)
        random_run(2 * random_below(4), 2 + random_below(4), 4 + random_below(60));
}

static void one_location(void **state)
{
    (void)state;
    static struct cells cells;
    struct lwp_comm_shadow *shadow = malloc(sizeof *shadow);
    memset(&cells, 0, sizeof cells);
    assert_true(lwp_comm_init(shadow, &test_port, 2, 1 << 20));
    const char *steps = "r2 w1 r1 r2 r2 r3 w1 r2 w2 r1 r2 r3 r3"; /* figure 1's kinds of steps, at one double */
    for (const char *at = steps; *at; at += 2 + (at[2] == ' ')) {
        lwp_comm_run(shadow, (uint32_t)(at[1] - '0'));
        shadow_access(shadow, &cells, 4096, 8, *at == 'w');
    }
    assert_int_equal(cells.first[1][2], 2);
    assert_int_equal(cells.again[1][2], 1);
    assert_int_equal(cells.first[1][3], 1);
    assert_int_equal(cells.first[2][1], 1);
    assert_int_equal(cells.first[2][3], 1);
    assert_int_equal(cells.again[2][3], 1);
    assert_int_equal(cells.first[2][2] + cells.first[1][1], 0);
    /* a block that was freed and is used again, and one half of a number each */
    lwp_comm_forget(shadow, 4096, 8);
    lwp_comm_run(shadow, 4);
    shadow_access(shadow, &cells, 4096, 8, false);
    assert_int_equal(cells.first[2][4], 0);
    lwp_comm_run(shadow, 1);
    shadow_access(shadow, &cells, 8192, 4, true);
    lwp_comm_run(shadow, 2);
    shadow_access(shadow, &cells, 8196, 4, true);
    lwp_comm_run(shadow, 5);
    shadow_access(shadow, &cells, 8192, 8, false);
    assert_true(cells.first[1][5] == 1 && cells.first[2][5] == 1);
    lwp_comm_fini(shadow);
    free(shadow);
}

/* With room for a sixteenth of what is written, counts stay right but for what sampling lines costs. */
static void little_memory(void **state)
{
    (void)state;
    enum { LEAVES = 256, ROUNDS = 2 };
    static struct cells cells;
    struct lwp_comm_shadow *shadow = malloc(sizeof *shadow);
    memset(&cells, 0, sizeof cells);
    assert_true(lwp_comm_init(shadow, &test_port, 2, LEAVES / 16 << LWP_COMM_LEAF_BITS));
    uint64_t words = (uint64_t)LEAVES << LWP_COMM_LEAF_BITS >> 3;
    for (unsigned round = 0; round < ROUNDS; round++)
        for (uint32_t thread = 1; thread <= 2; thread++) {
            lwp_comm_run(shadow, thread);
            for (uint64_t i = 0; i < words; i++)
                shadow_access(shadow, &cells, ((uint64_t)3 << 40) + 8 * i, 8, thread == 1);
        }
    assert_in_range(shadow->thinned, 4, 5);
    assert_true(shadow->leaves <= LEAVES / 16 + 1);
    double most = (double)(ROUNDS * words);
    assert_true(fabs((double)cells.first[1][2] - most) < 0.03 * most);
    assert_int_equal(cells.again[1][2] + cells.first[2][1] + cells.again[2][1], 0);
    assert_true(fabs((double)(shadow->touched << shadow->thinned) - 2 * (double)words) < 0.06 * (double)words);
    lwp_comm_fini(shadow);
    free(shadow);
}

/* More sets of readers than there is room for. */
static void many_sets(void **state)
{
    (void)state;
    struct lwp_comm_sets sets;
    assert_true(lwp_comm_sets_init(&sets, &test_port));
    for (unsigned i = 0; i < AMOUNT(400000, 100000); i++) {
        uint32_t set = 0;
        for (unsigned k = 0; k < 6; k++) {
            uint32_t thread = 1 + random_below(300);
            set = lwp_comm_sets_with(&sets, set, thread);
            assert_true(lwp_comm_sets_has(&sets, set, thread));
        }
    }
    assert_true(sets.lost > 0);
    assert_true(lwp_comm_sets_has(&sets, lwp_comm_sets_with(&sets, 0, 5), 5));
    assert_false(lwp_comm_sets_has(&sets, lwp_comm_sets_with(&sets, 0, 5), 6));
    lwp_comm_sets_fini(&sets);
}

/* ---- distances ---- */

/* Distinct elements since the last one of `trace[at]`; -1: there is none. */
static int64_t plain_distance(const uint64_t *trace, size_t at)
{
    int64_t distinct = 0;
    for (size_t i = at; i--;) {
        if (trace[i] == trace[at])
            return distinct;
        bool seen = false;
        for (size_t k = i + 1; k < at && !seen; k++)
            seen = trace[k] == trace[i];
        distinct += !seen;
    }
    return -1;
}

static void distances(void **state)
{
    (void)state;
    enum { LENGTH = 1500, SITES = 5 };
    static uint64_t trace[LENGTH];
    static uint32_t site[LENGTH];
    uint32_t before;
    struct lwp_comm_distances all;
    assert_true(lwp_comm_distances_init(&all, &test_port));
    for (uint64_t run = 1; run <= 6; run++) {
        unsigned elements = (unsigned[]){1, 2, 7, 50, 300, 1000}[run - 1];
        struct lwp_comm_trace *one = lwp_comm_trace_of(&all, run), *other = lwp_comm_trace_of(&all, 100 + run);
        for (size_t i = 0; i < LENGTH; i++) {
            trace[i] = random_below(elements);
            site[i] = random_below(SITES);
            int64_t distance = lwp_comm_trace_read(&all, one, trace[i], site[i], &before);
            assert_int_equal(distance, plain_distance(trace, i));
            size_t last = i;
            while (distance >= 0 && trace[--last] != trace[i])
                ;
            assert_true(distance < 0 || before == site[last]);
            lwp_comm_trace_read(&all, other, i, 0, &before); /* of others: nothing to it */
        }
    }
    assert_int_equal(all.thinned, 0);
    lwp_comm_distances_fini(&all);
}

/* Two locations of one pair, as figure 4 has them; + marks reuse, which to the distance is a read like any other. */
static void figure_4(void **state)
{
    (void)state;
    static const struct {
        char element;
        int64_t distance;
    } steps[] = {{'a', -1}, {'b', -1}, {'a', 1}, {'a', 0}, {'b', 1}, {'b', 0}, {'a', 1}};
    struct lwp_comm_distances all;
    assert_true(lwp_comm_distances_init(&all, &test_port));
    struct lwp_comm_trace *trace = lwp_comm_trace_of(&all, 23);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        assert_int_equal(lwp_comm_trace_read(&all, trace, (uint64_t)steps[i].element, 0, &(uint32_t){0}), steps[i].distance);
    lwp_comm_distances_fini(&all);
}

/* Walks over an array again and again have one distance, whether all of it is followed or a part. */
static void thinned_distances(void **state)
{
    (void)state;
    enum { ELEMENTS = 60000, ROUNDS = 6 };
    struct lwp_comm_distances all;
    assert_true(lwp_comm_distances_init(&all, &test_port));
    all.elements_most = ELEMENTS / 7;
    struct lwp_comm_trace *trace = lwp_comm_trace_of(&all, 1);
    double sum = 0, count = 0;
    for (unsigned round = 0; round < ROUNDS; round++)
        for (uint64_t i = 0; i < ELEMENTS; i++) {
            uint32_t before;
            int64_t distance = lwp_comm_trace_read(&all, trace, 64 + i, (uint32_t)i, &before);
            if (distance < 0)
                continue;
            assert_int_equal(before, i); /* also once it moved to other tables */
            sum += (double)distance;
            count++;
        }
    assert_in_range(all.thinned, 3, 4);
    assert_true(all.elements <= all.elements_most);
    assert_true(fabs(sum / count - ELEMENTS) < 0.05 * ELEMENTS);
    assert_true(fabs(count * (1 << all.thinned) - (ROUNDS - 1.0) * ELEMENTS) < 0.05 * ROUNDS * ELEMENTS);
    lwp_comm_distances_fini(&all);
}

/* ---- counts and what they are described by ---- */

static void counts_by_pair(void **state)
{
    (void)state;
    enum { SITES = 30, PARTIES = 40 };
    static uint64_t expected[SITES][PARTIES][PARTIES];
    struct lwp_comm_counts counts;
    assert_true(lwp_comm_counts_init(&counts, &test_port));
    for (unsigned i = 0; i < 300000; i++) {
        unsigned site = random_below(SITES), writer = random_below(PARTIES), reader = random_below(PARTIES);
        uint32_t at = lwp_comm_counts_at(&counts, site, writer, reader);
        counts.list[at].first++;
        expected[site][writer][reader]++;
    }
    for (unsigned site = 0; site < SITES; site++)
        for (unsigned writer = 0; writer < PARTIES; writer++)
            for (unsigned reader = 0; reader < PARTIES; reader++)
                if (expected[site][writer][reader]) {
                    uint32_t at = lwp_comm_counts_at(&counts, site, writer, reader);
                    assert_int_equal(counts.list[at].first, expected[site][writer][reader]);
                }
    counts.most = counts.room;
    while (counts.count < counts.room)
        lwp_comm_counts_at(&counts, 1000 + counts.count, 1, 2);
    assert_int_equal(lwp_comm_counts_at(&counts, 1 << 24, 1, 2), 0);
    lwp_comm_counts_fini(&counts);
}

static void equations(void **state)
{
    (void)state;
    const uint64_t first[9] = {0, 10, 5, 4, 0, 0, 2, 2, 0}, again[9] = {0, 30, 5, 8, 0, 3, 0, 6, 0};
    double ratios[9];
    lwp_communication_ratios(first, again, 3, ratios);
    const double wanted[9] = {0, 3, 1, 2, 0, 0, 0, 3, 0};
    for (unsigned i = 0; i < 9; i++)
        assert_true(ratios[i] == wanted[i]);
    /* rows 0 3 1, 2 0 0, 0 3 0: E[x^2] - E[x]^2 */
    double homogeneity = ((10.0 / 3 - 16.0 / 9) + (4.0 / 3 - 4.0 / 9) + (9.0 / 3 - 1)) / 3;
    assert_true(fabs(lwp_communication_homogeneity(ratios, 3) - homogeneity) < 1e-12);
    assert_true(fabs(lwp_communication_balance(ratios, 3) - (4 / 3.0 - 1) * 100) < 1e-9);
    assert_true(lwp_communication_balance(ratios, 0) == 0 && lwp_communication_homogeneity(ratios, 0) == 0);
    struct lwp_distance_bucket buckets[] = {{7, 1}, {0, 4}, {7, 2}, {100, 3}};
    assert_int_equal(lwp_distances_sort(buckets, 4), 3);
    assert_int_equal(lwp_distances_quantile(buckets, 3, 0.5), 7);
    assert_int_equal(lwp_distances_quantile(buckets, 3, 0.9), 100);
    assert_true(lwp_distances_above(buckets, 3, 7) == 0.3);
}

/* Threads in any order, and a little of something else everywhere. */
static void patterns(void **state)
{
    (void)state;
    enum { N = 8 };
    static const size_t order[N] = {3, 0, 7, 5, 1, 6, 2, 4};
    static const char *const names[] = {"ring", "pipeline", "nearest neighbour", "nearest neighbour", "master/worker",
                                        "one to all", "reduction", "reduction (tree)", "all to all", NULL};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        uint64_t first[N * N] = {0};
        for (size_t w = 0; w < N; w++)
            for (size_t r = 0; r < N; r++) {
                const bool edge[] = {r == (w + 1) % N, r == w + 1, r == w + 1 || w == r + 1, r == (w + 1) % N || w == (r + 1) % N,
                                     (r == 0) != (w == 0), w == 0 && r, r == 0 && w, w && r == (w & (w - 1)), true, (3 * w + r) % 5 == 0};
                if (w != r)
                    first[order[w] * N + order[r]] = edge[k] ? 1000 + 7 * w : 3;
            }
        const char *name = lwp_communication_pattern(first, N);
        assert_true(name == names[k] || (name && names[k] && strcmp(name, names[k]) == 0));
    }
}

static void placement(void **state)
{
    (void)state;
    enum { N = 8 };
    uint64_t first[N * N] = {0};
    size_t group[N], plain[N];
    for (size_t i = 0; i < N; i++) { /* i with i + 4, and all a little */
        for (size_t k = 0; k < N; k++)
            first[i * N + k] = i == k ? 0 : 1;
        first[i * N + (i + 4) % N] = 100;
        plain[i] = i / 2;
    }
    lwp_communication_group(first, N, 2, group);
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < N; k++)
            assert_int_equal(group[i] == group[k], i % 4 == k % 4);
    assert_true(fabs(lwp_communication_within(first, N, group) - 800.0 / 848) < 1e-12);
    assert_true(fabs(lwp_communication_within(first, N, plain) - 8.0 / 848) < 1e-12);
    lwp_communication_group(first, N, 4, group);
    assert_true(group[0] == group[4] && lwp_communication_within(first, N, group) > 0.9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_traces),
        cmocka_unit_test(against_reference), cmocka_unit_test(one_location), cmocka_unit_test(little_memory),
        cmocka_unit_test(many_sets),         cmocka_unit_test(distances),    cmocka_unit_test(figure_4),
        cmocka_unit_test(thinned_distances), cmocka_unit_test(counts_by_pair), cmocka_unit_test(equations),
        cmocka_unit_test(patterns),          cmocka_unit_test(placement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
