/* Whose memory an access went to. */
#ifndef LWP_ANALYSIS_LOAD_DATA_ATTRIBUTION_H
#define LWP_ANALYSIS_LOAD_DATA_ATTRIBUTION_H

#include "analysis/load/file_locations.h"

/* What is known of the file being read. */
struct lwp_data_attribution {
    struct lwp_resolver *resolver;
    struct lwp_address_map *space;
    struct lwp_file_locations *places;
    uint64_t stack_low, stack_high; /* of the thread */
    struct lwp_extent last;         /* the block of the access before */
};

/* The object at a known address that the collector knew no more of, and the offset in its block or variable. `hint`:
 * lwp_address_map_hints of the address, or LWP_NONE. */
static inline uint32_t lwp_data_attribution_of_address(struct lwp_data_attribution *owners, uint64_t address, uint64_t time, uint32_t hint,
                                             uint64_t *offset)
{
    *offset = address;
    if (lwp_extent_holds(&owners->last, address, time)) {
        *offset -= owners->last.start;
        return owners->last.object;
    }
    uint32_t object = lwp_resolver_data(owners->resolver, &owners->last, hint, address, time, offset);
    if (object != LWP_NONE)
        return object;
    return address >= owners->stack_low && address < owners->stack_high ? lwp_resolver_other_stack(owners->resolver)
                                                                        : lwp_resolver_unowned(owners->resolver);
}

/* The object of an access, and the offset in its block, variable or frame (the address itself where there is none). */
static inline uint32_t lwp_data_attribution_find(struct lwp_data_attribution *owners, const struct lwps_access *access, uint64_t time,
                                       uint64_t *offset)
{
    *offset = access->address;
    if (!(access->flags & LWPS_ACCESS_KNOWN))
        return lwp_resolver_unknown(owners->resolver);
    if (access->home == LWPS_HOME_ADDRESS)
        return lwp_data_attribution_of_address(owners, access->address, time, LWP_NONE, offset);
    if (access->home == LWPS_HOME_POOL) {
        uint32_t object = lwp_address_map_pool_object(owners->space, access->home_id);
        *offset = access->address - access->home_base;
        return object == LWP_NONE ? lwp_resolver_unowned(owners->resolver) : object;
    }
    const struct lwp_location *frame = lwp_file_locations_frame(owners->places, access->home_id);
    if (!frame)
        return lwp_resolver_other_stack(owners->resolver);
    return lwp_resolver_stack(owners->resolver, frame, access->address - access->home_base, offset);
}

#endif
