/* System calls with a buffer of the program's, where breakpoints do not see the kernel's accesses: watchpoints on the buffers
 * end before the call. Where they do, nothing is done here. Calls that the C library makes itself do not come this way. */
#include "collector/light/watch/system_calls.h"

#include "collector/light/own/confinement.h"
#include "collector/light/own/hot.h"
#include "collector/light/own/real_calls.h"
#include "collector/light/own/watched_memory.h"
#include "collector/light/watch/debug_registers.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static uint64_t calls_low, calls_high; /* the C library */

void lwp_system_calls_start(void)
{
    struct dl_find_object found;
    void *any = dlsym(RTLD_NEXT, "write");
    if (lwp_debug.sees_kernel || !any || _dl_find_object(any, &found))
        return;
    calls_low = (uint64_t)found.dlfo_map_start;
    calls_high = (uint64_t)found.dlfo_map_end;
}

bool lwp_system_calls_hide(uint64_t ip)
{
    return ip >= calls_low && ip < calls_high;
}

/* `buffer` is a number, so that the compiler does not take this for a use of what it points to. */
static void call_uses(uint64_t buffer, size_t bytes)
{
    if (buffer && bytes)
        lwp_watched_forget((const void *)buffer, bytes, LWPS_WATCH_KERNEL);
}

/* Through the kernel: the program's pointers may be bad ones, which is for the call to find. */
static bool call_copy(void *to, const void *from, size_t bytes)
{
    int saved = errno;
    struct iovec here = {to, bytes}, there = {(void *)from, bytes};
    bool good = !lwp_confinement_came() && process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)bytes;
    errno = saved;
    return good;
}

static void call_uses_all(const struct iovec *parts, size_t count)
{
    enum { PARTS_MOST = 1024, CHUNK = 16 }; /* more are refused */
    struct iovec copy[CHUNK];
    if (count > PARTS_MOST)
        return;
    for (size_t i = 0; i < count; i++) {
        size_t left = count - i < CHUNK ? count - i : CHUNK;
        if (i % CHUNK == 0 && !call_copy(copy, parts + i, left * sizeof *copy))
            return;
        call_uses((uint64_t)copy[i % CHUNK].iov_base, copy[i % CHUNK].iov_len);
    }
}

static void call_uses_message(const struct msghdr *message)
{
    struct msghdr copy;
    if (!call_copy(&copy, message, sizeof copy))
        return;
    call_uses((uint64_t)message, sizeof copy);
    call_uses((uint64_t)copy.msg_name, copy.msg_namelen);
    call_uses((uint64_t)copy.msg_control, copy.msg_controllen);
    call_uses_all(copy.msg_iov, copy.msg_iovlen);
}

static void call_uses_text(const char *text)
{
    if (text)
        call_uses((uint64_t)text, strlen(text) + 1);
}

/* `uses`: a statement about the parameters. Where nothing is watched nothing is to be done, and to look into the program's messages takes
 * longer than short calls do; after each call all that is looked at is out of the caches. */
#define CALL(result, name, parameters, arguments, uses)                                                                                    \
    LWP_REAL_CALL(real_##name, name);                                                                                                      \
    static __attribute__((noinline, cold)) result call_##name parameters                                                                   \
    {                                                                                                                                      \
        if (lwp_watched_any() && !lwp_debug.sees_kernel)                                                                                   \
            uses;                                                                                                                          \
        return LWP_REAL_OF(real_##name, name) arguments;                                                                                   \
    }                                                                                                                                      \
    LWP_EXPORT LWP_HOT_CODE result name parameters                                                                                         \
    {                                                                                                                                      \
        return __builtin_expect(lwp_watched_any() || !real_##name.function, 0) ? call_##name arguments                                     \
                                                                               : (*(__typeof__(&name))real_##name.function)arguments;      \
    }

CALL(ssize_t, read, (int fd, void *buffer, size_t bytes), (fd, buffer, bytes), call_uses((uint64_t)buffer, bytes))
CALL(ssize_t, write, (int fd, const void *buffer, size_t bytes), (fd, buffer, bytes), call_uses((uint64_t)buffer, bytes))
CALL(ssize_t, pread, (int fd, void *buffer, size_t bytes, off_t at), (fd, buffer, bytes, at), call_uses((uint64_t)buffer, bytes))
CALL(ssize_t, pread64, (int fd, void *buffer, size_t bytes, off64_t at), (fd, buffer, bytes, at), call_uses((uint64_t)buffer, bytes))
CALL(ssize_t, pwrite, (int fd, const void *buffer, size_t bytes, off_t at), (fd, buffer, bytes, at), call_uses((uint64_t)buffer, bytes))
CALL(ssize_t, pwrite64, (int fd, const void *buffer, size_t bytes, off64_t at), (fd, buffer, bytes, at),
     call_uses((uint64_t)buffer, bytes))
CALL(ssize_t, readv, (int fd, const struct iovec *parts, int count), (fd, parts, count),
     call_uses_all(parts, (size_t)count))
CALL(ssize_t, writev, (int fd, const struct iovec *parts, int count), (fd, parts, count),
     call_uses_all(parts, (size_t)count))
CALL(ssize_t, send, (int fd, const void *buffer, size_t bytes, int flags), (fd, buffer, bytes, flags),
     call_uses((uint64_t)buffer, bytes))
CALL(ssize_t, recv, (int fd, void *buffer, size_t bytes, int flags), (fd, buffer, bytes, flags), call_uses((uint64_t)buffer, bytes))
CALL(ssize_t, sendto,
     (int fd, const void *buffer, size_t bytes, int flags, const struct sockaddr *to, socklen_t to_bytes),
     (fd, buffer, bytes, flags, to, to_bytes), call_uses((uint64_t)buffer, bytes))
CALL(ssize_t, recvfrom, (int fd, void *buffer, size_t bytes, int flags, struct sockaddr *from, socklen_t *from_bytes),
     (fd, buffer, bytes, flags, from, from_bytes), call_uses((uint64_t)buffer, bytes))
CALL(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags),
     call_uses_message(message))
CALL(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags),
     call_uses_message(message))

#undef fread_unlocked
#undef fwrite_unlocked

/* Buffered, the C library copies; unbuffered or large, the kernel gets the program's own memory. */
CALL(size_t, fread, (void *buffer, size_t size, size_t count, FILE *file), (buffer, size, count, file),
     call_uses((uint64_t)buffer, size * count))
CALL(size_t, fwrite, (const void *buffer, size_t size, size_t count, FILE *file), (buffer, size, count, file),
     call_uses((uint64_t)buffer, size * count))
CALL(size_t, fread_unlocked, (void *buffer, size_t size, size_t count, FILE *file), (buffer, size, count, file),
     call_uses((uint64_t)buffer, size * count))
CALL(size_t, fwrite_unlocked, (const void *buffer, size_t size, size_t count, FILE *file), (buffer, size, count, file),
     call_uses((uint64_t)buffer, size * count))
CALL(int, fputs, (const char *text, FILE *file), (text, file), call_uses_text(text))
CALL(int, puts, (const char *text), (text), call_uses_text(text))
