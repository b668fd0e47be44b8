/* lwp collect: runs a program with the light engine in it, or under the exact one, and leaves a result directory.
 * Exit status: the program's own, 128+n for a signal; lwp's failures are 125, 126 (cannot execute), 127 (not found). */
#include "base/arena.h"
#include "base/command.h"
#include "base/log.h"
#include "collector/launch/attach.h"
#include "collector/launch/collect_options.h"
#include "collector/launch/exact.h"
#include "collector/launch/preload.h"
#include "collector/launch/rank.h"
#include "collector/launch/recording.h"
#include "collector/launch/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int collect_run(int argc, char **argv, const struct lwp_command *self)
{
    struct lwp_options options;
    struct lwp_settings settings;
    struct lwp_error err = {0};
    struct lwp_target target = {0};
    struct lwp_rank rank;
    struct lwp_engine engine;
    struct lwp_place place = {.busy = -1};
    char *library = NULL, *usable = NULL, *exact = NULL, *dir = NULL, *own = NULL, pid[16];
    int exit_status;
    if (!lwp_command_begin(&options, self, argc, argv, &exit_status))
        return exit_status;
    exit_status = LWP_EXIT_FAILED;
    char **command = argv + options.operands;
    if (lwp_options_given(&options, "pid")) {
        if (*command)
            lwp_error_set(&err, LWP_ERR_USAGE, "collect: -p samples a process that runs; it takes no program to start");
        else if (!lwp_settings_read(&settings, &options, &err) && !lwp_attach(&settings, &err))
            exit_status = 0;
        goto out;
    }
    if (!*command) {
        lwp_error_set(&err, LWP_ERR_USAGE, "collect: no program to run; for example: lwp collect ./app args");
        goto out;
    }
    if (lwp_settings_read(&settings, &options, &err) ||
        lwp_engine_choose(lwp_options_text(&options, "engine"), lwp_options_text(&options, "event"), settings.period > 0, &engine, &err))
        goto out;
    if (lwp_target_find(&target, *command, engine.exact, &err)) {
        exit_status = target.exit_status;
        goto out;
    }
    if (target.closed) {
        if (lwp_rank_find(&rank))
            lwp_error_set(&err, LWP_ERR_USAGE, "'%s' %s, so lwp's library cannot be loaded into its ranks; link it dynamically with glibc",
                          *command, target.closed);
        else if (!lwp_settings_outside(&options, *command, target.closed, &err))
            exit_status = lwp_attach_start(&settings, &target, command, &err);
        goto out;
    }
    if (engine.exact)
        exact = lwp_exact_find(&err);
    else if ((library = lwp_preload_find(&err)))
        usable = lwp_preload_usable(library, &err);
    if (!exact && !usable)
        goto out;
    const char *wanted = lwp_options_text(&options, "output");
    bool ranked = lwp_rank_find(&rank), force = lwp_options_flag(&options, "force");
    if (ranked && lwp_options_given(&options, "serve")) {
        lwp_error_set(&err, LWP_ERR_USAGE, "collect: --serve is for a program that runs alone; run 'lwp serve DIR' beside the ranks");
        goto out;
    }
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    dir = wanted ? lwp_format("%s", wanted) : lwp_result_default(*command, ranked ? rank.job : pid);
    if (ranked ? lwp_rank_join(&rank, dir, force, &own, &place.busy, &err) : lwp_result_create(dir, force, &place.busy, &err))
        goto out;
    place.shown = dir;
    place.own = ranked ? own : dir;
    place.rank = ranked ? &rank : NULL;
    place.absolute = realpath(place.own, NULL);
    if (!place.absolute) {
        lwp_error_errno(&err, "cannot find %s", place.own);
        goto out;
    }
    exit_status = lwp_record(&settings, &place, &target, &engine, exact ? exact : usable, command, &err);
    if (err.text[0]) {
        lwp_result_discard(place.own);
        if (ranked)
            lwp_rank_discard(dir);
    }
out:
    if (err.text[0])
        lwp_log(LWP_LOG_ERROR, "%s", err.text);
    lwp_preload_release(usable, library ? library : "");
    lwp_target_fini(&target);
    free(library);
    free(exact);
    free(dir);
    free(own);
    free(place.absolute);
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
