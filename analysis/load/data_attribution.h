/* Data attribution: the object that an access goes to. */
#ifndef LWP_ANALYSIS_LOAD_DATA_ATTRIBUTION_H
#define LWP_ANALYSIS_LOAD_DATA_ATTRIBUTION_H

#include "analysis/load/file_locations.h"

/* State for the file being read. */
struct lwp_data_attribution {
    struct lwp_resolver *resolver;
    struct lwp_address_map *map;
    struct lwp_file_locations *locations;
    uint64_t stack_low, stack_high, pointer; /* of the thread */
    struct lwp_extent last;                  /* the block of the access before */
};

/* The object at a known address that the collector did not attribute, and the offset in its block or variable. `hint`:
 * lwp_address_map_hints of the address, or LWP_NONE. */
static inline uint32_t lwp_data_attribution_at(struct lwp_data_attribution *attribution, uint64_t address, uint64_t time, uint32_t hint,
                                               uint64_t *offset)
{
    *offset = address;
    if (lwp_extent_holds(&attribution->last, address, time)) {
        *offset -= attribution->last.start;
        return attribution->last.object;
    }
    uint32_t object = lwp_resolver_data(attribution->resolver, &attribution->last, hint, address, time, offset);
    if (object == LWP_NONE)
        object = lwp_resolver_thread_local(attribution->resolver, attribution->pointer, address, offset);
    if (object != LWP_NONE)
        return object;
    return address >= attribution->stack_low && address < attribution->stack_high
               ? lwp_resolver_special(attribution->resolver, LWP_OBJECT_OTHER_STACK)
               : lwp_resolver_special(attribution->resolver, LWP_OBJECT_UNOWNED);
}

/* The object of an access, and the offset in its block, variable or frame (the address itself where there is none). */
static inline uint32_t lwp_data_attribution_find(struct lwp_data_attribution *attribution, const struct lwps_access *access, uint64_t time,
                                                 uint64_t *offset)
{
    *offset = access->address;
    if (!(access->flags & LWPS_ACCESS_KNOWN))
        return lwp_resolver_special(attribution->resolver, LWP_OBJECT_NOT_KNOWN);
    if (access->home == LWPS_HOME_ADDRESS)
        return lwp_data_attribution_at(attribution, access->address, time, LWP_NONE, offset);
    if (access->home == LWPS_HOME_POOL) {
        uint32_t object = lwp_address_map_pool_object(attribution->map, access->home_id);
        *offset = access->address - access->home_base;
        return object == LWP_NONE ? lwp_resolver_special(attribution->resolver, LWP_OBJECT_UNOWNED) : object;
    }
    const struct lwp_location *frame = lwp_file_locations_frame(attribution->locations, access->home_id);
    const uint32_t own = frame ? LWP_NONE : lwp_resolver_thread_local(attribution->resolver, attribution->pointer, access->address, offset);
    if (own != LWP_NONE)
        return own;
    const bool above = access->address >= attribution->stack_high && access->address < attribution->pointer; /* a library's own variables */
    if (!frame)
        return lwp_resolver_special(attribution->resolver, above ? LWP_OBJECT_UNOWNED : LWP_OBJECT_OTHER_STACK);
    return lwp_resolver_stack(attribution->resolver, frame, access->address - access->home_base, offset);
}

#endif
