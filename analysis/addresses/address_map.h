/* The address space of a process over time: the module of code, the object of data. */
#ifndef LWP_ANALYSIS_ADDRESSES_ADDRESS_MAP_H
#define LWP_ANALYSIS_ADDRESSES_ADDRESS_MAP_H

#include "analysis/profile/profile.h"
#include "format/record.h"

struct lwp_address_map;

/* `number`: no other process has it. */
struct lwp_address_map *lwp_address_map_new(struct lwp_profile *profile, uint32_t number);
void lwp_address_map_free(struct lwp_address_map *map);
uint64_t lwp_address_map_refused(const struct lwp_address_map *map); /* records of modules and blocks beyond the limits */
uint32_t lwp_address_map_number(const struct lwp_address_map *map);

/* The records of process.lwps, in order; lwp_address_map_start first: what times are counted from. */
void lwp_address_map_start(struct lwp_address_map *map, uint64_t start_ns);
uint64_t lwp_address_map_time(const struct lwp_address_map *map, uint64_t time);
void lwp_address_map_module(struct lwp_address_map *map, const struct lwps_module *record);
void lwp_address_map_module_end(struct lwp_address_map *map, const struct lwps_module_end *record);
void lwp_address_map_context(struct lwp_address_map *map, const struct lwps_context *record);
void lwp_address_map_pool(struct lwp_address_map *map, const struct lwps_pool *record);
void lwp_address_map_pool_count(struct lwp_address_map *map, const struct lwps_pool_count *record);
void lwp_address_map_block(struct lwp_address_map *map, const struct lwps_block *record);
void lwp_address_map_block_end(struct lwp_address_map *map, const struct lwps_block_end *record);

/* What the process's folder of the result says of code that the program made. */
void lwp_address_map_jit(struct lwp_address_map *map, const char *folder);

/* After the last record: numbers its modules. One process after the other, so that numbers are deterministic. */
void lwp_address_map_modules(struct lwp_address_map *map);

/* The module of an address, and the address in its file; module LWP_NONE and the address itself without one. The answer
 * holds from *from to *until. Time 0: at any time. Code that the program made is in a module of its own (jit_code.h), data are not. */
void lwp_address_map_data(const struct lwp_address_map *map, uint64_t address, uint64_t time, uint32_t *module, uint64_t *in_file,
                          uint64_t *from, uint64_t *until);

/* Likewise of a thread-local variable of the program's own, of the thread with that pointer; false: the address is none's. */
bool lwp_address_map_thread_local(const struct lwp_address_map *map, uint64_t pointer, uint64_t address, uint32_t *module,
                                  uint64_t *in_file);

/* How much lies below a thread's pointer, at most, that are thread-local variables of any module. */
uint64_t lwp_address_map_thread_locals(const struct lwp_address_map *map);
void lwp_address_map_code(const struct lwp_address_map *map, uint64_t ip, uint64_t time, uint32_t *module, uint64_t *address,
                          uint64_t *from, uint64_t *until);

/* Whether one address may have held code of several modules, one after the other. */
bool lwp_address_map_reuses_code(const struct lwp_address_map *map);

/* Where to look for the blocks at some addresses: many at once, so that their cache misses overlap. A hint is for its address
 * only. */
void lwp_address_map_hints(const struct lwp_address_map *map, const uint64_t *addresses, size_t count, uint32_t *hints);

/* A block and the time in which nothing else was there. Start from zero. */
struct lwp_extent {
    uint64_t start, bytes, from, until;
    uint32_t object;
};

static inline bool lwp_extent_holds(const struct lwp_extent *extent, uint64_t address, uint64_t time)
{
    return address - extent->start < extent->bytes && time >= extent->from && time < extent->until;
}

/* The object of the block at an address, and the offset in it; LWP_NONE: no block. `last` gets the block, for callers that try it
 * first next time. `hint`: from above, or LWP_NONE. */
uint32_t lwp_address_map_object(const struct lwp_address_map *map, struct lwp_extent *last, uint32_t hint, uint64_t address, uint64_t time,
                                uint64_t *offset);

/* The object of a pool, LWP_NONE for an id that was never recorded. */
uint32_t lwp_address_map_pool_object(const struct lwp_address_map *map, uint32_t pool);

/* So many allocations were recorded, and so many of small blocks were not; whether there were any of these. */
void lwp_address_map_left_out(struct lwp_address_map *map, uint64_t recorded, uint64_t left_out);
bool lwp_address_map_leaves_out(const struct lwp_address_map *map);

/* The pool's object whose blocks the instruction goes to, by the types that the code says, and where in the block; LWP_NONE: not known.
 * Once blocks have objects, with the profile's lock held. */
uint32_t lwp_address_map_unrecorded(struct lwp_address_map *map, uint32_t module, uint64_t code, uint64_t *at);

/* Whether an allocator's block may begin there. */
bool lwp_address_map_begins_block(uint64_t address);

#endif
