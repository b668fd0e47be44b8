#include "collector/exact/access_numbers.h"

#include "collector/exact/contexts.h"
#include "collector/exact/shadow_pairs.h"

enum { PATHS_FIRST = 1 << 12, NEAR = 64, TOGETHER = 16 };

/* The numbers of a superblock on one call path, from `base` on. */
struct path {
    const struct lwp_numbered_block *block;
    uint32_t node, base;
};

/* The last numbers are of accesses that are not told apart any more. */
static const uint32_t number_most = LWP_SHADOW_UNKNOWN - LWP_NUMBERED_MOST;

static uint32_t block_count, next_number = 1;
static struct path *paths;   /* in the order of `base` */
static uint32_t path_count, path_room;
static uint32_t *nearby;     /* of each NEAR numbers: the path that the first is of */
static uint32_t near_count, near_room;

/* A path by its block and node, with all that is asked of it. */
static struct slot {
    uint32_t block, node, base; /* base 0: free */
} *slots;
static uint32_t slot_room;

struct lwp_numbered_block *lwp_numbers_block(UInt most)
{
    struct lwp_numbered_block *block;
    most = most < LWP_NUMBERED_MOST ? most : LWP_NUMBERED_MOST;
    block = VG_(calloc)("lwp.numbers", 1, sizeof *block + most * sizeof block->access[0]);
    block->id = ++block_count;
    block->node = UINT32_MAX;
    return block;
}

UInt lwp_numbers_index(struct lwp_numbered_block *block, const struct lwp_numbered_access *access)
{
    for (UInt i = 0; i < block->count; i++) {
        const struct lwp_numbered_access *there = &block->access[i];
        if (there->ip == access->ip && there->bytes == access->bytes && there->flags == access->flags)
            return i;
    }
    if (block->count == LWP_NUMBERED_MOST)
        return LWP_NUMBERED_MOST - 1;
    block->access[block->count] = *access;
    return block->count++;
}

/* Superblocks that were translated one after the other run one after the other, so their slots are side by side. */
static struct slot *numbers_slot(const struct lwp_numbered_block *block, uint32_t node)
{
    uint64_t hash = ((uint64_t)(block->id / TOGETHER) << 32 | node) * 0x9e3779b97f4a7c15u;
    uint32_t mask = slot_room - 1, at = ((uint32_t)(hash >> 32) * TOGETHER + block->id % TOGETHER) & mask;
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

static void numbers_path(const struct lwp_numbered_block *block)
{
    paths[path_count] = (struct path){block, lwp_context_now, next_number};
    next_number += block->count;
    for (; near_count * NEAR < next_number; near_count++) {
        if (near_count == near_room) {
            near_room = near_room ? 2 * near_room : PATHS_FIRST;
            nearby = VG_(realloc)("lwp.numbers", nearby, near_room * sizeof *nearby);
        }
        nearby[near_count] = path_count;
    }
    path_count++;
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
        *slot = (struct slot){block->id, lwp_context_now, next_number};
        numbers_path(block);
    }
    block->base = slot->base;
}

const struct lwp_numbered_access *lwp_numbers_access(uint32_t number, uint32_t *node)
{
    if (!number || number >= number_most || !path_count)
        return NULL;
    const struct path *path = &paths[nearby[number / NEAR]];
    while (path + 1 < paths + path_count && path[1].base <= number)
        path++;
    *node = path->node;
    return &path->block->access[number - path->base];
}

uint32_t lwp_numbers_in_file(uint32_t number, struct lwp_context_map *contexts, struct lwps_writer *file,
                             struct lwps_access *access)
{
    uint32_t node;
    const struct lwp_numbered_access *at = lwp_numbers_access(number, &node);
    *access = (struct lwps_access){.source = LWPS_SOURCE_TRACE};
    if (!at)
        return 0;
    access->ip = at->ip;
    access->bytes = at->bytes;
    access->flags = at->flags;
    return lwp_context_in_file(contexts, file, node);
}
