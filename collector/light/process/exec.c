/* A program that the process executes in its own place. Where breakpoints see the kernel's accesses, one on the arguments
 * would stop the process for what exec itself reads, but only when the other program is there: without our handler it would
 * be killed. So nothing is watched meanwhile. What cannot bear this library gets an environment without it. Not seen: bare
 * system calls. */
#define _GNU_SOURCE
#include "collector/light/own/process.h"
#include "collector/light/own/real_calls.h"
#include "collector/light/own/real_syscall.h"
#include "collector/light/process/foreign.h"
#include "collector/light/sampling/sample.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <fcntl.h>
#include <sys/syscall.h>
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

/* `foreign`: the room for an environment without this library, or 0. */
#define EXEC(name, parameters, arguments, foreign)                                \
    static int replaced_##name parameters                                         \
    {                                                                             \
        LWP_NEXT(#name);                                                          \
        void *function = next.function ? next.function : lwp_next_find(&next);    \
        struct lwp_thread *self = replaced_begin();                               \
        size_t count = foreign;                                                   \
        char *room[count + 1];                                                    \
        if (count)                                                                \
            environment = lwp_foreign_environment(environment, room, count);      \
        int status = ((int (*) parameters)function) arguments;                    \
        replaced_not(self);                                                       \
        return status;                                                            \
    }                                                                             \
                                                                                  \
    EXPORT int name parameters                                                    \
    {                                                                             \
        return replaced_##name arguments;                                         \
    }

EXEC(execve, (const char *path, char *const list[], char *const environment[]), (path, list, environment),
     lwp_foreign(AT_FDCWD, path, 0, environment))
EXEC(execvpe, (const char *file, char *const list[], char *const environment[]), (file, list, environment),
     lwp_foreign_in_path(file, environment))
EXEC(fexecve, (int fd, char *const list[], char *const environment[]), (fd, list, environment),
     lwp_foreign(fd, "", AT_EMPTY_PATH, environment))
EXEC(execveat, (int at, const char *path, char *const list[], char *const environment[], int flags),
     (at, path, list, environment, flags), lwp_foreign(at, path, flags, environment))

EXPORT int execv(const char *path, char *const list[])
{
    return replaced_execve(path, list, environ);
}

EXPORT int execvp(const char *file, char *const list[])
{
    return replaced_execvpe(file, list, environ);
}

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

EXEC_LIST(execl, replaced_execve(path, list, environ))
EXEC_LIST(execlp, replaced_execvpe(path, list, environ))
EXEC_LIST(execle, replaced_execve(path, list, va_arg(after, char *const *)))

HIDDEN long lwp_replaced_syscall(long number, long a, long b, long c, long d, long e);

/* execve or execveat */
long lwp_replaced_syscall(long number, long a, long b, long c, long d, long e)
{
    bool with_folder = number == SYS_execveat;
    long *environment = with_folder ? &d : &c;
    struct lwp_thread *self = replaced_begin();
    size_t count = with_folder ? lwp_foreign((int)a, (const char *)b, (int)e, (char *const *)d)
                               : lwp_foreign(AT_FDCWD, (const char *)a, 0, (char *const *)c);
    char *room[count + 1];
    if (count)
        *environment = (long)lwp_foreign_environment((char *const *)*environment, room, count);
    long status = lwp_next_syscall(number, a, b, c, d, e);
    replaced_not(self);
    return status;
}
