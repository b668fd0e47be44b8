#include "collector/perf/ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int lwp_perf_ring_map(struct lwp_perf_ring *ring, int fd, size_t pages)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *mapped = mmap(NULL, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED)
        return -errno;
    *ring = (struct lwp_perf_ring){.page = mapped, .data = (const uint8_t *)mapped + page, .size = pages * page, .page_bytes = page};
    return 0;
}

void lwp_perf_ring_unmap(struct lwp_perf_ring *ring)
{
    if (ring->page)
        munmap(ring->page, ring->page_bytes + ring->size);
    ring->page = NULL;
}

static void ring_copy(const struct lwp_perf_ring *ring, uint64_t from, void *to, size_t bytes)
{
    size_t offset = (size_t)(from & (ring->size - 1)), straight = (size_t)(ring->size - offset);
    if (straight > bytes)
        straight = bytes;
    memcpy(to, ring->data + offset, straight);
    memcpy((uint8_t *)to + straight, ring->data, bytes - straight);
}

bool lwp_perf_ring_take(struct lwp_perf_ring *ring, void *record, size_t room)
{
    uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE), tail = ring->page->data_tail;
    bool taken = false;
    while (!taken && tail != head) {
        struct perf_event_header header = {0};
        uint64_t there = head - tail;
        if (there >= sizeof header && there <= ring->size)
            ring_copy(ring, tail, &header, sizeof header);
        bool whole = header.size >= sizeof header && header.size <= there;
        taken = whole && header.size <= room;
        if (taken)
            ring_copy(ring, tail, record, header.size);
        else
            ring->skipped++;
        tail = whole ? tail + header.size : head;
    }
    __atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
    return taken;
}
