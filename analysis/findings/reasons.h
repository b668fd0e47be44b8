/* Why the data objects with the most stall time are left as they are. */
#ifndef LWP_ANALYSIS_FINDINGS_REASONS_H
#define LWP_ANALYSIS_FINDINGS_REASONS_H

#include "analysis/advice/layout/conflicts.h"
#include "analysis/advice/layout/regroup.h"
#include "analysis/advice/locality/locality_advice.h"

enum { LWP_REASONS_MAX = 16 };

struct lwp_reason {
    uint32_t object;
    const char *code;     /* stable: "used_together", "library_type", ...: docs/analysis.schema.json lists them */
    const char *sentence; /* begins with a small letter, ends without a stop: goes on after the object's name and a colon */
    double speedup, low, high; /* predicted for the best change that was tried; 0: none was, or it is not known */
};

struct lwp_reasons {
    struct lwp_reason items[LWP_REASONS_MAX]; /* most stall time first */
    size_t count;
};

/* How much of what the program allocated was left out, where that may be why accesses have no object: a clause. NULL: next to nothing. */
const char *lwp_reasons_unrecorded(struct lwp_profile *profile);

/* A reason for each of the five data objects with the most stall time that no advice is about, and for memory whose object is not
 * known where it has more stall time than one of them. */
void lwp_reasons_find(struct lwp_profile *profile, const struct lwp_splits *splits, const struct lwp_regroups *regroups,
                      const struct lwp_conflicts *conflicts, const struct lwp_locality *locality, const struct lwp_locality_tips *tips,
                      struct lwp_reasons *reasons);

#endif
