/* lwp collect: runs a program with the light engine in it, or under the exact one, and leaves a result directory.
 * Exit status: the program's own, 128+n for a signal; lwp's failures are 125, 126 (cannot execute), 127 (not found). */
#include "base/arena.h"
#include "base/busy.h"
#include "base/command.h"
#include "base/log.h"
#include "collector/env.h"
#include "collector/keep/account.h"
#include "collector/keep/keeper.h"
#include "collector/launch/attach.h"
#include "collector/launch/checks.h"
#include "collector/launch/closing.h"
#include "collector/launch/collect_options.h"
#include "collector/launch/engine.h"
#include "collector/launch/exact.h"
#include "collector/launch/launch.h"
#include "collector/launch/load_cost.h"
#include "collector/launch/patience.h"
#include "collector/launch/preload.h"
#include "collector/launch/rank.h"
#include "collector/launch/result.h"
#include "collector/launch/run_json.h"
#include "collector/launch/serving.h"
#include "collector/launch/target.h"
#include "collector/machine/machine.h"
#include "collector/phases/phases.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_LWP = 125, EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

static char **collect_environment(const struct lwp_settings *settings, const struct lwp_engine *engine, const char *library,
                                  const char *dir, const char *keeper, const struct lwp_account *account)
{
    const struct {
        const char *name;
        double value;
    } numbers[] = {{LWP_ENV_MAX_OVERHEAD, settings->max_overhead},
                   {LWP_ENV_FREQUENCY, settings->frequency},
                   {LWP_ENV_PERIOD, settings->period},
                   {LWP_ENV_FOLLOW_FORK, settings->follow},
                   {LWP_ENV_DELAY, settings->delay},
                   {LWP_ENV_DURATION, settings->duration},
                   {LWP_ENV_HEAP_THRESHOLD, (double)settings->heap_threshold},
                   {LWP_ENV_APPROX, settings->approx},
                   {LWP_ENV_DETECT, settings->detect}};
    enum { NUMBERS = sizeof numbers / sizeof *numbers };
    const char *only = lwp_options_text(settings->options, "only");
    char *variables[NUMBERS + 9] = {lwp_format("%s=%s", LWP_ENV_DIR, dir), lwp_format("%s=%s", LWP_ENV_PMU, engine->pmu),
                                    lwp_format("%s=%s", LWP_ENV_KEEPER, keeper)};
    size_t used = 3;
    for (size_t i = 0; i < NUMBERS; i++)
        variables[used++] = lwp_format("%s=%.15g", numbers[i].name, numbers[i].value);
    if (account->page)
        variables[used++] = lwp_format("%s=%s", LWP_ENV_ACCOUNT, account->path);
    if (only)
        variables[used++] = lwp_format("%s=%s", LWP_ENV_ONLY, only);
    if (lwp_options_flag(settings->options, "paused"))
        variables[used++] = lwp_format("%s=1", LWP_ENV_PAUSED);
    if (settings->region)
        variables[used++] = lwp_format("%s=1", LWP_ENV_REGION);
    unsigned filters = lwp_system_call_filters();
    if (filters)
        variables[used++] = lwp_format("%s=%u", LWP_ENV_FILTERS, filters);
    char **environment = lwp_preload_environment(environ, library, variables);
    while (used)
        free(variables[--used]);
    return environment;
}

/* Where a run is written. Alone, `shown` and `own` are one folder; a rank of a parallel job has its own inside. */
struct collect_place {
    const char *shown;           /* as the user knows it */
    const char *own;             /* as the user knows it too */
    char *absolute;              /* of `own` */
    const struct lwp_rank *rank; /* NULL: alone */
    int busy;                    /* the mark on `shown` (base/busy.h), -1: there is none */
};

static void collect_say(const struct lwp_settings *settings, const struct collect_place *place, const struct lwp_ended *ended,
                        const struct lwp_result *result)
{
    lwp_closing_say(&(struct lwp_closing){.dir = place->shown,
                                          .ended = ended,
                                          .timed = settings->duration > 0 || settings->delay > 0,
                                          .paused = lwp_options_flag(settings->options, "paused"),
                                          .only = lwp_options_text(settings->options, "only"),
                                          .quiet = lwp_options_flag(settings->options, "quiet"),
                                          .analyze = !lwp_options_flag(settings->options, "no-analyze"),
                                          .measure = !lwp_options_flag(settings->options, "no-measure"),
                                          .simulated = settings->exact,
                                          .counted = settings->counts_all,
                                          .counts = !place->rank},
                    result);
}

/* lwp start and lwp stop. */
static void collect_change(void *keeper, bool on)
{
    lwp_keeper_pause(keeper, !on);
}

/* NULL: nobody can start and stop it, which is an error only where it began paused. */
static struct lwp_phases *collect_phases(const struct lwp_settings *settings, const struct collect_place *place, struct lwp_keeper *keeper,
                                         struct lwp_error *err)
{
    bool paused = lwp_options_flag(settings->options, "paused");
    struct lwp_phases *phases = lwp_phases_open(place->absolute, !paused, err);
    if (phases && lwp_phases_serve_always(phases, collect_change, keeper, err)) {
        lwp_phases_close(phases);
        phases = NULL;
    }
    if (!paused) {
        err->text[0] = '\0';
        return phases;
    }
    lwp_keeper_pause(keeper, true);
    if (phases && !lwp_options_flag(settings->options, "quiet") && !(place->rank && place->rank->rank))
        lwp_log(LWP_LOG_NOTE, "nothing is recorded until 'lwp start %s'", place->shown);
    return phases;
}

/* A rank has ended: moves its part into the common result. Rank 0 waits for the others and prints the summary. */
static void collect_close_rank(const struct lwp_settings *settings, const struct collect_place *place, struct lwp_run *run,
                               const struct lwp_ended *ended, struct lwp_result *result)
{
    enum { WAIT_S = 10 };
    struct lwp_error err;
    char name[32];
    const struct lwp_rank *rank = place->rank;
    if (!result->running) { /* else the folder stays: somebody still writes there */
        run->folders = lwp_rank_move_up(place->shown, place->own);
        snprintf(name, sizeof name, "run.%u.json", rank->rank);
        if (lwp_run_json_write(run, place->shown, name, &err))
            lwp_log(LWP_LOG_WARNING, "%s; which processes were rank %u's is lost", err.text, rank->rank);
        json_decref(run->folders);
        run->folders = NULL;
        lwp_result_discard(place->own);
    }
    if (rank->rank) {
        if (result->samples == 0 || result->running || result->problem[0] || WIFSIGNALED(ended->wait_status)) {
            struct lwp_closing closing = {.dir = place->shown, .ended = ended};
            closing.quiet = result->samples != 0;
            lwp_closing_say(&closing, result);
        }
        return;
    }
    lwp_log_progress("waiting for the other ranks");
    unsigned left = lwp_rank_wait(place->shown, WAIT_S) - (result->running ? 1 : 0);
    lwp_log_progress(NULL);
    if (left)
        lwp_log(LWP_LOG_NOTE, "%u of %u ranks have not ended; for all of them, run 'lwp analyze %s' later", left, rank->size, place->shown);
    collect_say(settings, place, ended, result);
}

/* In a child: files are mapped, and where their file system fails (a network's, a FUSE server that ended) that is deadly. The program's
 * status must come through. */
static void collect_finish(const char *dir, struct lwp_result *result)
{
    int status = 0;
    struct lwp_result *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child = shared == MAP_FAILED ? -1 : fork();
    if (child == 0) {
        lwp_result_finish(dir, shared);
        _exit(0);
    }
    if (child < 0) {
        lwp_result_finish(dir, result);
        return;
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    *result = *shared;
    munmap(shared, sizeof *shared);
    if (status)
        snprintf(result->problem, sizeof result->problem, "the file system of %s failed while the result was written", dir);
}

/* The first milliseconds of processes are never sampled, nor what cannot load lwp's library. NULL: hardly any time was left out. */
static char *collect_unsampled(const struct lwp_account_sums *sums, double cpu_ns)
{
    double part = cpu_ns > 0 ? sums->early_ns / cpu_ns : 0;
    if (!sums->processes || (part < 0.05 && sums->processes == sums->set_up))
        return NULL;
    return lwp_format(
        "%u process%s ran, %u of them recorded. Not sampled was %.0f %% of the CPU time: that of processes before they "
        "had run for 20 ms, and of those without lwp's library. The others stand for those that ran longer and were not recorded.",
        sums->processes, sums->processes == 1 ? "" : "es", sums->set_up, 100 * part);
}

/* To end takes about as long as to begin. */
static void collect_charge(const struct lwp_account *account)
{
    struct rusage own;
    if (account->page && !getrusage(RUSAGE_SELF, &own))
        account->page->own_ns = (uint64_t)(2e9 * lwp_launch_cpu_s(&own));
}

/* What lwp has cost, beside what the run would have taken without. */
static void collect_account(struct lwp_run *run, const struct lwp_account *account, char *const *environment, unsigned *ran)
{
    enum { MANY = 20 }; /* processes, for which it is worth to know what loading costs */
    double cpu_ns = run->cpu_s * 1e9;
    struct lwp_account_sums sums = lwp_account_sum(account, cpu_ns);
    struct rusage own;
    char *note = collect_unsampled(&sums, cpu_ns);
    *ran = sums.processes;
    if (sums.processes > MANY && sums.processes > sums.set_up + sums.forked)
        sums.spent_ns += (sums.processes - sums.set_up - sums.forked) * lwp_load_cost(environment);
    if (sums.processes && cpu_ns > sums.spent_ns && !getrusage(RUSAGE_SELF, &own)) {
        run->overhead_known = true;
        run->overhead_percent = round(1e4 * (sums.spent_ns + lwp_launch_cpu_s(&own) * 1e9) / (cpu_ns - sums.spent_ns)) / 100;
    }
    if (note && !run->notes)
        run->notes = json_array();
    if (note)
        json_array_append_new(run->notes, json_string(note));
    free(note);
}

static void collect_note_end(struct lwp_run *run, const struct lwp_ended *ended, const char *program, const struct lwp_phases *phases)
{
    char *note = phases ? lwp_phases_note(phases) : NULL;
    run->ended = true;
    clock_gettime(CLOCK_REALTIME, &run->end);
    run->wall_s = ended->wall_s;
    run->huge_pages_kib = ended->huge_pages_kib;
    run->looked_at_kib = ended->looked_at_kib;
    run->cpu_s = lwp_launch_cpu_s(&ended->usage);
    run->exit_code = WIFEXITED(ended->wait_status) ? WEXITSTATUS(ended->wait_status) : -1;
    run->exit_signal = WIFSIGNALED(ended->wait_status) ? WTERMSIG(ended->wait_status) : 0;
    run->source_roots = lwp_source_roots_find(program, run->cwd);
    if (note && !run->notes)
        run->notes = json_pack("[s]", note);
    free(note);
}

/* Seals the result of the run that has ended, and says what is in it. Ends the keeper. */
static void collect_seal(const struct lwp_settings *settings, const struct collect_place *place, struct lwp_run *run,
                         const struct lwp_ended *ended, struct lwp_keeper *keeper, unsigned processes)
{
    struct lwp_result result;
    lwp_log_progress("sealing %s", place->own);
    int unwritten = lwp_keeper_end(keeper);
    lwp_result_keep_jit_files(place->own, (double)run->started.tv_sec);
    collect_finish(place->own, &result);
    result.ran = processes;
    result.unwritten = unwritten;
    result.overhead_percent = run->overhead_known ? run->overhead_percent : -1;
    lwp_log_progress(NULL);
    if (unwritten)
        lwp_log(LWP_LOG_WARNING, "records were lost: not all could be written to %s (%s); the rest is used", place->own,
                strerror(unwritten));
    if (place->rank)
        collect_close_rank(settings, place, run, ended, &result);
    else
        collect_say(settings, place, ended, &result);
}

/* Runs the program into the directory that was made for it. `helper`: the preload library, or the exact engine's folder. */
static int collect_into(const struct lwp_settings *settings, const struct collect_place *place, const struct lwp_target *target,
                        const struct lwp_engine *engine, const char *helper, char **command, struct lwp_error *err)
{
    const struct lwp_options *options = settings->options;
    char cwd[PATH_MAX], host[256] = "";
    int exit_status = EXIT_LWP;
    struct lwp_run run = {.command = command,
                          .huge_pages_kib = -1,
                          .looked_at_kib = -1,
                          .cwd = getcwd(cwd, sizeof cwd) ? cwd : "",
                          .host = host,
                          .engine = engine->name,
                          .event = engine->event,
                          .weight_unit = engine->weight_unit,
                          .options = lwp_collect_options_json(options)};
    if (place->rank) {
        run.ranks = place->rank->size;
        run.rank = place->rank->rank;
    }
    struct lwp_serving serving = {0};
    struct lwp_keeper *keeper = NULL;
    struct lwp_account account = {.fd = -1};
    unsigned processes = 0;
    struct lwp_phases *phases = NULL;
    int busy = place->busy >= 0 ? place->busy : lwp_busy_begin(place->shown);   /* lwp serve shows that the run goes on */
    bool speaks = place->rank && (place->rank->rank == 0 || place->rank->first); /* writes the job's run.json, too */
    struct lwp_launch launch = {.path = target->path, .by_shell = target->by_shell, .argv = engine->exact ? NULL : command};
    gethostname(host, sizeof host - 1);
    lwp_machine_read(&run.machine, "");
    if (lwp_options_text(options, "machine") && lwp_machine_file(&run.machine, lwp_options_text(options, "machine"), err))
        goto out;
    clock_gettime(CLOCK_REALTIME, &run.started);
    if (engine->exact) {
        char **under = lwp_exact_command(settings, &run.machine, place->absolute, helper, command, err);
        if (!under)
            goto out;
        launch = (struct lwp_launch){.argv = under, .path = under[0], .environment = lwp_exact_environment(environ, helper, command[0])};
    } else {
        keeper = lwp_keeper_start(place->absolute, err);
        if (!keeper)
            goto out;
        lwp_account_open(&account, lwp_keeper_name(keeper));
        phases = collect_phases(settings, place, keeper, err);
        if (err->text[0])
            goto out;
        launch.environment = collect_environment(settings, engine, helper, place->absolute, lwp_keeper_name(keeper), &account);
    }
    if (lwp_run_json_write(&run, place->absolute, "run.json", err) || (speaks && lwp_run_json_write(&run, place->shown, "run.json", err)))
        goto out;

    if (lwp_options_given(options, "serve")) {
        if (lwp_serving_start(&serving, place->shown, (int)lwp_options_number(options, "serve"), err))
            goto out;
        lwp_log(LWP_LOG_NOTE, "the run is shown at %s", serving.url);
    }

    struct lwp_ended ended;
    pid_t patience = engine->exact ? lwp_patience_start() : 0;
    collect_charge(&account);
    int ran = lwp_launch_run(&launch, &ended, err);
    lwp_patience_end(patience);
    if (ran)
        goto out;
    if (ended.exec_errno) {
        exit_status = ended.exec_errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
        lwp_error_set(err, LWP_ERR_SYSTEM, "cannot execute '%s': %s%s", command[0], strerror(ended.exec_errno),
                      ended.exec_errno == ENOENT ? " (its interpreter or loader is missing)" : "");
        goto out;
    }
    err->text[0] = '\0';
    bool failed = false;
    if (engine->exact)
        run.notes = lwp_exact_messages(place->absolute, ended.pid, &failed);
    collect_note_end(&run, &ended, target->path, phases);
    if (!engine->exact)
        collect_account(&run, &account, launch.environment, &processes);
    lwp_phases_close(phases);
    phases = NULL;
    exit_status = failed ? EXIT_LWP : lwp_launch_exit_status(ended.wait_status);

    struct lwp_error late; /* the program's status stands, whatever becomes of the result */
    if (lwp_run_json_write(&run, place->absolute, "run.json", &late) ||
        (place->rank && place->rank->rank == 0 && lwp_run_json_write(&run, place->shown, "run.json", &late)))
        lwp_log(LWP_LOG_WARNING, "%s; the result lacks its end time and exit status", late.text);

    collect_seal(settings, place, &run, &ended, keeper, processes);
    keeper = NULL;
    if (busy >= 0)
        close(busy);
    busy = -1;
    if (serving.pid && !ended.ended_by)
        lwp_serving_wait(&serving);
out:
    lwp_phases_close(phases);
    lwp_keeper_end(keeper);
    lwp_account_close(&account);
    lwp_serving_end(&serving);
    if (busy >= 0)
        close(busy);
    json_decref(run.options);
    json_decref(run.notes);
    json_decref(run.source_roots);
    lwp_preload_environment_free((char **)launch.environment);
    if (engine->exact)
        lwp_preload_environment_free((char **)launch.argv);
    return exit_status;
}

static int collect_run(int argc, char **argv, const struct lwp_command *self)
{
    struct lwp_options options;
    struct lwp_settings settings;
    struct lwp_error err = {0};
    struct lwp_target target = {0};
    struct lwp_rank rank;
    struct lwp_engine engine;
    struct collect_place place = {.busy = -1};
    char *library = NULL, *usable = NULL, *exact = NULL, *dir = NULL, *own = NULL, pid[16];
    int exit_status;
    if (!lwp_command_begin(&options, self, argc, argv, &exit_status))
        return exit_status;
    exit_status = EXIT_LWP;
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
    exit_status = collect_into(&settings, &place, &target, &engine, exact ? exact : usable, command, &err);
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
        "APP runs unchanged: same input, output, signals and exit status. It must be a dynamically linked 64-bit x86\n"
        "program that uses glibc (with -e exact: any 64-bit x86 program), or a script whose interpreter is one. Debug\n"
        "information (-g) provides the names of fields.\n"
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
