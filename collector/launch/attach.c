#include "collector/launch/attach.h"

#include "base/arena.h"
#include "base/log.h"
#include "base/path.h"
#include "collector/launch/closing.h"
#include "collector/launch/recording.h"
#include "collector/launch/result.h"
#include "collector/launch/run_json.h"
#include "collector/outside/outside.h"
#include "collector/outside/process/tasks.h"
#include "collector/phases/phases.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMMAND_BYTES = 16384 };

/* What the process was started with, as /proc knows it. */
struct attached {
    pid_t pid;
    char bytes[COMMAND_BYTES + 1];
    char **command;
    char cwd[PATH_MAX], program[PATH_MAX];
};

static void attached_link(const struct attached *attached, const char *name, char *path, size_t room)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/%d/%s", (int)attached->pid, name);
    ssize_t length = readlink(link, path, room - 1);
    path[length > 0 ? length : 0] = '\0';
}

static void attached_read(struct attached *attached, pid_t pid)
{
    char path[32];
    size_t count = 0;
    attached->pid = pid;
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, attached->bytes, COMMAND_BYTES) : 0;
    if (fd >= 0)
        close(fd);
    attached->bytes[got > 0 ? got : 0] = '\0';
    attached->command = lwp_zeroed(COMMAND_BYTES / 2 + 2, sizeof *attached->command);
    for (char *at = attached->bytes; at < attached->bytes + got && count <= COMMAND_BYTES / 2; at += strlen(at) + 1)
        attached->command[count++] = at;
    attached_link(attached, "cwd", attached->cwd, sizeof attached->cwd);
    attached_link(attached, "exe", attached->program, sizeof attached->program);
    if (!count)
        attached->command[0] = attached->program;
}

/* The program that lwp holds, if it is one that lwp starts. */
struct started {
    const char *program, *closed; /* as it was called, and why lwp's library is not loaded into it */
    struct lwp_waiting waiting;
    int exec_errno;
    struct lwp_ended ended;
};

static void started_begin(void *of)
{
    struct started *started = of;
    started->exec_errno = lwp_launch_release(&started->waiting);
}

/* Should it be held still, it ends. */
static void started_drop(struct started *started)
{
    if (started->waiting.gate >= 0) {
        close(started->waiting.gate);
        close(started->waiting.report);
    }
    lwp_launch_wait(&started->ended);
}

static void started_end(struct started *started, struct lwp_run *run, struct lwp_outside_end *end)
{
    if (!started) {
        run->exit_unknown = true;
        return;
    }
    struct lwp_ended *ended = &started->ended;
    lwp_launch_wait(ended); /* --duration may be over before */
    end->wall_s += ended->wall_s;
    lwp_run_exited(run, ended->wait_status);
}

static void attach_write(struct lwp_run *run, const char *dir, const struct lwp_outside_end *end)
{
    struct lwp_error late;
    run->ended = true;
    clock_gettime(CLOCK_REALTIME, &run->end);
    run->wall_s = end->wall_s;
    run->cpu_s = end->cpu_s;
    if (lwp_run_json_write(run, dir, "run.json", &late))
        lwp_log(LWP_LOG_WARNING, "%s; the result lacks its end time", late.text);
}

static void attach_close(const struct lwp_settings *settings, const char *dir, const struct lwp_outside_end *end, int wait_status)
{
    struct lwp_result result;
    struct lwp_ended ended = {.wall_s = end->wall_s, .wait_status = wait_status};
    ended.usage.ru_utime.tv_sec = (time_t)end->cpu_s;
    ended.usage.ru_utime.tv_usec = (suseconds_t)((end->cpu_s - (double)(time_t)end->cpu_s) * 1e6);
    lwp_log_progress("sealing %s", dir);
    lwp_result_finish(dir, &result);
    lwp_log_progress(NULL);
    if (end->lost)
        lwp_log(LWP_LOG_WARNING, "the kernel lost %llu records, since lwp did not read them in time; lower -F",
                (unsigned long long)end->lost);
    if (end->throttled)
        lwp_log(LWP_LOG_WARNING, "the kernel throttled sampling %llu times; lower -F", (unsigned long long)end->throttled);
    lwp_closing_say(&(struct lwp_closing){.dir = dir,
                                          .ended = &ended,
                                          .attached = true,
                                          .paused = lwp_options_flag(settings->options, "paused"),
                                          .only = lwp_options_text(settings->options, "only"),
                                          .quiet = lwp_options_flag(settings->options, "quiet"),
                                          .analyze = !lwp_options_flag(settings->options, "no-analyze"),
                                          .measure = !lwp_options_flag(settings->options, "no-measure"),
                                          .counts = true},
                    &result);
}

static void attach_say(const struct lwp_settings *settings, const struct started *started, const char *dir)
{
    int pid = (int)lwp_options_number(settings->options, "pid");
    const bool paused = lwp_options_flag(settings->options, "paused");
    if (started) {
        lwp_log(LWP_LOG_NOTE, "'%s' %s, so lwp's library cannot be loaded into it: sampled from outside", started->program,
                started->closed);
        if (paused)
            lwp_log(LWP_LOG_NOTE, "nothing is recorded until 'lwp start %s'", dir);
    } else if (paused)
        lwp_log(LWP_LOG_NOTE, "attached to process %d; nothing is recorded until 'lwp start %s'; Ctrl-C detaches", pid, dir);
    else
        lwp_log(LWP_LOG_NOTE, "sampling process %d%s", pid, settings->duration > 0 ? "" : "; Ctrl-C ends the sampling, not the process");
}

/* What is sampled, by whose wish. */
struct attachment {
    const struct lwp_settings *settings;
    struct lwp_outside *outside;
    const struct attached *attached;
    struct started *started; /* NULL: it runs already */
};

static struct lwp_run attach_run(const struct attachment *of, char *host, size_t host_bytes)
{
    struct lwp_run run = {.command = of->attached->command,
                          .huge_pages_kib = -1,
                          .looked_at_kib = -1,
                          .cwd = of->attached->cwd,
                          .host = host,
                          .engine = "timer",
                          .event = "task-clock",
                          .weight_unit = "ns",
                          .options = lwp_collect_options_json(of->settings->options)};
    gethostname(host, host_bytes - 1);
    lwp_machine_read(&run.machine, "");
    clock_gettime(CLOCK_REALTIME, &run.started);
    return run;
}

/* Frees of->outside: afterwards the process runs as before. */
static int attach_sample(const struct attachment *of, const char *dir, struct lwp_run *run, struct lwp_outside_end *end,
                         struct lwp_error *err)
{
    const bool paused = lwp_options_flag(of->settings->options, "paused");
    struct lwp_phases *phases = lwp_phases_open(dir, !paused, err);
    int status = !phases && paused ? err->status : LWP_OK;
    if (!status && !lwp_options_flag(of->settings->options, "quiet"))
        attach_say(of->settings, of->started, dir);
    if (!status)
        status = lwp_outside_run(of->outside, dir, phases, end, err);
    lwp_outside_free(of->outside);
    char *note = phases ? lwp_phases_note(phases) : NULL;
    lwp_phases_close(phases);
    if (note)
        run->notes = json_pack("[s]", note);
    free(note);
    return status;
}

static void attach_finish(const struct attachment *of, const char *dir, struct lwp_run *run, struct lwp_outside_end *end)
{
    if (end->process_ended && !of->started && !lwp_options_flag(of->settings->options, "quiet"))
        lwp_log(LWP_LOG_NOTE, "process %d has ended", (int)of->attached->pid);
    started_end(of->started, run, end);
    run->source_roots = lwp_source_roots_find(of->attached->program, of->attached->cwd);
    attach_write(run, dir, end);
    attach_close(of->settings, dir, end, of->started ? of->started->ended.wait_status : 0);
}

static int attach_into(const struct attachment *of, const char *dir, struct lwp_error *err)
{
    char host[256] = "";
    struct lwp_outside_end end;
    struct lwp_run run = attach_run(of, host, sizeof host);
    int status = lwp_run_json_write(&run, dir, "run.json", err);
    if (status)
        lwp_outside_free(of->outside);
    else
        status = attach_sample(of, dir, &run, &end, err);
    if (!status && of->started && of->started->exec_errno)
        status = lwp_error_set(err, LWP_ERR_SYSTEM, "cannot execute '%s': %s", of->started->program, strerror(of->started->exec_errno));
    if (!status)
        attach_finish(of, dir, &run, &end);
    json_decref(run.options);
    json_decref(run.notes);
    json_decref(run.source_roots);
    return status;
}

static struct lwp_outside_wish attach_wish(const struct lwp_settings *settings)
{
    const struct lwp_options *options = settings->options;
    return (struct lwp_outside_wish){.pid = (pid_t)lwp_options_number(options, "pid"),
                                     .children = lwp_options_flag(options, "children"),
                                     .only = lwp_options_text(options, "only"),
                                     .frequency = settings->frequency,
                                     .max_overhead = settings->max_overhead,
                                     .region = settings->region,
                                     .delay_s = settings->delay,
                                     .duration_s = settings->duration};
}

/* Frees of->outside. */
static int attach_result(const struct attachment *of, struct lwp_error *err)
{
    const char *wanted = lwp_options_text(of->settings->options, "output"), *program = of->attached->program;
    char pid[16];
    snprintf(pid, sizeof pid, "%d", (int)of->attached->pid);
    char *dir = wanted ? lwp_format("%s", wanted) : lwp_result_default(program[0] ? program : of->attached->command[0], pid);
    int busy, status = lwp_result_create(dir, lwp_options_flag(of->settings->options, "force"), &busy, err);
    if (status) {
        lwp_outside_free(of->outside);
    } else {
        status = attach_into(of, dir, err);
        if (busy >= 0)
            close(busy);
        if (status)
            lwp_result_discard(dir);
    }
    free(dir);
    return status;
}

int lwp_attach(const struct lwp_settings *settings, struct lwp_error *err)
{
    const struct lwp_outside_wish wish = attach_wish(settings);
    struct lwp_outside *outside = lwp_outside_new(&wish, err);
    if (!outside)
        return err->status;
    struct attached *attached = lwp_zeroed(1, sizeof *attached);
    pid_t living = lwp_tasks_living(wish.pid);
    attached_read(attached, living ? living : wish.pid);
    attached->pid = wish.pid;
    const int status = attach_result(&(struct attachment){settings, outside, attached, NULL}, err);
    free(attached->command);
    free(attached);
    return status;
}

int lwp_attach_start(const struct lwp_settings *settings, const struct lwp_target *target, char **command, struct lwp_error *err)
{
    struct started started = {.program = command[0], .closed = target->closed};
    const struct lwp_launch launch = {.path = target->path, .by_shell = target->by_shell, .argv = command, .environment = environ};
    struct lwp_outside_wish wish = attach_wish(settings);
    if (lwp_launch_hold(&launch, &started.waiting, err))
        return LWP_EXIT_FAILED;
    wish.pid = started.ended.pid = started.waiting.pid;
    wish.children = settings->follow;
    wish.begin = started_begin;
    wish.of = &started;
    struct lwp_outside *outside = lwp_outside_new(&wish, err);
    struct attached *attached = lwp_zeroed(1, sizeof *attached);
    *attached = (struct attached){.pid = wish.pid, .command = command};
    snprintf(attached->program, sizeof attached->program, "%s", target->path);
    if (!getcwd(attached->cwd, sizeof attached->cwd))
        attached->cwd[0] = '\0';
    if (outside)
        attach_result(&(struct attachment){settings, outside, attached, &started}, err);
    free(attached);
    if (!err->text[0])
        return lwp_launch_exit_status(started.ended.wait_status);
    started_drop(&started);
    return started.exec_errno ? LWP_EXIT_NOT_EXECUTABLE : LWP_EXIT_FAILED;
}
