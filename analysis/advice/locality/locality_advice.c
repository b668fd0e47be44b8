/* One advice for each loop, of the first kind that it calls for. Whether iterations or statements may change places
 * (dependences) a trace cannot tell: the advice says so. */
#include "analysis/advice/locality/locality_kinds.h"

#include <string.h>

static bool (*const advice_kinds[])(const struct lwp_advice *, size_t, struct lwp_locality_tip *) = {
    lwp_advise_interchange, lwp_advise_padding, lwp_advise_fission, lwp_advise_fusion, lwp_advise_blocking, lwp_advise_pages,
};

static bool advice_of(const struct lwp_advice *advice, size_t index, struct lwp_locality_tip *tip)
{
    for (size_t i = 0; i < sizeof advice_kinds / sizeof *advice_kinds; i++)
        if (advice_kinds[i](advice, index, tip))
            return true;
    return false;
}

static bool advice_is_told(const struct lwp_locality *locality, const struct lwp_locality_tips *tips, uint32_t region)
{
    for (size_t i = 0; i < tips->count; i++)
        if (locality->rows[tips->tips[i].row].region == region)
            return true;
    return false;
}

void lwp_locality_advise(struct lwp_profile *profile, const struct lwp_locality *locality, const bool *regrouped,
                         struct lwp_locality_tips *tips)
{
    const struct lwp_locality_counts *counts = &profile->locality;
    *tips = (struct lwp_locality_tips){.tips = lwp_arena_alloc(profile->arena, locality->count + counts->touched_count + 1, sizeof *tips->tips)};
    if (!lwp_gain_known(profile))
        return;
    const struct lwp_advice advice = {profile, locality, regrouped};
    for (size_t i = 0; i < locality->count; i++)
        tips->count += !advice_is_told(locality, tips, locality->rows[i].region) && advice_of(&advice, i, &tips->tips[tips->count]);
    for (size_t i = 0; i < counts->touched_count && !counts->gaps; i++)
        tips->count += lwp_advise_touch(&advice, &counts->touched[i], &tips->tips[tips->count]);
}

static bool advice_is_of_loops(const struct lwp_locality_tip *tip)
{
    return strcmp(tip->kind, "interchange") == 0 || strcmp(tip->kind, "fission") == 0;
}

bool lwp_locality_tips_change(const struct lwp_locality *locality, const struct lwp_locality_tips *tips, uint32_t object)
{
    for (size_t i = 0; i < tips->count; i++)
        for (size_t k = 0; k < locality->count; k++)
            if (advice_is_of_loops(&tips->tips[i]) && locality->rows[k].object == object && locality->rows[k].region == locality->rows[tips->tips[i].row].region)
                return true;
    return false;
}
