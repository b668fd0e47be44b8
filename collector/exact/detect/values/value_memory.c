#include "collector/exact/detect/values/value_memory.h"

#include <stddef.h>

enum {
    ADDRESS_BITS = LWP_VALUE_ADDRESS_BITS,
    LEAF_BITS = LWP_VALUE_LEAF_BITS,
    LEAF_MASK = (1 << LEAF_BITS) - 1,
    PIECE = LWP_VALUE_PIECE,
};
static const size_t leaf_bytes = ((size_t)1 << LEAF_BITS) / PIECE * sizeof(uint64_t);
static const size_t leaves_bytes = ((size_t)1 << (ADDRESS_BITS - LEAF_BITS)) * sizeof(uint64_t *);

bool lwp_value_memory_init(struct lwp_value_memory *memory, const struct lwp_shadow_port *port,
                           struct lwp_numbering *numbering, uint32_t bytes_max)
{
    *memory = (struct lwp_value_memory){.port = port, .numbering = numbering, .bytes_max = bytes_max};
    memory->leaves = port->map(leaves_bytes);
    memory->bytes = port->map((bytes_max + 1) * sizeof *memory->bytes);
    if (memory->leaves && memory->bytes)
        return true;
    lwp_value_memory_fini(memory);
    return false;
}

void lwp_value_memory_clear(struct lwp_value_memory *memory)
{
    for (size_t i = 0; i < leaves_bytes / sizeof *memory->leaves; i++) {
        if (memory->leaves[i])
            memory->port->unmap(memory->leaves[i], leaf_bytes);
        memory->leaves[i] = NULL;
    }
    memory->bytes_count = memory->bytes_free = 0;
}

void lwp_value_memory_fini(struct lwp_value_memory *memory)
{
    if (memory->leaves)
        lwp_value_memory_clear(memory);
    if (memory->leaves)
        memory->port->unmap(memory->leaves, leaves_bytes);
    if (memory->bytes)
        memory->port->unmap(memory->bytes, (memory->bytes_max + 1) * sizeof *memory->bytes);
    memory->leaves = NULL;
    memory->bytes = NULL;
}

static uint64_t *memory_find(const struct lwp_value_memory *memory, uint64_t address)
{
    uint64_t *leaf = address >> ADDRESS_BITS ? NULL : memory->leaves[address >> LEAF_BITS];
    return leaf ? &leaf[(address & LEAF_MASK) / PIECE] : NULL;
}

static uint64_t *memory_grow(struct lwp_value_memory *memory, uint64_t address)
{
    uint64_t *leaf = address >> ADDRESS_BITS ? NULL : memory->port->map(leaf_bytes);
    if (!leaf) {
        memory->unseen++;
        return NULL;
    }
    memory->leaves[address >> LEAF_BITS] = leaf;
    return &leaf[(address & LEAF_MASK) / PIECE];
}

/* The word of an address; NULL: out of memory. */
static inline uint64_t *memory_at(struct lwp_value_memory *memory, uint64_t address)
{
    uint64_t *word = memory_find(memory, address);
    return __builtin_expect(word != NULL, 1) ? word : memory_grow(memory, address);
}

/* ---- words tracked byte by byte ---- */

static struct lwp_value_bytes *word_bytes(const struct lwp_value_memory *memory, uint64_t word)
{
    return &memory->bytes[word >> LWP_NUMBER_HASH];
}

static void word_join(struct lwp_value_memory *memory, uint64_t word)
{
    word_bytes(memory, word)->number[0] = memory->bytes_free;
    memory->bytes_free = (uint32_t)(word >> LWP_NUMBER_HASH);
}

/* A byte of a word that is not tracked byte by byte. */
static uint64_t word_byte(uint64_t number, unsigned at, uint64_t epoch)
{
    if (!at)
        return lwp_number_to_8(number);
    if (number & LWP_NUMBER_8 || (number & LWP_NUMBER_16 && at >= 2))
        return lwp_number_constant(0) | epoch;
    return lwp_number_part(number, at, epoch) | LWP_NUMBER_8;
}

/* False: there are too many. */
static bool word_split(struct lwp_value_memory *memory, uint64_t *word)
{
    uint32_t index = memory->bytes_free;
    if (index)
        memory->bytes_free = (uint32_t)memory->bytes[index].number[0];
    else if (memory->bytes_count < memory->bytes_max)
        index = ++memory->bytes_count;
    else
        return false;
    uint64_t epoch = memory->numbering->epoch;
    for (unsigned i = 0; i < PIECE; i++)
        memory->bytes[index].number[i] = lwp_number_is_stale(*word, epoch) ? 0 : word_byte(*word, i, epoch);
    *word = (uint64_t)index << LWP_NUMBER_HASH | lwp_value_split_mark;
    return true;
}

static uint64_t split_byte(struct lwp_value_memory *memory, uint64_t word, unsigned at)
{
    uint64_t *number = &word_bytes(memory, word)->number[at];
    if (lwp_number_is_stale(*number, memory->numbering->epoch))
        *number = lwp_number_new(memory->numbering) | LWP_NUMBER_8;
    return *number;
}

/* Joins a word again whose bytes were copied one by one from one value. */
static bool split_is_copy(struct lwp_value_memory *memory, uint64_t *word)
{
    uint64_t epoch = memory->numbering->epoch, first = split_byte(memory, *word, 0) & ~(uint64_t)LWP_NUMBER_WIDTH;
    for (unsigned width = 0; width < LWP_NUMBER_WIDTH; width++) {
        unsigned alike = 1;
        while (alike < PIECE && split_byte(memory, *word, alike) == word_byte(first | width, alike, epoch))
            alike++;
        if (alike < PIECE)
            continue;
        word_join(memory, *word);
        *word = first | width;
        return true;
    }
    return false;
}

/* The number of all 4 bytes. */
static uint64_t word_number(struct lwp_value_memory *memory, uint64_t *word)
{
    uint64_t epoch = memory->numbering->epoch, hash = lwp_number_key(LWP_NUMBER_KEY_PIECES);
    if (!word)
        return lwp_number_new(memory->numbering);
    if (!lwp_number_is_stale(*word, epoch))
        return *word;
    if (!lwp_value_is_split(*word))
        return *word = lwp_number_new(memory->numbering);
    if (split_is_copy(memory, word))
        return *word;
    for (unsigned i = 0; i < PIECE; i++)
        hash = lwp_number_mix(hash * lwp_number_second + lwp_number_operand(split_byte(memory, *word, i)));
    return lwp_number_stamp(hash, epoch);
}

static void word_set(struct lwp_value_memory *memory, uint64_t *word, uint64_t number)
{
    if (!word)
        return;
    if (__builtin_expect(lwp_value_is_split(*word), 0))
        word_join(memory, *word);
    *word = number;
}

/* ---- loads ---- */

static struct lwp_number number_short(const struct lwp_value_memory *memory, uint64_t number)
{
    return (struct lwp_number){number, lwp_number_constant(0) | memory->numbering->epoch};
}

static uint64_t load_byte(struct lwp_value_memory *memory, uint64_t address)
{
    uint64_t *word = memory_at(memory, address);
    unsigned at = address % PIECE;
    if (word && lwp_value_is_split(*word))
        return lwp_number_to_8(split_byte(memory, *word, at));
    return word_byte(word_number(memory, word), at, memory->numbering->epoch);
}

/* Two bytes of one word. */
static uint64_t load_2(struct lwp_value_memory *memory, uint64_t address)
{
    uint64_t *word = memory_at(memory, address), epoch = memory->numbering->epoch;
    unsigned at = address % PIECE;
    if (!word || !lwp_value_is_split(*word)) {
        uint64_t number = word_number(memory, word);
        if (!at)
            return lwp_number_to_16(number);
        if (number & (at == 2 ? LWP_NUMBER_WIDTH : LWP_NUMBER_8))
            return lwp_number_constant(0) | epoch;
        return lwp_number_part(number, at + PIECE, epoch) | LWP_NUMBER_16;
    }
    uint64_t low = split_byte(memory, *word, at), high = split_byte(memory, *word, at + 1);
    if (high == (low ^ LWP_NUMBER_UPPER)) /* stored together */
        return low;
    struct lwp_number pair = {low, high};
    return lwp_number_stamp(lwp_number_mix(lwp_number_whole(pair)), epoch) | LWP_NUMBER_16;
}

/* A load across words: a hash of all of them. */
static uint64_t load_across(struct lwp_value_memory *memory, uint64_t address, unsigned bytes)
{
    uint64_t hash = lwp_number_key(LWP_NUMBER_KEY_PIECES) + address % PIECE * lwp_number_second + bytes;
    for (uint64_t at = address - address % PIECE; at < address + bytes; at += PIECE)
        hash = lwp_number_mix(hash * lwp_number_second +
                              lwp_number_operand(word_number(memory, memory_at(memory, at))));
    return lwp_number_stamp(hash, memory->numbering->epoch) | (bytes == 2 ? LWP_NUMBER_16 : 0);
}

static struct lwp_number load_8(struct lwp_value_memory *memory, uint64_t address)
{
    uint64_t *low = memory_at(memory, address), *high = memory_at(memory, address + PIECE);
    uint64_t epoch = memory->numbering->epoch;
    if (low && high && lwp_number_is_stale(*low, epoch) && lwp_number_is_stale(*high, epoch) && !lwp_value_is_split(*low) &&
        !lwp_value_is_split(*high)) {
        *low = lwp_number_new(memory->numbering);
        *high = *low ^ LWP_NUMBER_UPPER;
    }
    struct lwp_number number = {word_number(memory, low), word_number(memory, high)};
    if (number.high == (number.low ^ LWP_NUMBER_UPPER) && !(number.low & LWP_NUMBER_UPPER))
        number.high = 0;
    return number;
}

struct lwp_number lwp_value_load_slow(struct lwp_value_memory *memory, uint64_t address, unsigned bytes)
{
    if (bytes == 8 && address % PIECE == 0)
        return load_8(memory, address);
    if (bytes == 4 && address % PIECE == 0)
        return number_short(memory, word_number(memory, memory_at(memory, address)));
    if (bytes == 1)
        return number_short(memory, load_byte(memory, address));
    if (bytes == 2 && address % PIECE < 3)
        return number_short(memory, load_2(memory, address));
    if (bytes == 8)
        return (struct lwp_number){load_across(memory, address, bytes), 0};
    return number_short(memory, load_across(memory, address, bytes));
}

/* ---- stores ---- */

/* Some bytes of a word have changed: its number becomes a hash of the old one and the change. */
static void word_change(struct lwp_value_memory *memory, uint64_t *word, uint64_t how, uint64_t number)
{
    if (!word)
        return;
    uint64_t old = word_number(memory, word);
    uint64_t hash = lwp_number_mix(lwp_number_key(LWP_NUMBER_KEY_CHANGED) + how * 0xd6e8feb86659fd93u +
                                   lwp_number_operand(old) + lwp_number_operand(number) * lwp_number_second);
    word_set(memory, word, lwp_number_stamp(hash, memory->numbering->epoch));
}

/* One or two bytes of one word. */
static void store_part(struct lwp_value_memory *memory, uint64_t address, unsigned bytes, uint64_t number)
{
    uint64_t *word = memory_at(memory, address);
    unsigned at = address % PIECE;
    if (word && !lwp_value_is_split(*word) && !word_split(memory, word)) {
        word_change(memory, word, at * 8 + bytes, number);
    } else if (word) {
        word_bytes(memory, *word)->number[at] = number;
        if (bytes == 2)
            word_bytes(memory, *word)->number[at + 1] = number ^ LWP_NUMBER_UPPER;
    }
}

static void store_across(struct lwp_value_memory *memory, uint64_t address, unsigned bytes, struct lwp_number number)
{
    uint64_t first = address - address % PIECE, whole = bytes == 8 ? lwp_number_whole(number) : number.low;
    for (uint64_t at = first; at < address + bytes; at += PIECE)
        word_change(memory, memory_at(memory, at), (at - first) * 64 + address % PIECE * 16 + bytes, whole);
}

void lwp_value_store_slow(struct lwp_value_memory *memory, uint64_t address, unsigned bytes, struct lwp_number number)
{
    if (bytes >= PIECE && address % PIECE == 0) {
        word_set(memory, memory_at(memory, address), number.low);
        if (bytes == 8)
            word_set(memory, memory_at(memory, address + PIECE), lwp_number_high(number));
    } else if (bytes == 1 || (bytes == 2 && address % PIECE < 3)) {
        store_part(memory, address, bytes, number.low);
    } else {
        store_across(memory, address, bytes, number);
    }
}

void lwp_value_forget(struct lwp_value_memory *memory, uint64_t address, uint64_t bytes)
{
    uint64_t end = address + bytes;
    for (uint64_t at = address - address % PIECE; at < end && at >> ADDRESS_BITS == 0; at += PIECE) {
        uint64_t *word = memory_find(memory, at);
        if (!word)
            at |= LEAF_MASK & ~(uint64_t)(PIECE - 1);
        else if (*word)
            word_set(memory, word, 0);
    }
}
