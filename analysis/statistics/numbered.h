/* A growing array on the heap of what is counted by number: zero where nothing was put. */
#ifndef LWP_ANALYSIS_STATISTICS_NUMBERED_H
#define LWP_ANALYSIS_STATISTICS_NUMBERED_H

#include "base/arena.h"

#include <string.h>

static inline void *lwp_numbered_grow(void *items, size_t number, size_t *count, size_t size)
{
    const size_t before = *count;
    while (number >= *count)
        items = lwp_grow(items, *count, count, size);
    memset((char *)items + before * size, 0, (*count - before) * size);
    return items;
}

/* Makes room for one: `LWP_NUMBERED(&items, number, &count)`. */
#define LWP_NUMBERED(items, number, count)                                                                                                 \
    do {                                                                                                                                   \
        if ((number) >= *(count))                                                                                                          \
            *(items) = lwp_numbered_grow(*(items), (number), (count), sizeof **(items));                                                   \
    } while (0)

#endif
