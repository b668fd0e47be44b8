/* Arithmetic up to a modulus: a pointer that moves by 40 bytes a round is, where the rounds meet, somewhere at its
 * first offset plus a multiple of 40. Sums and joins take the greatest common divisor, so a value can only become
 * less known, and a loop settles after a few rounds. */
#include "analysis/program/pointers/pointer_flow.h"

#include "analysis/program/types/type_die.h"
#include "analysis/statistics/stride.h"

const struct pointer_value pointer_unknown = {.kind = POINTER_NUMBER, .modulus = 1};

uint32_t pointer_source(struct pointer_sources *sources, const struct code_pointee *pointee)
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

bool pointer_same_source(const struct pointer_sources *sources, uint32_t a, uint32_t b)
{
    if (a == b)
        return true;
    const struct code_pointee *x = &sources->items[a], *y = &sources->items[b];
    Dwarf_Die first = x->type, second = y->type;
    return x->descriptor == y->descriptor && x->bytes == y->bytes && type_die_strip(&first, NULL) &&
           type_die_strip(&second, NULL) && first.addr == second.addr;
}

bool pointer_equal(const struct pointer_value *a, const struct pointer_value *b)
{
    return a->kind == b->kind && a->offset == b->offset && a->modulus == b->modulus && a->factor == b->factor && a->times == b->times &&
           (a->kind != POINTER_ADDRESS || (a->source == b->source && a->origin == b->origin));
}

struct pointer_value pointer_address(uint32_t source, int64_t offset)
{
    return (struct pointer_value){.kind = POINTER_ADDRESS, .source = source, .offset = offset};
}

void pointer_name(struct pointer_value *value, uint64_t factor)
{
    bool named = factor && value->modulus && value->modulus <= INT64_MAX;
    value->factor = named ? factor : 0;
    value->times = named ? (int64_t)value->modulus : 0;
}

/* Of a sum. */
static void pointer_add_multiples(const struct pointer_value *a, const struct pointer_value *b, struct pointer_value *sum)
{
    sum->modulus = lwp_stride_gcd(a->modulus, b->modulus);
    sum->factor = 0;
    sum->times = 0;
    if (!a->modulus || !b->modulus) {
        sum->factor = a->modulus ? a->factor : b->factor;
        sum->times = a->modulus ? a->times : b->times;
    } else if (a->factor && a->factor == b->factor && !__builtin_add_overflow(a->times, b->times, &sum->times) && sum->times != INT64_MIN) {
        sum->modulus = (uint64_t)(sum->times < 0 ? -sum->times : sum->times);
        sum->factor = sum->times ? a->factor : 0;
    } else {
        sum->times = 0;
    }
}

struct pointer_value pointer_add(const struct pointer_value *a, const struct pointer_value *b)
{
    struct pointer_value sum = a->kind == POINTER_ADDRESS ? *a : *b;
    if ((a->kind == POINTER_ADDRESS && b->kind == POINTER_ADDRESS) || a->kind == POINTER_NONE ||
        b->kind == POINTER_NONE || __builtin_add_overflow(a->offset, b->offset, &sum.offset))
        return pointer_unknown;
    pointer_add_multiples(a, b, &sum);
    return sum;
}

struct pointer_value pointer_scaled(const struct pointer_value *value, int64_t scale)
{
    struct pointer_value made = *value;
    if (scale == 1)
        return made;
    if (value->kind != POINTER_NUMBER || scale == INT64_MIN || __builtin_mul_overflow(value->offset, scale, &made.offset) ||
        __builtin_mul_overflow(value->times, scale, &made.times) ||
        __builtin_mul_overflow(value->modulus, (uint64_t)(scale < 0 ? -scale : scale), &made.modulus) || made.modulus > INT64_MAX)
        return pointer_unknown;
    if (scale == 0)
        made.modulus = made.factor = 0;
    return made;
}

struct pointer_value pointer_join(const struct pointer_sources *sources, const struct pointer_value *a,
                                  const struct pointer_value *b)
{
    if (a->kind == POINTER_NONE || b->kind == POINTER_NONE)
        return a->kind == POINTER_NONE ? *b : *a;
    if (a->kind != b->kind) { /* a null pointer beside an address */
        const struct pointer_value *number = a->kind == POINTER_NUMBER ? a : b;
        return number->offset == 0 && number->modulus == 0 ? *(a == number ? b : a) : pointer_unknown;
    }
    if (a->kind == POINTER_ADDRESS && !pointer_same_source(sources, a->source, b->source))
        return pointer_unknown;
    struct pointer_value joined = *a;
    int64_t apart;
    if (pointer_equal(a, b))
        return joined;
    joined.factor = 0;
    joined.times = 0;
    joined.origin = a->origin == b->origin ? a->origin : 0;
    if (__builtin_sub_overflow(a->offset, b->offset, &apart) || apart == INT64_MIN)
        return pointer_unknown;
    joined.modulus = lwp_stride_gcd(lwp_stride_gcd(a->modulus, b->modulus), (uint64_t)(apart < 0 ? -apart : apart));
    return joined;
}

bool pointer_holds(struct code_module *module, const struct code_pointee *outer, const struct pointer_value *value,
                   const struct code_pointee *inner, int64_t inner_offset)
{
    int64_t offset;
    if (outer->descriptor || inner->descriptor || outer->bytes == 0 || (value->modulus && value->modulus % outer->bytes) ||
        __builtin_sub_overflow(value->offset, inner_offset, &offset))
        return false;
    return code_type_holds_kept(module, outer->type, lwp_stride_residue(offset, outer->bytes), inner->type);
}
