#include "collector/exact/detect/redundancy/shadow_fast.h"

enum {
    LEAVES = 1 << (ADDRESS_BITS - LEAF_BITS),
    LEAF_WORDS = HIGH + (1 << (LEAF_BITS - 3)),
    WINDOW = 12, /* bytes of the words that a piece of 8 can touch */
};

/* ---- words by address ---- */

bool lwp_shadow_init(struct lwp_shadow *shadow, const struct lwp_shadow_port *port,
                     const struct lwp_shadow_limits *limits)
{
    *shadow = (struct lwp_shadow){.port = port, .leaf_low = LEAVES, .sums = shadow->no_sums};
    shadow->leaves = port->map(LEAVES * sizeof *shadow->leaves);
    bool there = shadow->leaves && lwp_shadow_pairs_init(&shadow->pairs, port, limits->pair_bits) &&
                 lwp_shadow_tuples_init(&shadow->tuples, port, limits->tuples) &&
                 (shadow->steps = port->map(sizeof *shadow->steps << LWP_SHADOW_STEP_BITS));
    if (!there)
        lwp_shadow_fini(shadow);
    return there;
}

void lwp_shadow_forget_all(struct lwp_shadow *shadow)
{
    for (size_t i = shadow->leaf_low; shadow->leaves && i < shadow->leaf_high; i++)
        if (shadow->leaves[i]) {
            shadow->port->unmap(shadow->leaves[i], LEAF_WORDS * sizeof **shadow->leaves);
            shadow->leaves[i] = NULL;
        }
    shadow->leaf_low = LEAVES;
    shadow->leaf_high = 0;
}

void lwp_shadow_fini(struct lwp_shadow *shadow)
{
    lwp_shadow_forget_all(shadow);
    if (shadow->leaves)
        shadow->port->unmap(shadow->leaves, LEAVES * sizeof *shadow->leaves);
    lwp_shadow_pairs_fini(&shadow->pairs);
    lwp_shadow_tuples_fini(&shadow->tuples);
    if (shadow->steps)
        shadow->port->unmap(shadow->steps, sizeof *shadow->steps << LWP_SHADOW_STEP_BITS);
    *shadow = (struct lwp_shadow){0};
}

/* The word of an address. NULL: there is no memory for it. */
static uint64_t *shadow_at(struct lwp_shadow *shadow, uint64_t address)
{
    uint64_t *unit = shadow_find(shadow, address);
    if (!unit && !(address >> ADDRESS_BITS)) {
        size_t leaf = address >> LEAF_BITS;
        shadow->leaves[leaf] = shadow->port->map(LEAF_WORDS * sizeof(uint64_t));
        shadow->leaf_low = leaf < shadow->leaf_low ? leaf : shadow->leaf_low;
        shadow->leaf_high = leaf >= shadow->leaf_high ? leaf + 1 : shadow->leaf_high;
        unit = shadow_find(shadow, address);
    }
    if (!unit)
        return NULL;
    unit_split(unit);
    return unit_word(unit, address);
}

static void count_store(struct lwp_shadow *shadow, uint32_t first, uint32_t second, uint64_t address, unsigned bytes,
                        unsigned dead, enum lwps_value value)
{
    pair_store(shadow->sums, lwp_shadow_pairs_at(&shadow->pairs, LWP_SHADOW_STORES, first, second, address), bytes, dead, value);
}

static void count_load(struct lwp_shadow *shadow, uint32_t first, uint32_t second, uint64_t address, unsigned bytes,
                       bool unchanged)
{
    pair_load(shadow->sums, lwp_shadow_pairs_at(&shadow->pairs, LWP_SHADOW_LOADS, first, second, address), bytes, unchanged);
}

/* What a word has as contexts after some of its bytes were given another. */
static uint32_t packed_with(struct lwp_shadow *shadow, uint32_t packed, unsigned mask, uint32_t context)
{
    if (packed == context || mask == 15)
        return context;
    uint64_t key = step_key(packed, mask, context);
    struct lwp_shadow_step *step = step_at(shadow, key);
    if (step->key == key)
        return step->packed;
    struct lwp_shadow_tuple tuple;
    bool one = true;
    for (unsigned i = 0; i < 4; i++) {
        tuple.context[i] = mask >> i & 1 ? context : packed & TUPLE ? shadow->tuples.list[packed & ~TUPLE].context[i] : packed;
        one &= tuple.context[i] == tuple.context[0];
    }
    uint32_t number;
    step->key = key;
    step->packed = one ? tuple.context[0]
                   : lwp_shadow_tuples_number(&shadow->tuples, &tuple, &number) ? TUPLE | number : LWP_SHADOW_UNKNOWN;
    return step->packed;
}

/* ---- pieces of one context each ---- */

static bool load_word(struct lwp_shadow *shadow, uint64_t *word, uint64_t address, unsigned bytes, uint32_t context)
{
    unsigned mask = mask_bits(address & 3, bytes), pending = word_pending(*word);
    uint32_t packed = word_loaded_by(*word), by;
    if (!piece_context(shadow, packed, mask, &by))
        return false;
    shadow->used += mask_count(pending & mask);
    if (by)
        count_load(shadow, by, context, address, bytes, !(mask & ~word_unchanged(*word)));
    *word = word_make(word_stored_by(*word), pending & ~mask, packed_with(shadow, packed, mask, context),
                      word_unchanged(*word) | mask);
    return true;
}

/* Afterwards a unit is whole again if it can be. */
static void unit_join(uint64_t *unit)
{
    uint64_t whole;
    if (unit_whole(unit, &whole))
        *unit = whole;
}

static bool load_unit(struct lwp_shadow *shadow, uint64_t *unit, uint64_t address, uint32_t context)
{
    uint64_t low = unit[0], high = unit[HIGH];
    uint32_t by_low = word_loaded_by(low), by_high = word_loaded_by(high);
    if ((by_low | by_high) & TUPLE)
        return false;
    shadow->used += mask_count(word_pending(low)) + mask_count(word_pending(high));
    bool unchanged = (!by_low || word_unchanged(low) == 15) && (!by_high || word_unchanged(high) == 15);
    if (by_low)
        count_load(shadow, by_low, context, address, by_low == by_high ? 8 : 4, unchanged);
    if (by_high && by_high != by_low)
        count_load(shadow, by_high, context, address, 4, unchanged);
    unit[0] = word_make(word_stored_by(low), 0, context, 15);
    unit[HIGH] = word_make(word_stored_by(high), 0, context, 15);
    unit_join(unit);
    return true;
}

static bool store_word(struct lwp_shadow *shadow, uint64_t *word, uint64_t address, unsigned bytes, uint32_t context,
                       unsigned same, enum lwps_value value)
{
    unsigned mask = mask_bits(address & 3, bytes), pending = word_pending(*word);
    uint32_t packed = word_stored_by(*word), by;
    if (!piece_context(shadow, packed, mask, &by))
        return false;
    if (by)
        count_store(shadow, by, context, address, bytes, mask_count(pending & mask), value);
    *word = word_make(packed_with(shadow, packed, mask, context), pending | mask, word_loaded_by(*word),
                      word_unchanged(*word) & (same << (address & 3) | ~mask));
    return true;
}

static bool store_unit(struct lwp_shadow *shadow, uint64_t *unit, uint64_t address, uint32_t context, unsigned same,
                       enum lwps_value value)
{
    uint64_t low = unit[0], high = unit[HIGH];
    uint32_t by_low = word_stored_by(low), by_high = word_stored_by(high);
    unsigned dead_low = mask_count(word_pending(low)), dead_high = mask_count(word_pending(high));
    if ((by_low | by_high) & TUPLE)
        return false;
    if (by_low && by_low == by_high)
        count_store(shadow, by_low, context, address, 8, dead_low + dead_high, value);
    if (by_low && by_low != by_high)
        count_store(shadow, by_low, context, address, 4, dead_low, value);
    if (by_high && by_low != by_high)
        count_store(shadow, by_high, context, address, 4, dead_high, value);
    unit[0] = word_make(context, 15, word_loaded_by(low), word_unchanged(low) & same);
    unit[HIGH] = word_make(context, 15, word_loaded_by(high), word_unchanged(high) & same >> 4);
    unit_join(unit);
    return true;
}

/* ---- byte by byte: whatever is not whole words of one context ---- */

/* The bytes of a piece and those beside it in its words; masks have a bit for each byte. */
struct window {
    uint64_t start;      /* the word boundary at or before the piece */
    unsigned words;
    unsigned begin, end; /* the piece in it */
    uint64_t *word[WINDOW / 4];
    uint32_t by[WINDOW]; /* who stored them last, or who loaded them last */
    unsigned pending, unchanged;
};

static unsigned window_words(uint64_t address, unsigned bytes)
{
    return (unsigned)((address & 3) + bytes + 3) / 4;
}

/* `at`: STORED_BY or LOADED_BY. False: a part has no shadow. */
static inline __attribute__((always_inline)) bool window_read(struct lwp_shadow *shadow, uint64_t address, unsigned bytes,
                                                              unsigned words, unsigned at, struct window *window)
{
    window->start = address & ~(uint64_t)3;
    window->begin = (unsigned)(address - window->start);
    window->end = window->begin + bytes;
    window->words = words;
    window->pending = window->unchanged = 0;
    for (unsigned i = 0; i < words; i++) {
        const uint64_t *word = window->word[i] = shadow_at(shadow, window->start + 4 * i);
        if (!word)
            return false;
        uint32_t packed = (uint32_t)(*word >> at) & context_mask;
        for (unsigned k = 0; k < 4; k++)
            window->by[4 * i + k] = packed & TUPLE ? shadow->tuples.list[packed & ~TUPLE].context[k] : packed;
        window->pending |= word_pending(*word) << 4 * i;
        window->unchanged |= word_unchanged(*word) << 4 * i;
    }
    return true;
}

/* The context of the piece's bytes is another one; `at` as before. */
static inline __attribute__((always_inline)) void window_write(struct lwp_shadow *shadow, const struct window *window, unsigned at,
                                                               uint32_t context)
{
    unsigned piece = mask_bits(window->begin, window->end - window->begin);
    for (unsigned i = 0; i < window->words; i++) {
        uint64_t *word = window->word[i], by = (uint64_t)context_mask << at;
        unsigned mask = piece >> 4 * i & 15;
        uint64_t packed = packed_with(shadow, (uint32_t)(*word >> at) & context_mask, mask, context);
        *word = (*word & (word_make(context_mask, 0, context_mask, 0) & ~by)) | packed << at |
                word_make(0, window->pending >> 4 * i & 15, 0, window->unchanged >> 4 * i & 15);
    }
}

/* How many bytes from `from` on have one context; 0 at the piece's end. */
static unsigned window_run(const struct window *window, unsigned from)
{
    unsigned to = from;
    while (to < window->end && window->by[to] == window->by[from])
        to++;
    return to - from;
}

static unsigned window_count(unsigned mask)
{
    return mask_count(mask & 15) + mask_count(mask >> 4 & 15) + mask_count(mask >> 8);
}

static inline __attribute__((always_inline)) void load_window(struct lwp_shadow *shadow, uint64_t address,
                                                              unsigned bytes, uint32_t context, unsigned words)
{
    struct window window;
    if (!window_read(shadow, address, bytes, words, LOADED_BY, &window)) {
        shadow->unseen += bytes;
        return;
    }
    unsigned piece = mask_bits(window.begin, bytes);
    shadow->used += window_count(window.pending & piece);
    window.pending &= ~piece;
    bool unchanged = true;
    for (unsigned i = window.begin; i < window.end; i++)
        unchanged &= !window.by[i] || window.unchanged >> i & 1;
    for (unsigned at = window.begin, run; (run = window_run(&window, at)); at += run)
        if (window.by[at])
            count_load(shadow, window.by[at], context, address, run, unchanged);
    window.unchanged |= piece;
    window_write(shadow, &window, LOADED_BY, context);
}

static inline __attribute__((always_inline)) void store_window(struct lwp_shadow *shadow, uint64_t address,
                                                               unsigned bytes, uint32_t context, unsigned same,
                                                               enum lwps_value value, unsigned words)
{
    struct window window;
    if (!window_read(shadow, address, bytes, words, STORED_BY, &window)) {
        shadow->unseen += bytes;
        return;
    }
    for (unsigned at = window.begin, run; (run = window_run(&window, at)); at += run)
        if (window.by[at])
            count_store(shadow, window.by[at], context, address, run, window_count(window.pending & mask_bits(at, run)), value);
    window.pending |= mask_bits(window.begin, bytes);
    window.unchanged &= same << window.begin | ~mask_bits(window.begin, bytes);
    window_write(shadow, &window, STORED_BY, context);
}

/* ---- any access ---- */

void lwp_shadow_load_slowly(struct lwp_shadow *shadow, uint64_t address, unsigned bytes, uint32_t context)
{
    uint64_t *word = shadow_at(shadow, address);
    unsigned words = window_words(address, bytes);
    shadow->loaded += bytes;
    if (word && words == 1 && load_word(shadow, word, address, bytes, context))
        return;
    if (word && bytes == 8 && !(address & 7) && load_unit(shadow, word, address, context))
        return;
    if (words == 1)
        load_window(shadow, address, bytes, context, 1);
    else
        load_window(shadow, address, bytes, context, words);
}

void lwp_shadow_store_slowly(struct lwp_shadow *shadow, uint64_t address, unsigned bytes, uint32_t context, uint64_t before,
                             uint64_t after, unsigned element)
{
    uint64_t *word = shadow_at(shadow, address);
    unsigned words = window_words(address, bytes), same = 255;
    enum lwps_value value = LWPS_VALUE_SAME;
    if (before != after) {
        value = element ? lwp_value_compare(before, after, bytes, element) : LWPS_VALUE_OTHER;
        same = same_bytes(before, after);
    }
    shadow->stored += bytes;
    if (word && words == 1 && store_word(shadow, word, address, bytes, context, same, value))
        return;
    if (word && bytes == 8 && !(address & 7) && store_unit(shadow, word, address, context, same, value))
        return;
    if (words == 1)
        store_window(shadow, address, bytes, context, same, value, 1);
    else
        store_window(shadow, address, bytes, context, same, value, words);
}

void lwp_shadow_store_first(struct lwp_shadow *shadow, uint64_t address, unsigned bytes, uint32_t context, uint64_t before, uint64_t after,
                            unsigned element)
{
    struct window window;
    unsigned unknown = 0;
    if (!shadow_at(shadow, address) || !window_read(shadow, address, bytes, window_words(address, bytes), STORED_BY, &window))
        return;
    for (unsigned i = window.begin; i < window.end; i++)
        unknown += !window.by[i];
    if (unknown)
        count_store(shadow, context, context, address, unknown, 0,
                    before == after ? LWPS_VALUE_SAME
                    : element       ? lwp_value_compare(before, after, bytes, element)
                                    : LWPS_VALUE_OTHER);
}

/* ---- ranges ---- */

/* Bytes of one word. */
static void use_part(struct lwp_shadow *shadow, uint64_t *word, unsigned mask)
{
    shadow->used += mask_count(word_pending(*word) & mask);
    *word &= ~((uint64_t)mask << PENDING);
}

/* Some bytes of one unit. */
static void use_unit(struct lwp_shadow *shadow, uint64_t *unit, unsigned mask)
{
    if (!(*unit & SPLIT)) {
        if (!whole_pending(*unit))
            return;
        if (mask == 255) {
            shadow->used += 8;
            *unit &= ~((uint64_t)1 << WHOLE_PENDING);
            return;
        }
        unit_split(unit);
    }
    use_part(shadow, unit, mask & 15);
    use_part(shadow, unit + HIGH, mask >> 4);
}

void lwp_shadow_use(struct lwp_shadow *shadow, uint64_t address, uint64_t bytes)
{
    uint64_t end = address + bytes;
    while (address < end && !(address >> ADDRESS_BITS)) {
        uint64_t *unit = shadow_find(shadow, address);
        uint64_t next = unit ? (address | 7) + 1 : (address | LEAF_MASK) + 1;
        if (next > end)
            next = end;
        if (unit)
            use_unit(shadow, unit, mask_bits(address & 7, (unsigned)(next - address)));
        address = next;
    }
}

static void forget_part(struct lwp_shadow *shadow, uint64_t *word, unsigned mask)
{
    if (mask)
        *word = word_make(packed_with(shadow, word_stored_by(*word), mask, 0), word_pending(*word) & ~mask,
                          packed_with(shadow, word_loaded_by(*word), mask, 0), word_unchanged(*word) & ~mask);
}

/* Whole units of one leaf. Only what is not 0 is written: memory that was never touched is to stay so. */
static void forget_units(uint64_t *unit, const uint64_t *end)
{
    typedef uint64_t two __attribute__((vector_size(16), aligned(8), may_alias));
    for (; end - unit >= 8; unit += 8) {
        two *at = (two *)unit, any = at[0] | at[1] | at[2] | at[3];
        if (any[0] | any[1])
            at[0] = at[1] = at[2] = at[3] = (two){0};
    }
    for (; unit < end; unit++)
        if (*unit)
            *unit = 0;
}

void lwp_shadow_forget(struct lwp_shadow *shadow, uint64_t address, uint64_t bytes)
{
    uint64_t end = address + bytes;
    while (address < end && !(address >> ADDRESS_BITS)) {
        uint64_t next = (address | LEAF_MASK) + 1, *unit = shadow_find(shadow, address);
        if (next > end)
            next = end;
        if (unit && (address & 7 || next - address < 8)) {
            next = (address | 7) + 1 < next ? (address | 7) + 1 : next;
            unsigned mask = mask_bits(address & 7, (unsigned)(next - address));
            if (*unit) {
                unit_split(unit);
                forget_part(shadow, unit, mask & 15);
                forget_part(shadow, unit + HIGH, mask >> 4);
            }
        } else if (unit) {
            forget_units(unit, unit + (next - address) / 8);
            next &= ~(uint64_t)7;
        }
        address = next;
    }
}
