#include "collector/exact/detect/communication/comm_counts.h"

#include <string.h>

enum { FIRST = 1 << 10 };

/* An empty index, and the list in a table of `room`. */
static bool counts_tables(struct lwp_comm_counts *counts, uint32_t room)
{
    struct lwp_comm_count *list = counts->port->alloc(room * sizeof *list);
    uint32_t *index = counts->port->alloc(2 * (size_t)room * sizeof *index);
    if (!list || !index) {
        counts->port->free(list);
        counts->port->free(index);
        return false;
    }
    memcpy(list, counts->list, counts->count * sizeof *list);
    counts->port->free(counts->list);
    counts->port->free(counts->index);
    counts->list = list;
    counts->index = index;
    counts->room = room;
    return true;
}

static uint32_t *counts_slot(const struct lwp_comm_counts *counts, uint32_t site, uint32_t writer, uint32_t reader)
{
    uint64_t key = (uint64_t)site << 2 * LWP_COMM_THREAD_BITS ^ (uint64_t)writer << LWP_COMM_THREAD_BITS ^ reader;
    uint32_t mask = 2 * counts->room - 1, at = (uint32_t)((key ^ key >> 32) * 0x9e3779b97f4a7c15u >> 32) & mask;
    for (; counts->index[at]; at = (at + 1) & mask) {
        const struct lwp_comm_count *there = &counts->list[counts->index[at]];
        if (there->site == site && there->writer == writer && there->reader == reader)
            break;
    }
    return &counts->index[at];
}

static bool counts_grow(struct lwp_comm_counts *counts)
{
    if (counts->room >= counts->most || !counts_tables(counts, 2 * counts->room))
        return false;
    for (uint32_t i = 1; i < counts->count; i++) {
        const struct lwp_comm_count *one = &counts->list[i];
        *counts_slot(counts, one->site, one->writer, one->reader) = i;
    }
    return true;
}

uint32_t lwp_comm_counts_at(struct lwp_comm_counts *counts, uint32_t site, uint32_t writer, uint32_t reader)
{
    uint32_t *slot = counts_slot(counts, site, writer, reader);
    if (*slot)
        return *slot;
    if (counts->count == counts->room) {
        if (!counts_grow(counts))
            return 0;
        slot = counts_slot(counts, site, writer, reader);
    }
    counts->list[counts->count] = (struct lwp_comm_count){.site = site, .writer = (uint16_t)writer, .reader = (uint16_t)reader};
    return *slot = counts->count++;
}

bool lwp_comm_counts_init(struct lwp_comm_counts *counts, const struct lwp_comm_port *port)
{
    *counts = (struct lwp_comm_counts){.port = port, .room = FIRST, .count = 1, .most = LWP_COMM_COUNTS};
    counts->list = port->alloc(FIRST * sizeof *counts->list);
    counts->index = port->alloc(2 * FIRST * sizeof *counts->index);
    if (counts->list && counts->index)
        return true;
    lwp_comm_counts_fini(counts);
    return false;
}

void lwp_comm_counts_clear(struct lwp_comm_counts *counts)
{
    memset(counts->index, 0, 2 * (size_t)counts->room * sizeof *counts->index);
    counts->list[0] = (struct lwp_comm_count){0};
    counts->count = 1;
}

void lwp_comm_counts_fini(struct lwp_comm_counts *counts)
{
    counts->port->free(counts->list);
    counts->port->free(counts->index);
    *counts = (struct lwp_comm_counts){0};
}
