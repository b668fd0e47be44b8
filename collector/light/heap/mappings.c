/* Memory that comes, goes or loses what was in it other than through the allocator, mmap and munmap (heap.c): watches there
 * end, and what other processes use is known. */
#define _GNU_SOURCE
#include "collector/light/own/watched_memory.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/shm.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT void *shmat(int id, const void *address, int flags)
{
    static void *(*next)(int, const void *, int);
    if (!next)
        next = dlsym(RTLD_NEXT, "shmat");
    void *block = next(id, address, flags);
    struct shmid_ds segment;
    if (block == (void *)-1 || shmctl(id, IPC_STAT, &segment))
        return block;
    if (flags & SHM_REMAP)
        lwp_watched_forget(block, segment.shm_segsz, LWPS_WATCH_FREED);
    lwp_shared_add((uint64_t)block, segment.shm_segsz);
    return block;
}

EXPORT int shmdt(const void *block)
{
    static int (*next)(const void *);
    if (!next)
        next = dlsym(RTLD_NEXT, "shmdt");
    uint64_t bytes = lwp_shared_from((uint64_t)block);
    lwp_shared_remove((uint64_t)block, bytes); /* before another thread may get the place */
    int status = next(block);
    if (status && bytes)
        lwp_shared_add((uint64_t)block, bytes);
    return status;
}

/* Some advice empties the pages. */
EXPORT int madvise(void *block, size_t bytes, int advice)
{
    static int (*next)(void *, size_t, int);
    if (!next)
        next = dlsym(RTLD_NEXT, "madvise");
    if (advice == MADV_DONTNEED || advice == MADV_FREE || advice == MADV_REMOVE || advice == MADV_DONTNEED_LOCKED)
        lwp_watched_forget(block, bytes, LWPS_WATCH_FREED);
    return next(block, bytes, advice);
}
