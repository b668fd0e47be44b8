#include "collector/launch/ending.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "collector/launch/closing.h"
#include "collector/launch/load_cost.h"
#include "collector/launch/rank.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void ending_say(const struct lwp_settings *settings, const struct lwp_place *place, const struct lwp_ended *ended,
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

/* A rank has ended: moves its part into the common result. Rank 0 waits for the others and prints the summary. */
static void ending_close_rank(const struct lwp_settings *settings, const struct lwp_place *place, struct lwp_run *run,
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
    ending_say(settings, place, ended, result);
}

/* In a child: files are mapped, and where their file system fails (a network's, a FUSE server that ended) that is deadly. The program's
 * status must come through. */
static void ending_finish(const char *dir, struct lwp_result *result)
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

void lwp_ending_seal(const struct lwp_settings *settings, const struct lwp_place *place, struct lwp_run *run, const struct lwp_ended *ended,
                     struct lwp_keeper *keeper, unsigned processes)
{
    struct lwp_result result;
    lwp_log_progress("sealing %s", place->own);
    int unwritten = lwp_keeper_end(keeper);
    lwp_result_keep_jit_files(place->own, (double)run->started.tv_sec);
    ending_finish(place->own, &result);
    result.ran = processes;
    result.unwritten = unwritten;
    result.overhead_percent = run->overhead_known ? run->overhead_percent : -1;
    lwp_log_progress(NULL);
    if (unwritten)
        lwp_log(LWP_LOG_WARNING, "records were lost: not all could be written to %s (%s); the rest is used", place->own,
                strerror(unwritten));
    if (place->rank)
        ending_close_rank(settings, place, run, ended, &result);
    else
        ending_say(settings, place, ended, &result);
}

/* The first milliseconds of processes are never sampled, nor what cannot load lwp's library, nor each of many brief threads. NULL: hardly
 * any time was left out. */
static char *ending_unsampled(const struct lwp_account_sums *sums, double cpu_ns)
{
    double part = cpu_ns > 0 ? sums->early_ns / cpu_ns : 0;
    if (!sums->processes || (part < 0.05 && sums->processes == sums->set_up))
        return NULL;
    return lwp_format(
        "%u process%s ran, %u of them recorded. Not sampled was %.0f %% of the CPU time: that of processes before they "
        "had run for 20 ms, of those without lwp's library, and of threads that were not sampled. Sampled processes and threads "
        "stand for others that ran as long.",
        sums->processes, sums->processes == 1 ? "" : "es", sums->set_up, 100 * part);
}

/* Each pair of processes costs some six times what it measures. */
static unsigned ending_load_pairs(unsigned loaded)
{
    enum { LEAST = 5, FOR_EACH = 20, MOST = 9 };
    unsigned pairs = (loaded + FOR_EACH - LEAST) / FOR_EACH;
    return pairs < MOST ? pairs : MOST;
}

/* By this process and its children, but the program. */
static double ending_own_ns(double program_ns)
{
    struct rusage own = {0}, children = {0};
    getrusage(RUSAGE_SELF, &own);
    getrusage(RUSAGE_CHILDREN, &children);
    double more_ns = lwp_cpu_s(&children) * 1e9 - program_ns;
    return lwp_cpu_s(&own) * 1e9 + (more_ns > 0 ? more_ns : 0);
}

void lwp_ending_account(struct lwp_run *run, const struct lwp_account *account, char *const *environment, unsigned *ran)
{
    double cpu_ns = run->cpu_s * 1e9;
    struct lwp_account_sums sums = lwp_account_sum(account, cpu_ns);
    char *note = ending_unsampled(&sums, cpu_ns);
    *ran = sums.processes;
    sums.spent_ns += sums.loaded * lwp_load_cost(environment, ending_load_pairs(sums.loaded));
    if (sums.processes && cpu_ns > sums.spent_ns) {
        run->overhead_known = true;
        run->overhead_percent = round(1e4 * (sums.spent_ns + ending_own_ns(cpu_ns)) / (cpu_ns - sums.spent_ns)) / 100;
    }
    if (note && !run->notes)
        run->notes = json_array();
    if (note)
        json_array_append_new(run->notes, json_string(note));
    free(note);
}

void lwp_ending_note(struct lwp_run *run, const struct lwp_ended *ended, const char *program, const struct lwp_phases *phases)
{
    char *note = phases ? lwp_phases_note(phases) : NULL;
    run->ended = true;
    clock_gettime(CLOCK_REALTIME, &run->end);
    run->wall_s = ended->wall_s;
    run->huge_pages_kib = ended->huge_pages_kib;
    run->looked_at_kib = ended->looked_at_kib;
    run->cpu_s = lwp_cpu_s(&ended->usage);
    lwp_run_exited(run, ended->wait_status);
    run->source_roots = lwp_source_roots_find(program, run->cwd);
    if (note && !run->notes)
        run->notes = json_pack("[s]", note);
    free(note);
}
