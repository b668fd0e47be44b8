/* What shadow memory is to count, byte by byte and as slowly as it is plain; and random accesses to both. Include the
 * shadow's files first, and have `chance`. */
#ifndef LWP_TEST_SHADOW_REFERENCE_H
#define LWP_TEST_SHADOW_REFERENCE_H

#include "collector/exact/detect/redundancy/shadow.h"

#include <math.h>
#include <string.h>

/* Below a bound. */
static unsigned chance(unsigned below);

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
        if (!chance(64)) {
            lwp_shadow_forget_all(shadow);
            reference_forget(r, 0, BYTES);
            return;
        }
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

/* ---- what came out ---- */

static bool pair_is_like(const struct lwp_shadow *shadow, const struct lwp_shadow_pair *pair, const struct counts *counts)
{
    uint64_t place = shadow->pairs.places[pair - shadow->pairs.entries];
    return pair->dead == counts->dead && pair->dead_times == counts->dead_times && pair->same == counts->same &&
           pair->same_times == counts->same_times && pair->close == counts->close && pair->other == counts->other &&
           pair->again == counts->again && place >= base && place < base + BYTES;
}

static bool shadow_is_like(const struct lwp_shadow *shadow, const struct reference *r)
{
    size_t expected = 0, seen = 0;
    bool like = true;
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
        like &= pair_is_like(shadow, pair, &r->counts[lwp_shadow_pair_kind(pair)][lwp_shadow_pair_first(pair)][lwp_shadow_pair_second(pair)]);
    }
    return like && seen == expected && seen == shadow->pairs.count && shadow->stored == r->stored &&
           shadow->loaded == r->loaded && shadow->used == r->used && !shadow->unseen;
}

#endif
