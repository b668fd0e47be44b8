/* Locality as text, where there is a trace: each structure in each loop. */
#include "analysis/output/report_parts.h"

enum { ROWS_SHOWN = 10 };

static const char *const levels[] = {"L1", "L2", "L3"};
enum { LEVELS = sizeof levels / sizeof *levels };

/* "511", "beyond" (the window), "1/8". */
static void locality_number(const json_t *value, const char *otherwise, char *text, size_t size)
{
    if (json_is_number(value))
        snprintf(text, size, "%.3g", json_number_value(value));
    else
        snprintf(text, size, "%s", otherwise);
}

static void locality_row(const struct lwp_report *report, const json_t *row)
{
    const json_t *object = lwp_review_at(report->review, "objects", json_object_get(row, "object"));
    const json_t *loop = lwp_review_at(report->review, "loops", json_object_get(row, "loop"));
    double accesses = lwp_review_number(row, "accesses");
    char median[32], stride[32], streams[32], numa[32];
    locality_number(json_object_get(json_object_get(row, "reuse_distance"), "median"), "beyond", median, sizeof median);
    locality_number(json_object_get(json_object_get(row, "stride_lines"), "dominant"), "-", stride, sizeof stride);
    locality_number(json_object_get(row, "streams"), "-", streams, sizeof streams);
    locality_number(json_object_get(row, "numa_hit_ratio"), "-", numa, sizeof numa);
    lwp_report_say(report, "  %s in %s\n", lwp_json_string_or(object, "name", "other data"), lwp_review_loop_text(report->review, loop));
    lwp_report_say(report, "  %7.1f %9s %7s %7s %5s", lwp_review_number(row, "cycles_per_access"), median, stride, streams, numa);
    for (unsigned i = 0; i < LEVELS; i++) {
        const json_t *missed = json_object_get(json_object_get(row, "misses"), levels[i]);
        if (json_is_number(missed) && accesses > 0)
            lwp_report_say(report, " %4.0f %%", 100 * json_number_value(missed) / accesses);
        else
            lwp_report_say(report, " %6s", "-");
    }
    lwp_report_say(report, "\n");
}

void lwp_report_locality(const struct lwp_report *report)
{
    const json_t *locality = json_object_get(report->root, "locality"), *row;
    size_t i;
    if (!json_is_number(json_object_get(json_array_get(locality, 0), "accesses"))) /* nothing, or from samples */
        return;
    lwp_report_heading(report, "Locality");
    lwp_report_wrap(report->out, 0,
                    "From a trace: cycles an access by the model of the caches; other lines between two uses of one (median); stride in lines; "
                    "streams of the loop; accesses to memory of the own NUMA node; misses.");
    lwp_report_say(report, "  %7s %9s %7s %7s %5s %6s %6s %6s\n", "cycles", "distance", "stride", "streams", "node", "L1", "L2", "L3");
    json_array_foreach(locality, i, row)
    {
        if (i == ROWS_SHOWN) {
            lwp_report_say(report, "  ... and %zu more\n", json_array_size(locality) - i);
            break;
        }
        locality_row(report, row);
    }
}
