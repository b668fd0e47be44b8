#include "collector/exact/shadow.h"

#include "collector/value.h"

enum {
    ADDRESS_BITS = 47,
    LEAF_BITS = 24,
    LEAVES = 1 << (ADDRESS_BITS - LEAF_BITS),
    LEAF_MASK = (1 << LEAF_BITS) - 1,
    LEAF_WORDS = 1 << (LEAF_BITS - 2),
    TUPLE = 1 << 27, /* in place of a context: the rest is the number of a tuple */
    WINDOW = 12,     /* bytes of the words that a piece of 8 can touch */
};

/* A word: bits 36-63 who stored its four bytes last, 32-35 which of them nobody has loaded since, 4-31 who loaded them
 * last, 0-3 which of them have not changed since. 0: nothing is known. */
enum { STORED_BY = 36, PENDING = 32, LOADED_BY = 4, UNCHANGED = 0 };
static const uint32_t context_mask = 0xfffffff;
#define STORED_BY_TUPLE ((uint64_t)TUPLE << STORED_BY)
#define LOADED_BY_TUPLE ((uint64_t)TUPLE << LOADED_BY)

static uint32_t word_stored_by(uint64_t word)
{
    return (uint32_t)(word >> STORED_BY);
}

static uint32_t word_loaded_by(uint64_t word)
{
    return (uint32_t)(word >> LOADED_BY) & context_mask;
}

static unsigned word_pending(uint64_t word)
{
    return word >> PENDING & 15;
}

static unsigned word_unchanged(uint64_t word)
{
    return word >> UNCHANGED & 15;
}

static uint64_t word_make(uint32_t stored_by, unsigned pending, uint32_t loaded_by, unsigned unchanged)
{
    return (uint64_t)stored_by << STORED_BY | (uint64_t)pending << PENDING | (uint64_t)loaded_by << LOADED_BY |
           (uint64_t)unchanged << UNCHANGED;
}

/* ---- words by address ---- */

bool lwp_shadow_init(struct lwp_shadow *shadow, const struct lwp_shadow_port *port,
                     const struct lwp_shadow_limits *limits)
{
    *shadow = (struct lwp_shadow){.port = port};
    shadow->leaves = port->map(LEAVES * sizeof *shadow->leaves);
    bool there = shadow->leaves && lwp_shadow_pairs_init(&shadow->pairs, port, limits->pair_bits) &&
                 lwp_shadow_tuples_init(&shadow->tuples, port, limits->tuples);
    if (!there)
        lwp_shadow_fini(shadow);
    return there;
}

void lwp_shadow_fini(struct lwp_shadow *shadow)
{
    for (size_t i = 0; shadow->leaves && i < LEAVES; i++)
        if (shadow->leaves[i])
            shadow->port->unmap(shadow->leaves[i], LEAF_WORDS * sizeof **shadow->leaves);
    if (shadow->leaves)
        shadow->port->unmap(shadow->leaves, LEAVES * sizeof *shadow->leaves);
    lwp_shadow_pairs_fini(&shadow->pairs);
    lwp_shadow_tuples_fini(&shadow->tuples);
    *shadow = (struct lwp_shadow){0};
}

/* The word of an address, NULL where there is none yet. */
static inline uint64_t *shadow_find(const struct lwp_shadow *shadow, uint64_t address)
{
    uint64_t *leaf = address >> ADDRESS_BITS ? NULL : shadow->leaves[address >> LEAF_BITS];
    return leaf ? &leaf[(address & LEAF_MASK) >> 2] : NULL;
}

static __attribute__((noinline)) uint64_t *shadow_grow(struct lwp_shadow *shadow, uint64_t address)
{
    if (!(address >> ADDRESS_BITS))
        shadow->leaves[address >> LEAF_BITS] = shadow->port->map(LEAF_WORDS * sizeof(uint64_t));
    return shadow_find(shadow, address);
}

/* NULL: there is no memory for it. */
static inline uint64_t *shadow_at(struct lwp_shadow *shadow, uint64_t address)
{
    uint64_t *word = shadow_find(shadow, address);
    return __builtin_expect(word != NULL, 1) ? word : shadow_grow(shadow, address);
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

static void count_use(struct lwp_shadow *shadow, uint32_t first, uint64_t address, unsigned bytes)
{
    lwp_shadow_pairs_at(&shadow->pairs, LWP_SHADOW_USES, first, 0, address)->other += bytes;
}

/* ---- byte by byte: whatever is not whole words of one context ---- */

/* Consecutive bytes from the word boundary at or before an address; masks have a bit for each. */
struct window {
    uint64_t start;
    unsigned words;
    unsigned begin, end; /* the piece in it */
    uint32_t stored_by[WINDOW], loaded_by[WINDOW];
    unsigned pending, unchanged;
};

static inline void window_contexts(const struct lwp_shadow *shadow, uint32_t packed, uint32_t *contexts)
{
    for (unsigned i = 0; i < 4; i++)
        contexts[i] = packed & TUPLE ? shadow->tuples.list[packed & ~TUPLE].context[i] : packed;
}

static unsigned window_words(uint64_t address, unsigned bytes)
{
    return (unsigned)((address & 3) + bytes + 3) / 4;
}

/* False: a part has no shadow. */
static inline __attribute__((always_inline)) bool window_read(struct lwp_shadow *shadow, uint64_t address,
                                                              unsigned bytes, unsigned words, struct window *window)
{
    window->start = address & ~(uint64_t)3;
    window->begin = (unsigned)(address - window->start);
    window->end = window->begin + bytes;
    window->words = words;
    window->pending = window->unchanged = 0;
    for (unsigned i = 0; i < 4 * words; i += 4) {
        const uint64_t *word = shadow_at(shadow, window->start + i);
        if (!word)
            return false;
        window_contexts(shadow, word_stored_by(*word), window->stored_by + i);
        window_contexts(shadow, word_loaded_by(*word), window->loaded_by + i);
        window->pending |= word_pending(*word) << i;
        window->unchanged |= word_unchanged(*word) << i;
    }
    return true;
}

static uint32_t window_pack(struct lwp_shadow *shadow, const uint32_t *contexts)
{
    struct lwp_shadow_tuple tuple = {{contexts[0], contexts[1], contexts[2], contexts[3]}};
    uint32_t number;
    if (contexts[0] == contexts[1] && contexts[0] == contexts[2] && contexts[0] == contexts[3])
        return contexts[0];
    return lwp_shadow_tuples_number(&shadow->tuples, &tuple, &number) ? TUPLE | number : LWP_SHADOW_UNKNOWN;
}

static inline void window_write(struct lwp_shadow *shadow, const struct window *window)
{
    for (unsigned i = 0; i < 4 * window->words; i += 4)
        *shadow_at(shadow, window->start + i) =
            word_make(window_pack(shadow, window->stored_by + i), window->pending >> i & 15,
                      window_pack(shadow, window->loaded_by + i), window->unchanged >> i & 15);
}

/* How many bytes from `from` on have one context; 0 at the piece's end. */
static unsigned window_run(const struct window *window, const uint32_t *contexts, unsigned from)
{
    unsigned to = from;
    while (to < window->end && contexts[to] == contexts[from])
        to++;
    return to - from;
}

/* No library is there to do it. */
static unsigned mask_count(unsigned mask)
{
    unsigned count = 0;
    for (; mask; mask &= mask - 1)
        count++;
    return count;
}

static unsigned mask_bits(unsigned from, unsigned bytes)
{
    return ((1u << bytes) - 1) << from;
}

/* Counts the first loads of what is pending in the piece. */
static void window_use(struct lwp_shadow *shadow, struct window *window)
{
    for (unsigned at = window->begin, run; (run = window_run(window, window->stored_by, at)); at += run) {
        unsigned pending = window->pending & mask_bits(at, run);
        if (pending)
            count_use(shadow, window->stored_by[at], window->start + at, mask_count(pending));
    }
    window->pending &= ~mask_bits(window->begin, window->end - window->begin);
}

static inline __attribute__((always_inline)) void load_window(struct lwp_shadow *shadow, uint64_t address,
                                                              unsigned bytes, uint32_t context, unsigned words)
{
    struct window window;
    if (!window_read(shadow, address, bytes, words, &window)) {
        shadow->unseen += bytes;
        return;
    }
    window_use(shadow, &window);
    bool unchanged = true;
    for (unsigned i = window.begin; i < window.end; i++)
        unchanged &= !window.loaded_by[i] || window.unchanged >> i & 1;
    for (unsigned at = window.begin, run; (run = window_run(&window, window.loaded_by, at)); at += run)
        if (window.loaded_by[at])
            count_load(shadow, window.loaded_by[at], context, address, run, unchanged);
    for (unsigned i = window.begin; i < window.end; i++)
        window.loaded_by[i] = context;
    window.unchanged |= mask_bits(window.begin, bytes);
    window_write(shadow, &window);
}

/* Mostly it is one word. */
static __attribute__((noinline)) void load_bytes(struct lwp_shadow *shadow, uint64_t address, unsigned bytes,
                                                 uint32_t context)
{
    unsigned words = window_words(address, bytes);
    if (words == 1)
        load_window(shadow, address, bytes, context, 1);
    else
        load_window(shadow, address, bytes, context, words);
}

/* A bit for each byte that is the same. */
static unsigned same_bytes(uint64_t before, uint64_t after)
{
    const uint64_t low = 0x7f7f7f7f7f7f7f7f;
    uint64_t differ = before ^ after, marks = ((differ & low) + low) | differ; /* in each byte's highest bit */
    return ~(unsigned)((marks >> 7 & 0x0101010101010101) * 0x0102040810204080 >> 56) & 255;
}

static inline __attribute__((always_inline)) void store_window(struct lwp_shadow *shadow, uint64_t address,
                                                               unsigned bytes, uint32_t context, unsigned same,
                                                               enum lwps_value value, unsigned words)
{
    struct window window;
    if (!window_read(shadow, address, bytes, words, &window)) {
        shadow->unseen += bytes;
        return;
    }
    for (unsigned at = window.begin, run; (run = window_run(&window, window.stored_by, at)); at += run)
        if (window.stored_by[at])
            count_store(shadow, window.stored_by[at], context, address, run,
                        mask_count(window.pending & mask_bits(at, run)), value);
    for (unsigned i = window.begin; i < window.end; i++)
        window.stored_by[i] = context;
    window.pending |= mask_bits(window.begin, bytes);
    window.unchanged &= same << window.begin | ~mask_bits(window.begin, bytes);
    window_write(shadow, &window);
}

static __attribute__((noinline)) void store_bytes(struct lwp_shadow *shadow, uint64_t address, unsigned bytes,
                                                  uint32_t context, unsigned same, enum lwps_value value)
{
    unsigned words = window_words(address, bytes);
    if (words == 1)
        store_window(shadow, address, bytes, context, same, value, 1);
    else
        store_window(shadow, address, bytes, context, same, value, words);
}

/* ---- parts of one word, if its bytes have one context before and after ---- */

static inline bool load_part(struct lwp_shadow *shadow, uint64_t *word, uint64_t address, unsigned bytes,
                             uint32_t context)
{
    unsigned mask = mask_bits(address & 3, bytes), pending = word_pending(*word) & mask;
    if (mask >> 4 || word_loaded_by(*word) != context || (pending && word_stored_by(*word) & TUPLE))
        return false;
    if (pending)
        count_use(shadow, word_stored_by(*word), address, mask_count(pending));
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
    count_store(shadow, context, context, address, bytes, mask_count(word_pending(*word) & mask), value);
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
        if (word_pending(old) != 15 || old & STORED_BY_TUPLE)
            return false;
        count_use(shadow, word_stored_by(old), address, bytes);
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

void lwp_shadow_load(struct lwp_shadow *shadow, uint64_t address, unsigned bytes, uint32_t context)
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
        load_bytes(shadow, address, bytes, context);
}

void lwp_shadow_store(struct lwp_shadow *shadow, uint64_t address, unsigned bytes, uint32_t context, uint64_t before,
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
        store_bytes(shadow, address, bytes, context, same, value);
}

/* ---- ranges ---- */

static void use_part(struct lwp_shadow *shadow, uint64_t address, unsigned bytes)
{
    struct window window;
    if (!window_read(shadow, address, bytes, window_words(address, bytes), &window))
        return;
    window_use(shadow, &window);
    window_write(shadow, &window);
}

void lwp_shadow_use(struct lwp_shadow *shadow, uint64_t address, uint64_t bytes)
{
    uint64_t end = address + bytes;
    while (address < end && !(address >> ADDRESS_BITS)) {
        uint64_t *words = shadow_find(shadow, address & ~(uint64_t)7);
        uint64_t next = words ? (address | 7) + 1 : (address | LEAF_MASK) + 1;
        if (next > end)
            next = end;
        if (words && word_pending(words[0] | words[1]))
            use_part(shadow, address, (unsigned)(next - address));
        address = next;
    }
}

static void forget_part(struct lwp_shadow *shadow, uint64_t address, unsigned bytes)
{
    struct window window;
    if (!shadow_find(shadow, address) ||
        !window_read(shadow, address, bytes, window_words(address, bytes), &window))
        return;
    for (unsigned i = window.begin; i < window.end; i++)
        window.stored_by[i] = window.loaded_by[i] = 0;
    window.pending &= ~mask_bits(window.begin, bytes);
    window.unchanged &= ~mask_bits(window.begin, bytes);
    window_write(shadow, &window);
}

/* Whole words of one leaf. Only what is not 0 is written: memory that was never touched is to stay so. */
static void forget_words(uint64_t *word, const uint64_t *end)
{
    typedef uint64_t two __attribute__((vector_size(16), aligned(8), may_alias));
    for (; end - word >= 8; word += 8) {
        two *at = (two *)word, any = at[0] | at[1] | at[2] | at[3];
        if (any[0] | any[1])
            at[0] = at[1] = at[2] = at[3] = (two){0};
    }
    for (; word < end; word++)
        if (*word)
            *word = 0;
}

void lwp_shadow_forget(struct lwp_shadow *shadow, uint64_t address, uint64_t bytes)
{
    uint64_t end = address + bytes;
    while (address < end && !(address >> ADDRESS_BITS)) {
        uint64_t next = (address | LEAF_MASK) + 1, *word = shadow_find(shadow, address);
        if (next > end)
            next = end;
        if (!word) {
            address = next;
        } else if (address & 3 || next - address < 4) {
            next = (address | 3) + 1 < next ? (address | 3) + 1 : next;
            forget_part(shadow, address, (unsigned)(next - address));
            address = next;
        } else {
            forget_words(word, word + (next - address) / 4);
            address = next & ~(uint64_t)3;
        }
    }
}
