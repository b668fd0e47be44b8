/* Arithmetic up to a modulus: a pointer that moves by 40 bytes a round is, where the rounds meet, somewhere at its
 * first offset plus a multiple of 40. Sums and joins take the greatest common divisor, so a value can only become
 * less known, and a loop settles after a few rounds. */
#include "analysis/program/types/type_flow_values.h"

#include "analysis/statistics/stride.h"

#include "analysis/program/types/type_die.h"

const struct flow_value flow_unknown = {FLOW_NUMBER, 0, 0, 1};

uint32_t flow_source(struct flow_sources *sources, const struct code_pointee *pointee)
{
    if (!sources->index)
        sources->index = lwp_map_new();
    uint64_t key =
        lwp_hash_mix(lwp_hash_mix((uintptr_t)pointee->type.addr, (uintptr_t)pointee->name), pointee->descriptor);
    uint32_t *slot = lwp_map_at(sources->index, key);
    if (*slot == LWP_MAP_NONE) {
        *slot = (uint32_t)sources->count;
        LWP_GROW(&sources->items, sources->count, &sources->capacity);
        sources->items[sources->count++] = *pointee;
    }
    return *slot;
}

bool flow_same_source(const struct flow_sources *sources, uint32_t a, uint32_t b)
{
    if (a == b)
        return true;
    const struct code_pointee *x = &sources->items[a], *y = &sources->items[b];
    Dwarf_Die first = x->type, second = y->type;
    return x->descriptor == y->descriptor && x->bytes == y->bytes && type_die_strip(&first, NULL) &&
           type_die_strip(&second, NULL) && first.addr == second.addr;
}

bool flow_equal(const struct flow_value *a, const struct flow_value *b)
{
    return a->kind == b->kind && a->offset == b->offset && a->modulus == b->modulus &&
           (a->kind != FLOW_ADDRESS || a->source == b->source);
}

struct flow_value flow_address(uint32_t source, int64_t offset)
{
    return (struct flow_value){FLOW_ADDRESS, source, offset, 0};
}

struct flow_value flow_add(const struct flow_value *a, const struct flow_value *b)
{
    struct flow_value sum = a->kind == FLOW_ADDRESS ? *a : *b;
    if ((a->kind == FLOW_ADDRESS && b->kind == FLOW_ADDRESS) || a->kind == FLOW_NONE || b->kind == FLOW_NONE ||
        __builtin_add_overflow(a->offset, b->offset, &sum.offset))
        return flow_unknown;
    sum.modulus = lwp_stride_gcd(a->modulus, b->modulus);
    return sum;
}

struct flow_value flow_scaled(const struct flow_value *value, int64_t scale)
{
    struct flow_value made = *value;
    if (scale == 1)
        return made;
    if (value->kind != FLOW_NUMBER || scale == INT64_MIN ||
        __builtin_mul_overflow(value->offset, scale, &made.offset) ||
        __builtin_mul_overflow(value->modulus, (uint64_t)(scale < 0 ? -scale : scale), &made.modulus) ||
        made.modulus > INT64_MAX)
        return flow_unknown;
    if (scale == 0)
        made.modulus = 0;
    return made;
}

struct flow_value flow_join(const struct flow_sources *sources, const struct flow_value *a, const struct flow_value *b)
{
    if (a->kind == FLOW_NONE || b->kind == FLOW_NONE)
        return a->kind == FLOW_NONE ? *b : *a;
    if (a->kind != b->kind) { /* a null pointer beside an address */
        const struct flow_value *number = a->kind == FLOW_NUMBER ? a : b;
        return number->offset == 0 && number->modulus == 0 ? *(a == number ? b : a) : flow_unknown;
    }
    if (a->kind == FLOW_ADDRESS && !flow_same_source(sources, a->source, b->source))
        return flow_unknown;
    struct flow_value joined = *a;
    int64_t apart;
    if (__builtin_sub_overflow(a->offset, b->offset, &apart) || apart == INT64_MIN)
        return flow_unknown;
    joined.modulus = lwp_stride_gcd(lwp_stride_gcd(a->modulus, b->modulus), (uint64_t)(apart < 0 ? -apart : apart));
    return joined;
}

bool flow_holds(const struct code_pointee *outer, const struct flow_value *value, const struct code_pointee *inner,
                int64_t inner_offset)
{
    int64_t size = (int64_t)outer->bytes, offset;
    if (outer->descriptor || inner->descriptor || size == 0 || (value->modulus && value->modulus % outer->bytes) ||
        __builtin_sub_overflow(value->offset, inner_offset, &offset))
        return false;
    return code_type_holds(outer->type, (uint64_t)((offset % size + size) % size), inner->type);
}
