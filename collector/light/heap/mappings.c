/* Memory that comes, goes, becomes accessible or loses what was in it other than through the allocator: watchpoints there end, what other
 * processes use is known, and mappings are data objects. The loader may map some while dlsym runs: by bare system calls. */
#include "collector/light/heap/early.h"
#include "collector/light/heap/heap.h"
#include "collector/light/own/real_calls.h"
#include "collector/light/own/watched_memory.h"
#include "collector/record/reserved.h"

#include <stdarg.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Code is no data; nor is what nobody may touch, as long as that is so. */
static void mappings_note(void *block, size_t size, int protection, bool memory, const uint64_t *frame)
{
    if (protection == PROT_NONE)
        lwp_reserved_add((uint64_t)block, size);
    if (protection & (PROT_READ | PROT_WRITE) && !(protection & PROT_EXEC))
        lwp_heap_note_mapping(block, size, memory, frame);
}

LWP_EXPORT void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    bool replaces = flags & MAP_FIXED && !(flags & MAP_FIXED_NOREPLACE);
    if (replaces) {
        lwp_watched_forget(address, size, LWPS_WATCH_FREED);
        lwp_heap_forget_mapping(address, size);
        lwp_reserved_remove((uint64_t)address, size);
    }
    void *block = lwp_heap_resolved() ? LWP_REAL(mmap)(address, size, protection, flags, fd, offset)
                                      : (void *)syscall(SYS_mmap, address, size, protection, flags, fd, offset);
    if (block == MAP_FAILED)
        return block;
    if (replaces)
        lwp_shared_remove((uint64_t)block, size);
    if (flags & MAP_SHARED)
        lwp_shared_add((uint64_t)block, size);
    mappings_note(block, size, protection, flags & MAP_ANONYMOUS, LWP_HEAP_FRAME);
    return block;
}

LWP_EXPORT void *mmap64(void *address, size_t size, int protection, int flags, int fd, off64_t offset) __attribute__((alias("mmap")));

LWP_EXPORT int munmap(void *block, size_t size)
{
    lwp_watched_forget(block, size, LWPS_WATCH_FREED);
    lwp_shared_remove((uint64_t)block, size);
    lwp_heap_forget_mapping(block, size);
    lwp_reserved_remove((uint64_t)block, size);
    return lwp_heap_resolved() ? LWP_REAL(munmap)(block, size) : (int)syscall(SYS_munmap, block, size);
}

/* An allocator that makes what it has reserved accessible as it grows: all of that is one data object, of which the rest is never touched.
 */
LWP_EXPORT int mprotect(void *block, size_t size, int protection)
{
    uint64_t low, bytes;
    const int status =
        lwp_heap_resolved() ? LWP_REAL(mprotect)(block, size, protection) : (int)syscall(SYS_mprotect, block, size, protection);
    if (!status && protection & (PROT_READ | PROT_WRITE) && !(protection & PROT_EXEC) && lwp_reserved_take((uint64_t)block, &low, &bytes))
        mappings_note((void *)low, bytes, protection, false, LWP_HEAP_FRAME);
    return status;
}

LWP_EXPORT void *mremap(void *old, size_t old_size, size_t size, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    void *wanted = flags & MREMAP_FIXED ? va_arg(rest, void *) : NULL;
    va_end(rest);
    lwp_watched_forget(old, old_size, LWPS_WATCH_FREED);
    if (flags & MREMAP_FIXED)
        lwp_watched_forget(wanted, size, LWPS_WATCH_FREED);
    bool was_shared = lwp_shared_has((uint64_t)old);
    bool known = lwp_heap_knows_mapping(old, old_size);
    if (known)
        lwp_heap_forget_mapping(old, old_size);
    void *block = (void *)syscall(SYS_mremap, old, old_size, size, flags, wanted);
    if (block == MAP_FAILED && known)
        lwp_heap_note_mapping(old, old_size, false, LWP_HEAP_FRAME);
    else if (block != MAP_FAILED) {
        if (lwp_early_on)
            lwp_heap_forget_mapping(old, old_size);
        lwp_heap_note_mapping(block, size, false, LWP_HEAP_FRAME);
    }
    if (block != MAP_FAILED && was_shared) {
        if (!(flags & MREMAP_DONTUNMAP))
            lwp_shared_remove((uint64_t)old, old_size);
        lwp_shared_add((uint64_t)block, size);
    }
    return block;
}

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
