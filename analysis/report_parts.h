/* What the files that write the report as text share; nobody else includes it. */
#ifndef LWP_ANALYSIS_REPORT_PARTS_H
#define LWP_ANALYSIS_REPORT_PARTS_H

#include "analysis/report.h"

#include <stdarg.h>
#include <string.h>

struct lwp_report {
    FILE *out;
    const json_t *root;
    bool colour;
};

static inline const char *lwp_report_text(const json_t *object, const char *key, const char *otherwise)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : otherwise;
}

static inline double lwp_report_number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* What the id stands for in one of the root's arrays, or NULL. */
static inline const json_t *lwp_report_at(const struct lwp_report *report, const char *array, const json_t *id)
{
    return json_is_integer(id) ? json_array_get(json_object_get(report->root, array), (size_t)json_integer_value(id))
                               : NULL;
}

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

/* report_access.c: totals and largest pairs; one pair as evidence of a finding; cache lines between threads. */
void lwp_report_redundancies(const struct lwp_report *report);
void lwp_report_redundancy(const struct lwp_report *report, const json_t *pair);
void lwp_report_sharing(const struct lwp_report *report);
void lwp_report_communication(const struct lwp_report *report);
/* report_locality.c: the table; a layout's misses before and after (null: nothing is said). */
void lwp_report_locality(const struct lwp_report *report);
void lwp_report_replay(const struct lwp_report *report, const json_t *replay);
void lwp_report_exchange(const struct lwp_report *report, const json_t *communication);

#endif
