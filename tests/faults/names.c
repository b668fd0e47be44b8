/* A program with functions of its own under names of the C library's: libraries call them, too, since the program comes first.
 * They count their calls, and their clocks do not tell the time. */
#define _GNU_SOURCE
#include "work.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

static long clocks, opens, closes, reads, maps, unmaps, controls, pids, environments, copies, prints, naps, folders;

#define COUNTED(counter) __atomic_add_fetch(&(counter), 1, __ATOMIC_RELAXED)

int clock_gettime(clockid_t clock, struct timespec *now)
{
    (void)clock;
    now->tv_sec = 1000000 - 60 * COUNTED(clocks); /* backwards */
    now->tv_nsec = 999999999;
    return 0;
}

int open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    int mode = va_arg(rest, int);
    va_end(rest);
    COUNTED(opens);
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int close(int fd)
{
    COUNTED(closes);
    return (int)syscall(SYS_close, fd);
}

ssize_t read(int fd, void *buffer, size_t bytes)
{
    COUNTED(reads);
    return syscall(SYS_read, fd, buffer, bytes);
}

void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    COUNTED(maps);
    return (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd, offset);
}

int munmap(void *address, size_t bytes)
{
    COUNTED(unmaps);
    return (int)syscall(SYS_munmap, address, bytes);
}

int ioctl(int fd, unsigned long request, ...)
{
    va_list rest;
    va_start(rest, request);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    COUNTED(controls);
    return (int)syscall(SYS_ioctl, fd, request, argument);
}

pid_t getpid(void)
{
    COUNTED(pids);
    return 4711;
}

char *getenv(const char *name)
{
    (void)name;
    COUNTED(environments);
    return NULL;
}

void *memmove(void *to, const void *from, size_t bytes)
{
    COUNTED(copies);
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory"); /* wrong where they overlap */
    return (char *)to - bytes;
}

int snprintf(char *text, size_t room, const char *format, ...)
{
    (void)format;
    COUNTED(prints);
    if (room)
        *text = '\0';
    return 0;
}

int usleep(useconds_t time)
{
    (void)time;
    COUNTED(naps);
    return 0;
}

int mkdir(const char *path, mode_t mode)
{
    (void)path, (void)mode;
    COUNTED(folders);
    return -1;
}

static void *works(void *given)
{
    work(50);
    return given;
}

static int names(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, works, NULL))
        return 98;
    pthread_join(thread, NULL);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        work(50);
        _exit(3);
    }
    int status = -1;
    waitpid(child, &status, 0);
    work(300);
    printf("child %d; calls: clock %ld, open %ld, close %ld, read %ld, mmap %ld, munmap %ld, ioctl %ld, getpid %ld, getenv %ld, "
           "memmove %ld, snprintf %ld, usleep %ld, mkdir %ld\n",
           WEXITSTATUS(status), clocks, opens, closes, reads, maps, unmaps, controls, pids, environments, copies, prints, naps, folders);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct situation situations[] = {{"names", names}};
    return situation_run(situations, 1, argc > 1 ? argv[1] : NULL);
}
