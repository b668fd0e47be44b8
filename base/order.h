/* Comparing, and searching what is in order. */
#ifndef LWP_BASE_ORDER_H
#define LWP_BASE_ORDER_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

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

#endif
