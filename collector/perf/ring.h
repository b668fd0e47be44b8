/* The ring buffer that the kernel writes an event's records into. Allocates nothing: also read in a signal handler. */
#ifndef LWP_PERF_RING_H
#define LWP_PERF_RING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lwp_perf_ring {
    struct perf_event_mmap_page *page; /* NULL: none. `data_head` is the kernel's, `data_tail` ours */
    const uint8_t *data;
    uint64_t size;    /* of `data`; a power of two */
    size_t page_bytes;
    uint64_t skipped; /* records that did not fit the caller's room, or were none: then all that was there is dropped */
};

/* Maps `pages` pages, a power of two, of records of event `fd`. 0 or -errno. */
int lwp_perf_ring_map(struct lwp_perf_ring *ring, int fd, size_t pages);
void lwp_perf_ring_unmap(struct lwp_perf_ring *ring);

/* Moves the oldest record, header and all, to `record`, which has room for `room` bytes. False: there is none. */
bool lwp_perf_ring_take(struct lwp_perf_ring *ring, void *record, size_t room);

#endif
