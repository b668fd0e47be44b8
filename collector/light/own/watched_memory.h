/* Which bytes any thread has a watchpoint on now, for the code that takes memory away from under a watch: free, munmap, system
 * calls. Also which memory other processes see. Any thread may ask at any time; nothing waits. */
#ifndef LWP_COLLECTOR_LIGHT_OWN_WATCHED_MEMORY_H
#define LWP_COLLECTOR_LIGHT_OWN_WATCHED_MEMORY_H

#include "format/record.h"

#include <stdbool.h>
#include <stdint.h>

enum { LWP_WATCHED_PAGE_BITS = 12, LWP_WATCHED_PAGES = 64 };

/* How many watchpoints lie on a page, by the low bits of its number. */
extern uint16_t lwp_watched_pages[LWP_WATCHED_PAGES];
extern uint32_t lwp_watched_count; /* of all threads */

static inline bool lwp_watched_any(void)
{
    return __atomic_load_n(&lwp_watched_count, __ATOMIC_RELAXED) != 0;
}

/* A watch begins; a slot for it, or -1: there are too many. */
int lwp_watched_enter(uint64_t address);
void lwp_watched_leave(int slot);

/* enum lwps_watch_end, 0: its memory is as it was. */
uint8_t lwp_watched_lost(int slot);

void lwp_watched_reset(void); /* in the child of a fork: no thread has a watchpoint */

void lwp_watched_forget_slowly(uint64_t address, uint64_t bytes, enum lwps_watch_end why);

/* The bytes are about to be freed, unmapped or used by the kernel: watchpoints on them end without a verdict. */
static inline void lwp_watched_forget(const void *block, uint64_t bytes, enum lwps_watch_end why)
{
    uint64_t address = (uint64_t)block, first = address >> LWP_WATCHED_PAGE_BITS;
    uint64_t last = (address + bytes) >> LWP_WATCHED_PAGE_BITS;
    if (last - first < LWP_WATCHED_PAGES) {
        while (!lwp_watched_pages[first % LWP_WATCHED_PAGES])
            if (first++ == last)
                return;
    }
    lwp_watched_forget_slowly(address, bytes, why);
}

/* Memory that other processes use, too: what becomes of a store there cannot be seen. */
void lwp_shared_add(uint64_t address, uint64_t bytes);
void lwp_shared_remove(uint64_t address, uint64_t bytes);
bool lwp_shared_has(uint64_t address);
void lwp_shared_all(void); /* everything is, from now on */
uint64_t lwp_shared_from(uint64_t address); /* bytes of the piece that begins there, 0: none does */
void lwp_shared_start(void); /* what is mapped already */
extern uint64_t lwp_main_stack_high; /* where the first thread's stack was found to end then; 0: not known */

#endif
