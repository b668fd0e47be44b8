/* How often each access was the reading end of communication, by writer and reader. Freestanding. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_COMMUNICATION_COMM_COUNTS_H
#define LWP_COLLECTOR_EXACT_DETECT_COMMUNICATION_COMM_COUNTS_H

#include "collector/exact/detect/communication/comm_sets.h"

enum { LWP_COMM_COUNTS = 1 << 20 };

struct lwp_comm_count {
    uint32_t site;           /* a number of the caller's, below 1 << 31 */
    uint16_t writer, reader;
    uint64_t first, again;   /* true communication, reuse */
};

struct lwp_comm_counts {
    const struct lwp_comm_port *port;
    struct lwp_comm_count *list; /* [0] has all that there was no room for */
    uint32_t *index;             /* 2 * room slots: place in the list, 0: free */
    uint32_t count, room, most;
};

bool lwp_comm_counts_init(struct lwp_comm_counts *counts, const struct lwp_comm_port *port);
void lwp_comm_counts_fini(struct lwp_comm_counts *counts);
void lwp_comm_counts_clear(struct lwp_comm_counts *counts);

/* The place in `list` of a count; it stays there until they are cleared. */
uint32_t lwp_comm_counts_at(struct lwp_comm_counts *counts, uint32_t site, uint32_t writer, uint32_t reader);

#endif
