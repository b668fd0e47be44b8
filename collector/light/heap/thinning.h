/* Of how many allocations of small blocks is one recorded? */
#ifndef LWP_COLLECTOR_LIGHT_HEAP_THINNING_H
#define LWP_COLLECTOR_LIGHT_HEAP_THINNING_H

#include "base/random.h"
#include "collector/light/own/thread.h"

/* Few blocks are this large, but most of a program's memory may be in them: from one review to the next so many are recorded out of turn. */
enum { LWP_LARGER_BYTES = 2048, LWP_LARGER_MOST = 2048 };

/* What recording takes from the program's caches, and the calls around it, are about as much again as the recording (bench/mallocs:
 * 44 ns a block, 25 of them in malloc and free here; where it was compared, 1.3 to 1.7 times that). Finding out a call path goes through
 * tables and code that nothing else uses. */
enum { LWP_HEAP_COLD = 2 };

/* Of the calling thread: so many blocks are left out before the next one. All that is looked at for these: what else is known of a thread
 * is in cache lines and pages that the program's own work takes away in between. */
extern __thread uint32_t lwp_thinning_skips;

/* Draws that: programs allocate one kind after the other, again and again. */
static inline void lwp_thinning_next(struct lwp_thread *self)
{
    self->heap_drawn = self->heap_thinning;
    lwp_thinning_skips = self->heap_thinning ? lwp_random_below(&self->random, 2 * self->heap_thinning + 1) : 0;
    self->heap_left_out += lwp_thinning_skips;
}

/* The calling thread ends: what it would have left out yet is none of its blocks. */
static inline void lwp_thinning_end(struct lwp_thread *self)
{
    self->heap_left_out -= lwp_thinning_skips;
    lwp_thinning_skips = 0;
}

/* What it costs that so many blocks were not recorded in so much CPU time. */
uint64_t lwp_thinning_left_out_ns(uint64_t blocks, uint64_t ran_ns);

/* Charges what recording and leaving out have cost since that was last done. */
void lwp_thinning_charge(struct lwp_thread *self);

/* Charges that, too. When it costs too much only some allocations are recorded, and the blocks of the
 * others are unknown; `may_record_more`: otherwise more of them are than before. */
void lwp_thinning_review(struct lwp_thread *self, uint64_t cpu_ns, bool may_record_more);

/* Another `ns` went into it: programs whose paths are ever other ones, whose blocks are large, or that allocate all the time are reviewed
 * more often than their samples come. To ask for CPU time is a system call, which is done for that only. */
void lwp_thinning_spent(struct lwp_thread *self, uint64_t ns);

#endif
