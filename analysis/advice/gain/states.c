/* The state that the caches which cores share were in. A pattern is timed as they are (several times, the fastest of which had most of
 * them) and with nothing of it in them. Where the loop's own time is known, it says which of these the program had. */
#include "analysis/advice/gain/states.h"

#include "analysis/advice/gain/timed.h"

#include <math.h>

/* Of the way from one time to another one, 0 to 1. */
static double states_part(double from, double to, double time)
{
    return from > to || from < to ? fmax(0, fmin(1, (time - from) / (to - from))) : 0;
}

void lwp_gain_choose_state(struct lwp_pattern_times *times, const struct lwp_gain_range *paces)
{
    const double now[2] = {times->before, times->after};
    const double *cold = times->cold;
    double best[2] = {times->least[0], times->least[1]}, worse[2] = {now[0], now[1]};
    const double apart = (1 + lwp_gain_pace_agrees) * (1 + lwp_gain_pace_agrees);
    double wanted = paces->low > 0 ? fmax(paces->low, fmin(paces->high, now[0])) : now[0];
    double before = now[0], after = now[1];
    if (fabs(log(wanted / now[0])) <= log(1 + lwp_gain_pace_agrees)) /* as it was run */
        wanted = now[0];
    if (wanted < best[0] && times->near[0] > 0 && times->near[0] < best[0]) /* it had more of them than any run had */
        for (int i = 0; i < 2; i++) {
            worse[i] = best[i];
            best[i] = fmin(times->near[i], worse[i]);
        }
    if (wanted < now[0] && best[0] > 0 && apart * best[0] < now[0]) { /* else today's time does not distinguish them */
        before = fmax(wanted, best[0]);
        after = best[1] + states_part(best[0], worse[0], before) * (worse[1] - best[1]);
    } else if (wanted > now[0] && cold[0] > apart * now[0]) {
        before = fmin(wanted, cold[0]);
        const double part =
            states_part(cold[0], now[0], before); /* of its lines in the caches: a smaller layout has more of its own there */
        after = cold[1] + fmin(1, times->both_fit > 0 ? part / times->both_fit : part) * (now[1] - cold[1]);
    }
    /* Most of what runs differ by is the state, which is known where the loop's time is. */
    if (paces->low > 0 && paces->high <= apart * paces->low && cold[0] > apart * times->least[0])
        times->spread = fmin(times->spread, lwp_gain_run_off);
    times->before = before;
    times->after = after;
    times->ratio *= after / before * (now[0] / now[1]);
}

void lwp_gain_states(const struct lwp_pattern_times *times, double core, double sampled, double one_run, struct lwp_gain_measured *measured)
{
    const double *cold = times->cold, *least = times->least, most = measured->paces.high;
    const double cold_before = fmax(cold[0], times->before), fits = cold_before + (least[0] - cold_before) * times->both_fit;
    const double states[][2] = {{cold[0], cold[1]}, {least[0], least[1]}, {fits, least[1]}};
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        const double before = states[i][0], after = states[i][1], waits = before > core ? fmin(sampled, 1 - core / before) : 0;
        const double ratio = waits > 0 ? 1 - waits + waits * (after - core) / (before - core) : after / before;
        if (most > 0 && (before > (1 + lwp_gain_pace_agrees) * most || before < measured->paces.low / (1 + lwp_gain_pace_agrees)))
            continue;
        const double off = most > 0 ? INFINITY : one_run;
        measured->low = fmin(measured->low, fmax(ratio, measured->ratio * exp(-off)));
        measured->high = fmax(measured->high, fmin(ratio, measured->ratio * exp(off)));
    }
}
