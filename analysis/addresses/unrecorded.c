/* Small blocks that were handed out and not recorded, to keep the overhead low: whose is an address in one of them?
 *
 * In: the types of what each pool's blocks are, by the calls that allocated them; the type that an access's code says a pointer leads to,
 * and how far into it the access is. Out: the pool, where nearly all blocks that may hold such a value are of one, and the place in the
 * block. Of blocks whose call path was never afforded nothing is known: they may hold anything. Blocks begin at multiples of 16 bytes, as
 * the ABI wants it: an address that no such block explains stays without an owner. */
#include "analysis/addresses/address_map_internal.h"

#include "analysis/profile/contexts.h"
#include "base/arena.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS_MOST = 256, BLOCK_ALIGNMENT = 16 };

static const double nearly_all = 0.95; /* of the blocks: as lwp_streams_adopt */

/* Pools of one object. */
struct map_kind {
    uint32_t object;
    uint64_t size;
    double blocks;               /* most at one time */
    const struct lwp_type *type; /* NULL: not known, or plain bytes */
};

static int kind_by_blocks(const void *a, const void *b)
{
    const struct map_kind *x = a, *y = b;
    return LWP_COMPARE(y->blocks, x->blocks) ?: LWP_COMPARE(x->object, y->object);
}

static const struct lwp_type *kind_type(struct lwp_profile *profile, uint32_t object)
{
    struct lwp_candidate candidate;
    return lwp_contexts_block(profile, profile->objects[object].context, &candidate) && candidate.type && candidate.type->bytes > 1 &&
                   !candidate.table && !candidate.header
               ? candidate.type
               : NULL;
}

/* Pools whose paths differ in recursion are one object. */
static void unrecorded_list(struct lwp_address_map *map)
{
    struct lwp_map index = {0};
    double pooled = 0;
    size_t room = 0;
    for (size_t i = 0; i < map->pool_count; i++) {
        const struct map_pool *pool = &map->pools[i];
        if (map->pool_objects[i] == LWP_NONE || !pool->size)
            continue;
        uint32_t *at = lwp_map_at(&index, map->pool_objects[i]);
        if (lwp_number_new(at, map->kind_count))
            LWP_APPEND(&map->kinds, &map->kind_count, &room, (struct map_kind){.object = map->pool_objects[i], .size = pool->size});
        map->kinds[*at].blocks += (double)pool->count.peak_blocks;
        pooled += (double)pool->count.allocations;
    }
    map->of_no_pool = fmax(0, (double)map->recorded + (double)map->left_out - (double)map->block_count - pooled);
    lwp_map_fini(&index);
    if (map->kind_count)
        qsort(map->kinds, map->kind_count, sizeof *map->kinds, kind_by_blocks);
    for (size_t i = 0; i < map->kind_count && i < KINDS_MOST; i++)
        map->kinds[i].type = kind_type(map->profile, map->kinds[i].object);
}

static bool kind_same(const struct lwp_type *a, const struct lwp_type *b)
{
    return a == b || (a->bytes == b->bytes && a->kind == b->kind && strcmp(a->name, b->name) == 0);
}

/* How many places in a value of `outer` hold one of `inner`; *at: the last. */
static unsigned kind_places(const struct lwp_type *outer, const struct lwp_type *inner, uint64_t *at)
{
    const uint64_t step = inner->alignment ? inner->alignment : 1;
    unsigned places = 0;
    if (kind_same(outer, inner)) {
        *at = 0;
        return 1;
    }
    for (uint64_t offset = 0; offset + inner->bytes <= outer->bytes && places < 2; offset += step)
        if (lwp_types_contain(outer, offset, inner)) {
            *at = offset;
            places++;
            offset += inner->bytes > step ? (inner->bytes - 1) / step * step : 0;
        }
    if (places == 0 && outer->payload && (places = kind_places(outer->payload, inner, at)))
        *at += outer->payload_at; /* in a buffer of bytes, for DWARF */
    return places;
}

uint32_t lwp_address_map_unrecorded(struct lwp_address_map *map, uint32_t module, uint64_t code, uint64_t *at)
{
    const struct map_kind *best = NULL;
    struct lwp_code_place place;
    double all, most = 0;
    if (module == LWP_NONE || !lwp_types_place(map->profile->code, module, code, &place) || place.type->kind != LWP_TYPE_STRUCT ||
        !place.type->bytes)
        return LWP_NONE;
    if (!map->kinds)
        unrecorded_list(map);
    all = map->of_no_pool;
    for (size_t i = 0; i < map->kind_count && i < KINDS_MOST; i++) {
        const struct map_kind *kind = &map->kinds[i];
        uint64_t within;
        const unsigned places = kind->type ? kind_places(kind->type, place.type, &within) : 0;
        all += places ? kind->blocks : 0;
        /* A block of several has as many places. */
        if (places == 1 && kind->size < 2 * kind->type->bytes && kind->size >= kind->type->bytes && kind->blocks > most) {
            best = kind;
            most = kind->blocks;
            *at = within + (uint64_t)place.from; /* also beside the value: a node's links around what it keeps */
        }
    }
    for (size_t i = 0; i < map->kind_count && best; i++)
        all += !map->kinds[i].type && map->kinds[i].size == best->size ? map->kinds[i].blocks : 0;
    return best && *at < best->size && most >= nearly_all * all ? best->object : LWP_NONE;
}

bool lwp_address_map_begins_block(uint64_t address)
{
    return address % BLOCK_ALIGNMENT == 0;
}
