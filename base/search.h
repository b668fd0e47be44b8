/* Arrays sorted by an address. bsearch() finds equal items only; here the question is mostly which is the last that
 * begins at or below an address. */
#ifndef LWP_BASE_SEARCH_H
#define LWP_BASE_SEARCH_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

/* qsort(), which must not be given NULL, of what may be none. */
#define LWP_SORT(items, count, compare)                                                                                \
    do {                                                                                                               \
        if (count)                                                                                                     \
            qsort(items, count, sizeof *(items), compare);                                                             \
    } while (0)

#endif
