/* Memory that comes, goes or loses what was in it other than through the allocator, mmap and munmap (heap.c): watchpoints
 * there end, and what other processes use is known. */
#include "collector/light/own/real_calls.h"
#include "collector/light/own/watched_memory.h"

#include <sys/mman.h>
#include <sys/shm.h>

LWP_EXPORT void *shmat(int id, const void *address, int flags)
{
    void *block = LWP_REAL(shmat)(id, address, flags);
    struct shmid_ds segment;
    if (block == (void *)-1 || shmctl(id, IPC_STAT, &segment))
        return block;
    if (flags & SHM_REMAP)
        lwp_watched_forget(block, segment.shm_segsz, LWPS_WATCH_FREED);
    lwp_shared_add((uint64_t)block, segment.shm_segsz);
    return block;
}

LWP_EXPORT int shmdt(const void *block)
{
    uint64_t bytes = lwp_shared_from((uint64_t)block);
    lwp_shared_remove((uint64_t)block, bytes); /* before another thread may get the place */
    int status = LWP_REAL(shmdt)(block);
    if (status && bytes)
        lwp_shared_add((uint64_t)block, bytes);
    return status;
}

/* Some advice empties the pages. */
LWP_EXPORT int madvise(void *block, size_t bytes, int advice)
{
    if (advice == MADV_DONTNEED || advice == MADV_FREE || advice == MADV_REMOVE || advice == MADV_DONTNEED_LOCKED)
        lwp_watched_forget(block, bytes, LWPS_WATCH_FREED);
    return LWP_REAL(madvise)(block, bytes, advice);
}
