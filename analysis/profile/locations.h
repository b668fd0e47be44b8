/* Code locations that samples and call paths name, each looked up once: its function and innermost loop. */
#ifndef LWP_ANALYSIS_PROFILE_LOCATIONS_H
#define LWP_ANALYSIS_PROFILE_LOCATIONS_H

#include "analysis/profile/profile.h"

struct lwp_location {
    uint32_t id, module;
    uint64_t address;
    uint64_t function;    /* its start, or the address itself when that is not known */
    uint32_t function_id; /* the same for the same module and function */
    uint32_t part;        /* id of the machine loop, or else of the function: regions are made of these */
    uint32_t around;      /* ... of what is directly around that: the next loop or the function; LWP_NONE: nothing */
    bool starts; /* a function, where no call ends */
    bool is_loop;
    bool unread; /* its loops are not known: what calls it is none of its own, an interpreter's for example */
};

struct lwp_locations *lwp_locations_new(void);
void lwp_locations_free(struct lwp_locations *locations);

/* Made at the first call; stays valid. Under the profile's lock while several threads load. */
const struct lwp_location *lwp_locations_at(struct lwp_profile *profile, uint32_t module, uint64_t address);

/* Where the one with this id is. */
void lwp_locations_address(const struct lwp_profile *profile, uint32_t id, uint32_t *module, uint64_t *address);

/* Samples that fell on instructions from `low` to before `high`. */
uint64_t lwp_locations_samples(const struct lwp_profile *profile, uint32_t module, uint64_t low, uint64_t high);

uint32_t lwp_locations_count(const struct lwp_profile *profile);
uint32_t lwp_locations_part_count(const struct lwp_profile *profile);

/* The region of each part that is wanted, LWP_NONE of others: made in order of module and address, so that the numbers of regions
 * do not depend on the order of samples. `wanted` and `regions` have lwp_locations_part_count items. */
void lwp_locations_regions(struct lwp_profile *profile, const bool *wanted, uint32_t *regions);

#endif
