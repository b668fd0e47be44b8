#include "collector/exact/shadow_fast.h"

enum {
    LEAVES = 1 << (ADDRESS_BITS - LEAF_BITS),
    LEAF_WORDS = 1 << (LEAF_BITS - 2),
    WINDOW = 12, /* bytes of the words that a piece of 8 can touch */
};

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

uint64_t *lwp_shadow_grow(struct lwp_shadow *shadow, uint64_t address)
{
    if (!(address >> ADDRESS_BITS))
        shadow->leaves[address >> LEAF_BITS] = shadow->port->map(LEAF_WORDS * sizeof(uint64_t));
    return shadow_find(shadow, address);
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

/* What is pending in the piece is of use. */
static void window_use(struct lwp_shadow *shadow, struct window *window)
{
    unsigned piece = mask_bits(window->begin, window->end - window->begin);
    shadow->used += mask_count(window->pending & piece);
    window->pending &= ~piece;
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
void lwp_shadow_load_bytes(struct lwp_shadow *shadow, uint64_t address, unsigned bytes, uint32_t context)
{
    unsigned words = window_words(address, bytes);
    if (words == 1)
        load_window(shadow, address, bytes, context, 1);
    else
        load_window(shadow, address, bytes, context, words);
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

void lwp_shadow_store_bytes(struct lwp_shadow *shadow, uint64_t address, unsigned bytes, uint32_t context,
                            unsigned same, enum lwps_value value)
{
    unsigned words = window_words(address, bytes);
    if (words == 1)
        store_window(shadow, address, bytes, context, same, value, 1);
    else
        store_window(shadow, address, bytes, context, same, value, words);
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
