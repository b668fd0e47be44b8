/* The layout of shadow memory, and what it is nearly always asked: words whose bytes are alike. To be inlined where the
 * width is known; the rest is in shadow.c. */
#ifndef LWP_EXACT_SHADOW_FAST_H
#define LWP_EXACT_SHADOW_FAST_H

#include "collector/exact/shadow.h"
#include "collector/value.h"

enum {
    ADDRESS_BITS = 47,
    LEAF_BITS = 24,
    LEAF_MASK = (1 << LEAF_BITS) - 1,
    TUPLE = 1 << 27, /* in place of a context: the rest is the number of a tuple */
};

/* A word: bits 36-63 who stored its four bytes last, 32-35 which of them nobody has loaded since, 4-31 who loaded them
 * last, 0-3 which of them have not changed since. 0: nothing is known. */
enum { STORED_BY = 36, PENDING = 32, LOADED_BY = 4, UNCHANGED = 0 };
static const uint32_t context_mask = 0xfffffff;
#define STORED_BY_TUPLE ((uint64_t)TUPLE << STORED_BY)
#define LOADED_BY_TUPLE ((uint64_t)TUPLE << LOADED_BY)

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
    return (uint64_t)stored_by << STORED_BY | (uint64_t)pending << PENDING | (uint64_t)loaded_by << LOADED_BY |
           (uint64_t)unchanged << UNCHANGED;
}

/* Slow ways: bytes of whatever kind; `same` has a bit for each that does not change. */
void lwp_shadow_load_bytes(struct lwp_shadow *shadow, uint64_t address, unsigned bytes, uint32_t context);
void lwp_shadow_store_bytes(struct lwp_shadow *shadow, uint64_t address, unsigned bytes, uint32_t context,
                            unsigned same, enum lwps_value value);
/* The first of its leaf. */
uint64_t *lwp_shadow_grow(struct lwp_shadow *shadow, uint64_t address);

/* The word of an address, NULL where there is none yet. */
static inline uint64_t *shadow_find(const struct lwp_shadow *shadow, uint64_t address)
{
    uint64_t *leaf = address >> ADDRESS_BITS ? NULL : shadow->leaves[address >> LEAF_BITS];
    return leaf ? &leaf[(address & LEAF_MASK) >> 2] : NULL;
}

/* NULL: there is no memory for it. */
static inline uint64_t *shadow_at(struct lwp_shadow *shadow, uint64_t address)
{
    uint64_t *word = shadow_find(shadow, address);
    return __builtin_expect(word != NULL, 1) ? word : lwp_shadow_grow(shadow, address);
}

/* ---- counting ---- */

static inline void count_store(struct lwp_shadow *shadow, uint32_t first, uint32_t second, uint64_t address, unsigned bytes,
                        unsigned dead, enum lwps_value value)
{
    struct lwp_shadow_pair *pair = lwp_shadow_pairs_at(&shadow->pairs, LWP_SHADOW_STORES, first, second, address);
    pair->dead += dead;
    pair->dead_times += dead != 0;
    if (value == LWPS_VALUE_SAME)
        pair->same += bytes;
    else if (value == LWPS_VALUE_CLOSE)
        pair->close += bytes;
    else
        pair->other += bytes;
    pair->same_times += value != LWPS_VALUE_OTHER;
}

static inline void count_load(struct lwp_shadow *shadow, uint32_t first, uint32_t second, uint64_t address, unsigned bytes,
                       bool unchanged)
{
    struct lwp_shadow_pair *pair = lwp_shadow_pairs_at(&shadow->pairs, LWP_SHADOW_LOADS, first, second, address);
    *(unchanged ? &pair->same : &pair->other) += bytes;
    pair->same_times += unchanged;
}

/* No library is there to do it. */
static inline unsigned mask_count(unsigned mask)
{
    unsigned count = 0;
    for (; mask; mask &= mask - 1)
        count++;
    return count;
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

/* ---- parts of one word, if its bytes have one context before and after ---- */

static inline bool load_part(struct lwp_shadow *shadow, uint64_t *word, uint64_t address, unsigned bytes,
                             uint32_t context)
{
    unsigned mask = mask_bits(address & 3, bytes), pending = word_pending(*word) & mask;
    if (mask >> 4 || word_loaded_by(*word) != context)
        return false;
    shadow->used += 0x4332322132212110u >> 4 * pending & 7; /* bits in it */
    count_load(shadow, context, context, address, bytes, !(mask & ~word_unchanged(*word)));
    *word = (*word & ~((uint64_t)pending << PENDING)) | (uint64_t)mask << UNCHANGED;
    return true;
}

static inline bool store_part(struct lwp_shadow *shadow, uint64_t *word, uint64_t address, unsigned bytes,
                              uint32_t context, unsigned same, enum lwps_value value)
{
    unsigned mask = mask_bits(address & 3, bytes), changed = mask & ~(same << (address & 3));
    if (mask >> 4 || word_stored_by(*word) != context)
        return false;
    count_store(shadow, context, context, address, bytes, 0x4332322132212110u >> 4 * (word_pending(*word) & mask) & 7,
                value);
    *word = (*word | (uint64_t)mask << PENDING) & ~((uint64_t)changed << UNCHANGED);
    return true;
}

/* ---- whole words of one context: nearly all that a program does ---- */

/* False: it is not so simple. Both words are the same one if the piece is of 4 bytes. */
static inline __attribute__((always_inline)) bool load_words(struct lwp_shadow *shadow, uint64_t *low, uint64_t *high,
                                                             uint64_t address, unsigned bytes, uint32_t context)
{
    uint64_t old = *low, both = *low & *high;
    if ((*low ^ *high) >> LOADED_BY || old & LOADED_BY_TUPLE)
        return false;
    if (word_pending(old)) {
        if (word_pending(old) != 15)
            return false;
        shadow->used += bytes;
    }
    if (word_loaded_by(old))
        count_load(shadow, word_loaded_by(old), context, address, bytes, word_unchanged(both) == 15);
    uint64_t now = word_make(word_stored_by(old), 0, context, 15);
    if (both != now)
        *low = *high = now;
    return true;
}

static inline __attribute__((always_inline)) bool store_words(struct lwp_shadow *shadow, uint64_t *low, uint64_t *high,
                                                              uint64_t address, unsigned bytes, uint32_t context,
                                                              unsigned same, enum lwps_value value)
{
    uint64_t old = *low;
    unsigned pending = word_pending(old);
    if ((old ^ *high) >> LOADED_BY || old & STORED_BY_TUPLE || (pending && pending != 15))
        return false;
    if (word_stored_by(old))
        count_store(shadow, word_stored_by(old), context, address, bytes, pending ? bytes : 0, value);
    uint64_t now = word_make(context, 15, word_loaded_by(old), 0);
    *high = now | (word_unchanged(*high) & (bytes == 8 ? same >> 4 : same));
    if (bytes == 8)
        *low = now | (word_unchanged(old) & same);
    return true;
}

/* One piece of an access: `bytes` is 1 to 8. Call before the store is done or after, in the program's order. `before`
 * and `after`: the piece's value in the low bytes, the others 0; `element`: bytes of each floating point number in it (4, 8), 0: none. */
static inline __attribute__((always_inline)) void lwp_shadow_load(struct lwp_shadow *shadow, uint64_t address, unsigned bytes, uint32_t context)
{
    uint64_t *word = shadow_at(shadow, address);
    bool done = false;
    shadow->loaded += bytes;
    if (__builtin_expect(word != NULL, 1)) {
        if (bytes == 8)
            done = !(address & 7) && load_words(shadow, word, word + 1, address, 8, context);
        else if (bytes == 4 && !(address & 3))
            done = load_words(shadow, word, word, address, 4, context);
        else
            done = load_part(shadow, word, address, bytes, context);
    }
    if (!done)
        lwp_shadow_load_bytes(shadow, address, bytes, context);
}

static inline __attribute__((always_inline)) void lwp_shadow_store(struct lwp_shadow *shadow, uint64_t address, unsigned bytes, uint32_t context, uint64_t before,
                      uint64_t after, unsigned element)
{
    uint64_t *word = shadow_at(shadow, address);
    enum lwps_value value = LWPS_VALUE_SAME;
    unsigned same = 255;
    bool done = false;
    if (before != after) {
        value = element ? lwp_value_compare(before, after, bytes, element) : LWPS_VALUE_OTHER;
        same = same_bytes(before, after);
    }
    shadow->stored += bytes;
    if (__builtin_expect(word != NULL, 1)) {
        if (bytes == 8)
            done = !(address & 7) && store_words(shadow, word, word + 1, address, 8, context, same, value);
        else if (bytes == 4 && !(address & 3))
            done = store_words(shadow, word, word, address, 4, context, same, value);
        else
            done = store_part(shadow, word, address, bytes, context, same, value);
    }
    if (!done)
        lwp_shadow_store_bytes(shadow, address, bytes, context, same, value);
}

#endif
