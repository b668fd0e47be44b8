/* lwp diff: compares two results. */
#include "analysis/diff/diff.h"
#include "analysis/output/formats.h"
#include "analysis/output/terminal.h"
#include "base/command.h"
#include "base/log.h"

#include <stdio.h>
#include <unistd.h>

static const struct lwp_option diff_options[] = {
    {.name = "json", .kind = LWP_OPT_FLAG, .help = "print the comparison as JSON (docs/diff.schema.json)"},
    {.name = "html", .kind = LWP_OPT_FLAG, .help = "print the comparison as one HTML page, the same as 'lwp export --diff'"},
    {.name = "all", .letter = 'a', .kind = LWP_OPT_FLAG, .help = "include structures below 1 % of the time"},
    {0},
};

static int diff_run(int argc, char **argv, const struct lwp_command *self)
{
    struct lwp_options options;
    struct lwp_error err = {0};
    int status = 0;
    if (!lwp_command_begin(&options, self, argc, argv, &status))
        return status;
    if (argc - options.operands != 2) {
        lwp_log(LWP_LOG_ERROR, "diff: name the result before the change and the one after it: lwp diff BEFORE AFTER");
        return LWP_WRONG_USE;
    }
    const char *const *names = (const char *const *)argv + options.operands;
    if (lwp_options_flag(&options, "html")) { /* pages are the web's subject */
        execl("/proc/self/exe", "lwp", "export", "--diff", "-o", "-", "--", names[0], names[1], (char *)NULL);
        lwp_log(LWP_LOG_ERROR, "cannot run 'lwp export'");
        return 1;
    }
    json_t *before = lwp_analysis_load(names[0], &err), *after = before ? lwp_analysis_load(names[1], &err) : NULL;
    json_t *diff = before && after ? lwp_diff_build(before, names[0], after, names[1], &err) : NULL;
    json_decref(before);
    json_decref(after);
    if (diff && lwp_options_flag(&options, "json")) {
        json_dumpf(diff, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
        fputc('\n', stdout);
    } else if (diff) {
        lwp_diff_print(stdout, diff, lwp_options_flag(&options, "all"), lwp_terminal_colour());
    }
    json_decref(diff);
    return lwp_output_end(0, 1, &err);
}

const struct lwp_command lwp_cmd_diff = {
    .name = "diff",
    .usage = "[options] BEFORE AFTER",
    .summary = "compare two results, and a predicted gain with the measured one",
    .details = "BEFORE and AFTER are folders that 'lwp collect' has written (analysed first if that has not been done yet) or "
               "analysis.json files. Structures are matched by type, variable and allocating function, so lines may have moved; "
               "a structure that was split is compared with its parts, and regrouped arrays with what they became.\n\n"
               "A prediction is about the CPU time of the whole program. One run of each is one measurement; merge several with "
               "'lwp analyze -o' to get an interval. If the two runs cannot be compared (different machine, engine, arguments or "
               "amount of data), the verdict says so. Shares of redundant stores and loads are compared too: less or more only "
               "if the difference exceeds their intervals.\n\n"
               "If one result is from the exact engine and the other was sampled, their agreement is shown: each structure's "
               "share in both, whether the advice is the same, the fractions of redundant accesses, and which findings both "
               "confirm.\n\n"
               "Exit status: 0 done (whatever the outcome), 1 a result could not be read, 125 wrong usage.",
    .options = diff_options,
    .run = diff_run,
};
