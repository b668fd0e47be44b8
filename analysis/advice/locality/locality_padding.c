/* Padding: places a multiple of a cache way apart take each other's lines though the cache has room. */
#include "analysis/advice/locality/locality_kinds.h"

#include <math.h>
#include <stdlib.h>

static const double conflicts_least = 0.3; /* of the accesses */

/* What all steps are a multiple of; 0: they are not, of most accesses. */
static uint64_t advice_multiple(const struct lwp_locality_row *row, uint64_t of)
{
    const struct lwp_locality_often *strides = &row->values[LWP_LOCALITY_STRIDE];
    uint64_t known = 0, all = 0, least = 0;
    for (size_t i = 0; i < strides->count; i++) {
        uint64_t step = (uint64_t)llabs(strides->items[i].value);
        known += strides->items[i].count;
        if (!step || step % of)
            continue;
        all += strides->items[i].count;
        least = !least || step < least ? step : least;
    }
    return known && (double)all >= lwp_advice_regular * (double)known ? least : 0;
}

bool lwp_advise_padding(const struct lwp_advice *advice, size_t index, struct lwp_locality_tip *tip)
{
    struct lwp_profile *profile = advice->profile;
    const struct lwp_locality *locality = advice->locality;
    const struct lwp_locality_row *row = &locality->rows[index];
    const struct lwp_cache_level *first = &profile->machines[LWP_MACHINE_HERE].caches.level[0];
    const struct lwp_region *region = row->region == LWP_NONE ? NULL : &profile->regions[row->region];
    uint64_t way = first->ways ? first->bytes / first->ways : 0, step = way ? advice_multiple(row, way) : 0;
    double accesses = (double)row->count->accesses, conflicts = (double)row->count->conflicts, cycles = (double)row->count->found.cycles;
    double saved = conflicts * (LWP_CACHE_L2_CYCLES - LWP_CACHE_L1_CYCLES);
    if (!region || !step || conflicts < conflicts_least * accesses || row->share < lwp_advice_share || cycles < lwp_advice_cycles * accesses)
        return false;
    const char *name = lwp_objects_name(profile, row->object), *here = lwp_advice_place(profile, region);
    saved = row->share * fmin(1, saved / cycles);
    *tip = (struct lwp_locality_tip){.kind = "padding", .row = index, .share = row->share, .gain = lwp_gain_speedup(saved / 2, saved)};
    tip->title = lwp_arena_printf(profile->arena, "The code %s uses %s in steps of multiples of %llu bytes: %.0f %% of these accesses miss the first-level cache, which is large enough",
                                  here, name, (unsigned long long)way, 100 * conflicts / accesses);
    tip->next_step = lwp_arena_printf(profile->arena,
                                      "Padding: places of %s that are used together lie a multiple of %llu bytes apart, so that only %u of them fit in the cache at a time. Make each row or "
                                      "element %.0f bytes (a cache line) longer. Then run lwp collect again and compare with lwp diff.",
                                      name, (unsigned long long)way, first->ways, lwp_advice_line(profile));
    return true;
}
