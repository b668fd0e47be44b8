/* What the files that write the report as text share; nobody else includes it. */
#ifndef LWP_ANALYSIS_OUTPUT_REPORT_PARTS_H
#define LWP_ANALYSIS_OUTPUT_REPORT_PARTS_H

#include "analysis/output/report.h"
#include "analysis/output/terminal.h"
#include "analysis/review/review_parts.h"

struct lwp_report {
    struct lwp_terminal to;
    FILE *out; /* to.out */
    const struct lwp_review *review;
    const json_t *root;
};

/* report_findings.c: what to change, at a glance and in full. */
void lwp_report_findings(const struct lwp_report *report);
void lwp_report_findings_brief(const struct lwp_report *report);
/* Data objects with much stall time that no advice is about, and why. */
void lwp_report_left_alone(const struct lwp_report *report);

/* report_arrays.c: which arrays could be one, and why not. */
void lwp_report_arrays(const struct lwp_report *report);

/* report_memory.c: where each object's data was; nothing where that is not known. */
void lwp_report_memory(const struct lwp_report *report);

/* report_access.c: what else was measured; nothing where it was not. */
void lwp_report_redundancies(const struct lwp_report *report);
void lwp_report_sharing(const struct lwp_report *report);
void lwp_report_communication(const struct lwp_report *report);
void lwp_report_locality(const struct lwp_report *report);

#endif
