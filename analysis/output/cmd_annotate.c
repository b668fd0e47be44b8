/* lwp annotate: a source file with memory stall and stride beside its lines. */
#include "analysis/json/json_value.h"
#include "analysis/output/formats.h"
#include "analysis/output/terminal.h"
#include "base/columns.h"
#include "base/log.h"
#include "base/command.h"
#include "base/text.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    AROUND = 4,  /* lines shown before and after one with stall */
    BEFORE = 43, /* columns before the text */
    BEFORE_PATH = 36, /* and before the file's path in the line above */
    TAB = 4,
};

static const struct lwp_option annotate_options[] = {
    {.name = "all", .letter = 'a', .kind = LWP_OPT_FLAG, .help = "print all lines, not only those around memory stall"},
    {.name = "source", .kind = LWP_OPT_TEXT, .argument = "FILE", .help = "read the text from FILE, where it is not at the path recorded"},
    {.name = "redact", .kind = LWP_OPT_FLAG, .help = "print no folders outside the source tree"},
    {.name = "root", .kind = LWP_OPT_TEXT, .argument = "FOLDER", .help = "folder of the source; paths are relative to it"},
    {0},
};

/* Whether a recorded path is the one named: the same, or it ends with it. */
static bool annotate_is(const char *recorded, const char *named)
{
    size_t a = strlen(recorded), b = strlen(named);
    while (strncmp(named, "./", 2) == 0)
        named += 2, b -= 2;
    return a >= b && strcmp(recorded + a - b, named) == 0 && (a == b || *named == '/' || recorded[a - b - 1] == '/');
}

struct annotate {
    const json_t *root, **of; /* of[line - 1]: the row of "lines", or NULL */
    size_t lines;
    char **text;
    size_t text_count, text_room;
};

static int annotate_read(struct annotate *annotate, const char *path, struct lwp_error *err)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;
    if (!file)
        return lwp_error_errno(err, "cannot read %s (--source FILE names where it is)", path);
    while (getline(&line, &room, file) >= 0) {
        line[strcspn(line, "\r\n")] = '\0';
        for (char *c = line; *c; c++)
            if (((unsigned char)*c < ' ' && *c != '\t') || *c == 127)
                *c = '?'; /* nothing that a terminal obeys */
        LWP_APPEND(&annotate->text, &annotate->text_count, &annotate->text_room, strdup(line));
    }
    free(line);
    fclose(file);
    return LWP_OK;
}

/* A line of the source; at a terminal only as much as fits, so that the columns stay in order. */
static void annotate_text(const char *text, size_t room)
{
    size_t columns = 0;
    const char *end = text;
    while (*end && columns + 1 < room) { /* one is left for the sign that something is missing */
        columns += *end == '\t' ? TAB : 1;
        for (end++; (*end & 0xc0) == 0x80; end++)
            ;
    }
    bool whole = strlen(end) < 2 && columns < room;
    for (const char *c = text; whole ? *c : c < end; c++)
        if (*c == '\t' && room != SIZE_MAX)
            fputs("    ", stdout);
        else
            putchar(*c);
    puts(whole ? "" : "…");
}

static void annotate_print(const struct annotate *annotate, const char *path, bool all)
{
    const struct lwp_terminal terminal = {.out = stdout, .colour = lwp_terminal_colour()};
    size_t shown = 0, room = isatty(STDOUT_FILENO) ? (size_t)lwp_columns(stdout) - BEFORE : SIZE_MAX;
    char *shown_path = lwp_visible(path, false, room == SIZE_MAX ? 0 : room + BEFORE - BEFORE_PATH);
    printf("%8s %8s %-16s  %s\n", "stall", "stride", "data", shown_path ? shown_path : "");
    free(shown_path);
    for (size_t i = 0; i < annotate->text_count; i++) {
        bool near = all;
        for (size_t k = i >= AROUND ? i - AROUND : 0; k <= i + AROUND && k < annotate->text_count && !near; k++)
            near = annotate->of[k] != NULL;
        if (!near)
            continue;
        if (shown && shown < i)
            printf("%35s...\n", "");
        shown = i + 1;
        const json_t *row = annotate->of[i];
        char stall[16] = "", stride[24] = "";
        double share = row ? lwp_json_percent(row, "share") : 0, bytes = lwp_json_amount(row, "stride");
        if (row)
            snprintf(stall, sizeof stall, "%.1f %%", share);
        if (bytes > 0)
            snprintf(stride, sizeof stride, "%.0f B", bytes);
        if (share >= 5)
            lwp_terminal_style(&terminal, "1");
        printf("%8s %8s %-16.16s %6zu  ", stall, stride,
               row ? lwp_json_string_or(lwp_json_entry(annotate->root, "objects", row, "object"), "name", "") : "", i + 1);
        annotate_text(annotate->text[i], room);
        if (share >= 5)
            lwp_terminal_style(&terminal, "0");
    }
}

/* The rows of the file; the path recorded for it. NULL: none. */
static const char *annotate_rows(struct annotate *annotate, const char *named, struct lwp_error *err)
{
    const json_t *row, *lines = json_object_get(json_object_get(annotate->root, "stalls"), "lines");
    const char *recorded = NULL;
    size_t i;
    json_array_foreach(lines, i, row) {
        const char *file = lwp_json_string(row, "file");
        if (!file || !annotate_is(file, named))
            continue;
        if (recorded && strcmp(recorded, file) != 0) {
            lwp_error_set(err, LWP_ERR_USAGE, "both %s and %s are called %s; name more of the path", recorded, file, named);
            return NULL;
        }
        recorded = file;
    }
    if (!recorded)
        lwp_error_set(err, LWP_ERR_MISSING, "no line of %s has memory stall in this result; 'lwp report' names the lines that have", named);
    return recorded;
}

static void annotate_file(const char *dir, const char *named, const struct lwp_options *options, struct lwp_error *err)
{
    json_t *root;
    struct lwp_review *review = lwp_review_open(dir, options, &root, err);
    struct annotate annotate = {.root = root};
    const char *recorded = review ? annotate_rows(&annotate, named, err) : NULL, *source = lwp_options_text(options, "source");
    if (recorded && !annotate_read(&annotate, source ? source : recorded, err)) {
        const json_t *row;
        size_t i;
        annotate.of = lwp_zeroed(annotate.text_count + 1, sizeof *annotate.of);
        json_array_foreach(json_object_get(json_object_get(root, "stalls"), "lines"), i, row) {
            double line = lwp_json_amount(row, "line");
            if (lwp_json_is(row, "file", recorded) && line >= 1 && line <= (double)annotate.text_count)
                annotate.of[(size_t)line - 1] = row;
        }
        annotate_print(&annotate, recorded, lwp_options_flag(options, "all"));
    }
    for (size_t i = 0; i < annotate.text_count; i++)
        free(annotate.text[i]);
    free(annotate.text);
    free(annotate.of);
    lwp_review_free(review);
    json_decref(root);
}

static int annotate_run(int argc, char **argv, const struct lwp_command *self)
{
    struct lwp_options options;
    struct lwp_error err = {0};
    int status = 0;
    if (!lwp_command_begin(&options, self, argc, argv, &status))
        return status;
    int count = argc - options.operands;
    char **operands = argv + options.operands;
    if (count != 1 && count != 2) {
        lwp_log(LWP_LOG_ERROR, "annotate: name the source file: lwp annotate [DIR] FILE");
        return LWP_WRONG_USE;
    }
    const char *dir = lwp_result_operand("annotate", count - 1, operands);
    if (!dir)
        return LWP_WRONG_USE;
    annotate_file(dir, operands[count - 1], &options, &err);
    return lwp_output_end(0, 1, &err);
}

const struct lwp_command lwp_cmd_annotate = {
    .name = "annotate",
    .usage = "[options] [DIR] FILE",
    .summary = "print a source file with memory stall by line",
    .details =
        "Without DIR the newest lwp-* in the current folder is taken. FILE is the source file, or the end of its path.\n"
        "Beside each line with memory stall are its share of the program's time, the stride of the access that causes most of it, and\n"
        "the data that it accesses.\n\n"
        "Exit status: 0 done, 1 DIR or FILE could not be read or FILE has no memory stall, 125 wrong usage.",
    .options = annotate_options,
    .run = annotate_run,
};
