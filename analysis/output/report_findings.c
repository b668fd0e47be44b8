/* What to change: first all of it at a glance, then each with what it brings, why, what to do, and the declaration. */
#include "analysis/output/report_parts.h"

#include "analysis/tables/severity.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { LABEL = 12, SHARE = 10, PLACE = 40, NARROW = 24, USES = 20, GAIN = 19, BRIEF_SHOWN = 3 };

static void finding_title(const struct lwp_report *report, size_t number, const struct lwp_review_item *item)
{
    const char *start = lwp_arena_printf(report->review->arena, "%zu. ", number);
    lwp_terminal_style(&report->to, "1");
    fprintf(report->out, "%s", start);
    lwp_terminal_wrap(&report->to, (int)strlen(start), item->title);
    lwp_terminal_style(&report->to, "0");
}

/* By how much it may bring: what is not sure looks like it. */
static const char *finding_colour(const struct lwp_review_item *item)
{
    static const char *const colours[] = {"0", "32", "1;32"};
    return item->low <= 0 || lwp_review_is_unsure(item) ? colours[0] : colours[lwp_severity_level(item->severity)];
}

static void finding_expected(const struct lwp_report *report, const struct lwp_review_item *item)
{
    fprintf(report->out, "   %-*s", LABEL, "expected");
    lwp_terminal_style(&report->to, finding_colour(item));
    fprintf(report->out, "%s", lwp_review_gain(report->review, item));
    lwp_terminal_style(&report->to, "0");
    if (item->low > 0)
        fprintf(report->out, " for %s", item->gain_of);
    fprintf(report->out, " (severity %s)\n", item->severity);
    if (item->tried)
        fprintf(report->out, "   %-*s%s, measured with the patch of lwp patch\n", LABEL, "tried", item->tried);
}

static void finding_facts(const struct lwp_report *report, const struct lwp_review_item *item)
{
    for (size_t i = 0; i < item->fact_count; i++) {
        lwp_terminal_style(&report->to, "2");
        fprintf(report->out, "   %-*s", LABEL, item->facts[i].label);
        lwp_terminal_style(&report->to, "0");
        lwp_terminal_wrap(&report->to, 3 + LABEL, item->facts[i].text);
    }
}

static void finding_rows(const struct lwp_report *report, const struct lwp_review_item *item)
{
    if (!item->row_count)
        return;
    const int place = report->to.columns < SHARE + PLACE + USES ? NARROW : PLACE;
    lwp_terminal_style(&report->to, "2");
    fprintf(report->out, "\n   share  %-*s  %s\n", place, "loop", item->row_heading);
    lwp_terminal_style(&report->to, "0");
    for (size_t i = 0; i < item->row_count; i++) {
        const struct lwp_review_row *row = &item->rows[i];
        char *location = lwp_visible(row->location, false, (size_t)(report->to.columns - SHARE));
        int columns = (int)lwp_visible_columns(location ? location : "?");
        fprintf(report->out, "  %5.1f %%  %s", 100 * row->share, location ? location : "?");
        free(location);
        if (columns > place) /* a long name: what it uses goes below it */
            fprintf(report->out, "\n%*s", SHARE + place + 2, "");
        else
            fprintf(report->out, "%*s", place - columns + 2, "");
        lwp_terminal_wrap(&report->to, SHARE + place + 2, row->text);
    }
}

static void finding_declaration(const struct lwp_report *report, const char *declaration)
{
    fprintf(report->out, "\n");
    lwp_terminal_style(&report->to, "36");
    while (*declaration) {
        int line = (int)strcspn(declaration, "\n");
        fprintf(report->out, "    %.*s\n", line, declaration);
        declaration += line + (declaration[line] == '\n');
    }
    lwp_terminal_style(&report->to, "0");
}

/* The number of the finding above that says the same to do, or 0. */
static size_t finding_said(const struct lwp_review *review, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (!review->items[i].declaration && strcmp(review->items[i].next_step, review->items[index].next_step) == 0)
            return i + 1;
    return 0;
}

static void finding_full(const struct lwp_report *report, size_t index)
{
    const struct lwp_review_item *item = &report->review->items[index];
    size_t said = item->declaration ? 0 : finding_said(report->review, index);
    fprintf(report->out, "\n");
    finding_title(report, index + 1, item);
    finding_expected(report, item);
    finding_facts(report, item);
    finding_rows(report, item);
    fprintf(report->out, "\n   ");
    if (said)
        fprintf(report->out, "What it means, and what to do: as for %zu.\n", said);
    else
        lwp_terminal_wrap(&report->to, 3, item->next_step);
    if (item->declaration)
        finding_declaration(report, item->declaration);
}

/* One line each, the gain in front: what is worth reading on. */
static void finding_glance(const struct lwp_report *report)
{
    const struct lwp_review *review = report->review;
    lwp_terminal_heading(&report->to, "     Speed-up           What to change");
    for (size_t i = 0; i < review->count; i++) {
        fprintf(report->out, "%3zu. ", i + 1);
        lwp_terminal_style(&report->to, finding_colour(&review->items[i]));
        fprintf(report->out, "%-*s", GAIN, lwp_review_gain(review, &review->items[i]));
        lwp_terminal_style(&report->to, "0");
        lwp_terminal_wrap(&report->to, 5 + GAIN, review->items[i].title);
    }
}

static bool finding_none(const struct lwp_report *report, const char *before)
{
    const struct lwp_review *review = report->review;
    if (review->count)
        return false;
    fprintf(report->out, "%s", before);
    lwp_terminal_wrap(&report->to, 0, lwp_arena_printf(review->arena, "No advice: %s.", lwp_review_none(review)));
    if (lwp_review_help(review))
        lwp_terminal_wrap(&report->to, 0, lwp_review_help(review));
    return true;
}

void lwp_report_left_alone(const struct lwp_report *report)
{
    struct lwp_review_left left;
    size_t count = lwp_review_left_alone(report->review, 0, &left);
    if (count)
        lwp_terminal_heading(&report->to, "Left as it is, and why");
    for (size_t i = 0; i < count; i++) {
        lwp_review_left_alone(report->review, i, &left);
        fprintf(report->out, "  %5.1f %%  ", 100 * left.share);
        lwp_terminal_wrap(&report->to, 11, lwp_arena_printf(report->review->arena, "%s: %s", left.name, left.sentence));
    }
}

void lwp_report_findings(const struct lwp_report *report)
{
    if (finding_none(report, "\n"))
        return;
    if (report->review->count > 1)
        finding_glance(report);
    for (size_t i = 0; i < report->review->count; i++)
        finding_full(report, i);
}

void lwp_report_findings_brief(const struct lwp_report *report)
{
    const struct lwp_review *review = report->review;
    if (finding_none(report, ""))
        return;
    for (size_t i = 0; i < review->count && i < BRIEF_SHOWN; i++) {
        finding_title(report, i + 1, &review->items[i]);
        finding_expected(report, &review->items[i]);
    }
    if (review->count > BRIEF_SHOWN)
        fprintf(report->out, "   ... and %zu more\n", review->count - BRIEF_SHOWN);
}
