#include "collector/exact/access_numbers.h"

#include "collector/exact/contexts.h"
#include "collector/exact/shadow_pairs.h"

enum { PATHS_FIRST = 1 << 12, BLOCKS_FIRST = 1 << 10, NEAR = 64, TOGETHER = 16, PLACE_BITS = 27 };

/* The numbers of a superblock on one call path, from `base` on. */
struct path {
    uint32_t block, node, base;
};

/* The last numbers are of accesses that are not told apart any more. */
static const uint32_t number_most = LWP_SHADOW_UNKNOWN - LWP_NUMBERED_MOST;

_Static_assert(LWP_SHADOW_UNKNOWN < 1 << PLACE_BITS, "a path has a number at least: its place fits into a slot");

static const struct lwp_numbered_block **blocks; /* by id; the first is none */
static uint32_t block_count = 1, block_room, next_number = 1;
static struct path *paths;   /* in the order of `base` */
static uint32_t path_count, path_room;
static uint32_t *nearby;     /* of each NEAR numbers: the path that the first is of */
static uint32_t near_count, near_room;

/* Paths by their block and node: a path's place + 1, 0: free; above it bits of the hash, as most paths differ there. */
static uint32_t *slots;
static uint32_t slot_room;

struct lwp_numbered_block *lwp_numbers_block(UInt most)
{
    struct lwp_numbered_block *block;
    most = most < LWP_NUMBERED_MOST ? most : LWP_NUMBERED_MOST;
    block = VG_(calloc)("lwp.numbers", 1, sizeof *block + most * sizeof block->access[0]);
    if (block_count >= block_room) {
        block_room = block_room ? 2 * block_room : BLOCKS_FIRST;
        blocks = VG_(realloc)("lwp.numbers", blocks, block_room * sizeof *blocks);
    }
    block->id = block_count;
    blocks[block_count++] = block;
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

static struct path *slot_path(uint32_t slot)
{
    return &paths[(slot & ((1u << PLACE_BITS) - 1)) - 1];
}

/* The slot of a path, free if there is none yet; `mark`: what is above the place in it. Superblocks that were translated
 * one after the other run one after the other, so their slots are side by side. */
static uint32_t *numbers_slot(uint32_t block, uint32_t node, uint32_t *mark)
{
    uint64_t hash = ((uint64_t)(block / TOGETHER) << 32 | node) * 0x9e3779b97f4a7c15u;
    uint32_t mask = slot_room - 1, at = ((uint32_t)(hash >> 32) * TOGETHER + block % TOGETHER) & mask;
    *mark = ((uint32_t)(hash >> PLACE_BITS) + block) << PLACE_BITS;
    for (; slots[at]; at = (at + 1) & mask) {
        if ((slots[at] ^ *mark) >> PLACE_BITS)
            continue;
        const struct path *path = slot_path(slots[at]);
        if (path->block == block && path->node == node)
            break;
    }
    return &slots[at];
}

static void numbers_grow(void)
{
    uint32_t mark;
    path_room = path_room ? 2 * path_room : PATHS_FIRST;
    paths = VG_(realloc)("lwp.numbers", paths, path_room * sizeof *paths);
    VG_(free)(slots);
    slot_room = 2 * path_room;
    slots = VG_(calloc)("lwp.numbers", slot_room, sizeof *slots);
    for (uint32_t i = 0; i < path_count; i++) {
        uint32_t *slot = numbers_slot(paths[i].block, paths[i].node, &mark);
        *slot = mark | (i + 1);
    }
}

static void numbers_path(const struct lwp_numbered_block *block)
{
    paths[path_count] = (struct path){block->id, lwp_context_now, next_number};
    next_number += block->count ? block->count : 1;
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
    uint32_t mark, *slot = numbers_slot(block->id, lwp_context_now, &mark);
    block->node = lwp_context_now;
    if (!*slot && next_number + block->count > number_most) {
        block->base = number_most;
        return;
    }
    if (!*slot) {
        numbers_path(block);
        *slot = mark | path_count;
    }
    block->base = slot_path(*slot)->base;
}

const struct lwp_numbered_access *lwp_numbers_access(uint32_t number, uint32_t *node)
{
    if (!number || number >= number_most || !path_count)
        return NULL;
    const struct path *path = &paths[nearby[number / NEAR]];
    while (path + 1 < paths + path_count && path[1].base <= number)
        path++;
    *node = path->node;
    return &blocks[path->block]->access[number - path->base];
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
