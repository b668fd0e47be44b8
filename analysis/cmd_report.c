/* lwp report: the findings as text. */
#include "analysis/analyze.h"
#include "analysis/report.h"
#include "base/command.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct lwp_option report_options[] = {
    {.name = "json", .kind = LWP_OPT_FLAG, .help = "print analysis.json instead"},
    {.name = "brief", .kind = LWP_OPT_FLAG, .help = "the findings in a few lines"},
    {0},
};

static int report_copy(const char *path)
{
    FILE *file = fopen(path, "re");
    char bytes[65536];
    size_t count;
    if (!file)
        return 1;
    while ((count = fread(bytes, 1, sizeof bytes, file)) > 0)
        if (fwrite(bytes, 1, count, stdout) != count)
            break;
    fclose(file);
    return 0;
}

static int report_run(int argc, char **argv, const struct lwp_command *self)
{
    struct lwp_options options;
    struct lwp_error err = {0};
    char path[4096];
    int status = 0;
    if (!lwp_command_begin(&options, self, argc, argv, 2, &status))
        return status;
    if (argc - options.operands != 1) {
        lwp_log(LWP_LOG_ERROR, "report: name the one folder that 'lwp collect' has written: lwp report DIR");
        return 2;
    }
    const char *dir = argv[options.operands];
    if (lwp_analyze_directory(dir, false, NULL, &err)) {
        lwp_log(LWP_LOG_ERROR, "%s", err.text);
        return 1;
    }
    snprintf(path, sizeof path, "%s/analysis.json", dir);
    if (lwp_options_flag(&options, "json")) {
        status = report_copy(path);
    } else {
        json_error_t problem;
        json_t *root = json_load_file(path, 0, &problem);
        if (!root) {
            lwp_log(LWP_LOG_ERROR, "cannot read %s: %s", path, problem.text);
            return 1;
        }
        const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
        bool colour = isatty(STDOUT_FILENO) && !(no_colour && *no_colour) && terminal && strcmp(terminal, "dumb") != 0;
        lwp_report_print(stdout, root, dir, lwp_options_flag(&options, "brief"), colour);
        json_decref(root);
    }
    if (fflush(stdout) || ferror(stdout)) {
        lwp_log(LWP_LOG_ERROR, "cannot write to standard output");
        return 1;
    }
    return status;
}

const struct lwp_command lwp_cmd_report = {
    .name = "report",
    .usage = "[options] DIR",
    .summary = "print the findings of a run as text",
    .details = "Analyses the run first when that has not been done yet.\n\n"
               "Says how the run went, which data and code is hot, how many of the stores and loads were redundant and\n"
               "where (with the cause, or 'unknown'), what threads do to each other's memory, and then the findings:\n"
               "what to change, the one with the largest expected gain first, each with its evidence.\n\n"
               "Exit status: 0 done (with or without findings), 1 DIR could not be read, 2 wrong usage.",
    .options = report_options,
    .run = report_run,
};
