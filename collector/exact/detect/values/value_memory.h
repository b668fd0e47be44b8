/* Shadow memory of value numbers. 4 bytes of the program have a number of 8 bytes, in leaves that cover 16 MiB of addresses
 * and are mapped when first touched; a word that is stored to byte by byte has four numbers in a table beside. Memory
 * that no store was seen for gets a new number when it is first loaded. Freestanding. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_VALUES_VALUE_MEMORY_H
#define LWP_COLLECTOR_EXACT_DETECT_VALUES_VALUE_MEMORY_H

#include "collector/exact/detect/redundancy/shadow_pairs.h"
#include "collector/exact/detect/values/value_number.h"

struct lwp_value_memory {
    const struct lwp_shadow_port *port;
    struct lwp_numbering *numbering;
    uint64_t **leaves;
    struct lwp_value_bytes {
        uint64_t number[4];
    } *bytes;                        /* of words that are tracked byte by byte, from 1 */
    uint32_t bytes_count, bytes_max, bytes_free; /* bytes_free: head of the free list, linked by number[0] */
    uint64_t unseen;                 /* accesses without shadow, for want of memory */
};

/* At most `bytes_max` words are tracked byte by byte; bytes stored to others change the number of the whole word. False: out of memory. */
bool lwp_value_memory_init(struct lwp_value_memory *memory, const struct lwp_shadow_port *port,
                           struct lwp_numbering *numbering, uint32_t bytes_max);
void lwp_value_memory_fini(struct lwp_value_memory *memory);

/* Forgets all of it. */
void lwp_value_memory_clear(struct lwp_value_memory *memory);

/* Gives these bytes unknown values. */
void lwp_value_forget(struct lwp_value_memory *memory, uint64_t address, uint64_t bytes);

/* lwp_value_load() and _store() of anything but aligned words with a current number. */
struct lwp_number lwp_value_load_slow(struct lwp_value_memory *memory, uint64_t address, unsigned bytes);
void lwp_value_store_slow(struct lwp_value_memory *memory, uint64_t address, unsigned bytes, struct lwp_number number);

enum {
    LWP_VALUE_ADDRESS_BITS = 47,
    LWP_VALUE_LEAF_BITS = 24,
    LWP_VALUE_PIECE = 4, /* bytes of a word */
};

/* A word of this epoch is tracked byte by byte; in place of the hash it has the index into `bytes`. */
static const uint64_t lwp_value_split_mark = (uint64_t)(LWP_NUMBER_EPOCHS - 1) << LWP_NUMBER_EPOCH;

static inline bool lwp_value_is_split(uint64_t word)
{
    return (word & lwp_number_epoch_mask) == lwp_value_split_mark;
}

/* The word of an address, NULL: its leaf is not there. */
static inline uint64_t *lwp_value_word(const struct lwp_value_memory *memory, uint64_t address)
{
    const uint64_t mask = ((uint64_t)1 << LWP_VALUE_LEAF_BITS) - 1;
    if (__builtin_expect(address >> LWP_VALUE_ADDRESS_BITS, 0))
        return NULL;
    uint64_t *leaf = memory->leaves[address >> LWP_VALUE_LEAF_BITS];
    return leaf ? &leaf[(address & mask) / LWP_VALUE_PIECE] : NULL;
}

/* Has the processor fetch the word of what may be an address; anything else does no harm. (GCC drops calls of functions
 * that only prefetch, if it does not inline them at once.) */
static inline __attribute__((always_inline)) void lwp_value_prefetch(const struct lwp_value_memory *memory, uint64_t address)
{
    const uint64_t mask = ((uint64_t)1 << LWP_VALUE_LEAF_BITS) - 1;
    address &= ((uint64_t)1 << LWP_VALUE_ADDRESS_BITS) - 1;
    const char *leaf = (const char *)memory->leaves[address >> LWP_VALUE_LEAF_BITS];
    __builtin_prefetch(leaf + (address & mask) / LWP_VALUE_PIECE * sizeof(uint64_t));
}

/* The number of a byte of a word that is tracked byte by byte; NULL: it is not. */
static inline uint64_t *lwp_value_byte(const struct lwp_value_memory *memory, uint64_t address)
{
    const uint64_t *word = lwp_value_word(memory, address);
    if (!word || !lwp_value_is_split(*word))
        return NULL;
    return &memory->bytes[*word >> LWP_NUMBER_HASH].number[address % LWP_VALUE_PIECE];
}

/* `bytes`: 1, 2, 4 or 8. With fewer than 8 the number has its width, and `high` is the number of zero. */
static inline struct lwp_number lwp_value_load(struct lwp_value_memory *memory, uint64_t address, unsigned bytes)
{
    uint64_t epoch = memory->numbering->epoch; /* a word that is split is of another */
    if (bytes == 1) {
        const uint64_t *byte = lwp_value_byte(memory, address);
        if (byte && !lwp_number_is_stale(*byte, epoch))
            return (struct lwp_number){lwp_number_to_8(*byte), lwp_number_constant(0) | epoch};
    }
    const uint64_t *words = bytes >= LWP_VALUE_PIECE && address % bytes == 0 ? lwp_value_word(memory, address) : NULL;
    if (__builtin_expect(!words || lwp_number_is_stale(words[0], epoch), 0))
        return lwp_value_load_slow(memory, address, bytes);
    if (bytes == LWP_VALUE_PIECE)
        return (struct lwp_number){words[0], lwp_number_constant(0) | epoch};
    if (__builtin_expect(lwp_number_is_stale(words[1], epoch), 0))
        return lwp_value_load_slow(memory, address, bytes);
    bool whole = words[1] == (words[0] ^ LWP_NUMBER_UPPER) && !(words[0] & LWP_NUMBER_UPPER);
    return (struct lwp_number){words[0], whole ? 0 : words[1]};
}

static inline void lwp_value_store(struct lwp_value_memory *memory, uint64_t address, unsigned bytes, struct lwp_number number)
{
    if (bytes == 1) {
        uint64_t *byte = lwp_value_byte(memory, address);
        if (byte) {
            *byte = number.low;
            return;
        }
    }
    uint64_t *words = bytes >= LWP_VALUE_PIECE && address % bytes == 0 ? lwp_value_word(memory, address) : NULL;
    if (__builtin_expect(!words || lwp_value_is_split(words[0]) || (bytes > LWP_VALUE_PIECE && lwp_value_is_split(words[1])), 0)) {
        lwp_value_store_slow(memory, address, bytes, number);
        return;
    }
    words[0] = number.low;
    if (bytes > LWP_VALUE_PIECE)
        words[1] = lwp_number_high(number);
}

#endif
