/* What a loop's pattern (loop_pattern.c) takes in both layouts, held against the loop itself.
 *
 * What the decoded loop does not show (calls, inner loops) is made up for by a longer chain, until the pattern waits for memory as much
 * of its time as the loop does. Jumps that the processor guesses are run as well, as many as may be guessed wrong.
 * The pattern is believed when it then takes the time that the loop takes for an element, as far as that is known, and does not wait
 * less than the loop. */
#include "analysis/advice/gain/measured.h"

#include "analysis/advice/gain/chain.h"
#include "analysis/advice/gain/displaced.h"
#include "analysis/advice/gain/guesses.h"
#include "analysis/advice/gain/loop_pattern.h"
#include "analysis/advice/gain/pace.h"
#include "analysis/advice/gain/ran.h"
#include "analysis/advice/gain/returns.h"
#include "analysis/advice/gain/states.h"
#include "analysis/advice/gain/timed.h"
#include "analysis/elements/element_count.h"
#include "analysis/measure/pattern.h"
#include "analysis/profile/regions.h"
#include "analysis/profile/streams.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MEASURED_TRIES = 3, RUNS_USUAL = 2 };

/* Standard deviations of log(ratio), docs/gains.md: of a pattern from its loop, for all that a loop can save; of what calm machines do from
 * one minute to the next; of all that predictions of cases drawn at random were off by, for each of the two layouts, whether or not threads
 * share the caches; and of those whose loop's own time is known, for both. Up to lwp_gain_pace_agrees that time says nothing about what they
 * are off by; beyond it, what a pattern is off by today is largely common to both layouts: a part of it is left in the ratio. */
static const double pattern_off = 0.06, minute_off = 0.06, unlike_off = 0.08, known_off = 0.10, left_of_today = 0.6;
static const double share_deviations = 1.96; /* of lwp_share_of(), which has more than lwp_gain_deviations */

static const double pace_most = 2.5, chain_long = 2.5, nested_most = 0.1, stall_agrees = 0.15, stall_least = 0.4, waits_alike = 0.02,
                    hardly_waits = 0.05, usual_cycle_ns = 0.3,
                    gain_least = 0.05 /* of all time: enough to be advised, also of a part of it */;

/* Of another array that the loop goes over in order, for each visit of what is placed. */
static double measured_pace_beside(const struct lwp_profile *profile, const struct lwp_gain_visit *visit)
{
    double pace = 0;
    for (size_t i = 0; i < profile->stream_count && pace <= 0; i++) {
        const struct lwp_stream *stream = &profile->streams[i];
        const struct lwp_traversal *traversal = stream->region == visit->region && stream->module != LWP_NONE
                                                    ? lwp_traversals_of(&profile->traversals, stream->object, visit->region)
                                                    : NULL;
        struct lwp_loop_shape shape;
        if (traversal && traversal->pace_count && lwp_loop_shape(profile->code, stream->module, stream->address, &shape) && shape.steps &&
            shape.step)
            pace = lwp_pace_of(traversal, (double)llabs(shape.step), (double)profile->objects[stream->object].largest);
    }
    return pace / visit->visits;
}

static double measured_pace(const struct lwp_profile *profile, const struct lwp_gain_visit *visit)
{
    const struct lwp_traversal *traversal = lwp_traversals_of(&profile->traversals, visit->objects[0], visit->region);
    const struct lwp_object *object = &profile->objects[visit->objects[0]];
    if (!traversal || visit->access.pattern != LWP_GAIN_SEQUENTIAL || object->single)
        return measured_pace_beside(profile, visit);
    const double pace = lwp_pace_of(traversal, (double)visit->spacing, (double)object->largest);
    return pace > 0 ? pace : measured_pace_beside(profile, visit);
}

/* Whether loops inside the loop take time that the pattern lacks: then only the same time shows that they do not matter. */
static bool measured_nested(const struct lwp_profile *profile, const struct lwp_gain_visit *visit)
{
    double inner = 0;
    for (size_t i = 0; i < profile->region_count; i++)
        inner += profile->regions[i].parent == visit->region ? profile->regions[i].weight.weight : 0;
    return inner > nested_most * profile->regions[visit->region].weight.weight;
}

/* Whether the objects are more than pages of zeros: they hold addresses that lead on, a store to them was seen, or all data is in memory,
 * where such pages do not count. Of one that is larger than all that was ever in memory no store is to most of it. */
static bool measured_written(const struct lwp_profile *profile, const struct lwp_gain_visit *visit)
{
    double bytes = 0;
    for (size_t i = 0; i < profile->object_count; i++)
        bytes += profile->objects[i].kind == LWP_OBJECT_STACK ? 0 : (double)lwp_element_used(&profile->objects[i]);
    if (visit->shape.chained || (bytes > 0 && (double)profile->resident_bytes >= bytes))
        return true;
    bool stored = false, larger = false;
    for (size_t k = 0; k < visit->object_count; k++) {
        const struct lwp_object *object = &profile->objects[visit->objects[k]];
        stored |= object->stores > 0;
        larger |= profile->resident_bytes && (object->element_reach ? object->element_reach : object->largest) > profile->resident_bytes;
    }
    return stored && !larger;
}

/* The new layout's time to today's when the loop takes `pace`, and waits for memory as much longer in both as it does in today's. */
static double measured_scaled(const struct lwp_pattern_times *times, double core, double pace)
{
    return (core + (times->after - core) * fmax(0, pace - core) / (times->before - core)) / pace;
}

/* A standard deviation of what is `usual` elsewhere, and of that of so many runs here, which say little if they are few. */
static double measured_pooled(double usual, unsigned count, double spread)
{
    const double runs = fmax(1, count);
    return sqrt((RUNS_USUAL * usual * usual + (runs - 1) * spread * spread) / (RUNS_USUAL + runs - 1));
}

/* What runs differ by, as a standard deviation of log(time or ratio): the pages that memory comes to lie on, and what others do to the
 * caches, differ from run to run. A few runs say little about their own spread: that of other patterns counts like two more. */
static double measured_off(unsigned count, double spread, double waits)
{
    return measured_pooled(lwp_gain_run_off * waits, count, spread);
}

/* ... what the program's own runs, some seconds or minutes before or after, are off by: where others want the caches, as much as runs of
 * the pattern differ. */
static double measured_minute(const struct lwp_pattern_times *times, double waits)
{
    const double calm = minute_off * waits;
    return fmax(calm, measured_pooled(calm, times->runs, times->spread));
}

/* ... what that leaves unsure of log(ratio). */
static double measured_runs(const struct lwp_pattern_times *times, double waits)
{
    return measured_off(times->runs, times->spread, waits) / sqrt(fmax(1, times->runs));
}

/* How far one run, as the program was when it was profiled, may be from what runs usually show (90 % of log(time or ratio)): by Student's
 * t, as the deviation is known from so few. */
static double measured_one_run(unsigned count, double spread, double waits)
{
    static const double t[] = {2.92, 2.353, 2.132, 2.015, 1.943, 1.895, 1.86, 1.833, 1.812}; /* of RUNS_USUAL degrees of freedom and more */
    const unsigned runs = count ? count : 1, most = sizeof t / sizeof *t;
    return t[(runs < most ? runs : most) - 1] * measured_off(runs, spread, waits);
}

/* Whether a run takes the loop's own time, which is known well. */
static bool measured_as_long(const struct lwp_gain_measured *measured, double pattern)
{
    return measured->pace > 0 && fabs(log(pattern / measured->pace)) <= log(1 + lwp_gain_pace_agrees);
}

/* ... or at least to a factor of two. */
static bool measured_about_as_long(const struct lwp_gain_measured *measured, double pattern)
{
    const struct lwp_gain_range *paces = &measured->paces;
    return measured_as_long(measured, pattern) ||
           (paces->low > 0 && paces->high <= 2 * paces->low && pattern <= paces->high * (1 + lwp_gain_pace_agrees) &&
            pattern * (1 + lwp_gain_pace_agrees) >= paces->low);
}

/* What is left in the ratio of what today's pattern is off by from its loop. */
static double measured_left(double pattern, double pace)
{
    return left_of_today * fmax(0, fabs(log(pattern / pace)) - log(1 + lwp_gain_pace_agrees));
}

bool lwp_gain_runs_agree(const struct lwp_pattern_times *times)
{
    return times->runs > 1 && times->spread <= lwp_gain_deviations * lwp_gain_run_off;
}

/* Of the new layout's time to today's. Where the loop's own time is known and another one than the pattern's, either all that the loop
 * waits for memory scales (the caches were in another state when it was sampled), or what both layouts have in common is different: the
 * interval has both ends, and the pattern may be off by as much. Else the loop waits at most the part of its time that was sampled as such,
 * and the pattern may differ from its loop as patterns do whose loops' times are known, and which part of the last cache the program had is
 * not known; where that time is known to a factor of two, and the pattern takes it, the truth lies between what both say. What differs from
 * run to run adds to it, and what differs from minute to minute. */
void lwp_gain_interval(const struct lwp_pattern_times *times, const struct lwp_gain_range *stalls, double pace,
                       struct lwp_gain_measured *measured)
{
    double value = times->ratio, other = value, off = lwp_gain_deviations * pattern_off;
    double core = fmin(times->core, fmin(times->before, times->after));
    if (pace > 0 && times->before > core) {
        other = measured_scaled(times, core, pace);
        off = hypot(off * M_SQRT1_2, measured_left(times->before, pace)); /* of today's layout it is known */
    } else if (core > 0 && times->before > core) {
        const double waits = 1 - core / times->before,
                     sampled = fmin(waits, stalls->high); /* loads are sampled in the nearest cache, too */
        if (sampled < waits - waits_alike) {
            other = measured_scaled(times, core, core / (1 - sampled));
            value = measured_about_as_long(measured, times->before) ? sqrt(value * other) : other;
        }
    }
    off *= value * fabs(1 - value);
    const double all = 1 - fmin(1, core / times->before);
    const double runs =
        value < 1 || value > 1 ? lwp_gain_deviations * value * measured_runs(times, all) : 0; /* 1: the layout is the same */
    const double minute = measured_minute(times, all), state = hypot(runs, lwp_gain_deviations * value * minute);
    const double below = hypot(off, fmax(0, 1 - times->low / times->ratio) * value);
    const double above = hypot(off, fmax(0, times->high / times->ratio - 1) * value);
    measured->ratio = value;
    measured->today = measured_one_run(times->runs, times->today, all);
    measured->unsteady = sqrt(fmax(0, minute * minute - minute_off * all * minute_off * all));
    measured->low = fmax(fmin(other, value - hypot(below, value < 1 ? state : 0)), 0.5 * value);
    measured->high = fmax(other, value + hypot(above, value < 1 ? state : 0));
    /* What the program took when it was profiled and the pattern now, at two moments, is the usual state. */
    const bool usual = measured_as_long(measured, times->before);
    const bool bounds = measured->paces.low > 0; /* of its time, which do not rule out that it was as now: then it was, most likely */
    if (times->cold[0] > 0 && !usual && (pace > 0) == bounds)
        lwp_gain_states(times, core, stalls->high, measured_one_run(times->runs, times->spread, all) * sqrt(1 + 1 / fmax(1, times->runs)),
                        measured);
}

/* How far the ratio may be off whatever the runs say, and by what this machine is less steady than those on which that was found; they add
 * as squares; 90 % of log(ratio). */
static double measured_unlike(const struct lwp_gain_measured *measured)
{
    const bool known = measured->pace > 0 && measured->pattern > 0;
    const double off = known ? hypot(measured_left(measured->pattern, measured->pace), known_off) : unlike_off * M_SQRT2;
    return lwp_gain_deviations * hypot(off, measured->unsteady);
}

/* The part of all time that is saved when today's layout took more or less while it was profiled than it usually does, as it differs from
 * run to run: then the loop is less of the time than it seemed, or more. */
static struct lwp_gain_range measured_today(const struct lwp_gain_measured *measured, double whole, double saved)
{
    const double off = measured->today, less = exp(-off), more = exp(off);
    return (struct lwp_gain_range){saved * less / (1 - whole + whole * less), saved * more / (1 - whole + whole * more)};
}

struct lwp_gain_range lwp_gain_part(const struct lwp_gain_measured *measured, const struct lwp_share *whole)
{
    const double ratio = measured->ratio, each = 1 - ratio, saved = whole->value * each, unlike = measured_unlike(measured);
    const double slower = fmax(measured->high - ratio, fmin(ratio * expm1(unlike), fabs(each))),
                 faster = fmax(ratio - measured->low, fmin(ratio * -expm1(-unlike), fabs(each)));
    const double below = (whole->value - (each > 0 ? whole->low : whole->high)) * each * lwp_gain_deviations / share_deviations,
                 above = ((each > 0 ? whole->high : whole->low) - whole->value) * each * lwp_gain_deviations / share_deviations;
    const struct lwp_gain_range today = measured_today(measured, whole->value, saved);
    const double runs = saved - hypot(below, whole->value * (measured->high - ratio)); /* say whether there is a gain */
    const double low = saved - hypot(hypot(below, saved - today.low), whole->value * slower);
    return (struct lwp_gain_range){measured->crowded ? low : fmax(low, fmin(runs, gain_least)),
                                   saved + hypot(hypot(above, today.high - saved), whole->value * faster)};
}

bool lwp_gain_resembles(const struct lwp_pattern_times *times, const struct lwp_gain_range *stalls, double pace, bool *same)
{
    double waits = 1 - fmin(1, times->core / times->before), off = pace > 0 ? fabs(log(times->before / pace)) : 0;
    *same = off <= log(1 + lwp_gain_pace_agrees);
    return waits <= stalls->high + stall_agrees && waits >= stall_least * stalls->low && off <= log(pace_most);
}

/* ---- jumps that are guessed ---- */

/* The times of a loop between two patterns, and what of that is sure. */
struct measured_mix {
    struct lwp_pattern_times without, with; /* jumps that are guessed; with: one a visit */
    double least, most;                     /* how many there are */
};

/* A loop's pattern in both layouts, and what was timed of it. */
struct measured_run {
    struct lwp_gain_range stalls; /* the part of its time that the loop was seen to wait */
    struct lwp_pattern today, changed;
    struct lwp_pattern_times times;
    bool guessed; /* jumps that are guessed matter: `times` is the middle of the mix */
    struct measured_mix mix;
};

static struct lwp_pattern_times measured_mixed(const struct measured_mix *mix, double guesses)
{
    return lwp_gain_mixed(&mix->without, &mix->with, guesses);
}

static void measured_jumps(const struct lwp_profile *profile, const struct lwp_gain_visit *visit, struct lwp_gain_measured *measured)
{
    const struct lwp_guesses guesses = lwp_gain_guesses(profile, visit->region);
    measured->guesses = guesses.ways / visit->visits;
    const double calls = visit->shape.computed_calls;
    measured->turns = visit->turn_count ? calls * visit->turn_guesses / visit->visits : 0;
    measured->past = guesses.past / visit->visits + (visit->turn_count ? measured->turns : calls / visit->visits);
    measured->open = guesses.open / visit->visits;
}

/* Jumps past code of which looks say nothing are taken for guessed wrong only where the loop takes longer than its pattern does in any
 * state of the caches. */
static double measured_open(const struct lwp_pattern_times *without, const struct lwp_gain_measured *measured)
{
    return without->before * (1 + lwp_gain_pace_agrees) < measured->pace ? measured->open : 0;
}

/* As many jumps are guessed wrong as the loop's own time leaves room for, where that is known; else there is room at least for what the
 * loop waits longer than the pattern, and at most the samples behind either way say how many there are. False: none that matter. */
static bool measured_guesses(struct lwp_profile *profile, const struct lwp_gain_visit *visit, struct measured_run *run,
                             struct lwp_gain_measured *measured)
{
    struct lwp_pattern today = run->today, changed = run->changed;
    struct measured_mix *mix = &run->mix;
    struct lwp_pattern_times slowest = run->times;
    lwp_gain_choose_state(&slowest, &measured->paces);
    const double open = measured_open(&slowest, measured), most = measured->guesses + measured->past + open;
    if (most <= 0)
        return false;
    today.guesses = changed.guesses = true;
    if (!lwp_gain_times(profile, visit->region, &today, &changed, &mix->with)) {
        measured->doubtful = measured->guesses + measured->turns > 0;
        return false;
    }
    if (open > 0) {
        mix->without = slowest;
        lwp_gain_choose_state(&mix->with, &measured->paces);
    }
    const double each = mix->with.before - mix->without.before,
                 time = measured->pace > 0 ? measured->pace : mix->without.core / (1 - fmin(run->stalls.low, 1));
    if (each <= 0)
        return false;
    mix->least = fmax(0, fmin(most, (time - mix->without.before) / each));
    mix->most = measured->pace > 0 ? mix->least : most;
    return true;
}

/* Whether the times are the loop's. Samples fall on an access also where another instruction is what takes long: the loop may wait less
 * than it seems to. A chain whose next element may be anywhere or beside this one costs the one or the other: that was not seen, so not
 * run. */
static void measured_believe(const struct lwp_profile *profile, const struct lwp_gain_visit *visit, const struct lwp_pattern_times *times,
                             const struct lwp_gain_range *stalls, double pace, struct lwp_gain_measured *measured)
{
    bool same, resembles = lwp_gain_resembles(times, stalls, pace, &same);
    const bool seen = !measured->doubtful && (!visit->access.dependent || visit->far >= 0 || visit->found),
               nested = measured_nested(profile, visit);
    measured->between = seen && resembles && (same || !nested);
    measured->reproduced = measured->between && same;
    /* What runs between two of its rounds may have displaced its data, which the pattern never waits for then. */
    const bool alone = profile->regions[visit->region].weight.weight > (1 - nested_most) * profile->total.weight;
    measured->waits_less =
        seen && same && !nested && (measured->pace > 0 || alone) && times->core > (1 - stall_least * stalls->low) * times->before;
}

static double measured_core(const struct lwp_gain_visit *visit)
{
    return visit->shape.work.instructions / visit->visits * usual_cycle_ns / lwp_gain_instructions_most;
}

double lwp_gain_possible_pace(double pace, const struct lwp_gain_visit *visit)
{
    return pace >= measured_core(visit) ? pace : 0;
}

/* The loop's own time, as far as samples and watches show it. What comes back sooner than it can compute does not go to all elements: then
 * they show nothing. */
static void measured_own_time(struct lwp_profile *profile, const struct lwp_gain_visit *visit, struct lwp_gain_measured *measured)
{
    const double core = measured_core(visit);
    measured->pace = lwp_gain_possible_pace(measured_pace(profile, visit), visit);
    measured->paces = (struct lwp_gain_range){measured->pace, measured->pace};
    if (measured->pace > 0 || visit->found) /* a search comes back to most elements later than watches last */
        return;
    struct lwp_gain_range paces = lwp_gain_returns(profile, visit, lwp_gain_threads(profile, visit));
    if (paces.high <= 0 || paces.high < core)
        return;
    paces.low = fmax(paces.low, core);
    measured->paces = paces;
    if (paces.high <= (1 + lwp_gain_pace_agrees) * (1 + lwp_gain_pace_agrees) * paces.low)
        measured->pace = sqrt(paces.low * paces.high);
}

/* ... or the nearest to the pattern's time that it may be, where that is another one; 0: it may be the same. */
static double measured_nearest(const struct lwp_gain_measured *measured, double before)
{
    if (measured->pace > 0 || measured->paces.low <= 0)
        return measured->pace;
    const double nearest = fmax(measured->paces.low, fmin(measured->paces.high, before));
    return fabs(log(nearest / before)) > log(1 + lwp_gain_pace_agrees) ? nearest : 0;
}

/* No loop saves what it computes. How much that is, samples and the run say. Of a loop that is stalled nearly always neither says it well:
 * some samples fall behind the load that is awaited, and the run may compute less than the loop; then it lies between both, as it does
 * where the run takes the loop's own time. A run that hardly waits has nothing to save: what it takes less with the new layout is not
 * memory. */
double lwp_gain_least_ratio(const struct lwp_gain_range *stalls, double computes, bool as_long)
{
    const double sampled = 1 - stalls->high;
    if (computes > 1 - hardly_waits)
        return fmax(fmin(computes, 1), sampled);
    return (sampled <= stall_agrees || as_long) && computes < sampled ? sqrt(computes * sampled) : sampled;
}

/* What an iteration does with what it has loaded goes on while the next ones' loads are awaited already. Samples that fall on it then show
 * no computing that would stay: as much as it takes longer than an iteration does when nothing is awaited. */
double lwp_gain_stalls_most(double sampled, double tail_ns, double core, double pace)
{
    return pace > 0 ? fmin(1, sampled + fmax(0, tail_ns - core) / pace) : sampled;
}

static double measured_stalls_most(const struct lwp_profile *profile, const struct lwp_gain_visit *visit,
                                   const struct lwp_pattern_times *times, const struct lwp_gain_measured *measured)
{
    const double sampled = lwp_gain_stall_share(profile, visit->region, &visit->shape).high;
    return measured_nested(profile, visit) ? sampled
                                           : lwp_gain_stalls_most(sampled, visit->shape.work.tail / visit->visits * usual_cycle_ns,
                                                                  times->core, measured->pace > 0 ? measured->pace : times->before);
}

/* Both patterns, with as long a chain as today's needs to wait no more of its time than the loop does. False: they cannot be run. */
static bool measured_fit(struct lwp_profile *profile, const struct lwp_gain_visit *visit, const struct lwp_placement *before,
                         const struct lwp_placement *after, const struct lwp_gain_measured *measured, struct measured_run *run)
{
    const double spacing = (double)before->of[0].spacing;
    const struct lwp_pattern_times *times = &run->times;
    double chain = lwp_gain_chain_cycles(&visit->shape.work, visit->visits);
    for (int tries = 0; tries < MEASURED_TRIES; tries++) {
        if (!lwp_gain_pattern(profile, visit, before, chain, spacing, &run->today) ||
            !lwp_gain_pattern(profile, visit, after, chain, spacing, &run->changed) ||
            !lwp_gain_times_once(profile, visit->region, &run->today, &run->changed, &run->times))
            return false;
        run->stalls.high = measured_stalls_most(profile, visit, times, measured);
        const double too_long = 1 - fmin(1, times->core / times->before) - run->stalls.high, cycles = chain + run->today.scaled;
        if (too_long < stall_agrees)
            break;
        chain += too_long * times->before / (cycles > 4 ? times->core / cycles : usual_cycle_ns);
    }
    return true;
}

/* One run that is unlike the loop says little: it may be a neighbour's. */
static void measured_run_often(struct lwp_profile *profile, const struct lwp_gain_visit *visit, struct measured_run *run,
                               struct lwp_gain_measured *measured)
{
    lwp_gain_times(profile, visit->region, &run->today, &run->changed, &run->times);
    run->mix.without = run->times;
    run->guessed = measured_guesses(profile, visit, run, measured);
    if (run->guessed)
        run->times = measured_mixed(&run->mix, (run->mix.least + run->mix.most) / 2);
    lwp_gain_choose_state(&run->times, &measured->paces);
}

/* The new layout's time to today's, and whether these are the loop's times. */
static void measured_compare(const struct lwp_profile *profile, const struct lwp_gain_visit *visit, const struct measured_run *run,
                             struct lwp_gain_measured *measured)
{
    struct lwp_pattern_times times = run->times;
    const double pace = measured_nearest(measured, times.before);
    measured->core = times.core;
    measured->pattern = times.before;
    lwp_gain_interval(&times, &run->stalls, pace, measured);
    times.core = run->mix.without.core; /* behind a wrong guess loads seem to wait */
    const struct lwp_gain_range waits_for_memory = {run->today.endings ? 0 : run->stalls.low, run->stalls.high};
    measured_believe(profile, visit, &times, &waits_for_memory, pace, measured);
    for (int most = 0; run->guessed && most < 2; most++) {
        struct lwp_pattern_times mixed = measured_mixed(&run->mix, most ? run->mix.most : run->mix.least);
        lwp_gain_choose_state(&mixed, &measured->paces);
        measured->low = fmin(measured->low, mixed.ratio);
        measured->high = fmax(measured->high, mixed.ratio);
    }
}

/* A search along a chain ends somewhere, and the next one begins elsewhere without waiting for it: how many are under way at one time was
 * not seen. The truth lies between one after the other and all at one time. */
static void measured_overlapped(struct lwp_profile *profile, const struct lwp_gain_visit *visit, const struct measured_run *run,
                                struct lwp_gain_measured *measured)
{
    struct lwp_pattern today = run->today, changed = run->changed, *const both[] = {&today, &changed};
    struct lwp_pattern_times times;
    struct lwp_gain_measured other = {.paces = measured->paces};
    for (int i = 0; i < 2; i++)
        for (size_t a = 0; a < both[i]->array_count; a++) {
            if (both[i]->arrays[a].walk == LWP_PATTERN_LINKED)
                return;
            if (both[i]->arrays[a].walk == LWP_PATTERN_CHAINED)
                both[i]->arrays[a].walk = LWP_PATTERN_INDEXED;
        }
    if (!lwp_gain_times(profile, visit->region, &today, &changed, &times))
        return;
    lwp_gain_choose_state(&times, &measured->paces);
    lwp_gain_interval(&times, &run->stalls, 0, &other);
    measured->ratio = sqrt(measured->ratio * other.ratio);
    measured->low = fmin(measured->low, other.low);
    measured->high = fmax(measured->high, other.high);
}

/* How far a run's time is from the loop's own, as a factor's logarithm: positive, it takes too long; 0: no further than paces are. */
static double measured_apart(const struct lwp_gain_range *paces, double before)
{
    const double off = 1 + lwp_gain_pace_agrees;
    return before > paces->high * off ? log(before / paces->high) : before * off < paces->low ? log(before / paces->low) : 0;
}

/* From how many neighbours on prefetchers do not follow a chain, if they do, differs between processors, and takes several times as long: a
 * run that takes too long has too many of them. The least that steps allow are run, and where these take too little, some between. */
static bool measured_fit_window(struct lwp_profile *profile, struct lwp_gain_visit *visit, const struct lwp_placement *before,
                                const struct lwp_placement *after, const struct lwp_gain_measured *measured, struct measured_run *run)
{
    unsigned few = 0, many = run->today.window, best = many;
    double nearest = measured->paces.high > 0 ? measured_apart(&measured->paces, run->times.before) : 0;
    if (nearest <= 0)
        return true;
    for (int tries = 0; tries <= MEASURED_TRIES && many > few + 1 && nearest > 0; tries++) {
        visit->window_most = few ? (few + many) / 2 : 1;
        if (!measured_fit(profile, visit, before, after, measured, run))
            return false;
        const double apart = measured_apart(&measured->paces, run->times.before);
        if (fabs(apart) < nearest) {
            nearest = fabs(apart);
            best = run->today.window;
        }
        if (apart > 0 && !few) /* fewer there cannot be */
            break;
        *(apart > 0 ? &many : &few) = run->today.window;
    }
    visit->window_most = best;
    return measured_fit(profile, visit, before, after, measured, run);
}

/* Runs the loop as its code says, and again without what of it hardly ever runs. */
static bool measured_fit_ran(struct lwp_profile *profile, struct lwp_gain_visit *visit, const struct lwp_placement *before,
                             const struct lwp_placement *after, const struct lwp_gain_measured *measured, struct measured_run *run)
{
    if (!measured_fit(profile, visit, before, after, measured, run) || !measured_fit_window(profile, visit, before, after, measured, run))
        return false;
    const double took = measured->pace > 0 ? measured->pace : run->times.before;
    return !lwp_gain_leave_out(profile, visit->region, visit->visits * took, &visit->shape.work) ||
           measured_fit(profile, visit, before, after, measured, run);
}

bool lwp_gain_measure(struct lwp_profile *profile, const struct lwp_gain_visit *of, const struct lwp_placement *before,
                      const struct lwp_placement *after, struct lwp_gain_measured *measured)
{
    struct lwp_gain_visit ran = *of;
    const struct lwp_gain_visit *const visit = &ran;
    const bool dependent = visit->access.dependent, ordered = visit->access.pattern != LWP_GAIN_UNKNOWN;
    struct measured_run run = {0};
    double after_others = 0;
    *measured = (struct lwp_gain_measured){.ratio = 1, .low = 1, .high = 1};
    if (visit->region == LWP_NONE || !visit->shape.work.instructions || visit->elements < 16)
        return false;
    if (!dependent && !visit->found) /* searches have guesses of their own */
        measured_jumps(profile, visit, measured);
    else if (!visit->found)
        measured->past = lwp_gain_chain_ends(profile, visit, (double)before->of[0].spacing);
    run.stalls = lwp_gain_stall_share(profile, visit->region, &visit->shape);
    measured_own_time(profile, visit, measured);
    if (!(ordered || dependent) || !measured_fit_ran(profile, &ran, before, after, measured, &run))
        return false;
    /* One instruction loads and adds: which of the two is awaited no sample says. */
    measured->doubtful =
        measured->pace <= 0 && visit->shape.work.loaded_chain >= chain_long * visit->visits && !measured_written(profile, visit);
    const bool displaced = lwp_gain_time_displaced(profile, visit, &run.today, &run.changed, &after_others);
    measured_run_often(profile, visit, &run, measured);
    measured_compare(profile, visit, &run, measured);
    if (measured->between && run.today.search)
        lwp_gain_begun(measured);
    else if (measured->between && dependent && !visit->found && visit->shape.exits > 1 && measured->pace <= 0)
        measured_overlapped(profile, visit, &run, measured);
    if (displaced)
        lwp_gain_of_displaced(after_others / run.times.before, measured);
    measured->crowded = visit->access.pattern == LWP_GAIN_RANDOM && !dependent &&
                        lwp_gain_chain_cycles(&visit->shape.work, visit->visits) + run.today.scaled >= chain_long;
    measured->ratio = fmax(measured->ratio, lwp_gain_least_ratio(&run.stalls, measured->core / measured->pattern,
                                                                 measured_about_as_long(measured, measured->pattern)));
    measured->high = fmax(measured->high, measured->ratio);
    return true;
}
