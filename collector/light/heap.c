/* The allocator's functions, passed on to whichever comes next. Blocks below the threshold are pooled by call site (and
 * its caller) and size: a pool is known after two table look-ups that verify the caller on the stack, so nothing is
 * unwound but the first time. Larger blocks and mappings are recorded one by one. */
#define _GNU_SOURCE
#include "collector/light/heap.h"
#include "collector/light/heap_life.h"

#include "collector/light/process.h"
#include "collector/light/shadow.h"
#include "collector/light/thread.h"
#include "collector/light/unwind.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define EXPORT __attribute__((visibility("default")))

enum {
    /* a thread's own, direct-mapped, touched as needed */
    SITES = 4096,        /* call site -> where its caller's return address is on the stack */
    CALLS = 4096,        /* (call site, caller) -> context */
    PATHS = 4096,        /* (call site, caller, size) -> pool */
    SLOW_PART = 128,     /* at most this part of the time goes into unwinding at allocations */
    SLOW_FIRST_NS = 10000000,
    POOLS_MAX = 1 << 16,
    POOL_SLOTS = 1 << 17,
    SIZES_EACH = 48,     /* distinct sizes of one call path before they share a pool of various sizes */
    STACK_WORDS = 96,    /* how far up the caller's return address is looked for */
    LARGE_SLOTS = 1 << 15,
    BUMP_BYTES = 16 * 1024,
};

struct site {
    uint64_t ra;
    uint32_t words;      /* distance of the caller's return address from ours; 0: not found */
};

struct call {
    uint64_t ra, caller;
    uint32_t context;
};

struct path {
    uint64_t ra, caller, size;
    uint32_t pool;
    uint8_t hint;
};

struct heap_thread {
    uint64_t start_ns, slow_ns;
    struct site site[SITES];
    struct call call[CALLS];
    struct path path[PATHS];
};

struct pool {
    uint32_t context;
    uint64_t size;       /* 0: various */
    uint64_t allocations, frees, peak, bytes; /* plain additions: a lost one among threads does no harm */
};

struct large {
    uint64_t address, size;
    uint32_t id, context;
    uint8_t kind;
};

static struct pool *heap_pools;
static uint32_t heap_pool_count;  /* ids 1 .. count */
static uint32_t *heap_pool_slots;
static struct large *heap_large;
static uint32_t heap_large_id;
static bool heap_on;
static bool heap_is_glibc;
static __thread struct heap_thread *heap_self;

static void *(*next_malloc)(size_t);
static void (*next_free)(void *);
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);
static int (*next_posix_memalign)(void **, size_t, size_t);
static void *(*next_aligned_alloc)(size_t, size_t);
static void *(*next_memalign)(size_t, size_t);
static void *(*next_mmap)(void *, size_t, int, int, int, off_t);
static int (*next_munmap)(void *, size_t);
static size_t (*next_usable)(void *);

/* ---- while dlsym runs ---- */

static _Alignas(16) char heap_bump[BUMP_BYTES];
static size_t heap_bump_used;
static bool heap_resolving;

static void *heap_bump_alloc(size_t size)
{
    size_t at = __atomic_fetch_add(&heap_bump_used, (size + 15) & ~(size_t)15, __ATOMIC_RELAXED);
    return at + size <= sizeof heap_bump ? heap_bump + at : NULL;
}

static bool heap_is_bump(const void *block)
{
    return (const char *)block >= heap_bump && (const char *)block < heap_bump + sizeof heap_bump;
}

static void heap_resolve(void)
{
    heap_resolving = true;
    next_calloc = dlsym(RTLD_NEXT, "calloc");
    next_free = dlsym(RTLD_NEXT, "free");
    next_realloc = dlsym(RTLD_NEXT, "realloc");
    next_posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
    next_aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
    next_memalign = dlsym(RTLD_NEXT, "memalign");
    next_mmap = dlsym(RTLD_NEXT, "mmap");
    next_munmap = dlsym(RTLD_NEXT, "munmap");
    next_usable = dlsym(RTLD_NEXT, "malloc_usable_size");
    heap_is_glibc = (void *)dlsym(RTLD_NEXT, "malloc") == dlsym(RTLD_NEXT, "__libc_malloc");
    __atomic_store_n(&next_malloc, dlsym(RTLD_NEXT, "malloc"), __ATOMIC_RELEASE);
    heap_resolving = false;
}

static inline bool heap_resolved(void)
{
    if (__builtin_expect(next_malloc != NULL, 1))
        return true;
    if (heap_resolving)
        return false;
    heap_resolve();
    return next_malloc != NULL;
}

/* ---- pools ---- */

static void *heap_map(size_t bytes)
{
    void *memory = heap_resolved() && next_mmap
                       ? next_mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                       : MAP_FAILED;
    return memory == MAP_FAILED ? NULL : memory;
}

static uint64_t heap_hash(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t x = (a ^ b << 17 ^ b >> 11 ^ c * 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u;
    return x ^ x >> 32;
}

/* With the process lock held. 0: tables are full. */
static uint32_t pool_intern(uint32_t context, uint64_t size)
{
    uint32_t at = (uint32_t)heap_hash(context, 0, size) & (POOL_SLOTS - 1);
    for (; heap_pool_slots[at]; at = (at + 1) & (POOL_SLOTS - 1)) {
        const struct pool *pool = &heap_pools[heap_pool_slots[at]];
        if (pool->context == context && pool->size == size)
            return heap_pool_slots[at];
    }
    if (heap_pool_count + 1 >= POOLS_MAX)
        return 0;
    uint32_t id = heap_pool_count + 1;
    if (lwps_put_pool(&lwp_process.file, &(struct lwps_pool){.id = id, .context = context, .size = size}))
        return 0;
    heap_pools[id].context = context;
    heap_pools[id].size = size;
    heap_pool_count = id;
    heap_pool_slots[at] = id;
    return id;
}

static uint32_t pool_of_path(uint32_t context, uint64_t size)
{
    static uint8_t sizes[1 << 12]; /* distinct sizes by context, hashed: a collision only pools earlier */
    uint32_t before = heap_pool_count;
    uint8_t *seen = &sizes[context & (sizeof sizes - 1)];
    if (*seen >= SIZES_EACH)
        return pool_intern(context, 0);
    uint32_t pool = pool_intern(context, size);
    if (heap_pool_count != before)
        ++*seen;
    return pool;
}

/* The call path from `ra`, the return address of the interposed function, outwards: our own frames are left out. */
static uint32_t heap_context(uint64_t ra)
{
    uint64_t ips[LWP_FRAMES_MAX];
    unsigned count = lwp_unwind_here(ips, LWP_FRAMES_MAX, 0), own = 0;
    while (own < count && ips[own] != ra)
        own++;
    if (own == count) /* not unwindable through us: the call site alone */
        return lwp_contexts_intern(&lwp_process.contexts, &ra, 1);
    return lwp_contexts_intern(&lwp_process.contexts, ips + own, count - own);
}

/* Where on the stack the caller's return address is, found by looking for what the unwinder says it is. */
static uint32_t site_words(const uint64_t *frame, const struct lwp_thread *self, uint64_t ra)
{
    uint64_t ips[8];
    unsigned count = lwp_unwind_here(ips, 8, 0);
    for (unsigned i = 0; i + 1 < count; i++) {
        if (ips[i] != ra)
            continue;
        for (uint32_t words = 1; words < STACK_WORDS && (uint64_t)(frame + words + 1) < self->stack_high; words++)
            if (frame[words] == ips[i + 1])
                return words;
    }
    return 0;
}

/* Programs with ever new call paths would spend their time being unwound: past its part of the CPU time (waiting for a
 * processor does not count), paths stay unknown. */
static bool slow_begin(const struct heap_thread *tables, uint64_t *now)
{
    *now = lwp_clock(CLOCK_THREAD_CPUTIME_ID);
    return tables->slow_ns < SLOW_FIRST_NS + (*now - tables->start_ns) / SLOW_PART;
}

static void slow_end(struct heap_thread *tables, struct lwp_thread *self, uint64_t begun)
{
    uint64_t took = lwp_clock(CLOCK_THREAD_CPUTIME_ID) - begun;
    tables->slow_ns += took;
    self->own_ns += took;
}

static __attribute__((noinline)) struct path *heap_path_slow(struct heap_thread *tables, struct lwp_thread *self,
                                                             uint64_t ra, uint64_t caller, uint64_t size,
                                                             struct path *path)
{
    struct call *call = &tables->call[heap_hash(ra, caller, 0) & (CALLS - 1)];
    bool known = call->ra == ra && call->caller == caller;
    uint64_t begun = 0;
    if ((!known && !slow_begin(tables, &begun)) || !lwp_process_try_lock())
        return NULL;
    if (!known)
        *call = (struct call){ra, caller, heap_context(ra)};
    uint32_t pool = pool_of_path(call->context, size);
    lwp_process_unlock();
    if (!known)
        slow_end(tables, self, begun);
    if (!pool)
        return NULL;
    *path = (struct path){.ra = ra, .caller = caller, .size = size, .pool = pool};
    return path;
}

static __attribute__((noinline)) bool heap_site_slow(struct heap_thread *tables, struct lwp_thread *self,
                                                     const uint64_t *frame, struct site *site)
{
    uint64_t begun;
    if (!slow_begin(tables, &begun))
        return false;
    *site = (struct site){*frame, site_words(frame, self, *frame)};
    slow_end(tables, self, begun);
    return true;
}

/* `frame` points at our return address on the stack. */

static inline struct path *heap_path(struct lwp_thread *self, const uint64_t *frame, uint64_t size)
{
    struct heap_thread *tables = heap_self;
    if (__builtin_expect(!tables, 0)) {
        tables = heap_self = heap_map(sizeof *tables);
        if (!tables)
            return NULL;
        tables->start_ns = lwp_clock(CLOCK_THREAD_CPUTIME_ID);
    }
    uint64_t ra = *frame;
    struct site *site = &tables->site[(ra ^ ra >> 12) & (SITES - 1)];
    if (__builtin_expect(site->ra != ra, 0) && !heap_site_slow(tables, self, frame, site))
        return NULL;
    uint64_t caller = 0;
    if (site->words && (uint64_t)(frame + site->words + 1) <= self->stack_high)
        caller = frame[site->words];
    struct path *path = &tables->path[heap_hash(ra, caller, size) & (PATHS - 1)];
    if (__builtin_expect(path->ra == ra && path->caller == caller && path->size == size, 1))
        return path;
    return heap_path_slow(tables, self, ra, caller, size, path);
}

static __attribute__((noinline)) void large_add(uint64_t address, uint64_t size, uint8_t kind, uint64_t ra)
{
    if (!lwp_process_try_lock())
        return;
    uint32_t at = (uint32_t)heap_hash(address, 0, 0) & (LARGE_SLOTS - 1), tries = 0;
    while (heap_large[at].address && tries++ < 64)
        at = (at + 1) & (LARGE_SLOTS - 1);
    if (!heap_large[at].address) {
        heap_large[at] = (struct large){address, size, ++heap_large_id, heap_context(ra), kind};
        lwps_put_block(&lwp_process.file, &(struct lwps_block){.id = heap_large_id, .kind = kind,
                                                               .context = heap_large[at].context,
                                                               .time = lwp_clock(CLOCK_MONOTONIC), .address = address,
                                                               .size = size});
    }
    lwp_process_unlock();
}

static __attribute__((noinline)) void large_remove(uint64_t address)
{
    if (!lwp_process_try_lock())
        return;
    uint32_t at = (uint32_t)heap_hash(address, 0, 0) & (LARGE_SLOTS - 1);
    for (uint32_t tries = 0; tries < 64; tries++, at = (at + 1) & (LARGE_SLOTS - 1))
        if (heap_large[at].address == address) {
            lwps_put_block_end(&lwp_process.file, &(struct lwps_block_end){.id = heap_large[at].id,
                                                                           .time = lwp_clock(CLOCK_MONOTONIC)});
            heap_large[at].address = 0;
            break;
        }
    lwp_process_unlock();
}

static inline struct lwp_thread *heap_enter(void)
{
    if (!heap_on)
        return NULL;
    struct lwp_thread *self = lwp_thread_self();
    return self && self->attached && !self->busy ? self : NULL;
}

static inline void heap_note(void *block, size_t size, const uint64_t *frame)
{
    struct lwp_thread *self = block ? heap_enter() : NULL;
    if (!self || (size < lwp_process.heap_threshold && self->heap_turn++ & self->heap_thinning))
        return;
    int saved = errno;
    self->busy++;
    if (size >= lwp_process.heap_threshold) {
        large_add((uint64_t)block, size, LWPS_BLOCK_HEAP, *frame);
    } else {
        struct path *path = heap_path(self, frame, size);
        if (path) {
            lwp_shadow_set((uint64_t)block, path->pool, &path->hint);
            struct pool *pool = &heap_pools[path->pool];
            pool->bytes += size;
            uint64_t live = ++pool->allocations - pool->frees;
            if (live > pool->peak)
                pool->peak = live;
        }
    }
    self->busy--;
    errno = saved;
}

/* Before the block is given back: another thread may get it at once. */
static inline void heap_forget(void *block)
{
    if (!heap_on || !block)
        return;
    uint32_t pool = lwp_shadow_clear((uint64_t)block);
    if (pool) {
        heap_pools[pool].frees++;
        return;
    }
    uint32_t at = (uint32_t)heap_hash((uint64_t)block, 0, 0) & (LARGE_SLOTS - 1);
    for (uint32_t tries = 0; tries < 64 && heap_large[at].address; tries++, at = (at + 1) & (LARGE_SLOTS - 1))
        if (heap_large[at].address == (uint64_t)block) {
            struct lwp_thread *self = lwp_thread_self();
            if (self)
                self->busy++;
            large_remove((uint64_t)block);
            if (self)
                self->busy--;
            return;
        }
}

bool lwp_heap_find(uint64_t address, uint32_t *pool, uint64_t *start)
{
    uint32_t found;
    uint64_t begin;
    if (!heap_on || !lwp_shadow_find(address, &found, &begin) || found > heap_pool_count)
        return false;
    uint64_t size = heap_pools[found].size;
    if (!size) {
        if (!heap_is_glibc)
            return false;
        size = next_usable((void *)begin); /* glibc: reads the chunk's header, which lives as long as the block */
    }
    if (address - begin >= size)
        return false;
    *pool = found;
    *start = begin;
    return true;
}

bool lwp_heap_start(void)
{
    if (!heap_resolved() || !lwp_shadow_init())
        return false;
    heap_pools = heap_map(POOLS_MAX * sizeof *heap_pools);
    heap_pool_slots = heap_map(POOL_SLOTS * sizeof *heap_pool_slots);
    heap_large = heap_map(LARGE_SLOTS * sizeof *heap_large);
    heap_on = heap_pools && heap_pool_slots && heap_large;
    return heap_on;
}

uint64_t lwp_heap_finish(void)
{
    uint64_t allocations = heap_large_id;
    heap_on = false;
    for (uint32_t id = 1; heap_pools && id <= heap_pool_count; id++) {
        const struct pool *pool = &heap_pools[id];
        allocations += pool->allocations;
        lwps_put_pool_count(&lwp_process.file,
                            &(struct lwps_pool_count){.id = id, .allocations = pool->allocations, .frees = pool->frees,
                                                      .peak_blocks = pool->peak, .bytes = pool->bytes});
    }
    return allocations;
}

void lwp_heap_again(void)
{
    for (uint32_t id = 1; heap_pools && id <= heap_pool_count; id++)
        lwps_put_pool(&lwp_process.file,
                      &(struct lwps_pool){.id = id, .context = heap_pools[id].context, .size = heap_pools[id].size});
    for (uint32_t at = 0; heap_large && at < LARGE_SLOTS; at++)
        if (heap_large[at].address)
            lwps_put_block(&lwp_process.file,
                           &(struct lwps_block){.id = heap_large[at].id, .kind = heap_large[at].kind,
                                                .context = heap_large[at].context, .time = lwp_clock(CLOCK_MONOTONIC),
                                                .address = heap_large[at].address, .size = heap_large[at].size});
}

/* ---- the interposed functions ---- */

#define FRAME ((const uint64_t *)__builtin_frame_address(0) + 1)

EXPORT void *malloc(size_t size)
{
    if (!heap_resolved())
        return heap_bump_alloc(size);
    void *block = next_malloc(size);
    heap_note(block, size, FRAME);
    return block;
}

EXPORT void free(void *block)
{
    if (heap_is_bump(block) || !heap_resolved())
        return;
    heap_forget(block);
    next_free(block);
}

EXPORT void *calloc(size_t count, size_t size)
{
    if (!heap_resolved())
        return heap_bump_alloc(count * size);
    void *block = next_calloc(count, size);
    heap_note(block, count * size, FRAME);
    return block;
}

EXPORT void *realloc(void *old, size_t size)
{
    if (!heap_resolved())
        return heap_bump_alloc(size);
    if (heap_is_bump(old)) {
        void *fresh = next_malloc(size);
        size_t room = (size_t)(heap_bump + sizeof heap_bump - (char *)old);
        if (fresh)
            memcpy(fresh, old, size < room ? size : room);
        return fresh;
    }
    heap_forget(old);
    void *block = next_realloc(old, size);
    heap_note(block, size, FRAME); /* when it fails the old block stays, unknown from here on */
    return block;
}

EXPORT int posix_memalign(void **block, size_t alignment, size_t size)
{
    if (!heap_resolved())
        return ENOMEM;
    int status = next_posix_memalign(block, alignment, size);
    if (!status)
        heap_note(*block, size, FRAME);
    return status;
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
    if (!heap_resolved())
        return NULL;
    void *block = next_aligned_alloc(alignment, size);
    heap_note(block, size, FRAME);
    return block;
}

EXPORT void *memalign(size_t alignment, size_t size)
{
    if (!heap_resolved())
        return NULL;
    void *block = next_memalign(alignment, size);
    heap_note(block, size, FRAME);
    return block;
}

EXPORT void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (!heap_resolved() || !next_mmap) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    void *block = next_mmap(address, size, protection, flags, fd, offset);
    struct lwp_thread *self = block != MAP_FAILED && size >= lwp_process.heap_threshold ? heap_enter() : NULL;
    if (self && (protection & (PROT_READ | PROT_WRITE)) && !(protection & PROT_EXEC)) {
        int saved = errno;
        self->busy++;
        large_add((uint64_t)block, size, LWPS_BLOCK_MMAP, *FRAME);
        self->busy--;
        errno = saved;
    }
    return block;
}

EXPORT int munmap(void *block, size_t size)
{
    if (!heap_resolved() || !next_munmap) {
        errno = EINVAL;
        return -1;
    }
    if (heap_on && size >= lwp_process.heap_threshold)
        heap_forget(block);
    return next_munmap(block, size);
}
