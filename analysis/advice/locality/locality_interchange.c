/* Loop interchange: an instruction walks in steps of more than a line, and each of its walks begins within a line of the
 * one before: the loop around it walks where this one jumps. Told only if all data of the loop together would take
 * at most half of the lines then. */
#include "analysis/advice/locality/locality_kinds.h"

#include <math.h>
#include <stdlib.h>

static const double lines_left = 0.5;

static bool advice_is_bad(const struct lwp_profile *profile, const struct lwp_locality_row *row)
{
    double line = lwp_advice_line(profile), cycles = (double)row->count->found.cycles / (double)row->count->accesses;
    return row->stride_share >= lwp_advice_regular && fabs((double)row->stride) > line && row->outer_share >= lwp_advice_regular / 2 && row->outer &&
           fabs((double)row->outer) < line && cycles >= lwp_advice_cycles;
}

/* The stride in the loop's place if it and the one around it change theirs; what stands still in it goes where it goes now
 * between its walks. */
static double advice_exchanged(const struct lwp_locality_row *row)
{
    if (row->stride)
        return row->outer_share > 0 ? (double)row->outer : (double)row->stride;
    uint64_t most = 0;
    int64_t other = 0;
    const struct lwp_locality_often *strides = &row->values[LWP_LOCALITY_STRIDE];
    for (size_t i = 0; i < strides->count; i++)
        if (strides->items[i].value && strides->items[i].count > most) {
            most = strides->items[i].count;
            other = strides->items[i].value;
        }
    return (double)other;
}

struct advice_sum {
    double lines_now, lines_then, cycles_now, cycles_then, share;
};

static void advice_add(const struct lwp_profile *profile, const struct lwp_locality_row *row, struct advice_sum *sum)
{
    double accesses = (double)row->count->accesses, now = lwp_advice_lines(profile, (double)row->stride);
    double then = lwp_advice_lines(profile, advice_exchanged(row)), cycles = (double)row->count->found.cycles;
    bool regular_row = row->stride_share >= lwp_advice_regular;
    if (!regular_row)
        now = then = 1;
    sum->lines_now += accesses * now;
    sum->lines_then += accesses * then;
    sum->cycles_now += cycles;
    sum->cycles_then += regular_row ? fmin(cycles, accesses * (LWP_CACHE_L1_CYCLES + then * LWP_CACHE_AHEAD_CYCLES)) : cycles;
    sum->share += row->share;
}

bool lwp_advise_interchange(const struct lwp_advice *advice, size_t index, struct lwp_locality_tip *tip)
{
    struct lwp_profile *profile = advice->profile;
    const struct lwp_locality *locality = advice->locality;
    const struct lwp_locality_row *bad = &locality->rows[index];
    const struct lwp_region *region = bad->region == LWP_NONE ? NULL : &profile->regions[bad->region];
    if (!region || region->is_function || region->parent == LWP_NONE || !advice_is_bad(profile, bad))
        return false;
    const struct lwp_region *around = &profile->regions[region->parent];
    if (around->is_function)
        return false;
    struct advice_sum sum = {0};
    for (size_t i = 0; i < locality->count; i++)
        if (locality->rows[i].region == bad->region)
            advice_add(profile, &locality->rows[i], &sum);
    if (sum.share < lwp_advice_share || sum.lines_then > lines_left * sum.lines_now || sum.cycles_then >= sum.cycles_now)
        return false;
    double saved = sum.share * (1 - sum.cycles_then / sum.cycles_now);
    const char *name = lwp_objects_name(profile, bad->object), *here = lwp_advice_place(profile, region);
    *tip = (struct lwp_locality_tip){.kind = "interchange", .row = index, .share = sum.share,
                                     .gain = lwp_gain_speedup(saved / 2, saved)};
    tip->title = lwp_arena_printf(profile->arena, "The loop %s walks over %s in steps of %lld bytes; the loop around it goes in steps of %lld: exchange the two",
                                  here, name, (long long)llabs(bad->stride), (long long)llabs(bad->outer));
    tip->next_step = lwp_arena_printf(profile->arena,
                                      "Loop interchange: make the loop %s the inner one and the loop %s the outer one, where no iteration needs what a "
                                      "later one would then not have stored yet. %s is then walked line by line. Then run lwp collect again and compare with lwp diff.",
                                      lwp_advice_place(profile, around), here, name);
    return true;
}
