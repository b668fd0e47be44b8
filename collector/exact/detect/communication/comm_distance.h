/* Communication reuse distance (Mazaheri et al., ICPP 2018, section 3.3): of all that one thread reads of what another one
 * wrote, in one region, how many distinct elements come between two reads of the same one. Zero: none.
 *
 * Each (region, writer, reader) has a trace of its own. It keeps for each element the time it was last read, and a tree that
 * counts the elements by that time. Exact until there are LWP_COMM_ELEMENTS of them in all, or LWP_COMM_EXACT events
 * among many elements; from then on only half of the elements are followed, a fixed half, and again; distances and counts
 * stand for 1 << thinned times as many. Freestanding; not reentrant. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_COMMUNICATION_COMM_DISTANCE_H
#define LWP_COLLECTOR_EXACT_DETECT_COMMUNICATION_COMM_DISTANCE_H

#include "collector/exact/detect/communication/comm_sets.h"

enum {
    LWP_COMM_ELEMENTS = 1 << 20, /* some 40 bytes each, four times that while tables grow */
    LWP_COMM_EXACT = 32 << 20,
    LWP_COMM_FEW = 1 << 14,      /* so many elements are always followed */
};

struct lwp_comm_trace;

struct lwp_comm_distances {
    const struct lwp_comm_port *port;
    struct lwp_comm_trace **traces; /* by hash of their key */
    size_t count, room;             /* room: a power of two */
    size_t elements, elements_most; /* in all traces */
    uint64_t events, events_most;   /* since they were thinned last */
    unsigned thinned;
    bool full;                      /* some were not followed for want of memory */
};

bool lwp_comm_distances_init(struct lwp_comm_distances *distances, const struct lwp_comm_port *port);
/* Forgets all traces. */
void lwp_comm_distances_clear(struct lwp_comm_distances *distances);
void lwp_comm_distances_fini(struct lwp_comm_distances *distances);

/* The trace of a key (not 0), kept until they are cleared; NULL: no memory. */
struct lwp_comm_trace *lwp_comm_trace_of(struct lwp_comm_distances *distances, uint64_t key);

enum { LWP_COMM_FIRST = -1, LWP_COMM_UNFOLLOWED = -2 };
/* The element is read at a site: its distance, and at which site it was read before; or LWP_COMM_FIRST: for the first time;
 * LWP_COMM_UNFOLLOWED: it is left out. */
int64_t lwp_comm_trace_read(struct lwp_comm_distances *distances, struct lwp_comm_trace *trace, uint64_t element, uint32_t site, uint32_t *before);

/* ---- histograms ---- */

enum { LWP_COMM_BUCKETS = 16 + 8 * 28 };

/* Distances below 16 have a bucket each, all others one for each eighth of a power of two. */
static inline unsigned lwp_comm_bucket_of(uint64_t distance)
{
    if (distance < 16)
        return (unsigned)distance;
    unsigned high = 63 - (unsigned)__builtin_clzll(distance);
    unsigned bucket = 16 + (high - 4) * 8 + (unsigned)(distance >> (high - 3) & 7);
    return bucket < LWP_COMM_BUCKETS ? bucket : LWP_COMM_BUCKETS - 1;
}

struct lwp_comm_bucket {
    uint64_t count, most; /* most: the largest distance seen in it */
};

/* Of a site's distances to reads at another one. */
struct lwp_comm_histogram {
    struct lwp_comm_histogram *next;
    uint32_t before; /* that site */
    struct lwp_comm_bucket bucket[LWP_COMM_BUCKETS];
};

static inline void lwp_comm_histogram_add(struct lwp_comm_histogram *histogram, uint64_t distance, uint64_t times)
{
    struct lwp_comm_bucket *bucket = &histogram->bucket[lwp_comm_bucket_of(distance)];
    bucket->count += times;
    bucket->most = distance > bucket->most ? distance : bucket->most;
}

#endif
