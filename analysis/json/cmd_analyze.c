/* lwp analyze: samples in, analysis.json out. */
#include "analysis/json/analyze.h"
#include "analysis/ranks/ranks.h"
#include "base/command.h"
#include "base/log.h"

#include <string.h>

static const struct lwp_option analyze_options[] = {
    {.name = "output",
     .letter = 'o',
     .kind = LWP_OPT_TEXT,
     .argument = "DIR",
     .help = "merge all DIRs into this result; if the name ends in .json, write only the analysis, to that file"},
    {.name = "jobs",
     .letter = 'j',
     .kind = LWP_OPT_NUMBER,
     .argument = "N",
     .min = 1,
     .max = 256,
     .help = "read with at most N threads (default: the number of cores)"},
    {.name = "machine",
     .kind = LWP_OPT_TEXT,
     .argument = "FILE",
     .help = "also replay traces (lwp collect --detect locality) on the caches and cores in this JSON file, and report the misses of "
             "both; the file is one for 'lwp collect --machine', or analysis.json of another result"},
    {.name = "no-measure",
     .kind = LWP_OPT_FLAG,
     .help = "do not run patterns of accesses on this machine to measure what a change would gain (at most 5 s of CPU time); the default "
             "where lwp collect was given it, unless --force is"},
    {.name = "force", .letter = 'f', .kind = LWP_OPT_FLAG, .help = "analyse again even if analysis.json is up to date"},
    {.name = "quiet", .letter = 'q', .kind = LWP_OPT_FLAG, .help = "print nothing unless it fails"},
    {0},
};

/* Into a folder, or only the analysis into a file. */
static int analyze_merge(const char *const *dirs, size_t count, const char *out)
{
    struct lwp_error err = {0};
    size_t length = strlen(out);
    bool file = length > 5 && strcmp(out + length - 5, ".json") == 0;
    if (file ? lwp_analyze(dirs, count, out, &err) : lwp_analyze_merge(dirs, count, out, &err)) {
        lwp_log(LWP_LOG_ERROR, "%s", err.text);
        return 1;
    }
    lwp_log(LWP_LOG_NOTE, "wrote %s", out);
    return 0;
}

static int analyze_each(const char *const *dirs, size_t count, bool force)
{
    struct lwp_error err = {0};
    int status = 0;
    for (size_t i = 0; i < count; i++) {
        bool made;
        if (lwp_analyze_directory(dirs[i], force, &made, &err)) {
            lwp_log(LWP_LOG_ERROR, "%s", err.text);
            status = 1;
        } else {
            lwp_log(LWP_LOG_NOTE, made ? "wrote %s/analysis.json" : "%s/analysis.json is up to date", dirs[i]);
        }
    }
    return status;
}

static int analyze_run(int argc, char **argv, const struct lwp_command *self)
{
    struct lwp_options options;
    struct lwp_error err = {0};
    int status = 0;
    if (!lwp_command_begin(&options, self, argc, argv, &status))
        return status;
    const char *const *dirs = (const char *const *)argv + options.operands, *newest;
    int count = argc - options.operands;
    const char *out = lwp_options_text(&options, "output");
    bool quiet = lwp_options_flag(&options, "quiet");
    if (quiet)
        lwp_log_set_level(LWP_LOG_WARNING);
    if (count < 1) {
        if (!(newest = lwp_result_operand("analyze", 0, NULL)))
            return LWP_WRONG_USE;
        dirs = &newest;
        count = 1;
    }
    if (lwp_options_text(&options, "jobs"))
        lwp_analyze_jobs((unsigned)lwp_options_number(&options, "jobs"));
    const char *unmeasured = getenv("LWP_NO_MEASURE");
    if (lwp_options_flag(&options, "no-measure") || (unmeasured && *unmeasured))
        lwp_analyze_measure(false);
    else if (lwp_options_flag(&options, "force"))
        lwp_analyze_measure(true);
    const char *machine = lwp_options_text(&options, "machine");
    if (machine) {
        struct lwp_hierarchy_plan plan;
        if (lwp_hierarchy_plan_read(&plan, machine, &err)) {
            lwp_log(LWP_LOG_ERROR, "analyze: %s", err.text);
            return LWP_WRONG_USE;
        }
        lwp_analyze_machine(&plan);
    }
    if (out && lwp_ranks_begin(&err)) { /* without -o each is on its own: also the one that `lwp collect` starts in a rank */
        lwp_log(LWP_LOG_ERROR, "analyze: %s", err.text);
        return 1;
    }
    if (!lwp_ranks_first())
        lwp_log_set_level(LWP_LOG_WARNING); /* what is done, the first one says */
    status =
        out ? analyze_merge(dirs, (size_t)count, out) : analyze_each(dirs, (size_t)count, machine || lwp_options_flag(&options, "force"));
    lwp_ranks_end();
    return status;
}

const struct lwp_command lwp_cmd_analyze = {
    .name = "analyze",
    .usage = "[options] [DIR…]",
    .summary = "turn the samples of a run into DIR/analysis.json",
    .details = "Reads what 'lwp collect' wrote and reports which data is hot, how it is laid out and used, and what a better\n"
               "layout would gain. Without DIR the newest lwp-* in the current folder is taken.\n"
               "The analysis is cached: it is redone when the samples or lwp are newer.\n"
               "With -o, several runs, or the folders of a program's processes on several hosts, are merged into one result:\n"
               "memory allocated at one site is one object in all of them, and shares are of the total time. 'lwp report',\n"
               "'lwp serve' and the other commands accept it like any result, and redo it when one of its DIRs has changed.\n"
               "Without -o each DIR gets its own analysis.json. If lwp was built with MPI, 'mpirun -n N lwp analyze -o DIR DIR…'\n"
               "distributes the reading over N ranks; the result is the same.\n\n"
               "Debug info that is not in a program's own file is found beside it (.debug, .dwo, .dwp) and by build-id in\n"
               "/usr/lib/debug; LWP_DEBUG_PATH=DIR:DIR names more such folders. Servers are queried only if DEBUGINFOD_URLS\n"
               "names some.\n\n"
               "Exit status: 0 done, 1 a DIR could not be read or written, 125 wrong usage.",
    .options = analyze_options,
    .run = analyze_run,
};
