/* A program that the process executes in its own place. Where breakpoints see the kernel's accesses, one on the arguments
 * would stop the process for what exec itself reads, but only when the other program is there: without our handler it would
 * be killed. So nothing is watched meanwhile. Not seen: bare system calls. */
#define _GNU_SOURCE
#include "collector/light/next.h"
#include "collector/light/own_breakpoints.h"
#include "collector/light/process.h"
#include "collector/light/sample.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define HIDDEN __attribute__((visibility("hidden")))

/* The calling thread, which then neither samples nor watches. NULL: not sampled, or a child of vfork on the parent's memory. */
static struct lwp_thread *replaced_begin(void)
{
    int saved = errno;
    struct lwp_thread *self = lwp_process.active && getpid() == lwp_process.pid ? lwp_thread_self() : NULL;
    struct lwp_sampler *sampler = self ? self->sampler : NULL;
    if (!sampler)
        return NULL;
    self->busy++;
    lwp_watches_give_up(&sampler->watches, &sampler->registers, self);
    lwp_sharing_lose(&sampler->sharing, &sampler->registers);
    if (sampler->pmu)
        lwp_pmu_run(sampler->pmu, false);
    errno = saved;
    return self;
}

/* The other program could not be executed. */
static void replaced_not(struct lwp_thread *self)
{
    int saved = errno;
    if (!self)
        return;
    if (((struct lwp_sampler *)self->sampler)->pmu)
        lwp_pmu_run(((struct lwp_sampler *)self->sampler)->pmu, true);
    self->busy--;
    errno = saved;
}

#define EXEC(name, parameters, arguments)                                      \
    static int replaced_##name parameters                                      \
    {                                                                          \
        LWP_NEXT(#name);                                                       \
        void *function = next.function ? next.function : lwp_next_find(&next); \
        struct lwp_thread *self = replaced_begin();                            \
        int status = ((int (*) parameters)function) arguments;                 \
        replaced_not(self);                                                    \
        return status;                                                         \
    }                                                                          \
                                                                               \
    EXPORT int name parameters                                                 \
    {                                                                          \
        return replaced_##name arguments;                                      \
    }

EXEC(execve, (const char *path, char *const list[], char *const environment[]), (path, list, environment))
EXEC(execv, (const char *path, char *const list[]), (path, list))
EXEC(execvp, (const char *file, char *const list[]), (file, list))
EXEC(execvpe, (const char *file, char *const list[], char *const environment[]), (file, list, environment))
EXEC(fexecve, (int fd, char *const list[], char *const environment[]), (fd, list, environment))
EXEC(execveat, (int at, const char *path, char *const list[], char *const environment[], int flags),
     (at, path, list, environment, flags))

/* Those that take a list: `run` is a statement about `list`, and `after`, which is behind its end. */
#define EXEC_LIST(name, run)                                                  \
    EXPORT int name(const char *path, const char *first, ...)                 \
    {                                                                         \
        size_t count = 1;                                                     \
        va_list after;                                                        \
        va_start(after, first);                                               \
        for (const char *one = first; one; one = va_arg(after, const char *)) \
            count++;                                                          \
        va_end(after);                                                        \
        char *list[count];                                                    \
        list[0] = (char *)first;                                              \
        va_start(after, first);                                               \
        for (size_t i = 1; i < count; i++)                                    \
            list[i] = va_arg(after, char *);                                  \
        int status = run;                                                     \
        va_end(after);                                                        \
        return status;                                                        \
    }

EXEC_LIST(execl, replaced_execv(path, list))
EXEC_LIST(execlp, replaced_execvp(path, list))
EXEC_LIST(execle, replaced_execve(path, list, va_arg(after, char *const *)))

HIDDEN long lwp_replaced_syscall(long number, long a, long b, long c, long d, long e);

long lwp_replaced_syscall(long number, long a, long b, long c, long d, long e)
{
    struct lwp_thread *self = replaced_begin();
    long status = lwp_own_syscall(number, a, b, c, d, e);
    replaced_not(self);
    return status;
}
