/* What it means that there is no advice: that it could not be measured, that nothing is to be gained, or that what there is is
 * left alone for reasons. And how much of the run was seen. */
#ifndef LWP_ANALYSIS_FINDINGS_SILENCE_H
#define LWP_ANALYSIS_FINDINGS_SILENCE_H

#include "analysis/findings/reasons.h"
#include "analysis/profile/profile.h"

/* Of the time, or of the instructions, what it is known of what they did with memory. */
struct lwp_coverage {
    const char *of;       /* "time", "instructions"; NULL: not known */
    double share;         /* 0..1 */
    double loader;        /* of what was seen, the part in the dynamic loader */
    const char *sentence; /* NULL: nothing to say */
};

struct lwp_silence {
    const char *kind;     /* "not_measured", "nothing_to_gain", "left_alone"; NULL: there is advice */
    const char *code;     /* stable: "no_samples", ...: docs/analysis.schema.json lists them */
    const char *sentence; /* begins with a small letter, ends without a stop: goes on after "No advice: " */
    const char *help;     /* a sentence on what would tell more, or NULL */
};

void lwp_coverage_find(struct lwp_profile *profile, struct lwp_coverage *coverage);

/* `findings`: how many there are; `reasons`: for what they are not about. */
void lwp_silence_find(struct lwp_profile *profile, const struct lwp_coverage *coverage, const struct lwp_reasons *reasons, size_t findings,
                      struct lwp_silence *silence);

#endif
