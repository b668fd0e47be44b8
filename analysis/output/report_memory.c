/* Data-centric attribution: of each data object where its data was, and where it is allocated and used. */
#include "analysis/output/report_parts.h"

enum { OBJECTS_SHOWN = 8 };

static void report_share_or(const struct lwp_report *report, const json_t *object, const char *key)
{
    if (json_is_number(json_object_get(object, key)))
        fprintf(report->out, " %5.1f %%", lwp_json_percent(object, key));
    else
        fprintf(report->out, " %7s", "-");
}

static const char *report_place(const struct lwp_report *report, const json_t *object, const char *key)
{
    const json_t *context = json_object_get(object, key);
    return json_is_integer(context) ? lwp_review_frame_text(report->review, lwp_review_own_frame(report->review, context)) : NULL;
}

static void report_memory_of(const struct lwp_report *report, const json_t *object, const json_t *memory)
{
    static const char *const levels[] = {"L1", "L2", "L3", "memory"};
    const char *made = report_place(report, object, "context"), *used = report_place(report, object, "common_context");
    fprintf(report->out, " ");
    report_share_or(report, object, "share");
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        report_share_or(report, json_object_get(memory, "levels"), levels[i]);
    report_share_or(report, memory, "walks");
    report_share_or(report, memory, "remote");
    fputs("  ", report->out);
    lwp_terminal_name(&report->to, 60, lwp_json_string_or(object, "name", "?"), NULL);
    if (made || used) {
        fprintf(report->out, "%10s", "");
        lwp_terminal_wrap(&report->to, 10,
                          lwp_arena_printf(report->review->arena, "%s%s%s%s%s", made ? "allocated in " : "", made ? made : "",
                                           made && used ? "; " : "", used ? "all uses below " : "", used ? used : ""));
    }
}

void lwp_report_memory(const struct lwp_report *report)
{
    size_t i, shown = 0;
    json_t *object;
    json_array_foreach(json_object_get(report->root, "objects"), i, object) {
        const json_t *memory = json_object_get(object, "memory");
        if (!json_is_object(memory) || lwp_json_amount(object, "share") < 0.005 || shown == OBJECTS_SHOWN)
            continue;
        if (shown++ == 0)
            lwp_terminal_heading(&report->to, lwp_json_is(memory, "from", "model")
                                                  ? "Data      time      L1      L2      L3  memory   walks  remote  (model)"
                                                  : "Data      time      L1      L2      L3  memory   walks  remote  (recorded)");
        report_memory_of(report, object, memory);
    }
}
