/* Times of patterns, which are run again where they matter: each run is a process of its own, whose memory lies on other pages, and what
 * others do to the caches changes from second to second. The median of several runs is nearer to what a program sees on average than one
 * run is, and how far they are apart says how sure it is.
 *
 * Several candidates place a loop's fields alike: what was timed is kept. */
#include "analysis/advice/gain/measured.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TIMED_KEPT = 256, RUNS_FEW = 3, RUNS_MOST = 5 };

static const double seconds_each = 0.25, first_seconds = 0.3 /* with what is set up */, waits_least = 0.1, reserve_few = 0.3,
                    reserve_many = 0.5 /* of the seconds that are allowed: for patterns that were not run yet */;

struct lwp_gain_timed {
    struct lwp_pattern before, after;
    struct lwp_pattern_times times;
    bool failed;
};

static double timed_median(const double *values, size_t count)
{
    double sorted[RUNS_MOST];
    memcpy(sorted, values, count * sizeof *values);
    qsort(sorted, count, sizeof *sorted, lwp_compare_double);
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

/* One set of times from those of several runs. */
static void timed_join(const struct lwp_pattern_times *runs, size_t count, struct lwp_pattern_times *times)
{
    double before[RUNS_MOST], after[RUNS_MOST], core[RUNS_MOST], ratios[RUNS_MOST], mean = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        before[i] = runs[i].before;
        after[i] = runs[i].after;
        core[i] = runs[i].core;
        ratios[i] = log(runs[i].ratio);
        mean += ratios[i] / (double)count;
    }
    for (size_t i = 0; i < count; i++)
        squares += (ratios[i] - mean) * (ratios[i] - mean);
    *times = (struct lwp_pattern_times){.before = timed_median(before, count),
                                        .after = timed_median(after, count),
                                        .core = timed_median(core, count),
                                        .ratio = exp(timed_median(ratios, count)),
                                        .runs = (unsigned)count,
                                        .spread = count > 1 ? sqrt(squares / (double)(count - 1)) : 0};
    times->low = times->high = times->ratio; /* what turns of one run differ by is in the spread */
}

static double timed_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Memory is what differs from run to run. */
static bool timed_waits(const struct lwp_pattern_times *times)
{
    return times->core < (1 - waits_least) * times->before;
}

/* Runs the pattern again, as often as the time allows that is not kept for others. */
static void timed_again(struct lwp_profile *profile, struct lwp_gain_timed *timed)
{
    struct lwp_pattern_times runs[RUNS_MOST] = {timed->times};
    struct lwp_error err = {0};
    size_t count = 1;
    double took = first_seconds;
    while (count < RUNS_MOST && profile->measure_seconds - took > (count < RUNS_FEW ? reserve_few : reserve_many) * profile->measure_most) {
        const double began = timed_now();
        const int status = lwp_pattern_compare(&timed->before, &timed->after, seconds_each, &runs[count], &err);
        took = timed_now() - began;
        profile->measure_seconds -= took;
        if (status)
            break;
        count++;
    }
    if (count > 1)
        timed_join(runs, count, &timed->times);
}

bool lwp_gain_times(struct lwp_profile *profile, const struct lwp_pattern *before, const struct lwp_pattern *after,
                    struct lwp_pattern_times *times)
{
    struct lwp_error err = {0};
    for (size_t i = 0; i < profile->timed_count; i++) {
        const struct lwp_gain_timed *timed = &profile->timed[i];
        if (memcmp(&timed->before, before, sizeof *before) == 0 && memcmp(&timed->after, after, sizeof *after) == 0) {
            *times = timed->times;
            return !timed->failed;
        }
    }
    if (profile->measure_seconds < seconds_each || profile->timed_count == TIMED_KEPT)
        return false;
    if (!profile->timed)
        profile->timed = lwp_arena_alloc(profile->arena, TIMED_KEPT, sizeof *profile->timed);
    struct lwp_gain_timed *timed = &profile->timed[profile->timed_count++];
    timed->before = *before;
    timed->after = *after;
    timed->failed = lwp_pattern_compare(before, after, seconds_each, &timed->times, &err) != LWP_OK;
    profile->measure_seconds -= first_seconds;
    if (!timed->failed && timed_waits(&timed->times))
        timed_again(profile, timed);
    *times = timed->times;
    return !timed->failed;
}
