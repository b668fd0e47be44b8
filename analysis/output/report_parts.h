/* What the files that write the report as text share; nobody else includes it. */
#ifndef LWP_ANALYSIS_OUTPUT_REPORT_PARTS_H
#define LWP_ANALYSIS_OUTPUT_REPORT_PARTS_H

#include "analysis/output/report.h"
#include "analysis/review/review_parts.h"

struct lwp_report {
    FILE *out;
    const struct lwp_review *review;
    const json_t *root;
    bool colour;
};

__attribute__((format(printf, 2, 3))) static inline void lwp_report_say(const struct lwp_report *report,
                                                                        const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(report->out, format, arguments);
    va_end(arguments);
}

static inline void lwp_report_style(const struct lwp_report *report, const char *code)
{
    if (report->colour)
        fprintf(report->out, "\033[%sm", code);
}

static inline void lwp_report_heading(const struct lwp_report *report, const char *heading)
{
    lwp_report_style(report, "1");
    lwp_report_say(report, "\n%s", heading);
    lwp_report_style(report, "0");
    lwp_report_say(report, "\n");
}

/* report_findings.c: what to change, at a glance and in full. */
void lwp_report_findings(const struct lwp_report *report);
void lwp_report_findings_brief(const struct lwp_report *report);
/* report_access.c: totals and largest pairs; cache lines between threads. */
void lwp_report_redundancies(const struct lwp_report *report);
void lwp_report_sharing(const struct lwp_report *report);
void lwp_report_communication(const struct lwp_report *report);
/* report_locality.c */
void lwp_report_locality(const struct lwp_report *report);
void lwp_report_exchange(const struct lwp_report *report, const json_t *communication);

#endif
