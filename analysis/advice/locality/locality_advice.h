/* What to change in loops, for what a trace shows of their locality. */
#ifndef LWP_ANALYSIS_ADVICE_LOCALITY_LOCALITY_ADVICE_H
#define LWP_ANALYSIS_ADVICE_LOCALITY_LOCALITY_ADVICE_H

#include "analysis/advice/gain/gain_model.h"
#include "analysis/advice/locality/locality.h"

enum lwp_tip_kind {
    LWP_TIP_INTERCHANGE,
    LWP_TIP_FISSION,
    LWP_TIP_PADDING,
    LWP_TIP_FUSION,
    LWP_TIP_BLOCKING,
    LWP_TIP_PAGES,
    LWP_TIP_LISTS,
    LWP_TIP_TOUCH,
    LWP_TIP_KINDS
};

extern const char *const lwp_tip_keys[LWP_TIP_KINDS]; /* of the JSON document */

struct lwp_locality_tip {
    enum lwp_tip_kind kind;
    size_t row;                 /* of the locality's rows (of the sampled ones without a trace), that it is about */
    uint32_t object, region;    /* the row's */
    double share;               /* of all weight, of the loop's data */
    uint64_t samples;           /* that this rests on; 0: counted */
    struct lwp_gain_range gain; /* of the whole program's speed */
    double speedup;             /* ... the likeliest; 0: not known */
    double stake;               /* the part of all time that there is to gain at most, where `gain` is not known; 0: not known either */
    const char *title, *next_step;
    const uint32_t *objects; /* without a trace: which the loop goes over in another way then; of "pages": which are backed */
    size_t object_count;
};

struct lwp_locality_tips {
    struct lwp_locality_tip *tips;
    size_t count;
};

/* In profile->arena. `regrouped`: by object, whether regrouping is advised; NULL: not looked at. */
void lwp_locality_advise(struct lwp_profile *profile, const struct lwp_locality *locality, const bool *regrouped,
                         struct lwp_locality_tips *tips);

/* Whether one of them changes loops that go over the object; from samples, only one that gains at least as much as `speedup`. */
bool lwp_locality_tips_change(const struct lwp_locality *locality, const struct lwp_locality_tips *tips, uint32_t object, double speedup);

#endif
