/* The page is made of pieces: a head, a line for each finding (or check), a section for each, a foot. Each is made in memory
 * and goes out if it fits below the limit; what did not is counted. */
#include "analysis/output/formats.h"

#include "analysis/review/review_parts.h"
#include "base/path.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

struct markdown {
    FILE *out; /* of the piece */
    const struct lwp_review *review;
    const struct lwp_judgement *judgement;
};

static void markdown_fence(FILE *out, const char *language, const char *code)
{
    size_t longest = 2, run = 0;
    for (const char *c = code; *c; c++) {
        run = *c == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    for (int end = 0; end < 2; end++) {
        for (size_t i = 0; i <= longest; i++)
            putc('`', out);
        fprintf(out, "%s\n", end ? "" : language);
        if (!end)
            fprintf(out, "%s%s", code, *code && code[strlen(code) - 1] == '\n' ? "" : "\n");
    }
}

/* "src/neuron.c:5", or where else to look. */
static void markdown_location(const struct markdown *page, const struct lwp_review_item *item)
{
    if (item && item->location_count)
        lwp_markdown_code(page->out, lwp_review_lines(page->review, &item->locations[0]));
}

/* ---- a section ---- */

static void markdown_patch(FILE *out, const char *patch)
{
    enum { SHOWN = 16 << 10 };
    char *text = strlen(patch) <= SHOWN ? lwp_visible(patch, true, SHOWN) : NULL;
    fputs("\n<details><summary>The patch</summary>\n\n", out);
    if (text)
        markdown_fence(out, "diff", text);
    else
        fputs("It is too long to be shown here; `lwp patch` prints it.\n", out);
    fputs("\n</details>\n", out);
    free(text);
}

static void markdown_facts(const struct markdown *page, const struct lwp_review_item *item)
{
    for (size_t i = 0; i < item->fact_count; i++) {
        const struct lwp_review_fact *fact = &item->facts[i];
        fprintf(page->out, *fact->label ? "- **%s** " : "  <br>%s", fact->label);
        lwp_markdown_text(page->out, fact->text);
        putc('\n', page->out);
    }
    if (item->row_count)
        fprintf(page->out, "\n| share | loop | %s |\n|--:|---|---|\n", item->row_heading);
    for (size_t i = 0; i < item->row_count; i++) {
        fprintf(page->out, "| %.1f %% | ", 100 * item->rows[i].share);
        lwp_markdown_code(page->out, item->rows[i].location);
        fputs(" | ", page->out);
        lwp_markdown_code(page->out, item->rows[i].text);
        fputs(" |\n", page->out);
    }
}

static void markdown_section(const struct markdown *page, size_t number, const struct lwp_review_item *item)
{
    FILE *out = page->out;
    fprintf(out, "\n### %zu. ", number);
    lwp_markdown_text(out, item->title);
    fprintf(out, "\n\nExpected: **%s**%s%s, severity %s%s%s.", lwp_review_gain(page->review, item), item->low > 0 ? " for " : "",
            item->low > 0 ? item->gain_of : "", item->severity, item->confidence ? ", confidence " : "",
            item->confidence ? item->confidence : "");
    if (item->tried)
        fprintf(out, " Tried: **%s**.", item->tried);
    if (item->location_count) {
        fprintf(out, " Look at ");
        markdown_location(page, item);
        putc('.', out);
    }
    fputs("\n\n", out);
    lwp_markdown_text(out, item->next_step);
    fputs("\n\n", out);
    lwp_markdown_text(out, lwp_review_why(page->review, item));
    putc('\n', out);
    if (item->split)
        lwp_markdown_strip(out, page->review->root, item->split);
    if (item->declaration) {
        putc('\n', out);
        markdown_fence(out, "c", item->declaration);
    }
    if (item->patch)
        markdown_patch(out, item->patch);
    fputs("\n<details><summary>Evidence</summary>\n\n", out);
    markdown_facts(page, item);
    fputs("\n</details>\n", out);
}

/* ---- lines of the table ---- */

static void markdown_row(const struct markdown *page, size_t number, const struct lwp_review_item *item)
{
    fprintf(page->out, "| %zu | %s | ", number, lwp_review_gain(page->review, item));
    lwp_markdown_text(page->out, item->title);
    fputs(" | ", page->out);
    markdown_location(page, item);
    fputs(" |\n", page->out);
}

static void markdown_judged(const struct markdown *page, const struct lwp_judged_line *line)
{
    static const char *const results[] = {"passes", "**fails**", "not judged"};
    fprintf(page->out, "| %s | %s | ", results[line->result], line->state);
    lwp_markdown_text(page->out, line->rule);
    if (*line->subject) {
        fputs(": ", page->out);
        lwp_markdown_code(page->out, line->subject);
    }
    fputs(" | ", page->out);
    lwp_markdown_text(page->out, line->why);
    fputs(" | ", page->out);
    markdown_location(page, line->item);
    fputs(" |\n", page->out);
}

/* ---- head and foot ---- */

static void markdown_head(const struct markdown *page)
{
    const json_t *run = json_object_get(page->review->root, "run");
    const char *command = lwp_path_last(json_string_value(json_array_get(json_object_get(run, "command"), 0)));
    char *program = lwp_visible(command ? command : "", false, 60);
    if (page->judgement)
        fprintf(page->out, "## lwp check: %s", page->judgement->sentence);
    else if (page->review->count)
        fprintf(page->out, "## lwp: %zu finding%s", page->review->count, page->review->count == 1 ? "" : "s");
    else
        fputs("## lwp: no advice", page->out);
    if (program && *program) {
        fputs(", ", page->out);
        lwp_markdown_code(page->out, program);
    }
    free(program);
    fputs("\n\n", page->out);
    if (!page->judgement && !page->review->count) {
        lwp_markdown_text(page->out, lwp_arena_printf(page->review->arena, "No advice: %s.%s%s", lwp_review_none(page->review),
                                                      lwp_review_help(page->review) ? " " : "",
                                                      lwp_review_help(page->review) ? lwp_review_help(page->review) : ""));
        putc('\n', page->out);
    }
    if (page->judgement && page->judgement->count)
        fputs("| result | | what | why | where |\n|---|---|---|---|---|\n", page->out);
    else if (!page->judgement && page->review->count)
        fputs("| | speed-up | what to change | where |\n|--:|---|---|---|\n", page->out);
}

/* Data objects that no advice is about. */
static void markdown_left_alone(const struct markdown *page)
{
    struct lwp_review_left left;
    size_t count = page->judgement ? 0 : lwp_review_left_alone(page->review, 0, &left);
    if (count)
        fputs("\n<details><summary>Left as it is, and why</summary>\n\n| share | data | why |\n|--:|---|---|\n", page->out);
    for (size_t i = 0; i < count; i++) {
        lwp_review_left_alone(page->review, i, &left);
        fprintf(page->out, "| %.1f %% | ", 100 * left.share);
        lwp_markdown_code(page->out, left.name);
        fputs(" | ", page->out);
        lwp_markdown_text(page->out, left.sentence);
        fputs(" |\n", page->out);
    }
    if (count)
        fputs("\n</details>\n", page->out);
}

static void markdown_foot(const struct markdown *page)
{
    markdown_left_alone(page);
    const json_t *run = json_object_get(page->review->root, "run"), *note;
    const char *added = lwp_review_cost(page->review);
    size_t i;
    fprintf(page->out, "\n<sub>Measured by lwp's %s engine: %.0f samples, %.0f with an address, %.0f lost",
            lwp_json_string_or(run, "engine", "unknown"), lwp_json_amount(run, "samples"), lwp_json_amount(run, "samples_with_address"),
            lwp_json_amount(run, "samples_lost"));
    if (lwp_json_amount(run, "cpu_s") > 0)
        fprintf(page->out, "; %.2f s of CPU time", lwp_json_amount(run, "cpu_s"));
    if (added)
        fprintf(page->out, "; lwp added %s", added);
    const char *seen = lwp_json_string(json_object_get(page->review->root, "coverage"), "sentence");
    fputs(seen ? ". " : ".", page->out);
    lwp_markdown_text(page->out, seen ? seen : "");
    fputs("</sub>\n", page->out);
    if (!json_array_size(json_object_get(run, "notes")))
        return;
    fputs("\n<details><summary>Notes</summary>\n\n", page->out);
    json_array_foreach(json_object_get(run, "notes"), i, note) {
        enum { NOTES_SHOWN = 20 };
        if (i == NOTES_SHOWN)
            break;
        fputs("- ", page->out);
        lwp_markdown_text(page->out, lwp_json_shown(note));
        putc('\n', page->out);
    }
    fputs("\n</details>\n", page->out);
}

/* ---- all of it ---- */

static void markdown_write_row(const struct markdown *page, size_t index)
{
    if (page->judgement)
        markdown_judged(page, &page->judgement->lines[index]);
    else
        markdown_row(page, index + 1, &page->review->items[index]);
}

static void markdown_write_section(const struct markdown *page, size_t index)
{
    markdown_section(page, index + 1, &page->review->items[index]);
}

static void markdown_write_frame(const struct markdown *page, size_t foot)
{
    if (foot)
        markdown_foot(page);
    else
        markdown_head(page);
}

/* Of a check, only what fails has a section: the rest is known, or allowed. */
static bool markdown_has_section(const struct markdown *page, const struct lwp_review_item *item)
{
    for (size_t i = 0; page->judgement && i < page->judgement->count; i++)
        if (page->judgement->lines[i].item == item)
            return page->judgement->lines[i].result == LWP_JUDGED_FAILS;
    return !page->judgement;
}

/* What `write` prints, in the review's arena. */
static const char *markdown_piece(struct markdown *page, size_t index, void (*write)(const struct markdown *page, size_t index))
{
    char *text = NULL;
    size_t length = 0;
    if (!(page->out = open_memstream(&text, &length)))
        return "";
    write(page, index);
    const char *piece = fclose(page->out) == 0 ? lwp_arena_strdup(page->review->arena, text) : "";
    free(text);
    return piece;
}

/* Writes the piece if it fits into *room, and takes its bytes from there. */
static bool markdown_put(FILE *out, size_t *room, const char *piece)
{
    size_t length = strlen(piece);
    if (length > *room)
        return false;
    *room -= length;
    fputs(piece, out);
    return true;
}

int lwp_markdown_write(FILE *out, const struct lwp_review *review, const struct lwp_judgement *judgement, size_t limit,
                       struct lwp_error *err)
{
    enum { LEFT_OUT = 200 }; /* bytes that say so */
    struct markdown page = {.review = review, .judgement = judgement};
    const char *head = markdown_piece(&page, 0, markdown_write_frame), *foot = markdown_piece(&page, 1, markdown_write_frame);
    size_t frame = strlen(head) + strlen(foot) + LEFT_OUT, room = limit > frame ? limit - frame : 0, half = room / 2;
    size_t rows = judgement ? judgement->count : review->count, row = 0, left_out = 0;
    fputs(head, out);
    while (row < rows && markdown_put(out, &half, markdown_piece(&page, row, markdown_write_row)))
        row++;
    if (row < rows)
        fprintf(out, "\n%zu %s left out.\n", rows - row, judgement ? "checks" : "findings");
    room = room - room / 2 + half;
    for (size_t i = 0; i < review->count; i++)
        if (markdown_has_section(&page, &review->items[i]))
            left_out += left_out || !markdown_put(out, &room, markdown_piece(&page, i, markdown_write_section));
    if (left_out)
        fprintf(out, "\nThe details of %zu finding%s are left out: `lwp report` shows them.\n", left_out, left_out == 1 ? "" : "s");
    fputs(frame > limit ? "" : foot, out); /* notes can be long */
    return ferror(out) ? lwp_error_set(err, LWP_ERR_SYSTEM, "cannot write the report") : LWP_OK;
}
