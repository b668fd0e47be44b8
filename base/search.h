/* Arrays sorted by an address. bsearch() finds equal items only; here the question is which is the last that begins at
 * or below an address. */
#ifndef LWP_BASE_SEARCH_H
#define LWP_BASE_SEARCH_H

#include <stddef.h>
#include <stdint.h>
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

#endif
