/* A program that the process executes instead of its own (exec). Where breakpoints see the kernel's accesses, one on the arguments
 * would stop the process for what exec itself reads, but only when the other program is there: without our handler it would
 * be killed. So no watchpoint is set during the call. What cannot bear this library gets an environment without it. Not seen: bare
 * system calls. */
#include "collector/light/own/confinement.h"
#include "collector/light/own/own_spool.h"
#include "collector/light/own/process.h"
#include "collector/light/own/real_calls.h"
#include "collector/light/own/run.h"
#include "collector/light/process/foreign.h"
#include "collector/light/sampling/sampler.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The calling thread, which then neither samples nor watches. NULL: not sampled, or a child of vfork on the parent's memory. */
static struct lwp_thread *exec_begin(void)
{
    int saved = errno;
    struct lwp_thread *self = lwp_thread_enter();
    lwp_run_exec(false);
    if (self)
        lwp_sampler_pause(self);
    if (self && !lwp_confinement_came())
        lwp_own_spool_flush();
    errno = saved;
    return self;
}

/* The other program could not be executed. */
static void exec_failed(struct lwp_thread *self)
{
    int saved = errno;
    lwp_run_exec(true);
    if (self)
        lwp_sampler_resume(self);
    lwp_thread_leave(self);
    errno = saved;
}

/* `foreign`: the room for an environment without this library, or 0. */
#define EXEC(name, parameters, arguments, foreign)                           \
    static int exec_##name parameters                                        \
    {                                                                        \
        struct lwp_thread *self = exec_begin();                              \
        size_t count = foreign;                                              \
        char *room[count + 1];                                               \
        if (count)                                                           \
            environment = lwp_foreign_environment(environment, room, count); \
        int status = LWP_REAL(name) arguments;                               \
        exec_failed(self);                                                   \
        return status;                                                       \
    }                                                                        \
                                                                             \
    LWP_EXPORT int name parameters                                           \
    {                                                                        \
        return exec_##name arguments;                                        \
    }

EXEC(execve, (const char *path, char *const list[], char *const environment[]), (path, list, environment),
     lwp_foreign(AT_FDCWD, path, 0, environment))
EXEC(execvpe, (const char *file, char *const list[], char *const environment[]), (file, list, environment),
     lwp_foreign_in_path(file, environment))
EXEC(fexecve, (int fd, char *const list[], char *const environment[]), (fd, list, environment),
     lwp_foreign(fd, "", AT_EMPTY_PATH, environment))
EXEC(execveat, (int at, const char *path, char *const list[], char *const environment[], int flags),
     (at, path, list, environment, flags), lwp_foreign(at, path, flags, environment))

LWP_EXPORT int execv(const char *path, char *const list[])
{
    return exec_execve(path, list, environ);
}

LWP_EXPORT int execvp(const char *file, char *const list[])
{
    return exec_execvpe(file, list, environ);
}

/* Those that take a list: `run` is a statement about `list`, and `after`, which is behind its end. */
#define EXEC_LIST(name, run)                                                  \
    LWP_EXPORT int name(const char *path, const char *first, ...)             \
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

EXEC_LIST(execl, exec_execve(path, list, environ))
EXEC_LIST(execlp, exec_execvpe(path, list, environ))
EXEC_LIST(execle, exec_execve(path, list, va_arg(after, char *const *)))

LWP_HIDDEN long lwp_exec_syscall(long number, long a, long b, long c, long d, long e);

/* execve or execveat */
long lwp_exec_syscall(long number, long a, long b, long c, long d, long e)
{
    bool with_folder = number == SYS_execveat;
    long *environment = with_folder ? &d : &c;
    struct lwp_thread *self = exec_begin();
    size_t count = with_folder ? lwp_foreign((int)a, (const char *)b, (int)e, (char *const *)d)
                               : lwp_foreign(AT_FDCWD, (const char *)a, 0, (char *const *)c);
    char *room[count + 1];
    if (count)
        *environment = (long)lwp_foreign_environment((char *const *)*environment, room, count);
    long status = lwp_real_syscall(number, a, b, c, d, e);
    exec_failed(self);
    return status;
}
