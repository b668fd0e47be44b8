#include "collector/exact/access_numbers.h"

#include "collector/exact/contexts.h"
#include "collector/exact/shadow_pairs.h"

enum { PATHS_FIRST = 1 << 12 };

/* The numbers of a superblock on one call path, from `base` on. */
struct path {
    const struct lwp_numbered_block *block;
    uint32_t node, base;
};

/* The last numbers are of accesses that are not told apart any more. */
static const uint32_t number_most = LWP_SHADOW_UNKNOWN - LWP_NUMBERED_MOST;

static uint32_t block_count, next_number = 1;
static struct path *paths;   /* in the order of `base` */
static uint32_t path_count, path_room, path_last; /* path_last: looked for last */

/* A path by its block and node, with all that is asked of it. */
static struct slot {
    uint32_t block, node, base; /* base 0: free */
} *slots;
static uint32_t slot_room;

struct lwp_numbered_block *lwp_numbers_block(UInt count)
{
    struct lwp_numbered_block *block;
    count = count < LWP_NUMBERED_MOST ? count : LWP_NUMBERED_MOST;
    block = VG_(calloc)("lwp.numbers", 1, sizeof *block + count * sizeof block->access[0]);
    block->id = ++block_count;
    block->count = count;
    block->node = UINT32_MAX;
    return block;
}

static struct slot *numbers_slot(const struct lwp_numbered_block *block, uint32_t node)
{
    uint64_t hash = ((uint64_t)block->id << 32 | node) * 0x9e3779b97f4a7c15u;
    uint32_t mask = slot_room - 1, at = (uint32_t)(hash >> 32) & mask;
    while (slots[at].base && (slots[at].block != block->id || slots[at].node != node))
        at = (at + 1) & mask;
    return &slots[at];
}

static void numbers_grow(void)
{
    path_room = path_room ? 2 * path_room : PATHS_FIRST;
    paths = VG_(realloc)("lwp.numbers", paths, path_room * sizeof *paths);
    VG_(free)(slots);
    slot_room = 2 * path_room;
    slots = VG_(calloc)("lwp.numbers", slot_room, sizeof *slots);
    for (uint32_t i = 0; i < path_count; i++)
        *numbers_slot(paths[i].block, paths[i].node) = (struct slot){paths[i].block->id, paths[i].node, paths[i].base};
}

VG_REGPARM(1) void lwp_numbers_enter(struct lwp_numbered_block *block)
{
    if (path_count == path_room)
        numbers_grow();
    struct slot *slot = numbers_slot(block, lwp_context_now);
    block->node = lwp_context_now;
    if (!slot->base && next_number + block->count > number_most) {
        block->base = number_most;
        return;
    }
    if (!slot->base) {
        paths[path_count++] = (struct path){block, lwp_context_now, next_number};
        *slot = (struct slot){block->id, lwp_context_now, next_number};
        next_number += block->count;
    }
    block->base = slot->base;
}

static const struct path *numbers_path(uint32_t number)
{
    uint32_t low = 0, high = path_count;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (paths[middle].base <= number)
            low = middle;
        else
            high = middle;
    }
    return &paths[low];
}

const struct lwp_numbered_access *lwp_numbers_access(uint32_t number, uint32_t *node)
{
    if (!number || number >= number_most || !path_count)
        return NULL;
    const struct path *path = &paths[path_last];
    if (number - path->base >= path->block->count)
        path = numbers_path(number);
    path_last = (uint32_t)(path - paths);
    *node = path->node;
    return &path->block->access[number - path->base];
}
