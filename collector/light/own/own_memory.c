/* Far from all that is the program's: a program may map something for good (MAP_FIXED) into a hole that it made itself, sure
 * that nothing else is there, and lwp maps whenever it samples. Only a hint: what is taken, the kernel does not give. It shares 512 GiB
 * with the stacks (own_stack.h), as each process and each fork pays for every 512 GiB that anything is in (.7 ms in a guest of PVM).
 * What each process has, also one that is never set up, is in lwp's own image: the page tables for another place take .3 ms there. Not
 * perf's pages, which a fork does not copy: the kernel would give the hole to the program. */
#include "collector/light/own/own_memory.h"

#include "collector/light/own/confinement.h"
#include "collector/light/own/hot.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static void *own_place(size_t bytes)
{
    enum { GAP = 1 << 16 };
    static const uint64_t from = (uint64_t)0x35 << 40, room = (uint64_t)1 << 38;
    static uint64_t used;
    uint64_t at = __atomic_fetch_add(&used, (bytes + 2 * GAP - 1) & ~(uint64_t)(GAP - 1), __ATOMIC_RELAXED);
    return (void *)(from + at % room);
}

void *lwp_own_map(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    return (void *)syscall(SYS_mmap, address ? address : own_place(bytes), bytes, protection, flags, fd, offset);
}

static bool own_kept;

void lwp_own_memory_keep(void)
{
    __atomic_store_n(&own_kept, true, __ATOMIC_RELAXED);
}

int lwp_own_unmap(void *memory, size_t bytes)
{
    return __atomic_load_n(&own_kept, __ATOMIC_RELAXED) ? 0 : (int)syscall(SYS_munmap, memory, bytes);
}

static void *own_memory(void *place, size_t bytes, int flags)
{
    void *memory = lwp_own_map(place, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void *lwp_own_memory(size_t bytes)
{
    return own_memory(NULL, bytes, 0);
}

void *lwp_own_memory_at_once(size_t bytes)
{
    return own_memory(NULL, bytes, MAP_POPULATE);
}

/* Not by madvise(), which programs that confine themselves may have no need of. */
void lwp_own_memory_touch(void *pages, size_t bytes)
{
    own_memory(pages, bytes, MAP_FIXED | MAP_POPULATE);
}

/* ---- what each thread needs for its beginning and end ---- */

enum { SMALLS = 512 };
static LWP_LARGE _Alignas(LWP_OWN_SMALL) uint8_t smalls[SMALLS][LWP_OWN_SMALL];
static uint8_t smalls_used[SMALLS];

void *lwp_own_small(void)
{
    static unsigned next;
    unsigned from = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < SMALLS; i++) {
        unsigned at = (from + i) % SMALLS;
        if (!__atomic_exchange_n(&smalls_used[at], 1, __ATOMIC_ACQUIRE))
            return memset(smalls[at], 0, LWP_OWN_SMALL);
    }
    return lwp_own_memory(LWP_OWN_SMALL);
}

void lwp_own_small_free(void *small)
{
    uint64_t at = ((uint64_t)small - (uint64_t)smalls) / LWP_OWN_SMALL;
    if (at < SMALLS)
        __atomic_store_n(&smalls_used[at], 0, __ATOMIC_RELEASE);
    else
        lwp_own_unmap(small, LWP_OWN_SMALL);
}

/* ---- reading what may not be there, or stops ---- */

static __thread struct own_stop {
    uint64_t address, bytes;
} own_stop[LWP_OWN_STOPS];

void lwp_own_stops_at(unsigned which, uint64_t address, unsigned bytes)
{
    own_stop[which] = (struct own_stop){address, bytes};
}

bool lwp_own_stops(uint64_t address, size_t bytes)
{
    for (unsigned i = 0; i < LWP_OWN_STOPS; i++)
        if (own_stop[i].address < address + bytes && address < own_stop[i].address + own_stop[i].bytes)
            return true;
    return false;
}

/* By another address of the same bytes, which no debug register has. */
static bool own_copy_by_kernel(void *to, const void *from, size_t bytes)
{
    struct iovec here = {to, bytes}, there = {(void *)from, bytes};
    return !lwp_confinement_came() && syscall(SYS_process_vm_readv, getpid(), &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

/* The kernel reads the mask before it finds that there is no such way to change masks. */
static bool own_readable(uint64_t word)
{
    enum { NO_WAY = -1 };
    return syscall(SYS_rt_sigprocmask, NO_WAY, word, NULL, sizeof(uint64_t)) < 0 && errno == EINVAL;
}

static bool own_copy_here(void *to, const void *from, size_t bytes)
{
    enum { PAGE_BYTES = 4096, WORD = sizeof(uint64_t) };
    uint64_t first = (uint64_t)from & ~(uint64_t)(WORD - 1), end = (uint64_t)from + bytes;
    bool good = end >= (uint64_t)from;
    for (uint64_t at = first; good && at < end; at = (at | (PAGE_BYTES - 1)) + 1)
        good = own_readable(at);
    if (good) /* whatever the memory is used for: no memcpy() that a sanitizer watches */
        __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
    return good;
}

bool lwp_own_copy(void *to, const void *from, size_t bytes)
{
    const int saved = errno;
    const bool good = lwp_own_stops((uint64_t)from, bytes) ? own_copy_by_kernel(to, from, bytes) : own_copy_here(to, from, bytes);
    errno = saved;
    return good;
}
