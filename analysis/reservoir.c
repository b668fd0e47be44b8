/* The k lowest of all ranks seen: merging is keeping the k lowest of both. Equal ranks are ordered by offset, so that
 * even then nothing depends on who came first. */
#include "analysis/reservoir.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static uint32_t *reservoir_ranks(const struct lwp_reservoir *reservoir)
{
    return (uint32_t *)(reservoir->offsets + reservoir->room);
}

static bool reservoir_before(const struct lwp_reservoir *reservoir, uint32_t a, uint32_t b)
{
    const uint32_t *ranks = reservoir_ranks(reservoir);
    if (ranks[a] != ranks[b])
        return ranks[a] < ranks[b];
    return reservoir->offsets[a] < reservoir->offsets[b];
}

/* Finds the last of a full reservoir. */
static void reservoir_find_worst(struct lwp_reservoir *reservoir)
{
    const uint32_t *ranks = reservoir_ranks(reservoir);
    uint32_t worst = 0, at = LWP_RESERVOIR;
    for (uint32_t i = 0; i < LWP_RESERVOIR; i++)
        worst = ranks[i] > worst ? ranks[i] : worst;
    for (uint32_t i = 0; i < LWP_RESERVOIR; i++)
        if (ranks[i] == worst && (at == LWP_RESERVOIR || reservoir->offsets[i] > reservoir->offsets[at]))
            at = i;
    reservoir->worst = worst;
    reservoir->worst_at = at;
}

static bool reservoir_grow(struct lwp_reservoir *reservoir)
{
    uint32_t room = reservoir->room ? reservoir->room * 4 : 4;
    uint64_t *offsets = malloc(room * (sizeof *offsets + sizeof(uint32_t)));
    if (!offsets)
        return false;
    if (reservoir->count) {
        memcpy(offsets, reservoir->offsets, reservoir->count * sizeof *offsets);
        memcpy(offsets + room, reservoir_ranks(reservoir), reservoir->count * sizeof(uint32_t));
    }
    free(reservoir->offsets);
    reservoir->offsets = offsets;
    reservoir->room = room;
    return true;
}

void lwp_reservoir_keep(struct lwp_reservoir *reservoir, uint32_t rank, uint64_t offset)
{
    if (reservoir->count < LWP_RESERVOIR) {
        if (reservoir->count == reservoir->room && !reservoir_grow(reservoir))
            return;
        reservoir->offsets[reservoir->count] = offset;
        reservoir_ranks(reservoir)[reservoir->count++] = rank;
        if (reservoir->count == LWP_RESERVOIR)
            reservoir_find_worst(reservoir);
        return;
    }
    uint64_t *worst = &reservoir->offsets[reservoir->worst_at];
    if (rank > reservoir->worst || (rank == reservoir->worst && offset >= *worst))
        return;
    *worst = offset;
    reservoir_ranks(reservoir)[reservoir->worst_at] = rank;
    reservoir_find_worst(reservoir);
}

void lwp_reservoir_merge(struct lwp_reservoir *into, const struct lwp_reservoir *from)
{
    for (uint32_t i = 0; i < from->count; i++)
        lwp_reservoir_keep(into, reservoir_ranks(from)[i], from->offsets[i]);
    into->seen += from->seen;
}

void lwp_reservoir_sort(struct lwp_reservoir *reservoir)
{
    uint32_t *ranks = reservoir_ranks(reservoir);
    for (uint32_t i = 1; i < reservoir->count; i++)
        for (uint32_t j = i; j > 0 && reservoir_before(reservoir, j, j - 1); j--) {
            uint64_t offset = reservoir->offsets[j];
            uint32_t rank = ranks[j];
            reservoir->offsets[j] = reservoir->offsets[j - 1];
            ranks[j] = ranks[j - 1];
            reservoir->offsets[j - 1] = offset;
            ranks[j - 1] = rank;
        }
}
