#include "patch/trial/trial.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/path.h"
#include "patch/trial/commands.h"
#include "patch/trial/copies.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAIRS_LEAST = 6, PAIRS_MOST = 200 };
static const double narrow = 0.03; /* width of the interval, of the gain */

int lwp_trial_parse(struct lwp_trial *trial, struct lwp_arena *arena, const char *command, struct lwp_error *err)
{
    const char *cut = NULL;
    for (const char *at = command; (at = strstr(at, "&&")); at += 2)
        cut = at;
    if (!cut)
        return lwp_error_set(err, LWP_ERR_USAGE, "--try takes how to build and how to run: --try 'make && ./app args'");
    trial->build = lwp_arena_strndup(arena, command, (size_t)(cut - command));
    trial->run = lwp_arena_strdup(arena, cut + 2);
    return LWP_OK;
}

static bool same_files(const char *a, const char *b)
{
    FILE *one = fopen(a, "r"), *two = fopen(b, "r");
    bool same = one && two;
    for (int c = 0; same && c != EOF;) {
        c = getc(one);
        same = c == getc(two);
    }
    if (one)
        fclose(one);
    if (two)
        fclose(two);
    return same;
}

/* One run of each; the logarithm of before / after. Which comes first changes from pair to pair. */
static int run_pair(const struct lwp_copies *copies, const struct lwp_trial *trial, unsigned pair, double *ratio, struct lwp_error *err)
{
    double cpu[2];
    int status[2];
    const char *output[2];
    for (unsigned turn = 0; turn < 2; turn++) {
        bool patched = (turn ^ pair) & 1;
        output[patched] = lwp_arena_printf(copies->arena, "%s/out%d", copies->top, patched);
        struct lwp_trial_command command = {.folder = lwp_copies_folder(copies, patched, pair % copies->placements),
                                            .text = trial->run,
                                            .output = output[patched],
                                            .variant = pair,
                                            .seconds = LWP_TRIAL_SECONDS_MOST};
        status[patched] = lwp_trial_command(&command, &cpu[patched]);
        if (status[patched] < 0)
            return lwp_error_set(err, LWP_ERR_LIMIT, "'%s' does not end within %d seconds", trial->run, LWP_TRIAL_SECONDS_MOST);
    }
    if (status[0] != status[1])
        return lwp_error_set(err, LWP_ERR_LIMIT, "the patched program ends with another status: %d instead of %d", status[1], status[0]);
    if (!same_files(output[0], output[1]))
        return lwp_error_set(err, LWP_ERR_LIMIT,
                             "the patched program prints something else; if what it prints differs from run to run, so that "
                             "both would, let the command discard that");
    *ratio = log((cpu[0] + 1e-4) / (cpu[1] + 1e-4));
    return LWP_OK;
}

/* 97.5 % of Student's t for `n` - 1 degrees of freedom, from above. */
static double student(unsigned n)
{
    return 1.96 + 2.6 / (n - 1) + 4.0 / ((n - 1) * (double)(n - 1));
}

static int measure(const struct lwp_copies *copies, struct lwp_trial *trial, struct lwp_error *err)
{
    double sum = 0, squares = 0, end = lwp_clock_s(CLOCK_MONOTONIC) + trial->seconds, ratio = 0;
    if (run_pair(copies, trial, 0, &ratio, err)) /* caches of files are warm from here on */
        return err->status;
    for (unsigned n = 1; n <= PAIRS_MOST; n++) {
        if (run_pair(copies, trial, n, &ratio, err))
            return err->status;
        sum += ratio;
        squares += ratio * ratio;
        double mean = sum / n, half = n > 1 ? student(n) * sqrt(fmax(0, squares / n - mean * mean) / (n - 1)) : INFINITY;
        trial->speedup = exp(mean);
        trial->low = exp(mean - half);
        trial->high = exp(mean + half);
        trial->pairs = n;
        lwp_log_progress("%u pairs: %.2fx (%.2f-%.2f)", n, trial->speedup, trial->low, trial->high);
        if ((n >= PAIRS_LEAST && trial->high - trial->low < narrow * trial->speedup) || (lwp_clock_s(CLOCK_MONOTONIC) > end && n > 1))
            break;
    }
    return LWP_OK;
}

/* The commands run in copies; what they name of the tree itself would be the same for both. */
static int check_names(const char *command, const struct lwp_units *units, struct lwp_error *err)
{
    const char *named = strstr(command, units->root);
    return named && strcmp(units->root, "/") != 0
               ? lwp_error_set(err, LWP_ERR_USAGE, "--try runs '%s' in copies of %s, which it must not name", command, units->root)
               : LWP_OK;
}

int lwp_trial_run(struct lwp_trial *trial, const struct lwp_sources *sources, const struct lwp_units *units, struct lwp_error *err)
{
    char here[PATH_MAX];
    const char *base = getcwd(here, sizeof here) ? lwp_path_below(here, units->root) : NULL, *temporary = getenv("TMPDIR");
    if (!base)
        return lwp_error_set(err, LWP_ERR_USAGE, "--try runs the command in a copy of %s, and the current folder is not in there",
                             units->root);
    if (check_names(trial->build, units, err) || check_names(trial->run, units, err))
        return err->status;
    char *folder = lwp_format("%s/lwp-try.XXXXXX", temporary && *temporary ? temporary : "/tmp");
    lwp_trial_signals_begin();
    int status = mkdtemp(folder) ? LWP_OK : lwp_error_errno(err, "cannot create the folder %s", folder);
    if (!status) {
        struct lwp_copies copies = {
            .arena = sources->arena, .sources = sources, .units = units, .top = folder, .below = *base ? base : "."};
        status = lwp_copies_make(&copies, trial->build, err);
        status = status ? status : measure(&copies, trial, err);
        trial->placements = copies.placements;
        lwp_log_progress(NULL);
        lwp_copies_remove(&copies);
    }
    free(folder);
    if (lwp_trial_interrupted())
        status = lwp_error_set(err, LWP_ERR_LIMIT, "interrupted");
    lwp_trial_signals_end();
    return status;
}
