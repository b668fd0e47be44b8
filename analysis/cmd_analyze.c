/* lwp analyze: samples in, analysis.json out. */
#include "analysis/analyze.h"
#include "base/command.h"
#include "base/log.h"

static const struct lwp_option analyze_options[] = {
    {.name = "output",
     .letter = 'o',
     .kind = LWP_OPT_TEXT,
     .argument = "FILE",
     .help = "write there, merging all DIRs, instead of into each DIR"},
    {.name = "force", .letter = 'f', .kind = LWP_OPT_FLAG, .help = "even when analysis.json is up to date"},
    {.name = "quiet", .letter = 'q', .kind = LWP_OPT_FLAG, .help = "say nothing unless it fails"},
    {0},
};

static int analyze_run(int argc, char **argv, const struct lwp_command *self)
{
    struct lwp_options options;
    struct lwp_error err = {0};
    int status = 0;
    if (!lwp_command_begin(&options, self, argc, argv, 2, &status))
        return status;
    const char *const *dirs = (const char *const *)argv + options.operands;
    int count = argc - options.operands;
    const char *out = lwp_options_text(&options, "output");
    bool quiet = lwp_options_flag(&options, "quiet");
    if (count < 1) {
        lwp_log(LWP_LOG_ERROR, "analyze: name the folder that 'lwp collect' has written: lwp analyze DIR");
        return 2;
    }
    if (out) {
        if (lwp_analyze(dirs, (size_t)count, out, &err)) {
            lwp_log(LWP_LOG_ERROR, "%s", err.text);
            return 1;
        }
        if (!quiet)
            lwp_log(LWP_LOG_NOTE, "wrote %s", out);
        return 0;
    }
    status = 0;
    for (int i = 0; i < count; i++) {
        bool made;
        if (lwp_analyze_directory(dirs[i], lwp_options_flag(&options, "force"), &made, &err)) {
            lwp_log(LWP_LOG_ERROR, "%s", err.text);
            status = 1;
        } else if (!quiet) {
            lwp_log(LWP_LOG_NOTE, made ? "wrote %s/analysis.json" : "%s/analysis.json is up to date", dirs[i]);
        }
    }
    return status;
}

const struct lwp_command lwp_cmd_analyze = {
    .name = "analyze",
    .usage = "[options] DIR…",
    .summary = "turn the samples of a run into DIR/analysis.json",
    .details =
        "Reads what 'lwp collect' wrote and answers which data is hot, how it is laid out and used, and what a\n"
        "better layout would bring. The answer is kept: it is made anew when the samples or lwp are newer.\n"
        "With -o several runs become one analysis; without it each DIR gets its own.\n\n"
        "Debug info that is not in a program's own file is found beside it (.debug, .dwo, .dwp) and by build-id in\n"
        "/usr/lib/debug; LWP_DEBUG_PATH=DIR:DIR names more such folders. Servers are asked only when\n"
        "DEBUGINFOD_URLS names some.\n\n"
        "Exit status: 0 done, 1 a DIR could not be read or written, 2 wrong usage.",
    .options = analyze_options,
    .run = analyze_run,
};
