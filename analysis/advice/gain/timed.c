/* Times of patterns, which are run again where they matter: each run is a process of its own, whose memory lies on other pages, and what
 * others do to the caches changes from second to second. The median of several runs is nearer to what a program sees on average than one
 * run is, and how far they are apart says how sure it is.
 *
 * Several candidates place a loop's fields alike: what was timed is kept. */
#include "analysis/advice/gain/timed.h"

#include "analysis/advice/gain/gain_model.h"
#include "base/clock.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { TIMED_KEPT = 256, RUNS_FEW = 3, RUNS_MOST = 9 };

/* Seconds a run, of them all a part that is there for any loop (others have as much more as they take of all time), and what is known
 * well enough of all time: standard deviations. */
static const double seconds_each = 0.1, for_any = 0.1, known_well = 0.02, waits_least = 0.1;
static const double pattern_most = 0.25; /* of the seconds of all: a split, a pool and both are run, and other loops, too */
static const struct timespec between_runs = {.tv_nsec = 300000000};
static const double shared_most = 8; /* times the last cache: of more no part of it matters */
static const double clock_most = 3;  /* times the seconds of all: no longer does one wait for them by the clock */

/* Where the pages of both take longer to be made, a part is run that takes so long, and no less than so many bytes. */
static const double made_most = 2, part_made = 0.25, part_least = 64 << 20;

struct lwp_gain_timed {
    struct lwp_pattern before, after;
    double part;     /* of the elements that is run; 1: all */
    uint32_t region; /* that asked for it */
    struct lwp_pattern_times runs[RUNS_MOST], cold;
    size_t count;
    double seconds; /* that its runs took */
    bool tried_cold;
};

static double timed_median(const double *values, size_t count)
{
    double sorted[RUNS_MOST];
    memcpy(sorted, values, count * sizeof *values);
    qsort(sorted, count, sizeof *sorted, lwp_compare_double);
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

/* Standard deviation of so many; two at least. */
static double timed_deviation(const double *values, size_t count)
{
    double mean = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        mean += values[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return sqrt(squares / (double)(count - 1));
}

/* One set of times from those of several runs. */
static void timed_join(const struct lwp_pattern_times *runs, size_t count, struct lwp_pattern_times *times)
{
    double huge = 1, least[2] = {INFINITY, INFINITY}, before[RUNS_MOST] = {0}, after[RUNS_MOST] = {0}, core[RUNS_MOST] = {0},
           ratios[RUNS_MOST] = {0}, today[RUNS_MOST] = {0};
    for (size_t i = 0; i < count; i++) {
        before[i] = runs[i].before;
        after[i] = runs[i].after;
        core[i] = runs[i].core;
        for (int k = 0; k < 2; k++)
            least[k] = fmin(least[k], runs[i].least[k]);
        ratios[i] = log(runs[i].ratio);
        today[i] = log(before[i]);
        huge = fmin(huge, runs[i].huge);
    }
    if (count == 1) {
        *times = runs[0];
        return;
    }
    *times = (struct lwp_pattern_times){.before = timed_median(before, count),
                                        .after = timed_median(after, count),
                                        .core = timed_median(core, count),
                                        .ratio = exp(timed_median(ratios, count)),
                                        .least = {least[0], least[1]},
                                        .runs = (unsigned)count,
                                        .spread = timed_deviation(ratios, count),
                                        .today = timed_deviation(today, count),
                                        .huge = huge};
    times->low = times->high = times->ratio; /* what turns of one run differ by is in the spread */
}

/* Of all time. */
static double timed_share(const struct lwp_profile *profile, uint32_t region)
{
    return region == LWP_NONE ? 1 : fmin(1, profile->regions[region].weight.weight / profile->total.weight);
}

/* Seconds on the clock, and of their own that processes took which have ended. */
struct timed_clocks {
    double wall, own;
};

static struct timed_clocks timed_now(void)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return (struct timed_clocks){lwp_clock_s(CLOCK_MONOTONIC), (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec};
}

/* What the system takes to make pages and what others do on the processors leave no fewer seconds for the other loops. */
static void timed_charge(struct lwp_profile *profile, struct lwp_gain_timed *timed, const struct timed_clocks *began)
{
    const struct timed_clocks now = timed_now();
    const double threads = timed->before.threads ? timed->before.threads : 1;
    const double seconds = fmax((now.own - began->own) / threads, (now.wall - began->wall) / clock_most);
    timed->seconds += seconds;
    profile->measure_seconds -= seconds;
}

/* Loops that take no more of all time than this one leave the others their part, whichever is run first. */
static bool timed_allowed(const struct lwp_profile *profile, uint32_t region)
{
    const double share = timed_share(profile, region), part = fmin(1, for_any + share);
    double used = 0;
    for (size_t i = 0; i < profile->timed_count; i++)
        used += timed_share(profile, profile->timed[i].region) <= share ? profile->timed[i].seconds : 0;
    return profile->measure_seconds > 0 && used < part * profile->measure_most;
}

/* The times of `after` against `before`, but for those of the core, from the times of `before` against `after`. */
static void timed_turn_round(struct lwp_pattern_times *times)
{
    const struct lwp_pattern_times other = *times;
    times->before = other.after;
    times->after = other.before;
    times->ratio = 1 / other.ratio;
    times->low = 1 / other.high;
    times->high = 1 / other.low;
    times->least[0] = other.least[1];
    times->least[1] = other.least[0];
}

/* Bytes of both, with the lists of what is visited. */
static double timed_bytes(const struct lwp_gain_timed *timed)
{
    return lwp_pattern_bytes(&timed->before) + lwp_pattern_bytes(&timed->after) + 2.0 * sizeof(uint32_t) * (double)timed->before.elements;
}

/* Arrays that are much larger than all caches are as far away in a part of them, if caches have nothing of it when it is visited. */
static double timed_part(const struct lwp_profile *profile, const struct lwp_gain_timed *timed)
{
    const double bytes = timed_bytes(timed), page_s = (double)profile->page_fault_ns * 1e-9, page = 4096,
                 seen = fmin(lwp_pattern_busy(&timed->before), lwp_pattern_busy(&timed->after));
    if (bytes / page * page_s < made_most || seen <= (double)lwp_gain_caches(profile->machine).l3_bytes ||
        !lwp_pattern_has_parts(&timed->before) || !lwp_pattern_has_parts(&timed->after))
        return 1;
    return fmin(1, fmax(part_least, part_made / page_s * page) / bytes);
}

static int timed_compare(const struct lwp_profile *profile, const struct lwp_gain_timed *timed, const struct lwp_pattern *first,
                         const struct lwp_pattern *second, struct lwp_pattern_times *times, struct lwp_error *err)
{
    struct lwp_pattern parts[2] = {*first, *second};
    if (timed->part < 1) {
        parts[0].elements = parts[1].elements = lwp_pattern_whole((uint64_t)((double)first->elements * timed->part));
        return lwp_pattern_compare_part(&parts[0], &parts[1], (double)lwp_gain_caches(profile->machine).l2_bytes, seconds_each, times, err);
    }
    return timed->count ? lwp_pattern_compare_again(first, second, seconds_each, times, err)
                        : lwp_pattern_compare(first, second, seconds_each, times, err);
}

/* What is in caches that cores share, or in memory, takes another time when others want it, too, which is so for seconds: runs right after
 * each other would agree although the program's do not. */
static void timed_pause(const struct lwp_profile *profile, const struct lwp_gain_timed *timed)
{
    const double seen = fmax(lwp_pattern_busy(&timed->before), lwp_pattern_busy(&timed->after));
    if (timed->count && seen > (double)lwp_gain_caches(profile->machine).l2_bytes)
        nanosleep(&between_runs, NULL);
}

/* Every second time the other way round: the system gives what is asked for first the same pages again, and pages differ. */
static bool timed_run(struct lwp_profile *profile, struct lwp_gain_timed *timed)
{
    const struct timed_clocks began = timed_now();
    const bool round = timed->count % 2;
    struct lwp_error err = {0};
    timed_pause(profile, timed);
    struct lwp_pattern_times *times = &timed->runs[timed->count];
    const struct lwp_pattern *first = round ? &timed->after : &timed->before, *second = round ? &timed->before : &timed->after;
    const int status = timed_compare(profile, timed, first, second, times, &err);
    timed_charge(profile, timed, &began);
    if (!status && round)
        timed_turn_round(times);
    if (!status)
        times->core = timed->runs[0].core;
    timed->count += !status;
    if (status && !timed->count && status != LWP_ERR_USAGE)
        lwp_profile_note(profile, "The accesses of some loops were not timed on this machine: %s.", err.text);
    return !status;
}

/* How much of a cache that cores share is a program's is another matter from minute to minute. What is larger than the caches of one core,
 * and not much larger than all, is timed without it, too. */
static void timed_cold(struct lwp_profile *profile, struct lwp_gain_timed *timed)
{
    const struct lwp_caches caches = lwp_gain_caches(profile->machine);
    const double before = lwp_pattern_busy(&timed->before), after = lwp_pattern_busy(&timed->after), all = (double)caches.l3_bytes;
    struct lwp_error err = {0};
    if (timed->tried_cold || timed->part < 1 || before <= (double)caches.l2_bytes || fmin(before, after) > shared_most * all)
        return;
    const struct timed_clocks began = timed_now();
    timed->tried_cold = true;
    if (!lwp_pattern_compare_cold(&timed->before, &timed->after, (double)caches.l2_bytes, seconds_each, &timed->cold, &err))
        timed->cold.both_fit = after < all ? fmin(1, after / fmin(before, all)) : 1;
    timed_charge(profile, timed, &began);
}

/* Where bytes between members differ, the same is timed twice. */
static bool timed_same(const struct lwp_pattern *one, const struct lwp_pattern *other)
{
    return memcmp(one, other, sizeof *one) == 0; // NOLINT(bugprone-suspicious-memory-comparison)
}

static struct lwp_gain_timed *timed_find(struct lwp_profile *profile, const struct lwp_pattern *before, const struct lwp_pattern *after)
{
    for (size_t i = 0; i < profile->timed_count; i++) {
        struct lwp_gain_timed *timed = &profile->timed[i];
        if (timed_same(&timed->before, before) && timed_same(&timed->after, after))
            return timed;
    }
    return NULL;
}

/* What was timed already, or once now; NULL: not allowed, or it failed. */
static struct lwp_gain_timed *timed_once(struct lwp_profile *profile, uint32_t region, const struct lwp_pattern *before,
                                         const struct lwp_pattern *after)
{
    struct lwp_gain_timed *timed = timed_find(profile, before, after);
    if (!timed && profile->timed_count < TIMED_KEPT && timed_allowed(profile, region)) {
        if (!profile->timed)
            profile->timed = lwp_arena_alloc(profile->arena, TIMED_KEPT, sizeof *profile->timed);
        timed = &profile->timed[profile->timed_count++];
        timed->before = *before;
        timed->after = *after;
        timed->part = timed_part(profile, timed);
        timed->region = region;
        timed_run(profile, timed);
    } else if (!timed && (profile->measure_seconds > 0 || profile->measure_seconds < 0)) {
        lwp_profile_note(
            profile,
            "The accesses of some loops were not timed on this machine, as that may take at most %g s of CPU time, and less for "
            "loops that take little of the run. The gains there are estimates.",
            profile->measure_most);
    }
    return timed && timed->count ? timed : NULL;
}

static void timed_times(const struct lwp_gain_timed *timed, struct lwp_pattern_times *times)
{
    timed_join(timed->runs, timed->count, times);
    times->cold[0] = timed->cold.before;
    times->cold[1] = timed->cold.after;
    times->near[0] = timed->cold.near[0];
    times->near[1] = timed->cold.near[1];
    times->both_fit = timed->cold.both_fit;
    if (timed_same(&timed->before, &timed->after))
        times->ratio = times->low = times->high = 1;
}

static bool timed_more(const struct lwp_profile *profile, uint32_t region, const struct lwp_gain_timed *timed)
{
    return timed->seconds < pattern_most * profile->measure_most && timed_allowed(profile, region);
}

/* Whether so much of log(ratio) would be seen in the program's time: memory is what differs from run to run. */
static bool timed_seen(const struct lwp_pattern_times *times, double share, double off)
{
    return times->core < (1 - waits_least) * times->before && share * times->ratio * off > known_well * (1 - share + share * times->ratio);
}

/* Whether another run would tell more. */
static bool timed_wanted(const struct lwp_pattern_times *times, double share)
{
    const double runs = times->runs ? times->runs : 1;
    return runs < RUNS_MOST && timed_seen(times, share, (runs < RUNS_FEW ? lwp_gain_run_off : times->spread) / sqrt(runs));
}

bool lwp_gain_times_once(struct lwp_profile *profile, uint32_t region, const struct lwp_pattern *before, const struct lwp_pattern *after,
                         struct lwp_pattern_times *times)
{
    const struct lwp_gain_timed *timed = timed_once(profile, region, before, after);
    if (timed)
        timed_times(timed, times);
    return timed;
}

bool lwp_gain_times(struct lwp_profile *profile, uint32_t region, const struct lwp_pattern *before, const struct lwp_pattern *after,
                    struct lwp_pattern_times *times)
{
    struct lwp_gain_timed *timed = timed_once(profile, region, before, after);
    if (!timed)
        return false;
    timed_times(timed, times);
    const bool equal = timed_same(before, after);
    for (bool more = !equal; more && timed_wanted(times, timed_share(profile, region)) && timed_more(profile, region, timed);) {
        if (timed->count >= RUNS_FEW)
            timed_cold(profile, timed);
        more = timed_run(profile, timed);
        timed_times(timed, times);
    }
    if (!equal && timed_seen(times, timed_share(profile, region), lwp_gain_run_off) && timed_more(profile, region, timed)) {
        timed_cold(profile, timed);
        timed_times(timed, times);
    }
    return true;
}
