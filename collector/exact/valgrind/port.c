/* The functions of the C library that format/ and collector/record/ call, made of system calls and Valgrind's own, so that
 * both are linked into the tool unchanged. Only what they need: anything more fails to link.
 * Mappings go through Valgrind's address space manager, which would else give their place to the program. */
#include "collector/exact/valgrind/port.h"

#include "collector/exact/valgrind/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of Valgrind's core, not in the headers for tools: the one way to map a file that the program cannot get under. */
extern SysRes VG_(am_shared_mmap_file_float_valgrind)(SizeT length, UInt protection, Int fd, Off64T offset);
extern Int VG_(fd_hard_limit); /* the program's own descriptors are below */

static int port_errno;

int *__errno_location(void)
{
    return &port_errno;
}

static long port_call(long number, long a, long b, long c, long d)
{
    long result;
    register long fourth __asm__("r10") = d;
    __asm__ volatile("syscall" : "=a"(result) : "0"(number), "D"(a), "S"(b), "d"(c), "r"(fourth) : "rcx", "r11", "memory");
    if (result >= -4095 && result < 0) {
        port_errno = (int)-result;
        return -1;
    }
    return result;
}

int open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    int mode = flags & O_CREAT ? va_arg(rest, int) : 0;
    va_end(rest);
    return (int)port_call(SYS_open, (long)path, flags, mode, 0);
}

/* Only to move a descriptor away: above all that the program can have, if one of Valgrind's few is left. */
int fcntl(int fd, int command, ...)
{
    va_list rest;
    va_start(rest, command);
    long lowest = va_arg(rest, int);
    va_end(rest);
    int moved = (int)port_call(SYS_fcntl, fd, command, VG_(fd_hard_limit), 0);
    return moved >= 0 ? moved : (int)port_call(SYS_fcntl, fd, command, lowest, 0);
}

int close(int fd)
{
    return (int)port_call(SYS_close, fd, 0, 0, 0);
}

int unlink(const char *path)
{
    return (int)port_call(SYS_unlink, (long)path, 0, 0, 0);
}

int mkdir(const char *path, mode_t mode)
{
    return (int)port_call(SYS_mkdir, (long)path, (long)mode, 0, 0);
}

int fstat(int fd, struct stat *st)
{
    return (int)port_call(SYS_fstat, fd, (long)st, 0, 0);
}

int ftruncate(int fd, off_t size)
{
    return (int)port_call(SYS_ftruncate, fd, size, 0, 0);
}

int fallocate(int fd, int mode, off_t from, off_t size)
{
    return (int)port_call(SYS_fallocate, fd, mode, from, size);
}

ssize_t pread(int fd, void *bytes, size_t size, off_t from)
{
    return port_call(SYS_pread64, fd, (long)bytes, (long)size, from);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t from)
{
    return port_call(SYS_pwrite64, fd, (long)bytes, (long)size, from);
}

int getrlimit(__rlimit_resource_t resource, struct rlimit *limit)
{
    return (int)port_call(SYS_getrlimit, (long)resource, (long)limit, 0, 0);
}

int getrusage(__rusage_who_t who, struct rusage *usage)
{
    return (int)port_call(SYS_getrusage, who, (long)usage, 0, 0);
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    (void)address;
    if (flags & MAP_ANONYMOUS)
        return LWP_TOOL_PAGES(size);
    SysRes mapped = VG_(am_shared_mmap_file_float_valgrind)(size, (UInt)protection, fd, offset);
    if (sr_isError(mapped)) {
        port_errno = (int)sr_Err(mapped);
        return MAP_FAILED;
    }
    return (void *)sr_Res(mapped);
}

int munmap(void *address, size_t size)
{
    SysRes gone = VG_(am_munmap_valgrind)((Addr)address, VG_PGROUNDUP(size));
    return sr_isError(gone) ? -1 : 0;
}

int memcmp(const void *a, const void *b, size_t size)
{
    return VG_(memcmp)(a, b, size);
}

double fabs(double value)
{
    return __builtin_fabs(value);
}

size_t strlen(const char *text)
{
    return VG_(strlen)(text);
}

size_t strnlen(const char *text, size_t most)
{
    size_t length = 0;
    while (length < most && text[length])
        length++;
    return length;
}
