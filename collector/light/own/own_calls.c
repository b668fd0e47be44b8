#include "collector/light/own/own_calls.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int own_openat(int at, const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    unsigned mode = va_arg(more, unsigned);
    va_end(more);
    return (int)syscall(SYS_openat, at, path, flags, mode);
}

static int own_open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    unsigned mode = va_arg(more, unsigned);
    va_end(more);
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static int own_close(int fd)
{
    return (int)syscall(SYS_close, fd);
}

static ssize_t own_read(int fd, void *to, size_t bytes)
{
    return syscall(SYS_read, fd, to, bytes);
}

static ssize_t own_write(int fd, const void *from, size_t bytes)
{
    return syscall(SYS_write, fd, from, bytes);
}

static ssize_t own_pread(int fd, void *to, size_t bytes, off_t at)
{
    return syscall(SYS_pread64, fd, to, bytes, at);
}

static ssize_t own_pwrite(int fd, const void *from, size_t bytes, off_t at)
{
    return syscall(SYS_pwrite64, fd, from, bytes, at);
}

static int own_fallocate(int fd, int mode, off_t from, off_t bytes)
{
    return (int)syscall(SYS_fallocate, fd, mode, from, bytes);
}

static int own_usleep(useconds_t us)
{
    const struct timespec time = {.tv_nsec = (long)us * 1000};
    return (int)syscall(SYS_nanosleep, &time, NULL);
}

void *lwp_own_call(const char *name)
{
    static const struct {
        const char *name;
        void *function;
    } calls[] = {{"open", (void *)own_open},           {"open64", (void *)own_open},     {"openat", (void *)own_openat},
                 {"openat64", (void *)own_openat},     {"close", (void *)own_close},     {"read", (void *)own_read},
                 {"write", (void *)own_write},         {"pread", (void *)own_pread},     {"pread64", (void *)own_pread},
                 {"pwrite", (void *)own_pwrite},       {"pwrite64", (void *)own_pwrite}, {"fallocate", (void *)own_fallocate},
                 {"fallocate64", (void *)own_fallocate}, {"usleep", (void *)own_usleep}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (lwp_own_call_is(calls[i].name, name))
            return calls[i].function;
    return NULL;
}
