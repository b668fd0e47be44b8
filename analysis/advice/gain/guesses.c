/* Jumps that a processor has to guess.
 *
 * In: jumps that go one of two ways by what the loop loads (loop_choices.c), and which way samples saw the program go on. Where they looked
 * at too few accesses behind the jump, what they charged to loads behind either way: how long the code there took is much the same on both
 * ways when what is waited for is the right guess, so the rarer way's part of both is taken for how often it is taken. A jump that always
 * goes one way has no samples behind the other one. */
#include "analysis/advice/gain/guesses.h"

#include <math.h>

enum { CHOICES_MOST = 64 };

/* Of a jump that goes to the rarer way's code in so large a part of all cases. */
static double guesses_drawn(double part)
{
    return 2 * fmin(part, 1 - part);
}

static void guesses_of_ways(const struct lwp_profile *profile, uint32_t region, uint32_t module, const struct lwp_loop_choice *choice,
                            struct lwp_guesses *guesses)
{
    double behind[2] = {0, 0};
    for (int way = 0; way < 2; way++) {
        const double part = lwp_moves_part(profile, region, choice->low[way], choice->high[way]);
        if (part >= 0) {
            guesses->ways += guesses_drawn(part);
            return;
        }
    }
    for (size_t i = 0; i < profile->stream_count; i++)
        for (int way = 0; way < 2; way++) {
            const struct lwp_stream *stream = &profile->streams[i];
            if (stream->module == module && stream->address >= choice->low[way] && stream->address < choice->high[way])
                behind[way] += stream->weight.weight;
        }
    if (behind[0] + behind[1] > 0)
        guesses->ways += guesses_drawn(behind[0] / (behind[0] + behind[1]));
}

static void guesses_past_code(const struct lwp_profile *profile, uint32_t region, const struct lwp_loop_choice *choice,
                              struct lwp_guesses *guesses)
{
    const int code = choice->high[0] ? 0 : 1;
    const double part = lwp_moves_part(profile, region, choice->low[code], choice->high[code]);
    guesses->past += part >= 0 ? guesses_drawn(part) : 0;
    guesses->open += part < 0;
}

struct lwp_guesses lwp_gain_guesses(const struct lwp_profile *profile, uint32_t region)
{
    const struct lwp_stream *most = NULL;
    struct lwp_loop_choice choices[CHOICES_MOST];
    struct lwp_guesses guesses = {0};
    for (size_t i = 0; i < profile->stream_count; i++) {
        const struct lwp_stream *stream = &profile->streams[i];
        if (stream->region == region && stream->module != LWP_NONE && (!most || stream->weight.weight > most->weight.weight))
            most = stream;
    }
    const size_t count = most && profile->code ? lwp_loop_choices(profile->code, most->module, most->address, choices, CHOICES_MOST) : 0;
    for (size_t c = 0; c < count; c++)
        if (choices[c].high[0] && choices[c].high[1])
            guesses_of_ways(profile, region, most->module, &choices[c], &guesses);
        else
            guesses_past_code(profile, region, &choices[c], &guesses);
    return guesses;
}

static double guesses_between(double without, double with, double part)
{
    return without + part * (with - without);
}

struct lwp_pattern_times lwp_gain_mixed(const struct lwp_pattern_times *x, const struct lwp_pattern_times *y, double guesses)
{
    struct lwp_pattern_times times = *x;
    times.before = guesses_between(x->before, y->before, guesses);
    times.after = guesses_between(x->after, y->after, guesses);
    times.core = guesses_between(x->core, y->core, guesses);
    times.ratio = guesses_between(x->before * x->ratio, y->before * y->ratio, guesses) / times.before;
    times.low *= times.ratio / x->ratio;
    times.high *= times.ratio / x->ratio;
    for (int i = 0; i < 2; i++) {
        times.least[i] = guesses_between(x->least[i], y->least[i], guesses);
        times.near[i] = x->near[i] > 0 && y->near[i] > 0 ? guesses_between(x->near[i], y->near[i], guesses) : 0;
        times.cold[i] = x->cold[i] > 0 && y->cold[i] > 0 ? guesses_between(x->cold[i], y->cold[i], guesses) : 0;
    }
    return times;
}
