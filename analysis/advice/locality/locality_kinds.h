/* The kinds of advice on locality, a file each (locality_*.c), and what these share; locality_advice.c asks them. */
#ifndef LWP_ANALYSIS_ADVICE_LOCALITY_LOCALITY_KINDS_H
#define LWP_ANALYSIS_ADVICE_LOCALITY_LOCALITY_KINDS_H

#include "analysis/advice/locality/locality_advice.h"
#include "analysis/profile/objects.h"
#include "analysis/profile/regions.h"

struct lwp_advice {
    struct lwp_profile *profile;
    const struct lwp_locality *locality;
    const bool *regrouped; /* by object, whether regrouping is advised; NULL: not looked at */
};

static const double lwp_advice_regular = 0.6;                         /* share of the accesses for which a stride or a step speaks */
static const double lwp_advice_share = 0.05, lwp_advice_cycles = 4; /* worth it: of all weight; for each access */
static const double lwp_advice_left = 0.8;                            /* ... of the cycles, at most */

/* Whether the row calls for it; the tip then, but for its place in the list. In profile->arena. */
bool lwp_advise_interchange(const struct lwp_advice *advice, size_t index, struct lwp_locality_tip *tip);
bool lwp_advise_padding(const struct lwp_advice *advice, size_t index, struct lwp_locality_tip *tip);
bool lwp_advise_fission(const struct lwp_advice *advice, size_t index, struct lwp_locality_tip *tip);
bool lwp_advise_fusion(const struct lwp_advice *advice, size_t index, struct lwp_locality_tip *tip);
bool lwp_advise_blocking(const struct lwp_advice *advice, size_t index, struct lwp_locality_tip *tip);
bool lwp_advise_pages(const struct lwp_advice *advice, size_t index, struct lwp_locality_tip *tip);
bool lwp_advise_touch(const struct lwp_advice *advice, const struct lwp_touched *touched, struct lwp_locality_tip *tip);

/* Bytes of a cache line; lines an access takes when its instruction goes on by so many bytes. */
double lwp_advice_line(const struct lwp_profile *profile);
double lwp_advice_lines(const struct lwp_profile *profile, double stride);
/* "at FILE:LINES", or "in FUNCTION". */
const char *lwp_advice_place(struct lwp_profile *profile, const struct lwp_region *region);

#endif
