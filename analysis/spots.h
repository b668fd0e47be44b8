/* Places in code that samples and call paths name, each looked up once: function and innermost loop. */
#ifndef LWP_ANALYSIS_SPOTS_H
#define LWP_ANALYSIS_SPOTS_H

#include "analysis/profile.h"

struct lwp_spot {
    uint32_t id, module;
    uint64_t address;
    uint64_t function;    /* its start, or the address itself when that is not known */
    uint32_t function_id; /* the same for the same module and function */
    uint32_t part;        /* the machine loop, or else the function: regions are made of these */
    bool is_loop;
};

struct lwp_spots *lwp_spots_new(void);
void lwp_spots_free(struct lwp_spots *spots);

/* Made at the first call; stays valid. Under the profile's lock while several threads load. */
const struct lwp_spot *lwp_spots_at(struct lwp_profile *profile, uint32_t module, uint64_t address);

/* Where the one with this id is. */
void lwp_spots_place(const struct lwp_profile *profile, uint32_t id, uint32_t *module, uint64_t *address);

uint32_t lwp_spots_count(const struct lwp_profile *profile);
uint32_t lwp_spots_part_count(const struct lwp_profile *profile);

/* The region of each part that is wanted, LWP_NONE of others: made in order of module and address, so that regions get
 * the same numbers however samples came. `wanted` and `regions` have a place for each part. */
void lwp_spots_regions(struct lwp_profile *profile, const bool *wanted, uint32_t *regions);

#endif
