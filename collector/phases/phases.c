#include "collector/phases/phases.h"

#include "base/arena.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_MS = 100, WAITING_MOST = 16 };

struct lwp_phases {
    int folder, socket, stop[2];
    pthread_mutex_t lock; /* of what follows */
    bool on, ever_off;
    uint64_t count, recorded_ns, since_ns;

    pthread_t thread;
    bool has_thread;
    void (*change)(void *of, bool on);
    void *of;
};

struct sockaddr_un lwp_phases_address(int folder)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/" LWP_PHASES_SOCKET, folder);
    return address;
}

struct lwp_phases *lwp_phases_open(const char *dir, bool on, struct lwp_error *err)
{
    struct lwp_phases *phases = lwp_zeroed(1, sizeof *phases);
    *phases = (struct lwp_phases){.stop = {-1, -1}, .on = on, .ever_off = !on, .count = on, .since_ns = lwp_clock(CLOCK_MONOTONIC)};
    pthread_mutex_init(&phases->lock, NULL);
    phases->folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    phases->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_un address = lwp_phases_address(phases->folder);
    bool bound = phases->folder >= 0 && phases->socket >= 0 && fchmod(phases->socket, 0600) == 0 &&
                 bind(phases->socket, (struct sockaddr *)&address, sizeof address) == 0;
    if (bound && listen(phases->socket, WAITING_MOST) == 0)
        return phases;
    lwp_error_errno(err, "collect: there can be no socket in %s, so lwp start and lwp stop do not reach this run", dir);
    lwp_phases_close(phases);
    return NULL;
}

int lwp_phases_fd(const struct lwp_phases *phases)
{
    return phases->socket;
}

static struct lwp_phases_answer phases_answer(const struct lwp_phases *phases)
{
    return (struct lwp_phases_answer){.magic = LWP_PHASES_MAGIC,
                                      .on = phases->on,
                                      .count = phases->count,
                                      .recorded_ns =
                                          phases->recorded_ns + (phases->on ? lwp_clock(CLOCK_MONOTONIC) - phases->since_ns : 0)};
}

struct lwp_phases_answer lwp_phases_now(const struct lwp_phases *phases)
{
    pthread_mutex_t *lock = (pthread_mutex_t *)&phases->lock;
    pthread_mutex_lock(lock);
    struct lwp_phases_answer answer = phases_answer(phases);
    pthread_mutex_unlock(lock);
    return answer;
}

char *lwp_phases_note(const struct lwp_phases *phases)
{
    struct lwp_phases_answer now = lwp_phases_now(phases);
    if (!phases->ever_off)
        return NULL;
    if (!now.count)
        return lwp_format("Nothing was recorded: the run began paused, and 'lwp start' was not called.");
    return lwp_format("Recorded in %llu %s, %.1f s in all, from 'lwp start' to 'lwp stop'.", (unsigned long long)now.count,
                      now.count == 1 ? "phase" : "phases", (double)now.recorded_ns * 1e-9);
}

/* True: it is another one now. */
static bool phases_switch(struct lwp_phases *phases, bool on)
{
    uint64_t now = lwp_clock(CLOCK_MONOTONIC);
    if (phases->on == on)
        return false;
    if (!on)
        phases->recorded_ns += now - phases->since_ns;
    phases->count += on;
    phases->ever_off = true;
    phases->on = on;
    phases->since_ns = now;
    return true;
}

static bool phases_may_ask(int peer)
{
    struct ucred who;
    socklen_t size = sizeof who;
    return getsockopt(peer, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && (who.uid == geteuid() || who.uid == 0);
}

static void phases_answer_one(struct lwp_phases *phases, int peer, void (*change)(void *of, bool on), void *of)
{
    char request = 0;
    struct pollfd polled = {.fd = peer, .events = POLLIN};
    if (!phases_may_ask(peer) || poll(&polled, 1, WAIT_MS) <= 0 || recv(peer, &request, 1, MSG_DONTWAIT) != 1)
        return;
    pthread_mutex_lock(&phases->lock);
    bool changed = (request == LWP_PHASES_START || request == LWP_PHASES_STOP) && phases_switch(phases, request == LWP_PHASES_START);
    pthread_mutex_unlock(&phases->lock);
    if (changed)
        change(of, request == LWP_PHASES_START);
    struct lwp_phases_answer answer = lwp_phases_now(phases);
    if (send(peer, &answer, sizeof answer, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        return; /* it did not wait */
}

void lwp_phases_serve(struct lwp_phases *phases, void (*change)(void *of, bool on), void *of)
{
    for (int peer; (peer = accept4(phases->socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0;) {
        phases_answer_one(phases, peer, change, of);
        close(peer);
    }
}

static void *phases_run(void *from)
{
    struct lwp_phases *phases = from;
    struct pollfd polled[2] = {{.fd = phases->socket, .events = POLLIN}, {.fd = phases->stop[0], .events = POLLIN}};
    while (!polled[1].revents)
        if (poll(polled, 2, -1) > 0 && polled[0].revents & POLLIN)
            lwp_phases_serve(phases, phases->change, phases->of);
    return NULL;
}

int lwp_phases_serve_always(struct lwp_phases *phases, void (*change)(void *of, bool on), void *of, struct lwp_error *err)
{
    sigset_t all, before;
    phases->change = change;
    phases->of = of;
    if (pipe2(phases->stop, O_CLOEXEC))
        return lwp_error_errno(err, "cannot make a pipe");
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    errno = pthread_create(&phases->thread, NULL, phases_run, phases);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    phases->has_thread = !errno;
    return phases->has_thread ? LWP_OK : lwp_error_errno(err, "cannot start a thread");
}

void lwp_phases_close(struct lwp_phases *phases)
{
    if (!phases)
        return;
    if (phases->stop[1] >= 0)
        close(phases->stop[1]);
    if (phases->has_thread)
        pthread_join(phases->thread, NULL);
    if (phases->stop[0] >= 0)
        close(phases->stop[0]);
    if (phases->socket >= 0)
        close(phases->socket);
    if (phases->folder >= 0) {
        unlinkat(phases->folder, LWP_PHASES_SOCKET, 0);
        close(phases->folder);
    }
    pthread_mutex_destroy(&phases->lock);
    free(phases);
}
