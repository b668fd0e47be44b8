/* In what fragments an instruction reads, for the first time, what other threads wrote: a fragment goes on as long as each read
 * is at most some lines from the one before, as columns of a small block are. Many short fragments that lie evenly apart are
 * parts of rows whose rest is another thread's. Freestanding. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_COMMUNICATION_COMM_FRAGMENTS_H
#define LWP_COLLECTOR_EXACT_DETECT_COMMUNICATION_COMM_FRAGMENTS_H

#include <stdint.h>

struct lwp_comm_fragments {
    uint64_t last, begin;         /* of the fragment that is read: addresses */
    int64_t step, votes;          /* from one begin to the next: the one that most have, by majority vote */
    uint64_t count, lines, bytes; /* of all fragments */
};

enum { LWP_COMM_FRAGMENT_LINE_BITS = 6, LWP_COMM_FRAGMENT_REACH = 8 };

static inline void lwp_comm_fragments_read(struct lwp_comm_fragments *fragments, uint64_t address, unsigned bytes)
{
    uint64_t line = address >> LWP_COMM_FRAGMENT_LINE_BITS, last = fragments->last >> LWP_COMM_FRAGMENT_LINE_BITS;
    fragments->bytes += bytes;
    if (line - last + LWP_COMM_FRAGMENT_REACH > 2 * LWP_COMM_FRAGMENT_REACH) {
        int64_t step = (int64_t)(address - fragments->begin);
        fragments->step = fragments->votes ? fragments->step : step;
        fragments->votes += step == fragments->step ? 1 : -1;
        fragments->begin = address;
        fragments->count++;
    }
    fragments->lines += line != last;
    fragments->last = address;
}

#endif
