/* Comparing, and searching what is sorted. */
#ifndef LWP_BASE_ORDER_H
#define LWP_BASE_ORDER_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* For qsort: below, at or above 0. By several keys, the first one that differs: LWP_COMPARE(...) ?: LWP_COMPARE(...). */
#define LWP_COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static inline int lwp_compare_u32(const void *a, const void *b)
{
    return LWP_COMPARE(*(const uint32_t *)a, *(const uint32_t *)b);
}

static inline int lwp_compare_u64(const void *a, const void *b)
{
    return LWP_COMPARE(*(const uint64_t *)a, *(const uint64_t *)b);
}

static inline int lwp_compare_i64(const void *a, const void *b)
{
    return LWP_COMPARE(*(const int64_t *)a, *(const int64_t *)b);
}

static inline int lwp_compare_double(const void *a, const void *b)
{
    return LWP_COMPARE(*(const double *)a, *(const double *)b);
}

/* Sorts an array; of no items it may be NULL. */
#define LWP_SORT(items, count, compare)                                                                                            \
    do {                                                                                                                           \
        if (count)                                                                                                                 \
            qsort(items, count, sizeof *(items), compare);                                                                         \
    } while (0)

/* At least, at most `value` from now on. */
#define LWP_RAISE(to, value)                                                                                                       \
    do {                                                                                                                           \
        if ((value) > (to))                                                                                                        \
            (to) = (value);                                                                                                        \
    } while (0)
#define LWP_LOWER(to, value)                                                                                                       \
    do {                                                                                                                           \
        if ((value) < (to))                                                                                                        \
            (to) = (value);                                                                                                        \
    } while (0)

/* Binary search: the first i of [first, last) of which `before`, an expression of i that is true up to some i and false from
 * there on, is false; `last` where there is none. */
#define LWP_PARTITION_POINT(i, first, last, before)                                                                                \
    ({                                                                                                                             \
        size_t low_ = (first), high_ = (last);                                                                                     \
        while (low_ < high_) {                                                                                                     \
            size_t i = low_ + (high_ - low_) / 2;                                                                                  \
            if (before)                                                                                                            \
                low_ = i + 1;                                                                                                      \
            else                                                                                                                   \
                high_ = i;                                                                                                         \
        }                                                                                                                          \
        low_;                                                                                                                      \
    })

static inline size_t lwp_count_up_to(const void *items, size_t count, size_t size, size_t offset, uint64_t key)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        uint64_t value;
        memcpy(&value, (const char *)items + middle * size + offset, sizeof value);
        if (value <= key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* How many items have a 64-bit `member` of at most `key`; the last of them is items[this - 1]. */
#define LWP_COUNT_UP_TO(items, count, member, key)                                                                     \
    lwp_count_up_to(items, count, sizeof *(items), offsetof(__typeof__(*(items)), member), key)

/* For qsort(): by the first 64 bits of an item, and by the first and second. */
static inline int lwp_by_first(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

static inline int lwp_by_first_two(const void *a, const void *b)
{
    int first = lwp_by_first(a, b);
    return first ? first : lwp_by_first((const char *)a + sizeof(uint64_t), (const char *)b + sizeof(uint64_t));
}

#endif
