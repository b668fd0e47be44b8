#include "analysis/output/formats.h"

#include "analysis/review/review_parts.h"
#include "base/text.h"

#include <string.h>

static void junit_attribute(FILE *out, const char *name, const char *value)
{
    fprintf(out, " %s=\"", name);
    lwp_markup_text(out, value);
    putc('"', out);
}

/* All that is known of the finding. */
static void junit_item(FILE *out, const struct lwp_review *review, const struct lwp_review_item *item)
{
    lwp_markup_text(out, lwp_arena_printf(review->arena, "%s\nexpected: %s\n", item->title, lwp_review_gain(review, item)));
    if (item->location_count)
        lwp_markup_text(out, lwp_arena_printf(review->arena, "where: %s\n", lwp_review_lines(review, &item->locations[0])));
    for (size_t i = 0; i < item->fact_count; i++)
        lwp_markup_text(out, lwp_arena_printf(review->arena, "%s%s%s\n", item->facts[i].label, *item->facts[i].label ? ": " : "  ",
                                              item->facts[i].text));
    lwp_markup_text(out, lwp_arena_printf(review->arena, "%s\n%s", item->next_step, item->declaration ? item->declaration : ""));
}

static void junit_case(FILE *out, const char *rule, const char *name, const struct lwp_review_item *item)
{
    fputs("    <testcase", out);
    junit_attribute(out, "classname", rule);
    fputs(" name=\"", out);
    lwp_markup_text(out, name);
    if (item && item->ordinal > 1) /* names must differ */
        fprintf(out, " (%u)", item->ordinal);
    putc('"', out);
    if (item && item->location_count) {
        junit_attribute(out, "file", item->locations[0].file);
        if (item->locations[0].first)
            fprintf(out, " line=\"%u\"", item->locations[0].first);
    }
    fputs(" time=\"0\">", out);
}

static void junit_judged(FILE *out, const struct lwp_review *review, const struct lwp_judged_line *line)
{
    const char *element = line->result == LWP_JUDGED_FAILS ? "failure" : line->result == LWP_JUDGED_SKIPPED ? "skipped" : "system-out";
    const char *why = lwp_arena_printf(review->arena, "%s%s%s", line->state, *line->state ? ": " : "", line->why);
    junit_case(out, lwp_arena_printf(review->arena, "lwp.%s", line->rule), *line->subject ? line->subject : line->rule, line->item);
    fprintf(out, "<%s", element);
    if (line->result != LWP_JUDGED_PASSES)
        junit_attribute(out, "message", why);
    if (line->result == LWP_JUDGED_FAILS)
        junit_attribute(out, "type", line->rule);
    putc('>', out);
    if (line->result == LWP_JUDGED_PASSES)
        lwp_markup_text(out, lwp_arena_printf(review->arena, "%s\n", why));
    if (line->item)
        junit_item(out, review, line->item);
    fprintf(out, "</%s></testcase>\n", element);
}

static size_t junit_skipped(const struct lwp_judgement *judgement)
{
    size_t skipped = 0;
    for (size_t i = 0; judgement && i < judgement->count; i++)
        skipped += judgement->lines[i].result == LWP_JUDGED_SKIPPED;
    return skipped;
}

int lwp_junit_write(FILE *out, const struct lwp_review *review, const struct lwp_judgement *judgement, struct lwp_error *err)
{
    size_t tests = judgement ? judgement->count : review->count, failures = judgement ? judgement->failed : 0,
           skipped = junit_skipped(judgement);
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", out);
    fprintf(out, "<testsuites name=\"lwp\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\" time=\"0\">\n", tests, failures,
            skipped);
    fprintf(out, "  <testsuite name=\"lwp\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\" time=\"0\">\n", tests, failures,
            skipped);
    for (size_t i = 0; judgement && i < judgement->count; i++)
        junit_judged(out, review, &judgement->lines[i]);
    for (size_t i = 0; !judgement && i < review->count; i++) {
        junit_case(out, lwp_arena_printf(review->arena, "lwp.%s", review->items[i].rule), review->items[i].subject, &review->items[i]);
        fputs("<system-out>", out);
        junit_item(out, review, &review->items[i]);
        fputs("</system-out></testcase>\n", out);
    }
    fputs("  </testsuite>\n</testsuites>\n", out);
    return ferror(out) ? lwp_error_set(err, LWP_ERR_SYSTEM, "cannot write the report") : LWP_OK;
}
