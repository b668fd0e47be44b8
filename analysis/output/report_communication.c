/* Communication between threads that was counted, as text: what each region's threads read of each other. */
#include "analysis/output/report_parts.h"

static void report_exchange_region(const struct lwp_report *report, const json_t *region, size_t threads)
{
    const json_t *crd = json_object_get(region, "crd");
    lwp_report_say(report, "  %10.0f %10.0f  %s\n", lwp_review_number(region, "communicated"), lwp_review_number(region, "reused"),
                   lwp_json_string_or(region, "name", "?"));
    if (threads > 1 && json_is_number(json_object_get(region, "homogeneity")))
        lwp_report_say(report, "%25shomogeneity %.3g, balance %.0f %%\n", "", lwp_review_number(region, "homogeneity"),
                       lwp_review_number(region, "balance_percent"));
    if (crd && !json_is_null(crd))
        lwp_report_say(report, "%25sdistance: median %.0f, 90 %% below %.0f elements\n", "", lwp_review_number(crd, "median"),
                       lwp_review_number(crd, "p90"));
    if (json_is_string(json_object_get(region, "pattern")))
        lwp_report_say(report, "%25spattern: %s\n", "", lwp_json_string_or(region, "pattern", ""));
}

void lwp_report_exchange(const struct lwp_report *report, const json_t *communication)
{
    const json_t *region, *threads = json_object_get(communication, "threads");
    size_t i;
    lwp_report_say(report, "\nCommunication between %zu threads\n%12s %10s\n", json_array_size(threads), "first reads", "reads again");
    json_array_foreach(json_object_get(communication, "regions"), i, region)
        report_exchange_region(report, region, json_array_size(threads));
}
