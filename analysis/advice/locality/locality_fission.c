/* Loop fission: more walks side by side than prefetchers follow. */
#include "analysis/advice/locality/locality_kinds.h"

#include <math.h>

bool lwp_advise_fission(const struct lwp_advice *advice, size_t index, struct lwp_locality_tip *tip)
{
    struct lwp_profile *profile = advice->profile;
    const struct lwp_locality *locality = advice->locality;
    const struct lwp_locality_row *row = &locality->rows[index];
    const struct lwp_region *region = row->region == LWP_NONE ? NULL : &profile->regions[row->region];
    double most = profile->machine.streams ? profile->machine.streams : LWP_CACHE_STREAMS;
    double accesses = 0, share = 0, now = 0, then = 0;
    if (!region || region->is_function || row->streams <= most)
        return false;
    for (size_t i = 0; i < locality->count; i++) {
        const struct lwp_locality_row *other = &locality->rows[i];
        if (other->region != row->region)
            continue;
        if (advice->regrouped && advice->regrouped[other->object])
            return false; /* regrouping takes streams away, too: then that is the advice */
        double ahead = (double)other->count->accesses * (LWP_CACHE_L1_CYCLES + lwp_advice_lines(profile, (double)other->stride) * LWP_CACHE_AHEAD_CYCLES);
        accesses += (double)other->count->accesses;
        share += other->share;
        now += (double)other->count->found.cycles;
        then += fmin((double)other->count->found.cycles, ahead);
    }
    if (share < lwp_advice_share || now < lwp_advice_cycles * accesses || then > lwp_advice_left * now)
        return false;
    double saved = share * (1 - then / now);
    const char *here = lwp_advice_place(profile, region);
    *tip = (struct lwp_locality_tip){.kind = "fission", .row = index, .share = share, .gain = lwp_gain_speedup(saved / 2, saved)};
    tip->title = lwp_arena_printf(profile->arena, "The loop %s walks over %.0f places side by side: more than the %.0f that prefetchers follow", here, row->streams, most);
    tip->next_step = lwp_arena_printf(profile->arena,
                                      "Loop fission: make %.0f loops of it, each of which goes over some of the arrays, where no statement needs what one in a later loop "
                                      "would store; keep statements that use the same array together. Then run lwp collect again and compare with lwp diff.",
                                      ceil(2 * row->streams / most));
    return true;
}
