/* Source loops: the units over which field use is compared. */
#ifndef LWP_ANALYSIS_PROFILE_REGIONS_H
#define LWP_ANALYSIS_PROFILE_REGIONS_H

#include "analysis/profile/profile.h"

/* The innermost loop around the instruction, or the function's body without one; LWP_NONE without code. */
uint32_t lwp_regions_at(struct lwp_profile *profile, uint32_t module, uint64_t address);

/* Joins the machine loops that are versions of one source loop. After it only regions whose `same_as` is their own
 * index hold weights, and streams point to those. */
void lwp_regions_merge(struct lwp_profile *profile);

/* The region that one is a version of, itself where it is none; LWP_NONE: of LWP_NONE. After lwp_regions_merge. */
uint32_t lwp_regions_final(const struct lwp_profile *profile, uint32_t region);

/* Whether a region, as lwp_regions_final has it, is the other one or lies in it. After lwp_regions_merge. */
bool lwp_regions_within(const struct lwp_profile *profile, uint32_t inner, uint32_t outer);

/* The call in the user's own code that inlined a loop's function, or the outermost one in code of the system; NULL: it is not
 * inlined. */
const struct lwp_frame *lwp_regions_call(const struct lwp_region *region);

/* Of a nest whose loops all have the same lines: 1 the outermost. */
unsigned lwp_regions_level(const struct lwp_profile *profile, const struct lwp_region *region);

/* FILE:LINE or FILE:FIRST-LAST, the file without its folder, which loop of a nest where several have these lines, and where the
 * function is inlined; NULL: not known. In profile->arena. */
const char *lwp_regions_lines(struct lwp_profile *profile, const struct lwp_region *region);

/* time_weight of all objects: the whole cost of each loop is shared among the objects it stalls on, in proportion to the stalls.
 * After lwp_regions_merge. */
void lwp_regions_share_time(struct lwp_profile *profile);

#endif
