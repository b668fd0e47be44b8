/* The summary after a run: losses first, then the findings and the next command. */
#include "collector/launch/closing.h"

#include "base/clock.h"
#include "base/log.h"
#include "collector/launch/launch.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* Seconds of CPU time of a process of which no sample may have been taken: it is set up after 20 ms, and a busy machine stretches each period. */
static const double seldom_sampled = 0.05;

static void closing_no_samples(const struct lwp_closing *closing, const struct lwp_result *result)
{
    const struct lwp_ended *ended = closing->ended;
    double cpu_s = lwp_cpu_user_s(&ended->usage);
    if (closing->paused)
        lwp_log(LWP_LOG_WARNING, "no samples: the run began paused; what the program does from 'lwp start %s' to 'lwp stop %s' is recorded",
                closing->dir, closing->dir);
    else if (closing->only)
        lwp_log(LWP_LOG_WARNING,
                "no samples: no program called '%s' ran, or only for moments; --only takes the names of files, without folders",
                closing->only);
    else if (closing->attached)
        lwp_log(LWP_LOG_WARNING, "no samples: the process used only %.2f s of CPU time while it was sampled; give it work, or sample longer", cpu_s);
    else if (closing->simulated)
        lwp_log(LWP_LOG_WARNING, "no samples: nothing of the program ran in a window; trace all of it with --window all");
    else if (result->unwritten)
        lwp_log(LWP_LOG_WARNING, "no samples: none could be written");
    else if (result->processes == 0 && !result->ran)
        lwp_log(LWP_LOG_WARNING, "no samples: lwp's library was not loaded into the program; it may clear LD_PRELOAD "
                                 "(env -i, sudo, snap, flatpak), or start a static or setuid program");
    else if (cpu_s < seldom_sampled * (1 + result->ran))
        lwp_log(LWP_LOG_WARNING,
                "no samples: the program used only %.0f ms of CPU time; give it more work, or sample "
                "faster with -F 10000 --max-overhead 50",
                cpu_s * 1e3);
    else if (result->processes == 0)
        lwp_log(LWP_LOG_WARNING, "no samples: %u process%s ran, but none of them for the 20 ms of CPU time from which on it is recorded",
                result->ran, result->ran == 1 ? "" : "es");
    else if (result->note[0])
        lwp_log(LWP_LOG_WARNING, "no samples, although the program used %.2f s of CPU time; one of its processes notes: %s", cpu_s, result->note);
    else if (closing->timed)
        lwp_log(LWP_LOG_WARNING,
                "no samples: the program may have been idle while --delay and --duration let lwp sample");
    else
        lwp_log(LWP_LOG_WARNING,
                "no samples, although the program used %.2f s of CPU time; each of its processes and threads may have ended too soon, "
                "or it may block all signals; "
                "'lwp doctor' says what works on this machine",
                cpu_s);
}

static void closing_losses(const char *dir, const struct lwp_result *result)
{
    if (result->lost_records)
        lwp_log(LWP_LOG_WARNING,
                "%llu records were lost: the disk of %s was full, or a file limit reached; "
                "the rest is used",
                (unsigned long long)result->lost_records, dir);
    if (result->running)
        lwp_log(LWP_LOG_NOTE,
                "%u %s still running (pid %u%s) and go%s on writing; for all of it, run 'lwp analyze %s' "
                "when ended",
                result->running, result->running == 1 ? "process is" : "processes are", result->running_pid,
                result->running == 1 ? "" : " and others", result->running == 1 ? "es" : "", dir);
    if (result->problem[0])
        lwp_log(LWP_LOG_WARNING, "%s", result->problem);
}

static void closing_counts(const struct lwp_result *result, bool simulated)
{
    char overhead[64] = "overhead unknown";
    if (simulated)
        snprintf(overhead, sizeof overhead, "traced under Valgrind");
    else if (result->overhead_percent >= 200)
        snprintf(overhead, sizeof overhead, "overhead %.1f times the CPU time", result->overhead_percent / 100);
    else if (result->overhead_percent >= 0)
        snprintf(overhead, sizeof overhead, "overhead %.1f %% of CPU time", result->overhead_percent);
    else if (result->cpu_ns)
        snprintf(overhead, sizeof overhead, "overhead %.1f %% of CPU time",
                 100.0 * (double)result->own_ns / (double)result->cpu_ns);
    char ran[40] = "";
    if (result->ran > result->processes)
        snprintf(ran, sizeof ran, " of %u", result->ran);
    lwp_log(LWP_LOG_NOTE, "%llu samples, %llu with an address, %llu lost; %u%s %s, %u %s; %s", (unsigned long long)result->samples,
            (unsigned long long)result->samples_with_address, (unsigned long long)result->samples_lost, result->processes, ran,
            result->processes == 1 && !ran[0] ? "process" : "processes", result->threads, result->threads == 1 ? "thread" : "threads",
            overhead);
}

static void closing_findings(const char *dir, bool measure)
{
    char *shown = (char *)dir, *unmeasured = measure ? NULL : (char *)"--no-measure";
    if (lwp_launch_self((char *[]){(char *)"lwp", (char *)"analyze", (char *)"--quiet", shown, unmeasured, NULL})) {
        lwp_log(LWP_LOG_WARNING, "the analysis did not succeed; the samples are kept: lwp analyze %s", dir);
        return;
    }
    lwp_launch_self((char *[]){(char *)"lwp", (char *)"report", (char *)"--brief", shown, NULL});
    lwp_log(LWP_LOG_NOTE, "next: lwp report %s   (or lwp serve %s, lwp export %s)", dir, dir, dir);
}

void lwp_closing_say(const struct lwp_closing *closing, const struct lwp_result *result)
{
    int status = closing->ended->wait_status;
    if (WIFSIGNALED(status) && !closing->quiet)
        lwp_log(LWP_LOG_NOTE, "the program was ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    closing_losses(closing->dir, result);
    bool empty = result->samples == 0 && !closing->counted;
    if (empty)
        closing_no_samples(closing, result);
    else if (!closing->quiet && closing->counts && result->samples)
        closing_counts(result, closing->simulated);
    if (!empty && !closing->quiet && closing->analyze)
        closing_findings(closing->dir, closing->measure);
    else if (!closing->quiet)
        lwp_log(LWP_LOG_NOTE, "the result is in %s", closing->dir);
}
