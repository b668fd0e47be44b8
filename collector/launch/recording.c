#include "collector/launch/recording.h"

#include "base/arena.h"
#include "base/busy.h"
#include "base/clock.h"
#include "base/log.h"
#include "collector/env.h"
#include "collector/keep/account.h"
#include "collector/keep/keeper.h"
#include "collector/launch/ending.h"
#include "collector/launch/exact.h"
#include "collector/launch/launch.h"
#include "collector/launch/patience.h"
#include "collector/launch/preload.h"
#include "collector/launch/rank.h"
#include "collector/launch/run_json.h"
#include "collector/launch/serving.h"
#include "collector/machine/costs.h"
#include "collector/machine/machine.h"
#include "collector/phases/phases.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* One run of the program. */
struct recording {
    const struct lwp_settings *settings;
    const struct lwp_place *place;
    const struct lwp_engine *engine;
    const char *helper;
    char **command;
    char cwd[PATH_MAX], host[256];
    struct lwp_run run;
    struct lwp_launch launch;
    struct lwp_account account;
    struct lwp_keeper *keeper;
    struct lwp_phases *phases;
    struct lwp_serving serving;
    int busy; /* lwp serve shows that the run goes on */
};

/* How many system call filters (seccomp) this process runs under. */
static unsigned recording_filters(void)
{
    char line[256];
    unsigned filters = 0;
    FILE *from = fopen("/proc/self/status", "re");
    while (from && fgets(line, sizeof line, from))
        if (sscanf(line, "Seccomp_filters: %u", &filters) == 1)
            break;
    if (from)
        fclose(from);
    return filters;
}

static char **recording_environment(const struct lwp_settings *settings, const struct lwp_engine *engine, const char *library,
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
    unsigned filters = recording_filters();
    if (filters)
        variables[used++] = lwp_format("%s=%u", LWP_ENV_FILTERS, filters);
    char **environment = lwp_preload_environment(environ, library, variables);
    while (used)
        free(variables[--used]);
    return environment;
}

/* lwp start and lwp stop. */
static void recording_change(void *keeper, bool on)
{
    lwp_keeper_pause(keeper, !on);
}

/* NULL: nobody can start and stop it, which is an error only where it began paused. */
static struct lwp_phases *recording_phases(const struct lwp_settings *settings, const struct lwp_place *place, struct lwp_keeper *keeper,
                                           struct lwp_error *err)
{
    bool paused = lwp_options_flag(settings->options, "paused");
    struct lwp_phases *phases = lwp_phases_open(place->absolute, !paused, err);
    if (phases && lwp_phases_serve_always(phases, recording_change, keeper, err)) {
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

/* To end takes about as long as to begin. */
static void recording_charge(const struct lwp_account *account)
{
    struct rusage own;
    if (account->page && !getrusage(RUSAGE_SELF, &own))
        account->page->own_ns = (uint64_t)(2e9 * lwp_cpu_s(&own));
}

static void recording_begin(struct recording *recording)
{
    const struct lwp_place *place = recording->place;
    struct lwp_run *run = &recording->run;
    recording->account.fd = -1;
    recording->busy = place->busy >= 0 ? place->busy : lwp_busy_begin(place->shown);
    *run = (struct lwp_run){.command = recording->command,
                            .huge_pages_kib = -1,
                            .looked_at_kib = -1,
                            .cwd = getcwd(recording->cwd, sizeof recording->cwd) ? recording->cwd : "",
                            .host = recording->host,
                            .engine = recording->engine->name,
                            .event = recording->engine->event,
                            .weight_unit = recording->engine->weight_unit,
                            .options = lwp_collect_options_json(recording->settings->options)};
    if (place->rank) {
        run->ranks = place->rank->size;
        run->rank = place->rank->rank;
    }
    gethostname(recording->host, sizeof recording->host - 1);
    lwp_machine_read(&run->machine, "");
}

static int recording_under_valgrind(struct recording *recording, struct lwp_error *err)
{
    char **under = lwp_exact_command(recording->settings, &recording->run.machine, recording->place->absolute, recording->helper,
                                     recording->command, err);
    if (!under)
        return err->status;
    recording->launch = (struct lwp_launch){
        .argv = under, .path = under[0], .environment = lwp_exact_environment(environ, recording->helper, recording->command[0])};
    return LWP_OK;
}

static int recording_with_library(struct recording *recording, const struct lwp_target *target, struct lwp_error *err)
{
    const struct lwp_place *place = recording->place;
    recording->keeper = lwp_keeper_start(place->absolute, err);
    if (!recording->keeper)
        return err->status;
    const char *keeper = lwp_keeper_name(recording->keeper);
    lwp_account_open(&recording->account, keeper);
    recording->phases = recording_phases(recording->settings, place, recording->keeper, err);
    if (err->text[0])
        return err->status;
    recording->launch = (struct lwp_launch){.path = target->path,
                                            .by_shell = target->by_shell,
                                            .argv = recording->command,
                                            .environment = recording_environment(recording->settings, recording->engine, recording->helper,
                                                                                 place->absolute, keeper, &recording->account)};
    return LWP_OK;
}

/* `speaks`: for the other ranks, too. */
static int recording_write(const struct recording *recording, bool speaks, struct lwp_error *err)
{
    const struct lwp_place *place = recording->place;
    if (lwp_run_json_write(&recording->run, place->absolute, "run.json", err) ||
        (speaks && lwp_run_json_write(&recording->run, place->shown, "run.json", err)))
        return err->status;
    return LWP_OK;
}

static int recording_prepare(struct recording *recording, const struct lwp_target *target, struct lwp_error *err)
{
    const char *machine = lwp_options_text(recording->settings->options, "machine");
    if (machine && lwp_machine_file(&recording->run.machine, machine, err))
        return err->status;
    if (!machine && recording->engine->exact)
        lwp_costs_measure(&recording->run.machine);
    clock_gettime(CLOCK_REALTIME, &recording->run.started);
    return recording->engine->exact ? recording_under_valgrind(recording, err) : recording_with_library(recording, target, err);
}

static int recording_serve(struct recording *recording, struct lwp_error *err)
{
    const struct lwp_options *options = recording->settings->options;
    if (!lwp_options_given(options, "serve"))
        return LWP_OK;
    if (lwp_serving_start(&recording->serving, recording->place->shown, (int)lwp_options_number(options, "serve"), err))
        return err->status;
    lwp_log(LWP_LOG_NOTE, "the run is shown at %s", recording->serving.url);
    return LWP_OK;
}

static void recording_unmark(struct recording *recording)
{
    if (recording->busy >= 0)
        close(recording->busy);
    recording->busy = -1;
}

/* The exit status. */
static int recording_end(struct recording *recording, const struct lwp_ended *ended, const char *program)
{
    const bool exact = recording->engine->exact;
    const struct lwp_rank *rank = recording->place->rank;
    bool failed = false;
    unsigned processes = 0;
    struct lwp_error late; /* the program's status stands, whatever becomes of the result */
    if (exact)
        recording->run.notes = lwp_exact_messages(recording->place->absolute, ended->pid, &failed);
    lwp_ending_note(&recording->run, ended, program, recording->phases);
    if (!exact)
        lwp_ending_account(&recording->run, &recording->account, recording->launch.environment, &processes);
    lwp_phases_close(recording->phases);
    recording->phases = NULL;
    if (recording_write(recording, rank && rank->rank == 0, &late))
        lwp_log(LWP_LOG_WARNING, "%s; the result lacks its end time and exit status", late.text);
    lwp_ending_seal(recording->settings, recording->place, &recording->run, ended, recording->keeper, processes);
    recording->keeper = NULL;
    recording_unmark(recording);
    if (recording->serving.pid && !ended->ended_by)
        lwp_serving_wait(&recording->serving);
    return failed ? LWP_EXIT_FAILED : lwp_launch_exit_status(ended->wait_status);
}

static int recording_not_executed(const struct recording *recording, int exec_errno, struct lwp_error *err)
{
    const bool missing = exec_errno == ENOENT;
    lwp_error_set(err, LWP_ERR_SYSTEM, "cannot execute '%s': %s%s", recording->command[0], strerror(exec_errno),
                  missing ? " (its interpreter or loader is missing)" : "");
    return missing ? LWP_EXIT_NOT_FOUND : LWP_EXIT_NOT_EXECUTABLE;
}

static int recording_run(struct recording *recording, const char *program, struct lwp_error *err)
{
    struct lwp_ended ended;
    pid_t patience = recording->engine->exact ? lwp_patience_start() : 0;
    recording_charge(&recording->account);
    int failed = lwp_launch_run(&recording->launch, &ended, err);
    lwp_patience_end(patience);
    if (failed)
        return LWP_EXIT_FAILED;
    if (ended.exec_errno)
        return recording_not_executed(recording, ended.exec_errno, err);
    err->text[0] = '\0';
    return recording_end(recording, &ended, program);
}

static void recording_close(struct recording *recording)
{
    lwp_phases_close(recording->phases);
    lwp_keeper_end(recording->keeper);
    lwp_account_close(&recording->account);
    lwp_serving_end(&recording->serving);
    recording_unmark(recording);
    json_decref(recording->run.options);
    json_decref(recording->run.notes);
    json_decref(recording->run.source_roots);
    lwp_preload_environment_free((char **)recording->launch.environment);
    if (recording->engine->exact)
        lwp_preload_environment_free((char **)recording->launch.argv);
}

int lwp_record(const struct lwp_settings *settings, const struct lwp_place *place, const struct lwp_target *target,
               const struct lwp_engine *engine, const char *helper, char **command, struct lwp_error *err)
{
    struct recording recording = {.settings = settings, .place = place, .engine = engine, .helper = helper, .command = command};
    const bool speaks = place->rank && (place->rank->rank == 0 || place->rank->first);
    int exit_status = LWP_EXIT_FAILED;
    recording_begin(&recording);
    if (!recording_prepare(&recording, target, err) && !recording_write(&recording, speaks, err) && !recording_serve(&recording, err))
        exit_status = recording_run(&recording, target->path, err);
    recording_close(&recording);
    return exit_status;
}
