/* What address_map.c records and address_map_lookup.c looks up. */
#ifndef LWP_ANALYSIS_ADDRESSES_ADDRESS_MAP_INTERNAL_H
#define LWP_ANALYSIS_ADDRESSES_ADDRESS_MAP_INTERNAL_H

#include "analysis/addresses/address_map.h"
#include "analysis/addresses/range_index.h"
#include "analysis/program/binary/jit_code.h"
#include "base/hash.h"

struct map_module {
    uint32_t id, module;
    uint64_t time, end_time, start, end, bias;
    uint8_t build_id[32], build_id_bytes;
    char *path;
};

struct map_context {
    uint32_t parent, node; /* node: in the profile, once ready */
    uint64_t ip;
};

struct map_pool {
    uint64_t size;
    uint32_t context;
    struct lwps_pool_count count; /* the last one */
};

struct map_block {
    uint64_t address, size, time, end_time;
    uint64_t until;  /* until then nothing else is in its range; 0: others overlap it */
    uint32_t id, of; /* of: its context, and its object once ready */
    bool mapped;
};

/* All blocks that start at one address: mostly one, which this cache line describes. */
struct map_start {
    uint64_t address, furthest;  /* the furthest end of a block here */
    uint64_t reach;              /* ... and in the subtree */
    uint32_t first, count;       /* in blocks[] */
    uint64_t bytes, from, until; /* of the last block; bytes 0: blocks that start elsewhere overlap it */
    uint32_t of;
    bool shared; /* overlaps blocks that start elsewhere */
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct map_start) == 64, "one cache line");

struct lwp_address_map {
    struct lwp_profile *profile;
    uint32_t number;
    uint64_t start_ns;
    uint64_t refused; /* modules and blocks beyond the most that are kept */
    struct map_module *modules;
    size_t module_count, module_room;
    struct lwp_jit_code *jit; /* the module's; NULL: there is no such code */
    uint32_t jit_module;
    uint64_t thread_locals; /* bytes of all modules */
    bool modules_overlap; /* one was unloaded and another loaded there: time matters */
    struct map_context *contexts;
    size_t context_count, context_room;
    struct map_pool *pools; /* by id */
    size_t pool_count, pool_room;
    uint32_t *pool_objects;       /* of pools[], close together, once ready */
    uint64_t recorded, left_out;  /* allocations; of small blocks */
    struct map_kind *kinds;       /* unrecorded.c; NULL: not asked yet */
    size_t kind_count;
    double of_no_pool;          /* blocks that were left out and are counted in no pool */
    struct lwp_map block_index; /* id -> blocks[], until ready */
    struct map_block *blocks;
    size_t block_count, block_room;
    uint32_t *events; /* in order: twice the index of the block, plus one at its end */
    size_t event_count, event_room;
    struct map_start *starts;
    struct lwp_range_index index; /* of starts[] */
    size_t start_count, start_room;
};

/* Sorts and indexes the blocks, once they have objects. */
void lwp_address_map_index(struct lwp_address_map *map);

#endif
