/* Preloaded beside lwp into a program that does the same again and again: switches lwp off and on within one process, so that
 * what sampling costs shows without the noise between runs, which is larger.
 *
 * A program tells where its pieces of work begin and end by what it calls there anyway, named by $WITHIN_AT: the examples read
 * their thread's CPU time around each loop ("clock"), sqlite3 with `.timer on` its usage around each statement ("usage"), xz
 * reads its input piece by piece ("read").
 * Before a piece the thread's perf events are all disabled, or enabled again: whichever pieces of its kind had less often, or
 * by chance, so that the k-th with and the k-th without are near each other. The pieces are of one kind that begin at one place of the
 * program, or every $WITHIN_KINDS-th. At the end the times go to the file $WITHIN, a line each: thread, kind, 0 or 1 for without
 * or with, CPU seconds.
 *
 * lwp reads the same clock: it is told the time without what ran while it was off, else it would have twice the budget. Where
 * this library comes before lwp's, allocations pass lwp by, too, while it is off. What it does when it starts is not seen here. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { FD_MIN = 200 /* lwp's events are from there on */, FDS = 256, KINDS = 64, TIMES = 1 << 14, THREADS = 64, READS_A_PIECE = 32 };
static const int64_t least_ns = 20000000; /* between switches */

struct state {
    bool wanted[FDS], off, inside; /* events that lwp has enabled; whether they all are off; in a piece */
    int64_t off_since, off_ns, switched, began;
    const void *place[KINDS];
    unsigned count[KINDS][2], kind, pieces, reads, times;
    struct {
        uint8_t kind, on;
        uint32_t ns;
    } time[TIMES];
};

static struct state states[THREADS];
static unsigned threads;
static __thread __attribute__((tls_model("initial-exec"))) struct state *mine; /* NULL: lwp has no events in this thread */

static struct state *state(void)
{
    if (!mine) {
        unsigned number = __atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED);
        mine = &states[number < THREADS ? number : THREADS - 1];
    }
    return mine;
}

static int64_t cpu_ns(void)
{
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool is_event(int fd)
{
    uint64_t id;
    return syscall(SYS_ioctl, fd, PERF_EVENT_IOC_ID, &id) == 0;
}

/* The clock that lwp reads must not go back when a signal comes in between. */
static void switch_events(struct state *thread, bool on)
{
    if (on != thread->off)
        return;
    if (on) {
        thread->off_ns += cpu_ns() - thread->off_since;
        thread->off = false;
    }
    for (int i = 0; i < FDS; i++)
        if (thread->wanted[i] && is_event(FD_MIN + i))
            syscall(SYS_ioctl, FD_MIN + i, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
    thread->switched = cpu_ns();
    if (!on) {
        thread->off_since = thread->switched;
        thread->off = true;
    }
}

static unsigned kind_of(struct state *thread, const void *place)
{
    const char *kinds = getenv("WITHIN_KINDS");
    unsigned count = kinds ? (unsigned)atoi(kinds) : 0, kind = 0;
    if (count)
        return thread->pieces++ % (count < KINDS ? count : KINDS);
    while (kind < KINDS - 1 && thread->place[kind] && thread->place[kind] != place)
        kind++;
    thread->place[kind] = place;
    return kind;
}

static void piece_begins(struct state *thread, const void *place)
{
    unsigned kind = thread->kind = kind_of(thread, place);
    unsigned off = thread->count[kind][0], on = thread->count[kind][1];
    if (cpu_ns() - thread->switched >= least_ns)
        switch_events(thread, on != off ? on < off : rand() & 1);
    thread->inside = true;
    thread->began = cpu_ns();
}

static void piece_ends(struct state *thread)
{
    int64_t took = cpu_ns() - thread->began;
    bool on = !thread->off;
    thread->inside = false;
    thread->count[thread->kind][on]++;
    if (thread->times < TIMES) {
        thread->time[thread->times].kind = (uint8_t)thread->kind;
        thread->time[thread->times].on = on;
        thread->time[thread->times++].ns = (uint32_t)took;
    }
}

static void begins_or_ends(struct state *thread, const void *place)
{
    if (thread->inside)
        piece_ends(thread);
    else
        piece_begins(thread, place);
}

static bool marks(const char *call)
{
    const char *wanted = getenv("WITHIN_AT");
    return mine && wanted && strcmp(wanted, call) == 0;
}

static bool of_program(const void *caller)
{
    struct dl_find_object found;
    return _dl_find_object((void *)caller, &found) == 0 && found.dlfo_link_map->l_name[0] == '\0';
}

EXPORT int clock_gettime(clockid_t clock, struct timespec *now)
{
    const void *caller = __builtin_return_address(0);
    bool program = clock == CLOCK_THREAD_CPUTIME_ID && marks("clock") && of_program(caller);
    if (program)
        begins_or_ends(mine, caller);
    long status = syscall(SYS_clock_gettime, clock, now);
    if (clock == CLOCK_THREAD_CPUTIME_ID && !program && mine) {
        int64_t ns = (mine->off ? mine->off_since : (int64_t)now->tv_sec * 1000000000 + now->tv_nsec) - mine->off_ns;
        *now = (struct timespec){ns / 1000000000, ns % 1000000000};
    }
    return (int)status;
}

EXPORT int getrusage(__rusage_who_t who, struct rusage *usage)
{
    if (marks("usage"))
        begins_or_ends(mine, NULL);
    return (int)syscall(SYS_getrusage, who, usage);
}

EXPORT ssize_t read(int fd, void *buffer, size_t bytes)
{
    bool between = marks("read") && mine->reads++ % READS_A_PIECE == 0; /* one alone may only fill a buffer */
    if (between && mine->inside)
        piece_ends(mine);
    ssize_t got = syscall(SYS_read, fd, buffer, bytes);
    if (between)
        piece_begins(mine, NULL);
    return got;
}

/* Called as the program calls them: lwp looks at who did. `otherwise`: the C library's, also as long as the next one is not known. */
#define ALLOCATES(result, name, otherwise, parameters, arguments)  \
    extern result otherwise parameters;                            \
    EXPORT result name parameters                                  \
    {                                                              \
        static result(*next) parameters;                           \
        if (!next) {                                               \
            next = otherwise;                                      \
            next = dlsym(RTLD_NEXT, #name);                        \
        }                                                          \
        return (mine && mine->off ? otherwise : next) arguments;   \
    }

ALLOCATES(void *, malloc, __libc_malloc, (size_t size), (size))
ALLOCATES(void, free, __libc_free, (void *block), (block))
ALLOCATES(void *, calloc, __libc_calloc, (size_t count, size_t size), (count, size))
ALLOCATES(void *, realloc, __libc_realloc, (void *block, size_t size), (block, size))

EXPORT int ioctl(int fd, unsigned long what, ...)
{
    va_list rest;
    va_start(rest, what);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    if (fd >= FD_MIN && fd < FD_MIN + FDS) {
        if (what == PERF_EVENT_IOC_ENABLE || what == PERF_EVENT_IOC_MODIFY_ATTRIBUTES)
            state()->wanted[fd - FD_MIN] = true;
        else if (what == PERF_EVENT_IOC_DISABLE)
            state()->wanted[fd - FD_MIN] = false;
    }
    return (int)syscall(SYS_ioctl, fd, what, argument);
}

/* How lwp moves a breakpoint, which is enabled from the start, to its own numbers. */
EXPORT int fcntl(int fd, int what, ...)
{
    va_list rest;
    va_start(rest, what);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    int made = (int)syscall(SYS_fcntl, fd, what, argument);
    if (what == F_DUPFD_CLOEXEC && made >= FD_MIN && made < FD_MIN + FDS)
        state()->wanted[made - FD_MIN] = true;
    return made;
}

EXPORT int fcntl64(int fd, int what, ...) __attribute__((alias("fcntl")));

__attribute__((destructor)) static void write_times(void)
{
    const char *name = getenv("WITHIN");
    FILE *file = name && mine && mine->times ? fopen(name, "w") : NULL;
    if (!file)
        return;
    for (unsigned i = 0; i < THREADS && i < threads; i++)
        for (unsigned k = 0; k < states[i].times; k++)
            fprintf(file, "%u %u %u %.9f\n", i, states[i].time[k].kind, states[i].time[k].on, states[i].time[k].ns * 1e-9);
    fclose(file);
}
