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
static uint32_t path_count, path_room;
static uint32_t *path_index; /* hash table of indices of paths from 1 */
static uint32_t path_index_room;

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

static uint32_t *numbers_slot(const struct lwp_numbered_block *block, uint32_t node)
{
    uint64_t hash = ((uint64_t)block->id << 32 | node) * 0x9e3779b97f4a7c15u;
    uint32_t mask = path_index_room - 1, at = (uint32_t)(hash >> 32) & mask;
    while (path_index[at] && (paths[path_index[at] - 1].block != block || paths[path_index[at] - 1].node != node))
        at = (at + 1) & mask;
    return &path_index[at];
}

static void numbers_grow(void)
{
    path_room = path_room ? 2 * path_room : PATHS_FIRST;
    paths = VG_(realloc)("lwp.numbers", paths, path_room * sizeof *paths);
    VG_(free)(path_index);
    path_index_room = 2 * path_room;
    path_index = VG_(calloc)("lwp.numbers", path_index_room, sizeof *path_index);
    for (uint32_t i = 0; i < path_count; i++)
        *numbers_slot(paths[i].block, paths[i].node) = i + 1;
}

VG_REGPARM(1) void lwp_numbers_enter(struct lwp_numbered_block *block)
{
    if (path_count == path_room)
        numbers_grow();
    uint32_t *slot = numbers_slot(block, lwp_context_now);
    block->node = lwp_context_now;
    if (!*slot && next_number + block->count > number_most) {
        block->base = number_most;
        return;
    }
    if (!*slot) {
        paths[path_count++] = (struct path){block, lwp_context_now, next_number};
        next_number += block->count;
        *slot = path_count;
    }
    block->base = paths[*slot - 1].base;
}

const struct lwp_numbered_access *lwp_numbers_access(uint32_t number, uint32_t *node)
{
    uint32_t low = 0, high = path_count;
    if (!number || number >= number_most || !path_count)
        return NULL;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (paths[middle].base <= number)
            low = middle;
        else
            high = middle;
    }
    *node = paths[low].node;
    return &paths[low].block->access[number - paths[low].base];
}
