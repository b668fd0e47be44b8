/* Exact memory redundancies against a reference that goes byte by byte, on random accesses; and by hand where the
 * definitions are easy to get wrong. The exact engine's files are included, as they are no part of lwp. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collector/exact/detect/redundancy/shadow.c"
#include "collector/exact/detect/redundancy/shadow_pairs.c"
#include "collector/exact/detect/redundancy/shadow_threads.c"
#include "collector/exact/detect/redundancy/shadow_tuples.c"
#include "collector/record/value.c"
#include "tests/unit/amount.h"
#include "tests/unit/shadow_port.h"
#include "tests/unit/shadow_reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct lwp_shadow_limits ample = {20, 1 << 16};

static uint64_t seed;

static unsigned chance(unsigned below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % below;
}

static void test_random(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 40; round++) {
        struct lwp_shadow shadow;
        struct reference *r = calloc(1, sizeof *r);
        seed = round;
        assert_true(lwp_shadow_init(&shadow, &port, &ample));
        for (unsigned step = 0; step < 10000; step++)
            random_step(&shadow, r);
        assert_true(shadow_is_like(&shadow, r));
        lwp_shadow_fini(&shadow);
        free(r);
    }
    assert_int_equal(mapped, 0);
}

/* Many short traces: what holds at the end of a long one could hide what cancels out. */
static void test_small(void **state)
{
    (void)state;
    enum { TRACES = 12000 };
    static const struct lwp_shadow_limits few = {7, 1 << 16};
    static struct reference r;
    struct lwp_shadow shadow;
    assert_true(lwp_shadow_init(&shadow, &port, &few));
    for (unsigned trace = 0; trace < TRACES; trace++) {
        seed = 100000 + trace;
        memset(&r, 0, sizeof r);
        lwp_shadow_forget(&shadow, base, BYTES);
        lwp_shadow_pairs_clear(&shadow.pairs);
        shadow.stored = shadow.loaded = shadow.used = 0;
        for (unsigned step = 4 + chance(60); step > 0; step--)
            random_step(&shadow, &r);
        assert_true(shadow_is_like(&shadow, &r));
    }
    lwp_shadow_fini(&shadow);
    assert_int_equal(mapped, 0);
}

/* Stores of several threads: for each byte whose store was overwritten unread, by which thread, and by whom; as plain as it is. */
static void test_threads(void **state)
{
    (void)state;
    enum { ROUNDS = AMOUNT(300, 60), STEPS = 300, OF_THREADS = 3 };
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct lwp_shadow shadow;
        struct lwp_shadow_threads threads;
        struct {
            unsigned by, thread;
            bool pending;
        } bytes[BYTES] = {{0}};
        uint64_t own[CONTEXTS][CONTEXTS] = {{0}}, others[CONTEXTS][CONTEXTS] = {{0}}, used = 0;
        seed = round;
        assert_true(lwp_shadow_init(&shadow, &port, &ample) && lwp_shadow_threads_init(&threads, &port));
        for (unsigned step = 0; step < STEPS; step++) {
            const unsigned many = 1 + chance(8), at = chance(BYTES - many + 1), context = 1 + chance(CONTEXTS - 1);
            const unsigned thread = step < STEPS / 10 ? 0 : chance(OF_THREADS);
            const bool stores = chance(3) > 0;
            if (stores) {
                lwp_shadow_threads_store(&threads, &shadow, base + at, many, context, thread);
                lwp_shadow_store(&shadow, base + at, many, context, 0, step, 0);
            } else {
                lwp_shadow_load(&shadow, base + at, many, context);
            }
            for (unsigned i = at; i < at + many; i++) {
                if (bytes[i].pending && stores)
                    (bytes[i].thread == thread ? own : others)[bytes[i].by][context]++;
                used += bytes[i].pending && !stores;
                bytes[i].pending = stores;
                bytes[i].by = stores ? context : bytes[i].by;
                bytes[i].thread = stores ? thread : bytes[i].thread;
            }
        }
        assert_int_equal(shadow.used, used);
        for (unsigned first = 1; first < CONTEXTS; first++)
            for (unsigned second = 1; second < CONTEXTS; second++) {
                assert_int_equal(lwp_shadow_pairs_at(&shadow.pairs, LWP_SHADOW_STORES, first, second, base)->dead, own[first][second]);
                assert_int_equal(lwp_shadow_pairs_at(&shadow.pairs, LWP_SHADOW_OVERWRITES, first, second, base)->dead, others[first][second]);
            }
        lwp_shadow_threads_fini(&threads);
        lwp_shadow_fini(&shadow);
    }
    assert_int_equal(mapped, 0);
}

/* What all pairs have of something. */
static struct lwp_shadow_pair sums(const struct lwp_shadow *shadow)
{
    struct lwp_shadow_pair sum = {0};
    for (size_t i = 0; i < (size_t)1 << shadow->pairs.bits; i++) {
        const struct lwp_shadow_pair *pair = &shadow->pairs.entries[i];
        sum.dead += pair->dead;
        sum.same += pair->same;
        sum.close += pair->close;
        sum.other += pair->other;
    }
    return sum;
}

static size_t left;

static void leave(uint64_t place)
{
    assert_true(place >= base && place < base + BYTES);
    left++;
}

/* A full table keeps the pairs that there is most of, and all bytes. */
static void test_full(void **state)
{
    (void)state;
    enum { MANY = 200, BITS = 6 };
    static const struct lwp_shadow_port leaving = {.map = port_map, .unmap = port_unmap, .leave = leave};
    struct lwp_shadow_pairs pairs;
    uint64_t bytes = 0;
    assert_true(lwp_shadow_pairs_init(&pairs, &leaving, BITS));
    for (uint32_t round = 0; round < 50; round++)
        for (uint32_t i = 1; i <= MANY; i++) {
            unsigned more = i <= 10 ? 1000 : 1;
            lwp_shadow_pairs_at(&pairs, LWP_SHADOW_LOADS, i, i, base)->same += more;
            bytes += more;
        }
    assert_true(left > MANY && pairs.bits == BITS && pairs.count <= 48);
    for (uint32_t i = 1; i <= 10; i++)
        assert_int_equal(lwp_shadow_pairs_at(&pairs, LWP_SHADOW_LOADS, i, i, base)->same, 50 * 1000);
    for (size_t i = 0; i < 1 << BITS; i++)
        bytes -= pairs.entries[i].same;
    assert_int_equal(bytes, 0);
    lwp_shadow_pairs_fini(&pairs);
    assert_int_equal(mapped, 0);
}

/* With tables too small no byte is lost: only whose it was. */
static void test_small_tables(void **state)
{
    (void)state;
    static const struct lwp_shadow_limits tiny = {4, 1 << 16}, few = {20, 4};
    for (unsigned round = 0; round < 10; round++) {
        struct lwp_shadow full, small, narrow;
        struct reference *r = calloc(3, sizeof *r);
        assert_true(lwp_shadow_init(&full, &port, &ample) && lwp_shadow_init(&small, &port, &tiny) &&
                    lwp_shadow_init(&narrow, &port, &few));
        struct lwp_shadow *all[] = {&full, &small, &narrow};
        for (unsigned i = 0; i < 3; i++) {
            seed = round;
            for (unsigned step = 0; step < 3000; step++)
                random_step(all[i], &r[i]);
        }
        struct lwp_shadow_pair a = sums(&full), b = sums(&small), c = sums(&narrow);
        assert_int_equal(a.dead, b.dead);
        assert_int_equal(a.same, b.same);
        assert_int_equal(a.close, b.close);
        assert_int_equal(a.other, b.other);
        assert_int_equal(a.dead, c.dead);
        assert_true(small.pairs.count < full.pairs.count && small.pairs.count <= 15);
        assert_int_equal(narrow.tuples.count, 4);
        for (unsigned i = 0; i < 3; i++)
            lwp_shadow_fini(all[i]);
        free(r);
    }
}

static void test_no_memory(void **state)
{
    (void)state;
    struct lwp_shadow shadow;
    for (mapped_max = 0; !lwp_shadow_init(&shadow, &port, &ample); mapped_max += 1 << 16)
        assert_int_equal(mapped, 0);
    mapped_max = mapped; /* none for leaves */
    lwp_shadow_load(&shadow, 0x1000, 8, 1);
    lwp_shadow_store(&shadow, 0x1001, 4, 1, 0, 0, 0);
    lwp_shadow_store(&shadow, UINT64_MAX - 3, 4, 1, 0, 0, 0);
    lwp_shadow_use(&shadow, UINT64_MAX - 100, 50);
    lwp_shadow_forget(&shadow, 0, UINT64_MAX);
    assert_int_equal(shadow.unseen, 16);
    assert_int_equal(shadow.pairs.count, 0);
    mapped_max = SIZE_MAX;
    lwp_shadow_fini(&shadow);
}

/* ---- by hand ---- */

static const struct lwp_shadow_pair *pair_of(const struct lwp_shadow *shadow, enum lwp_shadow_kind kind, uint32_t first,
                                             uint32_t second)
{
    static const struct lwp_shadow_pair none;
    for (size_t i = 0; i < (size_t)1 << shadow->pairs.bits; i++) {
        const struct lwp_shadow_pair *pair = &shadow->pairs.entries[i];
        if (pair->key && lwp_shadow_pair_kind(pair) == kind && lwp_shadow_pair_first(pair) == first &&
            lwp_shadow_pair_second(pair) == second)
            return pair;
    }
    return &none;
}

static void test_overlap(void **state)
{
    (void)state;
    struct lwp_shadow shadow;
    assert_true(lwp_shadow_init(&shadow, &port, &ample));
    lwp_shadow_store(&shadow, 0x1000, 8, 1, 0, 5, 0);
    lwp_shadow_load(&shadow, 0x1002, 2, 2);           /* uses two of them */
    lwp_shadow_store(&shadow, 0x1000, 4, 3, 5, 6, 0); /* two of four were used */
    lwp_shadow_store(&shadow, 0x1004, 4, 4, 0, 0, 0); /* dead and silent */
    assert_int_equal(shadow.used, 2);
    assert_int_equal(pair_of(&shadow, LWP_SHADOW_STORES, 1, 3)->dead, 2);
    assert_int_equal(pair_of(&shadow, LWP_SHADOW_STORES, 1, 3)->other, 4);
    assert_int_equal(pair_of(&shadow, LWP_SHADOW_STORES, 1, 4)->dead, 4);
    assert_int_equal(pair_of(&shadow, LWP_SHADOW_STORES, 1, 4)->same, 4);
    lwp_shadow_load(&shadow, 0x1000, 8, 5); /* bytes 2 and 3 were loaded before; only byte 0 changed since */
    assert_int_equal(pair_of(&shadow, LWP_SHADOW_LOADS, 2, 5)->same, 2);
    lwp_shadow_store(&shadow, 0x1000, 8, 6, 6, 7, 0);
    lwp_shadow_load(&shadow, 0x1000, 8, 7); /* all of it has changed, if one byte has */
    assert_int_equal(pair_of(&shadow, LWP_SHADOW_LOADS, 5, 7)->other, 8);
    lwp_shadow_fini(&shadow);
}

/* Where nothing is known of what was before: each byte that nobody stored counts as the store's own. */
static void test_first(void **state)
{
    (void)state;
    struct lwp_shadow shadow;
    assert_true(lwp_shadow_init(&shadow, &port, &ample));
    lwp_shadow_store_first(&shadow, 0x1000, 8, 1, 5, 5, 0);
    lwp_shadow_store(&shadow, 0x1000, 8, 1, 5, 5, 0);
    assert_int_equal(pair_of(&shadow, LWP_SHADOW_STORES, 1, 1)->same, 8);
    assert_int_equal(pair_of(&shadow, LWP_SHADOW_STORES, 1, 1)->dead, 0);
    lwp_shadow_store_first(&shadow, 0x1004, 8, 2, 5, 6, 0); /* four of them are known */
    lwp_shadow_store(&shadow, 0x1004, 8, 2, 5, 6, 0);
    assert_int_equal(pair_of(&shadow, LWP_SHADOW_STORES, 2, 2)->other, 4);
    assert_int_equal(pair_of(&shadow, LWP_SHADOW_STORES, 1, 2)->other, 4);
    lwp_shadow_store_first(&shadow, 0x1000, 8, 3, 5, 5, 0); /* all */
    assert_int_equal(pair_of(&shadow, LWP_SHADOW_STORES, 3, 3)->key, 0);
    lwp_shadow_fini(&shadow);
}

static void test_gone(void **state)
{
    (void)state;
    struct lwp_shadow shadow;
    assert_true(lwp_shadow_init(&shadow, &port, &ample));
    lwp_shadow_store(&shadow, 0x2000, 8, 1, 0, 1, 0);
    lwp_shadow_use(&shadow, 0x2000, 8); /* written out */
    lwp_shadow_store(&shadow, 0x2000, 8, 2, 1, 1, 0);
    assert_int_equal(shadow.used, 8);
    assert_int_equal(pair_of(&shadow, LWP_SHADOW_STORES, 1, 2)->dead, 0);
    assert_int_equal(pair_of(&shadow, LWP_SHADOW_STORES, 1, 2)->same, 8);
    lwp_shadow_forget(&shadow, 0x2000, 8); /* freed */
    lwp_shadow_store(&shadow, 0x2000, 8, 3, 1, 1, 0);
    lwp_shadow_load(&shadow, 0x2000, 8, 4);
    lwp_shadow_forget(&shadow, 0x2000, 4);
    lwp_shadow_load(&shadow, 0x2000, 8, 5);
    assert_int_equal(pair_of(&shadow, LWP_SHADOW_STORES, 2, 3)->same, 0);
    assert_int_equal(pair_of(&shadow, LWP_SHADOW_LOADS, 4, 5)->same, 4);
    lwp_shadow_fini(&shadow);
}

static uint64_t bits_of(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static void test_close(void **state)
{
    (void)state;
    struct lwp_shadow shadow;
    assert_true(lwp_shadow_init(&shadow, &port, &ample));
    lwp_shadow_store(&shadow, 0x3000, 8, 1, 0, bits_of(1.0), 8);
    lwp_shadow_store(&shadow, 0x3000, 8, 2, bits_of(1.0), bits_of(1.0099), 8);
    lwp_shadow_store(&shadow, 0x3000, 8, 3, bits_of(1.0099), bits_of(1.03), 8);
    lwp_shadow_store(&shadow, 0x3000, 8, 4, bits_of(1.03), bits_of(1.031), 0); /* not known to be a number */
    assert_int_equal(pair_of(&shadow, LWP_SHADOW_STORES, 1, 2)->close, 8);
    assert_int_equal(pair_of(&shadow, LWP_SHADOW_STORES, 2, 3)->other, 8);
    assert_int_equal(pair_of(&shadow, LWP_SHADOW_STORES, 3, 4)->other, 8);
    lwp_shadow_fini(&shadow);
}

/* Bytes stored one by one are words again once all of one context: no tuple is left in them. */
static void test_text(void **state)
{
    (void)state;
    struct lwp_shadow shadow;
    assert_true(lwp_shadow_init(&shadow, &port, &ample));
    for (unsigned pass = 1; pass <= 100; pass++)
        for (unsigned i = 0; i < 400; i++)
            lwp_shadow_store(&shadow, 0x4000 + i, 1, pass % 2 + 1, pass - 1, pass, 0);
    assert_int_equal(pair_of(&shadow, LWP_SHADOW_STORES, 1, 2)->dead, 49 * 400);
    assert_int_equal(pair_of(&shadow, LWP_SHADOW_STORES, 2, 1)->dead, 50 * 400);
    assert_int_equal(shadow.tuples.count, 3 + 3 + 3); /* first pass: beside nothing */
    lwp_shadow_fini(&shadow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_threads), cmocka_unit_test(test_small), cmocka_unit_test(test_small_tables), cmocka_unit_test(test_no_memory), cmocka_unit_test(test_full),
        cmocka_unit_test(test_overlap), cmocka_unit_test(test_gone), cmocka_unit_test(test_first), cmocka_unit_test(test_close),
        cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
