/* Exact memory redundancies against a reference that goes byte by byte, on random accesses; and by hand where the
 * definitions are easy to get wrong. The exact engine's files are included, as they are no part of lwp. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collector/exact/shadow.c"
#include "collector/exact/shadow_pairs.c"
#include "collector/exact/shadow_tuples.c"
#include "collector/value.c"
#include "tests/unit/shadow_port.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct lwp_shadow_limits ample = {20, 1 << 16};

/* ---- the reference ---- */

/* Around the border of two leaves. */
enum { BYTES = 96, CONTEXTS = 6, KINDS = 3 };
static const uint64_t base = ((uint64_t)7 << LEAF_BITS) - BYTES / 2;

struct counts {
    uint64_t dead, dead_times, same, same_times, close, other, again, last;
};

struct reference {
    struct {
        unsigned stored_by, loaded_by, value;
        bool pending, unchanged;
    } bytes[BYTES];
    struct counts counts[KINDS][CONTEXTS][CONTEXTS];
    uint64_t stored, loaded, used;
};

static struct counts *reference_count(struct reference *r, unsigned kind, unsigned first, unsigned second, uint64_t at)
{
    struct counts *counts = &r->counts[kind][first][second];
    counts->again += counts->last == base + at;
    counts->last = base + at;
    return counts;
}

static uint64_t reference_value(const struct reference *r, unsigned at, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)r->bytes[at + i].value << 8 * i;
    return value;
}

static bool near_double(double a, double b)
{
    long double share = (long double)b / a;
    return isnormal(a) && isnormal(b) && share >= 0.99L && share <= 1.01L;
}

static unsigned reference_rule(uint64_t before, uint64_t after, unsigned bytes, unsigned element)
{
    double a, b;
    if (before == after)
        return LWPS_VALUE_SAME;
    if (element != 8 || bytes != 8)
        return LWPS_VALUE_OTHER;
    memcpy(&a, &before, 8);
    memcpy(&b, &after, 8);
    return near_double(a, b) ? LWPS_VALUE_CLOSE : LWPS_VALUE_OTHER;
}

static void reference_use(struct reference *r, unsigned at, unsigned bytes)
{
    for (unsigned i = at; i < at + bytes; i++) {
        r->used += r->bytes[i].pending;
        r->bytes[i].pending = false;
    }
}

/* Each run of bytes with one context counts once. */
static void reference_runs(struct reference *r, unsigned kind, unsigned at, unsigned bytes, unsigned context,
                           unsigned value)
{
    unsigned last = 0;
    struct counts *counts = NULL;
    uint64_t dead = 0;
    for (unsigned i = at; i < at + bytes; i++) {
        unsigned first = kind == LWP_SHADOW_STORES ? r->bytes[i].stored_by : r->bytes[i].loaded_by;
        if (first && first != last) {
            counts = reference_count(r, kind, first, context, at);
            counts->same_times += value != LWPS_VALUE_OTHER;
            dead = counts->dead;
        }
        last = first;
        if (!first)
            continue;
        *(value == LWPS_VALUE_SAME ? &counts->same : value == LWPS_VALUE_CLOSE ? &counts->close : &counts->other) += 1;
        if (kind == LWP_SHADOW_STORES && r->bytes[i].pending && counts->dead++ == dead)
            counts->dead_times++;
    }
}

static void reference_load(struct reference *r, unsigned at, unsigned bytes, unsigned context)
{
    bool unchanged = true;
    r->loaded += bytes;
    reference_use(r, at, bytes);
    for (unsigned i = at; i < at + bytes; i++)
        unchanged &= !r->bytes[i].loaded_by || r->bytes[i].unchanged;
    reference_runs(r, LWP_SHADOW_LOADS, at, bytes, context, unchanged ? LWPS_VALUE_SAME : LWPS_VALUE_OTHER);
    for (unsigned i = at; i < at + bytes; i++) {
        r->bytes[i].loaded_by = context;
        r->bytes[i].unchanged = true;
    }
}

static void reference_store(struct reference *r, unsigned at, unsigned bytes, unsigned context, uint64_t after,
                            unsigned element)
{
    r->stored += bytes;
    reference_runs(r, LWP_SHADOW_STORES, at, bytes, context,
                   reference_rule(reference_value(r, at, bytes), after, bytes, element));
    for (unsigned i = at; i < at + bytes; i++) {
        unsigned value = after >> 8 * (i - at) & 255;
        r->bytes[i].stored_by = context;
        r->bytes[i].pending = true;
        r->bytes[i].unchanged &= value == r->bytes[i].value;
        r->bytes[i].value = value;
    }
}

static void reference_forget(struct reference *r, unsigned at, unsigned bytes)
{
    for (unsigned i = at; i < at + bytes; i++) {
        r->bytes[i].stored_by = r->bytes[i].loaded_by = 0;
        r->bytes[i].pending = r->bytes[i].unchanged = false;
    }
}

/* ---- random accesses ---- */

static uint64_t seed;

static unsigned chance(unsigned below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % below;
}

static uint64_t some_value(const struct reference *r, unsigned at, unsigned bytes, unsigned element)
{
    uint64_t value = reference_value(r, at, bytes);
    switch (chance(4)) {
    case 0: /* as it is */
        return value;
    case 1: /* one byte of it differs, as it may */
        return value ^ (uint64_t)chance(256) << 8 * chance(bytes);
    default:
        break;
    }
    if (element == 8) {
        double number = 1 + chance(60) / 1007.0;
        memcpy(&value, &number, sizeof value);
        return value;
    }
    value = chance(3) * 0x0100010001000101u;
    return bytes == 8 ? value : value & (((uint64_t)1 << 8 * bytes) - 1);
}

/* Mostly words as compilers make them, some not. */
static void random_step(struct lwp_shadow *shadow, struct reference *r)
{
    unsigned bytes = chance(4) ? 1u << chance(4) : 1 + chance(8);
    unsigned at = chance(BYTES - bytes + 1), context = 1 + chance(CONTEXTS - 1);
    if (chance(4))
        at -= at % bytes;
    switch (chance(16)) {
    case 0:
        bytes = 1 + chance(BYTES - at);
        lwp_shadow_use(shadow, base + at, bytes);
        reference_use(r, at, bytes);
        return;
    case 1:
        bytes = 1 + chance(BYTES - at);
        lwp_shadow_forget(shadow, base + at, bytes);
        reference_forget(r, at, bytes);
        return;
    default:
        break;
    }
    if (chance(2)) {
        lwp_shadow_load(shadow, base + at, bytes, context);
        reference_load(r, at, bytes, context);
        return;
    }
    unsigned element = bytes == 8 && chance(2) ? 8 : 0;
    uint64_t after = some_value(r, at, bytes, element);
    lwp_shadow_store(shadow, base + at, bytes, context, reference_value(r, at, bytes), after, element);
    reference_store(r, at, bytes, context, after, element);
}

static void assert_pair(const struct lwp_shadow *shadow, const struct lwp_shadow_pair *pair, const struct counts *counts)
{
    assert_int_equal(pair->dead, counts->dead);
    assert_int_equal(pair->dead_times, counts->dead_times);
    assert_int_equal(pair->same, counts->same);
    assert_int_equal(pair->same_times, counts->same_times);
    assert_int_equal(pair->close, counts->close);
    assert_int_equal(pair->other, counts->other);
    assert_int_equal(pair->again, counts->again);
    uint64_t place = shadow->pairs.places[pair - shadow->pairs.entries];
    assert_true(place >= base && place < base + BYTES);
}

static void assert_alike(const struct lwp_shadow *shadow, const struct reference *r)
{
    size_t expected = 0, seen = 0;
    for (unsigned kind = 0; kind < KINDS; kind++)
        for (unsigned first = 0; first < CONTEXTS; first++)
            for (unsigned second = 0; second < CONTEXTS; second++) {
                const struct counts *counts = &r->counts[kind][first][second];
                expected += counts->same + counts->close + counts->other > 0;
            }
    for (size_t i = 0; i < (size_t)1 << shadow->pairs.bits; i++) {
        const struct lwp_shadow_pair *pair = &shadow->pairs.entries[i];
        if (!pair->key)
            continue;
        seen++;
        assert_pair(shadow, pair,
                    &r->counts[lwp_shadow_pair_kind(pair)][lwp_shadow_pair_first(pair)][lwp_shadow_pair_second(pair)]);
    }
    assert_int_equal(seen, expected);
    assert_int_equal(seen, shadow->pairs.count);
    assert_int_equal(shadow->stored, r->stored);
    assert_int_equal(shadow->loaded, r->loaded);
    assert_int_equal(shadow->used, r->used);
    assert_int_equal(shadow->unseen, 0);
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
        assert_alike(&shadow, r);
        lwp_shadow_fini(&shadow);
        free(r);
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
        cmocka_unit_test(test_random), cmocka_unit_test(test_small_tables), cmocka_unit_test(test_no_memory), cmocka_unit_test(test_full),
        cmocka_unit_test(test_overlap), cmocka_unit_test(test_gone), cmocka_unit_test(test_close),
        cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
