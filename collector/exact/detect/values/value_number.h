/* Numbers that stand for values in runtime value numbering (Wen's thesis, 2.4-2.5): values with equal numbers are equal,
 * whatever they are. The number of a result is a hash of its operator and its operands' numbers, so that the same
 * computation has the same number wherever and whenever it is made, without a lookup.
 *
 * A number does not imply a width: used with fewer bytes it stands for the low ones. 8 bytes have two numbers, so that copies
 * of 8 bytes at a time keep what is known of each 4: either one number and 0, or those of the low and the high half.
 * Numbers of one window mean nothing in the next: they carry their window's epoch.
 *
 * Values are distinguished by 45 bits: of 10^9 computations compared with 10^5 that are remembered, some 3 will seem equal
 * that are not. Freestanding. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_VALUES_VALUE_NUMBER_H
#define LWP_COLLECTOR_EXACT_DETECT_VALUES_VALUE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

enum {
    LWP_NUMBER_16 = 1,    /* a value of 16 bits... */
    LWP_NUMBER_8 = 2,     /* ...or 8, which has the same number when it is widened with zeros */
    LWP_NUMBER_WIDTH = 3,
    LWP_NUMBER_UPPER = 4, /* the high half of what has the number without it */
    LWP_NUMBER_ZEROS = 8, /* of operands, which have no epoch: 8 bytes, of which the number is that of the lower 4, and zeros */
    LWP_NUMBER_EPOCH = 3, /* where the epoch begins... */
    LWP_NUMBER_EPOCHS = 1 << 16,
    LWP_NUMBER_HASH = 19, /* ...and the hash */
};

static const uint64_t lwp_number_epoch_mask = (uint64_t)(LWP_NUMBER_EPOCHS - 1) << LWP_NUMBER_EPOCH;

/* The number of 8 bytes. high 0: one value with the number `low`. */
struct lwp_number {
    uint64_t low, high;
};

/* The source of numbers. */
struct lwp_numbering {
    uint64_t epoch; /* in its place: from 1 on, never the last one */
    uint64_t made;  /* unknown values so far */
};

/* Operands are added to the operator's key and then mixed: the second one times an odd number, those of commutative operators
 * squared, as plain sums of operands that differ in single bits would be equal whichever of them differs. */
static const uint64_t lwp_number_second = 0xc2b2ae3d27d4eb4fu;
static const uint64_t lwp_number_offset = 0x9e3779b97f4a7c15u; /* before they are squared */
static const uint64_t lwp_number_multiplier = 0xff51afd7ed558ccdu;

static inline uint64_t lwp_number_mix(uint64_t x)
{
    unsigned __int128 product = (unsigned __int128)x * lwp_number_multiplier;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t lwp_number_either(uint64_t operand)
{
    return (operand + lwp_number_offset) * (operand + lwp_number_offset);
}

/* Keys of operations that are no operators of the program. */
enum lwp_number_key {
    LWP_NUMBER_KEY_CONSTANT = 1,
    LWP_NUMBER_KEY_NEW,       /* an unknown value, by its count */
    LWP_NUMBER_KEY_PAIR,      /* 8 bytes of two halves */
    LWP_NUMBER_KEY_PART,      /* some bytes of a value */
    LWP_NUMBER_KEY_CHANGED,   /* a value with some of its bytes replaced */
    LWP_NUMBER_KEY_PIECES,    /* across the borders of 4 bytes */
    LWP_NUMBER_KEY_LOADED,    /* a value from an address */
    LWP_NUMBER_KEY_STORED,    /* ... to an address */
    LWP_NUMBER_KEY_OPERATORS, /* from here on */
};

static inline uint64_t lwp_number_key(uint64_t key)
{
    return lwp_number_mix((key + 1) * 0xa0761d6478bd642fu);
}

/* A number as an operand: without its epoch, which says nothing about the value. */
static inline uint64_t lwp_number_operand(uint64_t number)
{
    return number & ~lwp_number_epoch_mask;
}

static inline uint64_t lwp_number_stamp(uint64_t hash, uint64_t epoch)
{
    return hash >> LWP_NUMBER_HASH << LWP_NUMBER_HASH | epoch;
}

static inline bool lwp_number_is_stale(uint64_t number, uint64_t epoch)
{
    return ((number ^ epoch) & lwp_number_epoch_mask) != 0;
}

static inline uint64_t lwp_number_new(struct lwp_numbering *numbering)
{
    return lwp_number_stamp(lwp_number_mix(lwp_number_key(LWP_NUMBER_KEY_NEW) + ++numbering->made * lwp_number_second), numbering->epoch);
}

/* Of at most 32 bits, without an epoch. */
static inline uint64_t lwp_number_constant(uint32_t value)
{
    uint64_t hash = lwp_number_mix(lwp_number_key(LWP_NUMBER_KEY_CONSTANT) + value * lwp_number_second);
    return lwp_number_stamp(hash, 0) | (value < 1 << 8 ? LWP_NUMBER_8 : value < 1 << 16 ? LWP_NUMBER_16 : 0);
}

/* All 8 bytes as an operand. */
static inline uint64_t lwp_number_whole(struct lwp_number of)
{
    uint64_t low = lwp_number_operand(of.low), high = lwp_number_operand(of.high);
    if (!of.high)
        return low;
    if (high == lwp_number_constant(0))
        return low | LWP_NUMBER_ZEROS;
    return lwp_number_stamp(lwp_number_mix(lwp_number_key(LWP_NUMBER_KEY_PAIR) + low + high * lwp_number_second), 0);
}

static inline uint64_t lwp_number_high(struct lwp_number of)
{
    return of.high ? of.high : of.low ^ LWP_NUMBER_UPPER;
}

static inline uint64_t lwp_number_to_8(uint64_t number)
{
    return (number & ~(uint64_t)LWP_NUMBER_WIDTH) | LWP_NUMBER_8;
}

static inline uint64_t lwp_number_to_16(uint64_t number)
{
    return number & LWP_NUMBER_8 ? number : number | LWP_NUMBER_16;
}

/* Bytes from `at` on of 4 (1 to 3), without a width. */
static inline uint64_t lwp_number_part(uint64_t number, unsigned at, uint64_t epoch)
{
    return lwp_number_stamp(lwp_number_mix(lwp_number_key(LWP_NUMBER_KEY_PART) + lwp_number_operand(number) +
                                           at * lwp_number_second), epoch);
}

#endif
