/* One reading thread's cache of the tables that all threads share: code locations, call paths, objects. */
#ifndef LWP_ANALYSIS_LOAD_RESOLVER_H
#define LWP_ANALYSIS_LOAD_RESOLVER_H

#include "analysis/addresses/address_map.h"
#include "analysis/profile/locations.h"
#include "analysis/profile/objects.h"

struct lwp_resolver;

struct lwp_resolver *lwp_resolver_new(struct lwp_profile *profile);
void lwp_resolver_free(struct lwp_resolver *resolver);

/* Lookups from now on are of this process. */
void lwp_resolver_enter(struct lwp_resolver *resolver, struct lwp_address_map *map);

/* Gives the blocks and pools of a process their objects (address_map_objects.c): after lwp_address_map_modules, before the first
 * lookup. Afterwards several threads may look up at once. */
void lwp_address_map_objects(struct lwp_address_map *map, struct lwp_resolver *resolver);

/* About so many calls and allocated objects follow. */
void lwp_resolver_expect(struct lwp_resolver *resolver, size_t calls, size_t objects);

/* The instruction at an address of the process; time 0: whenever. */
const struct lwp_location *lwp_resolver_location(struct lwp_resolver *resolver, uint64_t ip, uint64_t time);

/* The child of a context for a call there, or for the function that holds it. */
uint32_t lwp_resolver_various(struct lwp_resolver *self); /* callers that are not the same for all */
uint32_t lwp_resolver_call(struct lwp_resolver *resolver, uint32_t parent, const struct lwp_location *location);
uint32_t lwp_resolver_function(struct lwp_resolver *resolver, uint32_t parent, const struct lwp_location *location);

/* The lowest common ancestor of two contexts. */
uint32_t lwp_resolver_common(struct lwp_resolver *resolver, uint32_t a, uint32_t b);

uint32_t lwp_resolver_allocated(struct lwp_resolver *resolver, enum lwp_object_kind kind, uint32_t context, uint64_t pool_size);

/* The object at an address, and the offset in its block or variable; LWP_NONE: nothing is known there.
 * `last` and `hint` are as in lwp_address_map_object. */
uint32_t lwp_resolver_data(struct lwp_resolver *resolver, struct lwp_extent *last, uint32_t hint, uint64_t address, uint64_t time,
                           uint64_t *offset);

/* The thread-local variable of the thread with that pointer; LWP_NONE: the address is none's. */
uint32_t lwp_resolver_thread_local(struct lwp_resolver *resolver, uint64_t pointer, uint64_t address, uint64_t *offset);

/* The variable so many bytes from the frame base of the function that executes `owner`. */
uint32_t lwp_resolver_stack(struct lwp_resolver *resolver, const struct lwp_location *owner, uint64_t from_cfa, uint64_t *offset);

/* The pool's object of a block that was not recorded, by the code of the access to `address`, and the offset in the block; LWP_NONE: not
 * known. */
uint32_t lwp_resolver_unrecorded(struct lwp_resolver *resolver, const struct lwp_location *location, uint64_t address, uint64_t *offset);

uint32_t lwp_resolver_special(struct lwp_resolver *resolver, enum lwp_object_special which);

#endif
