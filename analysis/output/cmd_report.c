/* lwp report: the findings as text. */
#include "analysis/output/formats.h"
#include "analysis/output/report.h"
#include "analysis/output/terminal.h"
#include "base/command.h"
#include "base/log.h"

#include <stdio.h>
#include <string.h>

static const struct lwp_option report_options[] = {
    {.name = "format",
     .kind = LWP_OPT_CHOICE,
     .choices = "text|json|markdown|sarif|junit",
     .argument = "FORMAT",
     .initial = "text",
     .help = "output format: for a terminal, a program, a comment, code scanning, or test results"},
    {.name = "json", .kind = LWP_OPT_FLAG, .help = "print analysis.json; the same as --format json"},
    {.name = "brief", .kind = LWP_OPT_FLAG, .help = "print only the top findings, in a few lines"},
    LWP_REVIEW_OPTIONS,
    {0},
};

static int report_copy(const char *dir, struct lwp_error *err)
{
    char path[4096], bytes[65536];
    size_t count;
    int status = lwp_analysis_path(dir, path, sizeof path, err);
    FILE *file = status ? NULL : fopen(path, "re");
    if (!file)
        return status ? status : lwp_error_errno(err, "cannot read %s", path);
    while ((count = fread(bytes, 1, sizeof bytes, file)) > 0)
        if (fwrite(bytes, 1, count, stdout) != count)
            break;
    fclose(file);
    return LWP_OK;
}

/* In any of the formats; only what is to be redacted is not analysis.json as it stands. */
static int report_print(const char *dir, const struct lwp_options *options, const char *format, struct lwp_error *err)
{
    json_t *root;
    struct lwp_review *review = lwp_review_open(dir, options, &root, err);
    int status = review ? LWP_OK : err->status;
    if (review && strcmp(format, "json") == 0)
        status = json_dumpf(root, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9))
                     ? lwp_error_set(err, LWP_ERR_SYSTEM, "cannot write the report")
                     : LWP_OK;
    else if (review && strcmp(format, "text") == 0)
        lwp_report_print(stdout, review, dir, lwp_options_flag(options, "brief"), lwp_terminal_colour());
    else if (review)
        status = lwp_write_format(stdout, review, NULL, options, err);
    lwp_review_free(review);
    json_decref(root);
    return status;
}

static int report_run(int argc, char **argv, const struct lwp_command *self)
{
    struct lwp_options options;
    struct lwp_error err = {0};
    int status = 0;
    if (!lwp_command_begin(&options, self, argc, argv, &status))
        return status;
    const char *dir = lwp_result_operand("report", argc - options.operands, argv + options.operands);
    if (!dir)
        return LWP_WRONG_USE;
    const char *format = lwp_options_flag(&options, "json") ? "json" : lwp_options_text(&options, "format");
    if (strcmp(format, "json") == 0 && !lwp_options_flag(&options, "redact"))
        report_copy(dir, &err);
    else
        report_print(dir, &options, format, &err);
    return lwp_output_end(0, 1, &err);
}

const struct lwp_command lwp_cmd_report = {
    .name = "report",
    .usage = "[options] [DIR]",
    .summary = "print the findings of a run",
    .details = "Analyses the run first if that has not been done yet. DIR may also be an analysis.json. "
               "Without DIR the newest lwp-* in the current folder is taken.\n\n"
               "The text has: how the run went; the findings, that is, what to change, largest expected gain first, each with its\n"
               "evidence and the declaration to paste; then which data and code is hot, how many stores and loads were redundant\n"
               "and where (with the cause, or 'unknown'), and how threads share and communicate. It is coloured on a terminal\n"
               "unless NO_COLOR is set.\n\n"
               "The other formats hold the findings: markdown for a comment on a pull request or a job summary, sarif (2.1.0)\n"
               "for code scanning, junit for tools that show test results; json is all of analysis.json. To make a build fail,\n"
               "use 'lwp check'.\n\n"
               "Exit status: 0 done (with or without findings), 1 DIR could not be read, 125 wrong usage.",
    .options = report_options,
    .run = report_run,
};
