/* lwp collect: runs a program with the light engine in it, or under the exact one, and leaves a result directory.
 * Exit status: the program's own, 128+n for a signal; lwp's failures are 125, 126 (cannot execute), 127 (not found). */
#include "base/arena.h"
#include "base/command.h"
#include "base/log.h"
#include "collector/launch/attach.h"
#include "collector/launch/collect_options.h"
#include "collector/launch/exact.h"
#include "collector/launch/launch.h"
#include "collector/launch/preload.h"
#include "collector/launch/rank.h"
#include "collector/launch/recording.h"
#include "collector/launch/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A process that runs already. */
static int collect_attach(const struct lwp_options *options, bool program, struct lwp_error *err)
{
    struct lwp_settings settings;
    if (program)
        lwp_error_set(err, LWP_ERR_USAGE, "collect: -p samples a process that runs; it takes no program to start");
    else if (!lwp_settings_read(&settings, options, err) && !lwp_attach(&settings, err))
        return 0;
    return LWP_EXIT_FAILED;
}

/* A program that cannot load lwp's library. */
static int collect_outside(const struct lwp_settings *settings, const struct lwp_target *target, char **command, struct lwp_error *err)
{
    struct lwp_rank rank;
    if (lwp_rank_find(&rank))
        lwp_error_set(err, LWP_ERR_USAGE, "'%s' %s, so lwp's library cannot be loaded into its ranks; link it dynamically with glibc",
                      *command, target->closed);
    else if (!lwp_settings_outside(settings->options, *command, target->closed, err))
        return lwp_attach_start(settings, target, command, err);
    return LWP_EXIT_FAILED;
}

/* A program that loads lwp's library, or runs under Valgrind. `helper`: as of lwp_record. */
static int collect_inside(const struct lwp_settings *settings, const struct lwp_target *target, const struct lwp_engine *engine,
                          const char *helper, char **command, struct lwp_error *err)
{
    const char *wanted = lwp_options_text(settings->options, "output");
    const bool force = lwp_options_flag(settings->options, "force");
    struct lwp_rank rank;
    struct lwp_place place = {.busy = -1};
    char *dir, *own = NULL, pid[16];
    int exit_status = LWP_EXIT_FAILED;
    const bool ranked = lwp_rank_find(&rank);
    if (ranked && lwp_options_given(settings->options, "serve")) {
        lwp_error_set(err, LWP_ERR_USAGE, "collect: --serve is for a program that runs alone; run 'lwp serve DIR' beside the ranks");
        return LWP_EXIT_FAILED;
    }
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    dir = wanted ? lwp_format("%s", wanted) : lwp_result_default(*command, ranked ? rank.job : pid);
    if (ranked ? lwp_rank_join(&rank, dir, force, &own, &place.busy, err) : lwp_result_create(dir, force, &place.busy, err))
        goto out;
    place.shown = dir;
    place.own = ranked ? own : dir;
    place.rank = ranked ? &rank : NULL;
    place.absolute = realpath(place.own, NULL);
    if (!place.absolute) {
        lwp_error_errno(err, "cannot find %s", place.own);
        goto out;
    }
    exit_status = lwp_record(settings, &place, target, engine, helper, command, err);
    if (err->text[0]) {
        lwp_result_discard(place.own);
        if (ranked)
            lwp_rank_discard(dir);
    }
out:
    free(dir);
    free(own);
    free(place.absolute);
    return exit_status;
}

static int collect_exact(const struct lwp_settings *settings, const struct lwp_target *target, const struct lwp_engine *engine,
                         char **command, struct lwp_error *err)
{
    char *folder = lwp_exact_find(err);
    int exit_status = folder ? collect_inside(settings, target, engine, folder, command, err) : LWP_EXIT_FAILED;
    free(folder);
    return exit_status;
}

static int collect_light(const struct lwp_settings *settings, const struct lwp_target *target, const struct lwp_engine *engine,
                         char **command, struct lwp_error *err)
{
    int exit_status = LWP_EXIT_FAILED;
    char *library = lwp_preload_find(err), *usable = library ? lwp_preload_usable(library, err) : NULL;
    if (usable) {
        exit_status = collect_inside(settings, target, engine, usable, command, err);
        lwp_preload_release(usable, library);
    }
    free(library);
    return exit_status;
}

static int collect_program(const struct lwp_options *options, char **command, struct lwp_error *err)
{
    struct lwp_settings settings;
    struct lwp_engine engine;
    struct lwp_target target = {0};
    int exit_status;
    if (!*command) {
        lwp_error_set(err, LWP_ERR_USAGE, "collect: no program to run; for example: lwp collect ./app args");
        return LWP_EXIT_FAILED;
    }
    if (lwp_settings_read(&settings, options, err) ||
        lwp_engine_choose(lwp_options_text(options, "engine"), lwp_options_text(options, "event"), settings.period > 0, &engine, err))
        return LWP_EXIT_FAILED;
    if (lwp_target_find(&target, *command, engine.exact, err))
        exit_status = target.exit_status;
    else if (target.closed)
        exit_status = collect_outside(&settings, &target, command, err);
    else
        exit_status = (engine.exact ? collect_exact : collect_light)(&settings, &target, &engine, command, err);
    lwp_target_fini(&target);
    return exit_status;
}

static int collect_run(int argc, char **argv, const struct lwp_command *self)
{
    struct lwp_options options;
    struct lwp_error err = {0};
    int exit_status;
    lwp_launch_raise_stack();
    if (!lwp_command_begin(&options, self, argc, argv, &exit_status))
        return exit_status;
    char **command = argv + options.operands;
    exit_status = lwp_options_given(&options, "pid") ? collect_attach(&options, *command, &err) : collect_program(&options, command, &err);
    if (err.text[0])
        lwp_log(LWP_LOG_ERROR, "%s", err.text);
    return exit_status;
}

const struct lwp_command lwp_cmd_collect = {
    .name = "collect",
    .usage = "[options] [--] APP [ARGUMENTS…] | [options] -p PID",
    .summary = "run a program, sample its memory accesses, write a result directory",
    .details =
        "APP runs unchanged: same input, output, signals and exit status. It must be a 64-bit x86 program, or a script\n"
        "whose interpreter is one. One that cannot load lwp's library (static, Go without cgo, musl) is sampled from outside,\n"
        "as with -p. Debug information (-g) provides the names of fields.\n"
        "Child processes are profiled too. Started by mpirun or srun (mpirun -n 4 lwp collect ./app), all ranks write one\n"
        "result; without -o it is lwp-<app>.<job>.\n\n"
        "With -p, lwp samples a process that runs already, from outside: nothing is loaded into it, it gets no signal and is\n"
        "not stopped. It may be any 64-bit x86 program of yours (of anybody for root), also a static one. Its layout is\n"
        "analysed as usual; where heap blocks were allocated is not known, nor are redundancy, sharing and communication.\n"
        "Sampling ends with --duration, Ctrl-C, a SIGTERM to lwp, or the process; the process goes on.\n\n"
        "--detect selects detectors. layout: hot data, its layout and its use. redundancy: dead stores (overwritten before\n"
        "they are read), silent stores (the value stays the same) and silent loads (of a value that was loaded before and\n"
        "has not changed), as pairs of calling contexts. sharing: cache lines that bounce between threads, as in false\n"
        "sharing. communication: which thread reads what which other thread stored. All but layout watch sampled accesses\n"
        "with the processor's debug registers and share --max-overhead with it; fewer detectors leave more for the others.\n\n"
        "More detectors with -e exact. values: computations that repeat earlier ones on the same values, as pairs of\n"
        "calling contexts; in windows, or with --window all over the whole run, then without samples unless layout is\n"
        "selected too. registers: register writes that leave the value as it was. spatial: array elements stored in a\n"
        "window that equal the element before. locality: reuse distances of each structure, strides of the loops that\n"
        "access it, and how much of it the caches keep; in windows of 8M:72M. communication, if given by name: every first\n"
        "read of what another thread wrote and each repeated one, over the whole run, by function and loop; without samples\n"
        "unless layout is selected too.\n\n"
        "--serve prints a URL before APP starts. The page shows progress, then the report. Ctrl-C goes to APP while it\n"
        "runs; after that it ends lwp, with APP's status. A SIGTERM or SIGHUP sent to lwp while APP runs ends APP and then\n"
        "lwp. 'lwp serve DIR' in another terminal shows a run that was started without --serve.\n\n"
        "Exit status: APP's, 128+n if signal n ended it (with -p: 0); 125 if lwp itself failed, 126 if APP cannot be executed, 127 if\n"
        "it was not found.",
    .options = lwp_collect_options,
    .stops_at_first = true,
    .run = collect_run,
};
