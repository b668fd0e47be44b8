#include "analysis/findings/silence.h"

#include "analysis/advice/layout/split.h"
#include "analysis/profile/objects.h"
#include "analysis/statistics/speedup.h"
#include "analysis/tables/engines.h"
#include "analysis/tables/severity.h"
#include "base/path.h"

#include <math.h>
#include <string.h>

enum {
    SAMPLES_FEWEST = 30, /* enough to see that most have no address, which more of them would not change */
};

static const double unknown_much = 0.5; /* of the time: nothing can be said of the program */
static const double unknown_some = 0.1; /* ... that it hardly waits for memory */
static const double loader_much = 0.5;  /* of what was recorded: the program itself was hardly seen */
static const double all_seen = 0.995;
static const double unsure_worth = 1.1; /* a speed-up that one would want to know of */

#define SAY(...) lwp_arena_printf(profile->arena, __VA_ARGS__)

/* The part of what was sampled or recorded that is the dynamic loader's. */
static double coverage_loader(const struct lwp_profile *profile)
{
    double all = 0, loader = 0;
    for (size_t i = 0; i < profile->region_count; i++) {
        const struct lwp_region *region = &profile->regions[i];
        if (region->same_as != i || region->module == LWP_NONE)
            continue;
        const char *name = lwp_path_last(lwp_code_module_info(profile->code, region->module)->path);
        all += region->weight.weight;
        loader += name && strncmp(name, "ld-", 3) == 0 ? region->weight.weight : 0;
    }
    return all > 0 ? loader / all : 0;
}

/* The part of the time in samples of which it is not known what they wait for, or whether they wait. */
static double coverage_unknown(const struct lwp_profile *profile)
{
    double unknown = profile->unknown_weight;
    for (size_t i = 0; i < profile->object_count; i++)
        unknown += profile->objects[i].kind == LWP_OBJECT_UNKNOWN ? profile->objects[i].weight.weight : 0;
    return profile->total.weight > 0 ? fmin(1, unknown / profile->total.weight) : 1;
}

/* ... of which the address is known. */
static double coverage_unowned(const struct lwp_profile *profile)
{
    double unowned = 0;
    for (size_t i = 0; i < profile->object_count; i++)
        unowned += lwp_objects_unowned(&profile->objects[i]) ? profile->objects[i].weight.weight : 0;
    return profile->total.weight > 0 ? unowned / profile->total.weight : 0;
}

static const char *coverage_count(struct lwp_profile *profile, double count)
{
    return count >= 1e9 ? SAY("%.3g billion", count / 1e9) : count >= 1e6 ? SAY("%.3g million", count / 1e6) : SAY("%.0f", count);
}

void lwp_coverage_find(struct lwp_profile *profile, struct lwp_coverage *coverage)
{
    *coverage = (struct lwp_coverage){.loader = coverage_loader(profile)};
    if (profile->instructions) {
        coverage->of = "instructions";
        coverage->share = fmin(1, (double)profile->instructions_recorded / (double)profile->instructions);
        coverage->sentence =
            coverage->share >= all_seen
                ? SAY("All %s instructions of the run were recorded.", coverage_count(profile, (double)profile->instructions))
                : SAY("Windows recorded %.3g %% of the run's %s instructions; of a loop that ran only outside of them nothing is known.",
                      100 * coverage->share, coverage_count(profile, (double)profile->instructions));
    } else if (lwp_unit_row(profile->weight_unit)->whole_run && profile->samples) {
        coverage->of = "time";
        coverage->share = 1 - coverage_unknown(profile);
        coverage->sentence = SAY("What the program did with its memory is known for %.0f %% of its time.", 100 * coverage->share);
    }
    if (coverage->loader > loader_much)
        coverage->sentence = SAY("%s%s%.0f %% of what was recorded is the dynamic loader, before the program's own code ran.",
                                 coverage->sentence ? coverage->sentence : "", coverage->sentence ? " " : "", 100 * coverage->loader);
}

static struct lwp_silence silence_of_windows(struct lwp_profile *profile, const struct lwp_coverage *coverage)
{
    const char *seen = SAY("windows recorded %.3g %% of the run's %s instructions", 100 * coverage->share,
                           coverage_count(profile, (double)profile->instructions));
    const char *help = "Start where the work begins (lwp collect --region, --delay), or record all of it (--window all).";
    if (coverage->loader > loader_much)
        return (struct lwp_silence){.kind = "not_measured",
                                    .code = "windows_missed",
                                    .sentence =
                                        SAY("%s, and %.0f %% of that is the dynamic loader: of the program itself too little was seen",
                                            seen, 100 * coverage->loader),
                                    .help = help};
    if (profile->samples == 0 || coverage->share == 0)
        return (struct lwp_silence){
            .kind = "not_measured", .code = "windows_missed", .sentence = SAY("%s, and no access was in them", seen), .help = help};
    return (struct lwp_silence){.code = NULL};
}

/* What could not be measured; code NULL: nothing of the kind. */
static struct lwp_silence silence_not_measured(struct lwp_profile *profile, const struct lwp_coverage *coverage)
{
    const struct lwp_engine_row *engine = lwp_engine_row(profile->engine);
    double unknown = coverage_unknown(profile);
    struct lwp_share stalled = lwp_share_of(&profile->stalled, &profile->total);
    if (!lwp_profile_detected(profile, LWP_DETECT_LAYOUT, true))
        return (struct lwp_silence){.kind = "not_measured",
                                    .code = "layout_not_asked",
                                    .sentence = "none of the detectors found anything worth a change, and layout was not measured",
                                    .help = "Measure it with lwp collect --detect layout."};
    if (engine->exact && profile->instructions)
        return silence_of_windows(profile, coverage);
    if (profile->samples == 0)
        return (struct lwp_silence){.kind = "not_measured",
                                    .code = "no_samples",
                                    .sentence = "no sample was taken, so nothing is known, good or bad",
                                    .help = "Let the program run for some seconds of CPU time, or sample more (" LWP_SAMPLE_MORE ")."};
    bool much = unknown > unknown_much, some = unknown > unknown_some && stalled.value < lwp_split_needs.share;
    const bool hidden =
        !engine->exact && profile->samples >= SAMPLES_FEWEST && lwp_unit_row(profile->weight_unit)->whole_run && (much || some);
    const char *unrecorded = hidden && coverage_unowned(profile) > unknown / 2 ? lwp_reasons_unrecorded(profile) : NULL;
    if (unrecorded)
        return (struct lwp_silence){
            .kind = "not_measured",
            .code = "not_recorded",
            .sentence =
                SAY("what the program did with its memory is known for %.0f %% of its time only: %s", 100 * (1 - unknown), unrecorded),
            .help = "Record more of them (lwp collect --max-overhead 25), or collect it with -e exact, which sees every access."};
    if (hidden)
        return (struct lwp_silence){
            .kind = "not_measured",
            .code = "no_addresses",
            .sentence = SAY("what the program did with its memory is known for %.0f %% of its time only (%llu of %llu samples have an "
                            "address), so nothing is known of the rest, good or bad",
                            100 * (1 - unknown), (unsigned long long)profile->samples_with_address, (unsigned long long)profile->samples),
            .help = "Collect it with -e exact, which sees every access, or with hardware events where there are any (lwp doctor)."};
    if (!engine->exact && lwp_evidence_of(profile->samples) < LWP_EVIDENCE_SOME)
        return (struct lwp_silence){.kind = "not_measured",
                                    .code = "too_few_samples",
                                    .sentence =
                                        SAY("too few samples were taken to say anything (%llu, and %llu with an address)",
                                            (unsigned long long)profile->samples, (unsigned long long)profile->samples_with_address),
                                    .help = "Let the program run longer, or sample more (" LWP_SAMPLE_MORE ")."};
    return (struct lwp_silence){.code = NULL};
}

/* That nothing is worth changing is not known where a change would most likely gain, and may not. */
static struct lwp_silence silence_unsure(struct lwp_profile *profile, const struct lwp_reasons *reasons)
{
    const struct lwp_reason *best = NULL;
    for (size_t i = 0; i < reasons->count; i++)
        if (reasons->items[i].speedup >= unsure_worth && (!best || reasons->items[i].speedup > best->speedup))
            best = &reasons->items[i];
    if (!best || best->object == LWP_NONE)
        return (struct lwp_silence){.code = NULL};
    return (struct lwp_silence){.kind = "left_alone",
                                .code = "unsure",
                                .sentence = SAY("no change is sure to gain; one of %s would most likely make the program %.*fx as fast "
                                                "(%.*fx to %.*fx)",
                                                lwp_objects_name(profile, best->object), LWP_SPEEDUP(best->speedup), LWP_SPEEDUP(best->low),
                                                LWP_SPEEDUP(best->high)),
                                .help = "More samples may narrow that: let the program run longer, or sample more (" LWP_SAMPLE_MORE ")."};
}

void lwp_silence_find(struct lwp_profile *profile, const struct lwp_coverage *coverage, const struct lwp_reasons *reasons, size_t findings,
                      struct lwp_silence *silence)
{
    *silence = (struct lwp_silence){.kind = NULL};
    if (findings)
        return;
    *silence = silence_not_measured(profile, coverage);
    if (silence->code)
        return;
    struct lwp_share stalled = lwp_share_of(&profile->stalled, &profile->total);
    if (lwp_unit_row(profile->weight_unit)->whole_run && stalled.value < lwp_split_needs.share) {
        double bound = fmin(0.99, stalled.high);
        *silence = (struct lwp_silence){.kind = "nothing_to_gain",
                                        .code = "nothing_stalled",
                                        .sentence = SAY("memory stall is %.1f %% of the program's time (at most %.1f %%), so no layout can "
                                                        "make it more than %.*fx as fast",
                                                        100 * stalled.value, 100 * bound, LWP_SPEEDUP(1 / (1 - bound)))};
        return;
    }
    *silence = silence_unsure(profile, reasons);
    if (silence->code)
        return;
    bool windows = coverage->of && profile->instructions && coverage->share < all_seen;
    *silence = (struct lwp_silence){
        .kind = "left_alone",
        .code = "left_alone",
        .sentence = windows
                        ? SAY("in the %.3g %% of the run's instructions that windows recorded, no data object has a layout that is worth "
                              "changing",
                              100 * coverage->share)
                        : "no data object has a layout that is worth changing",
        .help = windows ? "Of loops outside of the windows nothing is known: --window all records everything." : NULL};
}
