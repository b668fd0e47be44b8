/* lwp check: for continuous integration. */
#include "analysis/check/check.h"
#include "analysis/output/formats.h"
#include "analysis/output/terminal.h"
#include "base/command.h"
#include "base/log.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { STATUS_FAILED = 1, STATUS_CANNOT_TELL = 2 };

static const struct lwp_option check_options[] = {
    {.name = "budget", .letter = 'b', .kind = LWP_OPT_TEXT, .argument = "FILE", .help = "read limits from this JSON file (docs/ci.md)"},
    {.name = "max-gain",
     .kind = LWP_OPT_NUMBER,
     .argument = "FACTOR",
     .min = 1,
     .max = 1000,
     .help = "allow findings whose certain speed-up is at most FACTOR (default without a budget: 1.05)"},
    {.name = "max-share",
     .kind = LWP_OPT_NUMBER,
     .argument = "PERCENT",
     .min = 0,
     .max = 100,
     .help = "if no gain is predicted, allow findings that certainly concern at most PERCENT of the program (default: 25)"},
    {.name = "min-samples",
     .kind = LWP_OPT_NUMBER,
     .argument = "N",
     .min = 0,
     .max = 1e12,
     .help = "report unknown if fewer than N samples have an address (default: 100)"},
    {.name = "baseline", .kind = LWP_OPT_TEXT, .argument = "FILE", .help = "file of known findings: only new and worse ones fail"},
    {.name = "write-baseline", .kind = LWP_OPT_FLAG, .help = "write the findings of this run to the baseline, and pass"},
    {.name = "format",
     .kind = LWP_OPT_CHOICE,
     .choices = "text|markdown|sarif|junit",
     .argument = "FORMAT",
     .initial = "text",
     .help = "output format: for a log, a comment, code scanning, or test results"},
    LWP_REVIEW_OPTIONS,
    {0},
};

static int check_budget(const struct lwp_options *options, struct lwp_budget *budget, struct lwp_error *err)
{
    const char *file = lwp_options_text(options, "budget");
    *budget = lwp_budget_usual();
    int status = file ? lwp_budget_read(budget, file, err) : LWP_OK;
    if (lwp_options_given(options, "max-gain"))
        budget->all.gain = lwp_options_number(options, "max-gain");
    if (lwp_options_given(options, "max-share"))
        budget->all.share = lwp_options_number(options, "max-share") / 100;
    if (lwp_options_given(options, "min-samples"))
        budget->samples = lwp_options_number(options, "min-samples");
    return status;
}

static int check_write(const struct lwp_review *review, const struct lwp_judgement *judgement, const struct lwp_options *options,
                       struct lwp_error *err)
{
    if (strcmp(lwp_options_text(options, "format"), "text") != 0)
        return lwp_write_format(stdout, review, judgement, options, err);
    lwp_check_print(stdout, review, judgement, lwp_terminal_colour());
    return LWP_OK;
}

/* What is accepted from now on is judged as such: the new baseline holds it. */
static int check_accept(const struct lwp_review *review, struct lwp_baseline *baseline, const char *file, struct lwp_error *err)
{
    int status = lwp_baseline_write(baseline, review, file, err);
    lwp_baseline_fini(baseline);
    *baseline = (struct lwp_baseline){0};
    if (!status)
        lwp_log(LWP_LOG_NOTE, "wrote %s; commit it", file);
    return status ? status : lwp_baseline_read(baseline, file, review->arena, err);
}

/* Judges, prints, and writes the baseline anew where that is asked for; *verdict is what to leave with. */
static int check_review(const struct lwp_review *review, const struct lwp_options *options, const struct lwp_budget *budget,
                        enum lwp_check_verdict *verdict, struct lwp_error *err)
{
    const char *file = lwp_options_text(options, "baseline");
    bool write = lwp_options_flag(options, "write-baseline");
    struct lwp_baseline baseline = {0};
    struct lwp_judgement judgement;
    int status = file && !(write && access(file, F_OK)) ? lwp_baseline_read(&baseline, file, review->arena, err) : LWP_OK;
    if (!status && write)
        status = check_accept(review, &baseline, file, err);
    if (!status) {
        *verdict = lwp_check_judge(review, budget, file ? &baseline : NULL, &judgement);
        status = check_write(review, &judgement, options, err);
    }
    lwp_baseline_fini(&baseline);
    return status;
}

static int check_result(const char *dir, const struct lwp_options *options, const struct lwp_budget *budget,
                        enum lwp_check_verdict *verdict, struct lwp_error *err)
{
    json_t *root;
    struct lwp_review *review = lwp_review_open(dir, options, &root, err);
    int status = review ? check_review(review, options, budget, verdict, err) : err->status;
    lwp_review_free(review);
    json_decref(root);
    return status;
}

static int check_run(int argc, char **argv, const struct lwp_command *self)
{
    static const int statuses[] = {0, STATUS_FAILED, STATUS_CANNOT_TELL};
    struct lwp_options options;
    struct lwp_error err = {0};
    struct lwp_budget budget;
    enum lwp_check_verdict verdict = LWP_CHECK_CANNOT_TELL;
    int status = 0;
    if (!lwp_command_begin(&options, self, argc, argv, &status))
        return status;
    const char *dir = lwp_result_operand("check", argc - options.operands, argv + options.operands);
    if (!dir)
        return LWP_WRONG_USE;
    if (lwp_options_flag(&options, "write-baseline") && !lwp_options_text(&options, "baseline")) {
        lwp_log(LWP_LOG_ERROR, "check: --write-baseline needs to know which: --baseline FILE");
        return LWP_WRONG_USE;
    }
    if (!check_budget(&options, &budget, &err))
        check_result(dir, &options, &budget, &verdict, &err);
    return lwp_output_end(statuses[verdict], STATUS_CANNOT_TELL, &err);
}

const struct lwp_command lwp_cmd_check = {
    .name = "check",
    .usage = "[options] [DIR]",
    .summary = "check a run against budgets and a baseline, for continuous integration",
    .details = "Without DIR the newest lwp-* in the current folder is taken.\n"
               "A check fails only for what is certain: the low end of a finding's expected gain (or, if none is predicted, of\n"
               "the part of the program that it concerns) must be above the budget. A finding of low confidence never fails.\n"
               "So the verdict on the same program is the same run after run; the exact engine gives the same on every machine.\n\n"
               "With a baseline, findings are new, known or gone. A new one is compared with the budget; a known one fails if it\n"
               "has certainly become worse than was accepted. Findings are distinguished by the names of types, variables and\n"
               "functions, so lines may move. The baseline is a small file meant to be committed; an analysis.json also works.\n\n"
               "Exit status: 0 within the budgets, 1 not, 2 cannot tell: DIR or a file could not be read, or too little\n"
               "was measured; 125 wrong usage.",
    .options = check_options,
    .run = check_run,
};
