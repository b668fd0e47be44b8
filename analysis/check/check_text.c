#include "analysis/check/check.h"

#include "analysis/output/report.h"
#include "analysis/review/review_parts.h"

#include <string.h>

enum { WHERE = 16 };

static void check_style(FILE *out, bool colour, const char *code)
{
    if (colour)
        fprintf(out, "\033[%sm", code);
}

static void check_line(FILE *out, const struct lwp_review *review, const struct lwp_judged_line *line, bool colour)
{
    static const char *const results[] = {"passes", "FAILS", "unknown"}, *const colours[] = {"32", "1;31", "33"};
    check_style(out, colour, colours[line->result]);
    fprintf(out, "%-8s", results[line->result]);
    check_style(out, colour, "0");
    fprintf(out, "%-*s", WHERE - 8, line->state);
    lwp_report_wrap(out, WHERE, lwp_arena_printf(review->arena, "%s%s%s", line->rule, *line->subject ? ": " : "", line->subject));
    fprintf(out, "%*s", WHERE, "");
    lwp_report_wrap(out, WHERE, line->why);
    if (line->result == LWP_JUDGED_FAILS && line->item) {
        fprintf(out, "%*s", WHERE, "");
        lwp_report_wrap(out, WHERE, line->item->title);
        if (line->item->place_count)
            fprintf(out, "%*s%s\n", WHERE, "", lwp_review_lines(review, &line->item->places[0]));
    }
}

void lwp_check_print(FILE *out, const struct lwp_review *review, const struct lwp_judgement *judgement, bool colour)
{
    for (size_t i = 0; i < judgement->count; i++)
        check_line(out, review, &judgement->lines[i], colour);
    check_style(out, colour, "1");
    fprintf(out, "\n%s\n", judgement->sentence);
    check_style(out, colour, "0");
}
