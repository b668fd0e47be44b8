/* What the kinds of advice on locality have in common: lines of a cache, and how a loop is called. */
#include "analysis/advice/locality/locality_kinds.h"

#include <math.h>

double lwp_advice_line(const struct lwp_profile *profile)
{
    return (double)((uint64_t)1 << profile->machines[LWP_MACHINE_HERE].caches.line_shift);
}

double lwp_advice_lines(const struct lwp_profile *profile, double stride)
{
    return fmin(1, fabs(stride) / lwp_advice_line(profile));
}

const char *lwp_advice_place(struct lwp_profile *profile, const struct lwp_region *region)
{
    const char *lines = lwp_regions_lines(profile, region);
    return lines ? lwp_arena_printf(profile->arena, "at %s", lines)
                 : lwp_arena_printf(profile->arena, "in %s", region->function ? region->function : "code without a name");
}
