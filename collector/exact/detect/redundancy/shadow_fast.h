/* The layout of shadow memory, and what it is nearly always asked: words whose bytes are alike. To be inlined where the
 * width is known; the rest is in shadow.c. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_REDUNDANCY_SHADOW_FAST_H
#define LWP_COLLECTOR_EXACT_DETECT_REDUNDANCY_SHADOW_FAST_H

#include "collector/exact/detect/redundancy/shadow.h"
#include "collector/record/value.h"

enum {
    ADDRESS_BITS = 47,
    LEAF_BITS = 24,
    LEAF_MASK = (1 << LEAF_BITS) - 1,
    HIGH = (1 << (LEAF_BITS - 3)) + 520, /* from a unit to the word of its upper four bytes, in another set of the cache */
    TUPLE = 1 << 26, /* in place of a context: the rest is the number of a tuple */
};

/* A unit, of 8 bytes: bits 37-63 who stored them last, 10-36 who loaded them last, 9 whether nobody has loaded them
 * since, 1-8 which of them have not changed since. 0: nothing is known. With bit 0 it is split: this is the word of its
 * lower four bytes, that of the upper ones is elsewhere. A word: bit 0, contexts as in a unit, 5-8 which of its four
 * bytes nobody has loaded since, 1-4 which have not changed. */
enum { STORED_BY = 37, LOADED_BY = 10, WHOLE_PENDING = 9, PENDING = 5, UNCHANGED = 1, SPLIT = 1 };
static const uint32_t context_mask = 0x7ffffff;

static inline uint32_t word_stored_by(uint64_t word)
{
    return (uint32_t)(word >> STORED_BY);
}

static inline uint32_t word_loaded_by(uint64_t word)
{
    return (uint32_t)(word >> LOADED_BY) & context_mask;
}

static inline unsigned word_pending(uint64_t word)
{
    return word >> PENDING & 15;
}

static inline unsigned word_unchanged(uint64_t word)
{
    return word >> UNCHANGED & 15;
}

static inline uint64_t word_make(uint32_t stored_by, unsigned pending, uint32_t loaded_by, unsigned unchanged)
{
    return (uint64_t)stored_by << STORED_BY | (uint64_t)loaded_by << LOADED_BY | (uint64_t)pending << PENDING |
           (uint64_t)unchanged << UNCHANGED | SPLIT;
}

static inline uint64_t whole_make(uint32_t stored_by, unsigned pending, uint32_t loaded_by, unsigned unchanged)
{
    return (uint64_t)stored_by << STORED_BY | (uint64_t)loaded_by << LOADED_BY | (uint64_t)pending << WHOLE_PENDING |
           (uint64_t)unchanged << UNCHANGED;
}

static inline unsigned whole_pending(uint64_t whole)
{
    return whole >> WHOLE_PENDING & 1;
}

static inline unsigned whole_unchanged(uint64_t whole)
{
    return whole >> UNCHANGED & 255;
}

static inline void unit_split(uint64_t *unit)
{
    uint64_t whole = *unit;
    unsigned pending = whole_pending(whole) ? 15 : 0, unchanged = whole_unchanged(whole);
    if (whole & SPLIT)
        return;
    unit[0] = word_make(word_stored_by(whole), pending, word_loaded_by(whole), unchanged & 15);
    unit[HIGH] = word_make(word_stored_by(whole), pending, word_loaded_by(whole), unchanged >> 4);
}

/* What it is as a whole; false: its halves differ. */
static inline bool unit_whole(const uint64_t *unit, uint64_t *whole)
{
    uint64_t low = *whole = *unit;
    if (!(low & SPLIT))
        return true;
    uint64_t high = unit[HIGH];
    unsigned pending = word_pending(low);
    *whole = whole_make(word_stored_by(low), pending & 1, word_loaded_by(low), word_unchanged(low) | word_unchanged(high) << 4);
    return !((low ^ high) >> LOADED_BY) && pending == word_pending(high) && (pending == 0 || pending == 15);
}

/* The ways of lwp_shadow_load() and lwp_shadow_store() that always work. */
void lwp_shadow_load_slowly(struct lwp_shadow *shadow, uint64_t address, unsigned bytes, uint32_t context);
void lwp_shadow_store_slowly(struct lwp_shadow *shadow, uint64_t address, unsigned bytes, uint32_t context, uint64_t before,
                             uint64_t after, unsigned element);

/* The unit of an address, NULL where there is none yet. */
static inline uint64_t *shadow_find(const struct lwp_shadow *shadow, uint64_t address)
{
    uint64_t *leaf = address >> ADDRESS_BITS ? NULL : shadow->leaves[address >> LEAF_BITS];
    return leaf ? &leaf[(address & LEAF_MASK) >> 3] : NULL;
}

/* The word of an address in its unit, which is split. */
static inline uint64_t *unit_word(uint64_t *unit, uint64_t address)
{
    return unit + (address & 4 ? HIGH : 0);
}

/* ---- counting ---- */

static inline void pair_store(uint64_t *sums, struct lwp_shadow_pair *pair, unsigned bytes, unsigned dead, enum lwps_value value)
{
    pair->dead += dead;
    pair->dead_times += dead != 0;
    sums[LWP_SHADOW_SUM_DEAD] += dead;
    if (value == LWPS_VALUE_SAME) {
        pair->same += bytes;
        sums[LWP_SHADOW_SUM_SAME] += bytes;
    } else if (value == LWPS_VALUE_CLOSE) {
        pair->close += bytes;
        sums[LWP_SHADOW_SUM_CLOSE] += bytes;
    } else {
        pair->other += bytes;
    }
    pair->same_times += value != LWPS_VALUE_OTHER;
}

static inline void pair_load(uint64_t *sums, struct lwp_shadow_pair *pair, unsigned bytes, bool unchanged)
{
    *(unchanged ? &pair->same : &pair->other) += bytes;
    pair->same_times += unchanged;
    sums[LWP_SHADOW_SUM_LOADED_AGAIN] += unchanged ? bytes : 0;
}

static inline unsigned mask_bits(unsigned from, unsigned bytes)
{
    return ((1u << bytes) - 1) << from;
}

/* A bit for each byte that is the same. */
static inline unsigned same_bytes(uint64_t before, uint64_t after)
{
    const uint64_t low = 0x7f7f7f7f7f7f7f7f;
    uint64_t differ = before ^ after, marks = ((differ & low) + low) | differ; /* in each byte's highest bit */
    return ~(unsigned)((marks >> 7 & 0x0101010101010101) * 0x0102040810204080 >> 56) & 255;
}

/* The bits of a mask of 4 bytes. No library is there to count them. */
static inline unsigned mask_count(unsigned mask)
{
    return (unsigned)(0x4332322132212110u >> 4 * mask) & 7;
}

/* ---- bytes of one word that have one context ---- */

/* What the bytes of the word have as a context, false: several. */
static inline bool piece_context(const struct lwp_shadow *shadow, uint32_t packed, unsigned mask, uint32_t *context)
{
    *context = packed;
    if (!(packed & TUPLE))
        return true;
    const uint32_t *of = shadow->tuples.list[packed & ~TUPLE].context;
    unsigned from = (unsigned)__builtin_ctz(mask);
    *context = of[from];
    for (mask >>= from + 1; mask; mask >>= 1)
        if (of[++from] != *context)
            return false;
    return true;
}

static inline uint64_t step_key(uint32_t packed, unsigned mask, uint32_t context)
{
    return (uint64_t)packed << 32 | context << 4 | mask;
}

static inline struct lwp_shadow_step *step_at(const struct lwp_shadow *shadow, uint64_t key)
{
    return &shadow->steps[key * 0x9e3779b97f4a7c15u >> (64 - LWP_SHADOW_STEP_BITS)];
}

/* A context for some bytes of a word: `by` had them before, and the word has `packed` from then on, which is what it had
 * when called. False: they had several, or it is not known at once what it has then. */
static inline bool part_contexts(const struct lwp_shadow *shadow, unsigned mask, uint32_t context, uint32_t *by, uint32_t *packed)
{
    if (!piece_context(shadow, *packed, mask, by))
        return false;
    if (*by == context)
        return true;
    uint64_t key = step_key(*packed, mask, context);
    const struct lwp_shadow_step *step = step_at(shadow, key);
    *packed = step->packed;
    return step->key == key;
}

/* The same for an access of 1 to 4 bytes, which the compiler knows; 4 are the whole word. */
static inline __attribute__((always_inline)) bool word_contexts(const struct lwp_shadow *shadow, unsigned bytes, unsigned mask,
                                                                uint32_t context, uint32_t *by, uint32_t *packed)
{
    if (bytes < 4)
        return part_contexts(shadow, mask, context, by, packed);
    *by = *packed;
    *packed = context;
    return !(*by & TUPLE);
}

/* ---- what a program does most: units or words of one context, or parts of a word, and a pair that was there before ---- */

/* The word of an access of at most 4 bytes, and which of its bytes it takes. NULL: it is not so simple. */
static inline __attribute__((always_inline)) uint64_t *word_at(const struct lwp_shadow *shadow, uint64_t address, unsigned bytes,
                                                               unsigned *mask)
{
    uint64_t *unit = shadow_find(shadow, address);
    unsigned from = address & 3;
    if (!unit || from + bytes > 4)
        return NULL;
    *mask = bytes == 4 ? 15 : mask_bits(from, bytes); /* known to the compiler, too, if it can be */
    if (__builtin_expect(!(*unit & SPLIT), 0))
        unit_split(unit);
    return unit_word(unit, address);
}

static inline __attribute__((always_inline)) bool load_fast_unit(struct lwp_shadow *shadow, uint64_t address, uint32_t context)
{
    uint64_t *unit = shadow_find(shadow, address), old;
    if (!unit || address & 7 || !unit_whole(unit, &old))
        return false;
    uint32_t by = word_loaded_by(old);
    if (by) {
        struct lwp_shadow_pair *pair = by & TUPLE ? NULL : lwp_shadow_pairs_known(&shadow->pairs, LWP_SHADOW_LOADS, by, context, address);
        if (__builtin_expect(!pair, 0))
            return false;
        pair_load(shadow->sums, pair, 8, whole_unchanged(old) == 255);
    }
    shadow->loaded += 8;
    shadow->used += 8 * whole_pending(old);
    uint64_t now = whole_make(word_stored_by(old), 0, context, 255);
    if (*unit != now)
        *unit = now;
    return true;
}

static inline __attribute__((always_inline)) bool store_fast_unit(struct lwp_shadow *shadow, uint64_t address, uint32_t context,
                                                                  uint64_t before, uint64_t after, enum lwps_value value)
{
    uint64_t *unit = shadow_find(shadow, address), old;
    if (!unit || address & 7 || !unit_whole(unit, &old))
        return false;
    uint32_t by = word_stored_by(old);
    if (by) {
        struct lwp_shadow_pair *pair = by & TUPLE ? NULL : lwp_shadow_pairs_known(&shadow->pairs, LWP_SHADOW_STORES, by, context, address);
        if (__builtin_expect(!pair, 0))
            return false;
        pair_store(shadow->sums, pair, 8, 8 * whole_pending(old), value);
    }
    shadow->stored += 8;
    unsigned same = before == after ? 255 : same_bytes(before, after);
    *unit = whole_make(context, 1, word_loaded_by(old), whole_unchanged(old) & same);
    return true;
}

/* False: it is not so simple, and nothing was done. `bytes`, 1 to 8, is to be known to the compiler. */
static inline __attribute__((always_inline)) bool lwp_shadow_load_fast(struct lwp_shadow *shadow, uint64_t address,
                                                                       unsigned bytes, uint32_t context)
{
    if (bytes == 8)
        return load_fast_unit(shadow, address, context);
    unsigned mask;
    uint64_t *word = word_at(shadow, address, bytes, &mask);
    if (!word)
        return false;
    uint64_t old = *word;
    uint32_t packed = word_loaded_by(old), by;
    if (!word_contexts(shadow, bytes, mask, context, &by, &packed))
        return false;
    if (by) {
        struct lwp_shadow_pair *pair = lwp_shadow_pairs_known(&shadow->pairs, LWP_SHADOW_LOADS, by, context, address);
        if (__builtin_expect(!pair, 0))
            return false;
        pair_load(shadow->sums, pair, bytes, !(mask & ~word_unchanged(old)));
    }
    shadow->loaded += bytes;
    shadow->used += mask_count(word_pending(old) & mask);
    uint64_t now = word_make(word_stored_by(old), word_pending(old) & ~mask, packed, word_unchanged(old) | mask);
    if (old != now)
        *word = now;
    return true;
}

/* The same of a store; `value`: of before and after. */
static inline __attribute__((always_inline)) bool lwp_shadow_store_fast(struct lwp_shadow *shadow, uint64_t address,
                                                                        unsigned bytes, uint32_t context, uint64_t before,
                                                                        uint64_t after, enum lwps_value value)
{
    if (bytes == 8)
        return store_fast_unit(shadow, address, context, before, after, value);
    unsigned mask;
    uint64_t *word = word_at(shadow, address, bytes, &mask);
    if (!word)
        return false;
    uint64_t old = *word;
    uint32_t packed = word_stored_by(old), by;
    if (!word_contexts(shadow, bytes, mask, context, &by, &packed))
        return false;
    if (by) {
        struct lwp_shadow_pair *pair = lwp_shadow_pairs_known(&shadow->pairs, LWP_SHADOW_STORES, by, context, address);
        if (__builtin_expect(!pair, 0))
            return false;
        pair_store(shadow->sums, pair, bytes, mask_count(word_pending(old) & mask), value);
    }
    shadow->stored += bytes;
    unsigned changed = before == after ? 0 : mask & ~(same_bytes(before, after) << (address & 3));
    *word = word_make(packed, word_pending(old) | mask, word_loaded_by(old), word_unchanged(old) & ~changed);
    return true;
}

/* One piece of an access: `bytes` is 1 to 8. Call before the store is done or after, in the program's order. `before`
 * and `after`: the piece's value in the low bytes, the others 0; `element`: bytes of each floating point number in it (4, 8), 0: none. */
static inline void lwp_shadow_load(struct lwp_shadow *shadow, uint64_t address, unsigned bytes, uint32_t context)
{
    bool done = bytes == 8   ? lwp_shadow_load_fast(shadow, address, 8, context)
                : bytes == 4 ? lwp_shadow_load_fast(shadow, address, 4, context)
                             : bytes < 4 && lwp_shadow_load_fast(shadow, address, bytes & 3, context);
    if (!done)
        lwp_shadow_load_slowly(shadow, address, bytes, context);
}

static inline void lwp_shadow_store(struct lwp_shadow *shadow, uint64_t address, unsigned bytes, uint32_t context, uint64_t before,
                                    uint64_t after, unsigned element)
{
    enum lwps_value value = before == after ? LWPS_VALUE_SAME : LWPS_VALUE_OTHER;
    bool done = !element && (bytes == 8   ? lwp_shadow_store_fast(shadow, address, 8, context, before, after, value)
                             : bytes == 4 ? lwp_shadow_store_fast(shadow, address, 4, context, before, after, value)
                                          : bytes < 4 && lwp_shadow_store_fast(shadow, address, bytes & 3, context, before, after, value));
    if (!done)
        lwp_shadow_store_slowly(shadow, address, bytes, context, before, after, element);
}

/* A load of any width, piece by piece. */
static inline void lwp_shadow_load_all(struct lwp_shadow *shadow, uint64_t address, unsigned bytes, uint32_t context)
{
    for (; bytes > 8; bytes -= 8, address += 8)
        lwp_shadow_load(shadow, address, 8, context);
    lwp_shadow_load(shadow, address, bytes, context);
}

#endif
