/* Locality as text: each structure in each loop; and what a replay of the trace says of a new layout. */
#include "analysis/report_parts.h"

#include "base/path.h"

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
    const json_t *object = lwp_report_at(report, "objects", json_object_get(row, "object"));
    const json_t *loop = lwp_report_at(report, "loops", json_object_get(row, "loop"));
    const char *file = lwp_report_text(loop, "file", NULL), *function = lwp_report_text(loop, "function", "unknown code");
    double accesses = lwp_report_number(row, "accesses");
    char median[32], stride[32], streams[32], numa[32];
    locality_number(json_object_get(json_object_get(row, "reuse_distance"), "median"), "beyond", median, sizeof median);
    locality_number(json_object_get(json_object_get(row, "stride_lines"), "dominant"), "-", stride, sizeof stride);
    locality_number(json_object_get(row, "streams"), "-", streams, sizeof streams);
    locality_number(json_object_get(row, "numa_hit_ratio"), "-", numa, sizeof numa);
    lwp_report_say(report, "  %7.1f %9s %7s %7s %5s", lwp_report_number(row, "cycles_per_access"), median, stride, streams, numa);
    for (unsigned i = 0; i < LEVELS; i++) {
        const json_t *missed = json_object_get(json_object_get(row, "misses"), levels[i]);
        if (json_is_number(missed) && accesses > 0)
            lwp_report_say(report, " %4.0f %%", 100 * json_number_value(missed) / accesses);
        else
            lwp_report_say(report, " %6s", "-");
    }
    lwp_report_say(report, "  %s in %s", lwp_report_text(object, "name", "other data"), function);
    if (file && lwp_report_number(loop, "first_line") > 0)
        lwp_report_say(report, " (%s:%.0f)", lwp_path_last(file), lwp_report_number(loop, "first_line"));
    lwp_report_say(report, "\n");
}

void lwp_report_locality(const struct lwp_report *report)
{
    const json_t *locality = json_object_get(report->root, "locality"), *row;
    size_t i;
    if (!json_array_size(locality))
        return;
    lwp_report_say(report, "\nLocality, from a trace: cycles an access by the model of the caches; other lines between two uses\n"
                           "of one (median); stride in lines; streams of the loop; accesses to memory of the own NUMA node; misses\n"
                           "  %7s %9s %7s %7s %5s %6s %6s %6s\n", "cycles", "distance", "stride", "streams", "node", "L1", "L2", "L3");
    json_array_foreach(locality, i, row)
    {
        if (i == ROWS_SHOWN) {
            lwp_report_say(report, "  ... and %zu more\n", json_array_size(locality) - i);
            break;
        }
        locality_row(report, row);
    }
}

void lwp_report_replay(const struct lwp_report *report, const json_t *replay)
{
    const json_t *before = json_object_get(replay, "before"), *after = json_object_get(replay, "after");
    if (!json_is_object(replay))
        return;
    lwp_report_say(report, "   replayed    %.0f accesses of the trace: ", lwp_report_number(replay, "accesses"));
    for (unsigned i = 0; i < LEVELS; i++)
        if (json_is_number(json_object_get(before, levels[i])))
            lwp_report_say(report, "%s%s misses %.0f -> %.0f", i ? ", " : "", levels[i], lwp_report_number(before, levels[i]),
                           lwp_report_number(after, levels[i]));
    lwp_report_say(report, "\n");
}
