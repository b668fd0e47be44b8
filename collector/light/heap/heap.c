/* The allocator's functions, passed on to whichever comes next. Blocks below the threshold are pooled by call site and
 * size (sites.c, pools.c) and marked where they begin (shadow.c): some ten loads and stores, nothing is unwound or locked
 * but the first time. Larger blocks and mappings are recorded one by one (blocks.c). A block is forgotten before it is
 * given back, since another thread may get it at once. What could not be recorded is unknown. */
#include "collector/light/heap/heap.h"

#include "collector/light/heap/blocks.h"
#include "collector/light/heap/bump.h"
#include "collector/light/heap/early.h"
#include "collector/light/heap/hook_cost.h"
#include "collector/light/heap/pools.h"
#include "collector/light/heap/sites.h"
#include "collector/light/heap/thinning.h"
#include "collector/light/own/floats.h"
#include "collector/light/own/hot.h"
#include "collector/light/own/own_allocations.h"
#include "collector/light/own/own_stack.h"
#include "collector/light/own/process.h"
#include "collector/light/own/real_calls.h"
#include "collector/light/own/watched_memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SLOW __attribute__((noinline, cold))
#define FAST __attribute__((always_inline)) inline

enum { LEFT_OUT_TOLD = 100 /* one part of so many */ };

static LWP_HOT bool heap_on, heap_glibc;
static LWP_HOT uint32_t heap_threshold; /* of the process */
static uint32_t heap_idle_left;         /* lwp_heap_idle_calls() */
static __thread bool heap_looked; /* for this thread's lwp_thread, in vain */

/* Looked up when first called, which may be while dlsym runs: not by LWP_REAL. */
#define HEAP_OFTEN(of)         of(calloc) of(free) of(realloc)
#define HEAP_SELDOM(of)        of(posix_memalign) of(aligned_alloc) of(memalign)
#define HEAP_DECLARE_HOT(name) static LWP_HOT __typeof__(&name) real_##name;
#define HEAP_DECLARE(name) static __typeof__(&name) real_##name;
#define HEAP_FIND(name) real_##name = (__typeof__(&name))dlsym(RTLD_NEXT, #name);
HEAP_OFTEN(HEAP_DECLARE_HOT)
HEAP_SELDOM(HEAP_DECLARE)
static LWP_HOT __typeof__(&malloc) real_malloc; /* the last one that is found */

/* ---- the allocator behind ---- */

static bool heap_resolving;

static SLOW void heap_resolve(void)
{
    heap_resolving = true;
    HEAP_OFTEN(HEAP_FIND)
    HEAP_SELDOM(HEAP_FIND)
    heap_glibc = dlsym(RTLD_NEXT, "malloc") == dlsym(RTLD_NEXT, "__libc_malloc");
    __atomic_store_n(&real_malloc, dlsym(RTLD_NEXT, "malloc"), __ATOMIC_RELEASE);
    heap_resolving = false;
}

static inline bool heap_resolved(void)
{
    if (__builtin_expect(real_malloc != NULL, 1))
        return true;
    if (heap_resolving)
        return false;
    heap_resolve();
    return real_malloc != NULL;
}

/* Whether the allocator is to be asked; else the block is one of bump.c's. */
static FAST bool heap_asks(size_t size)
{
    return heap_resolved() && (!lwp_own_allocations_here() || !lwp_bump_serves(size));
}

/* ---- recording ---- */

/* A thread that was there before us. */
static SLOW struct lwp_sites *heap_look(void)
{
    struct lwp_thread *self = heap_looked || !lwp_process.active ? NULL : lwp_thread_self();
    heap_looked = lwp_process.active;
    if (!self || !self->attached || self->busy)
        return NULL;
    self->busy++;
    lwp_sites_begin(self);
    self->busy--;
    return lwp_sites_self;
}

/* The calling thread's tables, NULL: it does not record now. */
static FAST struct lwp_sites *heap_enter(void)
{
    if (!heap_on)
        return NULL;
    struct lwp_sites *sites = lwp_sites_self;
    if (__builtin_expect(!sites, 0) && !(sites = heap_look()))
        return NULL;
    return sites->thread && !sites->thread->busy ? sites : NULL;
}

struct heap_added {
    struct lwp_sites *sites;
    void *block;
    size_t size;
    uint8_t kind;
    const uint64_t *frame;
};

static void heap_add_there(void *of)
{
    const struct heap_added *added = of;
    if (!lwp_process_lock_soon())
        return;
    if (lwp_block_add((uint64_t)added->block, added->size, added->kind, lwp_sites_context(added->sites, added->frame, added->size)) &&
        added->kind == LWPS_BLOCK_HEAP)
        lwp_shadow_set((uint64_t)added->block, LWP_SHADOW_LARGE);
    lwp_process_unlock();
}

/* A coroutine's stack may have no room for it; a thread's own has, and is unwound. */
static SLOW void heap_add_block(struct lwp_sites *sites, void *block, size_t size, uint8_t kind, const uint64_t *frame)
{
    struct heap_added added = {sites, block, size, kind, frame};
    int saved = errno;
    const uint32_t floats = lwp_floats_begin();
    uint64_t begun = lwp_clock(CLOCK_MONOTONIC);
    sites->thread->busy++;
    if (lwp_chains_own(&sites->chains, frame))
        heap_add_there(&added);
    else
        lwp_own_stack_run(heap_add_there, &added);
    lwp_sites_charge(sites, begun);
    sites->thread->busy--;
    lwp_floats_end(floats);
    errno = saved;
}

/* While nothing is set up. */
static SLOW void heap_add_early(void *block, size_t size, uint8_t kind, const uint64_t *frame)
{
    int saved = errno;
    if (block && !lwp_early_add(block, size, kind, size >= lwp_process.heap_threshold, frame))
        lwp_process.wake(frame);
    errno = saved;
}

static void heap_remove_there(void *block)
{
    if (lwp_process_lock_soon()) {
        lwp_block_remove((uint64_t)block);
        lwp_process_unlock();
    }
}

static SLOW void heap_remove_block(const void *block)
{
    struct lwp_sites *sites = lwp_sites_self;
    int saved = errno;
    const uint32_t floats = lwp_floats_begin();
    if (!sites || !sites->thread) /* a thread that is not sampled, or a child without files */
        sites = NULL;
    uint64_t begun = sites ? lwp_clock(CLOCK_MONOTONIC) : 0;
    if (sites)
        sites->thread->busy++;
    lwp_own_stack_run(heap_remove_there, (void *)block);
    if (sites) {
        lwp_sites_charge(sites, begun);
        sites->thread->busy--;
    }
    lwp_floats_end(floats);
    errno = saved;
}

static LWP_HOT_CODE __attribute__((noinline)) void heap_note_small(struct lwp_sites *sites, void *block, size_t size, uint32_t stands_for,
                                                                   const uint64_t *frame)
{
    struct lwp_hook hook;
    lwp_hook_begin(sites->thread, &hook);
    struct lwp_allocation_path *path = lwp_sites_path(sites, frame, (uint32_t)size);
    if (path) {
        if (__builtin_expect(path->hot, 1))
            lwp_shadow_set((uint64_t)block, path->hot);
        else if (lwp_sites_pool(sites, path))
            lwp_shadow_set_local((uint64_t)block, lwp_sites_pool(sites, path));
        const bool many_left_out = __builtin_expect(stands_for > 1, 0) && lwp_sites_left_out_too(sites, path, stands_for - 1);
        if (__builtin_expect(++path->count >= path->most || many_left_out, 0))
            lwp_sites_count(sites, path);
    } else {
        lwp_sites_leave_open(sites, frame, (uint32_t)size, stands_for);
    }
    lwp_hook_end(sites->thread, &hook);
}

static FAST bool heap_skips(void)
{
    if (!lwp_thinning_skips)
        return false;
    lwp_thinning_skips--;
    return true;
}

/* Where few blocks are recorded most calls end here. */
static FAST bool heap_leaves_out(size_t size)
{
    return size < LWP_LARGER_BYTES && size < heap_threshold && heap_skips();
}

/* For how many blocks below the threshold this one is recorded, on average; 0: it is not. */
static FAST uint32_t heap_stands_for(struct lwp_thread *self, size_t size)
{
    if (size >= LWP_LARGER_BYTES && self->heap_larger) {
        self->heap_larger--;
        return 1;
    }
    if (heap_skips())
        return 0;
    const uint32_t drawn = self->heap_drawn;
    if (__builtin_expect(self->heap_thinning | drawn, 0))
        lwp_thinning_next(self);
    return drawn + 1;
}

static FAST void heap_note(void *block, size_t size, const uint64_t *frame)
{
    struct lwp_sites *sites = heap_enter();
    if (!sites || !block) {
        if (!sites && lwp_early_on)
            heap_add_early(block, size, LWPS_BLOCK_HEAP, frame);
        return;
    }
    if (__builtin_expect(size >= heap_threshold, 0)) {
        heap_add_block(sites, block, size, LWPS_BLOCK_HEAP, frame);
        return;
    }
    const uint32_t stands_for = heap_stands_for(sites->thread, size);
    if (stands_for)
        heap_note_small(sites, block, size, stands_for, frame);
}

static __attribute__((noinline)) void heap_note_seldom(void *block, size_t size, const uint64_t *frame)
{
    heap_note(block, size, frame);
}

/* Of a pool without an index everywhere, of a thread that does not record, or one that has a record of its own. */
static SLOW void heap_forget_seldom(const void *block, uint8_t index)
{
    if (index == LWP_SHADOW_LARGE)
        heap_remove_block(block);
    else
        lwp_pool_count_in(lwp_shadow_forget((uint64_t)block, index), &(struct lwp_pool_counts){.frees = 1});
}

static LWP_HOT_CODE __attribute__((noinline)) void heap_forget_known(const void *block)
{
    struct lwp_sites *sites = heap_enter();
    struct lwp_hook hook;
    if (sites)
        lwp_hook_begin(sites->thread, &hook);
    uint8_t index = lwp_shadow_clear((uint64_t)block);
    if (__builtin_expect(sites && index && index <= LWP_SHADOW_HOT, 1)) {
        if (__builtin_expect(++sites->frees[index] >= 1000, 0))
            lwp_sites_freed(sites, index);
    } else if (index) {
        heap_forget_seldom(block, index);
    }
    if (sites)
        lwp_hook_end(sites->thread, &hook);
}

/* ---- blocks from before ---- */

static void heap_add_freed(const struct lwp_early_block *kept)
{
    if (!kept->freed)
        return;
    uint8_t index = lwp_shadow_clear((uint64_t)kept->block);
    if (index == LWP_SHADOW_LARGE || lwp_block_known((uint64_t)kept->block))
        lwp_block_remove((uint64_t)kept->block);
    else if (index)
        lwp_pool_count_in(lwp_shadow_forget((uint64_t)kept->block, index), &(struct lwp_pool_counts){.frees = 1});
}

static void heap_add_kept(const struct lwp_early_block *kept)
{
    if (kept->freed) {
        heap_add_freed(kept);
        return;
    }
    uint32_t context = lwp_sites_context_kept(kept);
    uint32_t pool = context && !kept->large ? lwp_pool_intern(context, kept->size) : 0;
    if (pool) {
        lwp_shadow_set_local((uint64_t)kept->block, pool);
        lwp_pool_count_in(pool, &(struct lwp_pool_counts){.allocations = 1, .bytes = kept->size});
    } else if (kept->large && lwp_block_add((uint64_t)kept->block, kept->size, kept->kind, context) && kept->kind == LWPS_BLOCK_HEAP) {
        lwp_shadow_set((uint64_t)kept->block, LWP_SHADOW_LARGE);
    }
}

static void heap_end_early(void (*visit)(const struct lwp_early_block *kept))
{
    if (lwp_process_lock_soon()) {
        lwp_early_end(heap_on ? visit : NULL);
        lwp_process_unlock();
    } else {
        lwp_early_end(NULL);
        heap_on = false; /* what was freed is not known */
    }
}

/* While nothing is set up in a process that another one forked, the tables stay shared with that one: many a process frees all it has
 * and ends. False: it has to be taken out of them now. */
static SLOW bool heap_forget_early(const void *block)
{
    int saved = errno;
    bool kept = lwp_early_remove(block, heap_on && lwp_shadow_may_know((uint64_t)block));
    if (!kept)
        heap_end_early(heap_add_freed);
    errno = saved;
    return kept;
}

/* Most calls end here where few blocks are recorded: nothing is timed. */
static FAST bool heap_knows(const void *block)
{
    return heap_on && lwp_shadow_may_know((uint64_t)block) && lwp_shadow_begins((uint64_t)block);
}

static FAST void heap_forget(const void *block)
{
    if (__builtin_expect(lwp_early_on, 0) && heap_forget_early(block))
        return;
    if (heap_knows(block))
        heap_forget_known(block);
}

bool lwp_heap_find(uint64_t address, uint32_t *pool, uint64_t *start)
{
    uint32_t found;
    uint64_t begin;
    if (!heap_on || !lwp_shadow_find(address, &found, &begin) ||
        found > __atomic_load_n(&lwp_pool_count, __ATOMIC_ACQUIRE) || address - begin >= lwp_pools[found].bound)
        return false;
    *pool = found;
    *start = begin;
    return true;
}

/* ---- mappings ---- */

/* Small ones, if they are memory and no file, are what an allocator hands out in parts: as blocks of the heap, and never left out. */
static SLOW void heap_note_small_mapping(void *block, size_t size, const uint64_t *frame)
{
    struct lwp_sites *sites = heap_enter();
    if (sites)
        heap_note_small(sites, block, size, 1, frame);
    else if (lwp_early_on)
        heap_add_early(block, size, LWPS_BLOCK_HEAP, frame);
}

void lwp_heap_note_mapping(void *block, size_t size, bool memory, const uint64_t *frame)
{
    if (size < lwp_process.heap_threshold) {
        if (memory)
            heap_note_small_mapping(block, size, frame);
        return;
    }
    struct lwp_sites *sites = heap_enter();
    if (sites)
        heap_add_block(sites, block, size, LWPS_BLOCK_MMAP, frame);
    else if (lwp_early_on)
        heap_add_early(block, size, LWPS_BLOCK_MMAP, frame);
}

bool lwp_heap_knows_mapping(const void *block, size_t size)
{
    return heap_on && size >= lwp_process.heap_threshold && lwp_block_known((uint64_t)block);
}

void lwp_heap_forget_mapping(const void *block, size_t size)
{
    enum { PAGE = 4096 };
    if (lwp_early_on)
        heap_forget_early(block);
    if (lwp_heap_knows_mapping(block, size))
        heap_remove_block(block);
    uint64_t at = (uint64_t)block;
    while (heap_on && at - (uint64_t)block < size) { /* it may be a reserve of terabytes */
        const bool any = lwp_shadow_region(at) != NULL;
        if (any && heap_knows((const void *)at))
            heap_forget_known((const void *)at);
        at = any ? at + PAGE : lwp_shadow_next(at);
    }
}

/* ---- life ---- */

bool lwp_heap_resolved(void)
{
    return heap_resolved();
}

bool lwp_heap_is_glibc(void)
{
    return heap_resolved() && heap_glibc && lwp_is_ours(dlsym(RTLD_DEFAULT, "malloc")); /* `malloc` would be the program's own */
}

void lwp_heap_add_early(void)
{
    heap_end_early(heap_add_kept);
}

/* Most calls then end at their first tests, which count them down. */
void lwp_heap_idle(void)
{
    if (heap_on || lwp_early_on || !heap_resolved())
        return;
    heap_threshold = UINT32_MAX;
    lwp_thinning_skips = heap_idle_left = UINT32_MAX;
}

/* Also in a handler, which may have interrupted the counting: nothing is set back. */
uint64_t lwp_heap_idle_calls(void)
{
    const uint32_t left = lwp_thinning_skips, calls = heap_threshold == UINT32_MAX ? heap_idle_left - left : 0;
    heap_idle_left = left;
    return calls;
}

void lwp_heap_end_idle(void)
{
    if (heap_threshold != UINT32_MAX)
        return;
    heap_threshold = 0;
    lwp_thinning_skips = 0;
}

void lwp_heap_forget_early(void)
{
    if (heap_on)
        lwp_early_forget();
    else
        lwp_early_end(NULL);
}

bool lwp_heap_start(void)
{
    heap_threshold = (uint32_t)lwp_process.heap_threshold;
    heap_on = heap_resolved() && lwp_shadow_init(heap_glibc) && lwp_pools_init(heap_glibc) && lwp_blocks_init();
    return heap_on;
}

uint64_t lwp_heap_finish(uint64_t *unrecorded)
{
    heap_on = false;
    lwp_sites_finish();
    if (lwp_blocks_lost()) {
        char text[160];
        snprintf(text, sizeof text,
                 "%llu large blocks and mappings came too fast or were too many to be recorded: what was in them is unknown.",
                 (unsigned long long)lwp_blocks_lost());
        lwp_process_note(text);
    }
    uint64_t pooled = lwp_pools_write_counts(), left_out = *unrecorded = lwp_sites_left_out();
    if (left_out > (pooled + left_out) / LEFT_OUT_TOLD) {
        char text[160];
        snprintf(text, sizeof text,
                 "%.0f %% of the allocations of small blocks were not recorded, to keep the overhead low: what was in them is unknown.",
                 100.0 * (double)left_out / (double)(pooled + left_out));
        lwp_process_note(text);
    }
    return pooled + lwp_blocks_count();
}

void lwp_heap_after_fork(void)
{
    heap_looked = false;
    lwp_sites_after_fork();
}

void lwp_heap_again(void)
{
    lwp_pools_again();
    lwp_blocks_again();
}

/* ---- the interposed functions ---- */

static LWP_HOT_CODE __attribute__((noinline)) void *heap_malloc_noted(size_t size, const uint64_t *frame)
{
    if (!heap_asks(size))
        return lwp_bump_alloc(size);
    void *block = real_malloc(size);
    heap_note(block, size, frame);
    return block;
}

LWP_EXPORT LWP_HOT_CODE void *malloc(size_t size)
{
    if (__builtin_expect(heap_leaves_out(size), 1))
        return real_malloc(size);
    return heap_malloc_noted(size, LWP_HEAP_FRAME);
}

/* Before the allocator writes into a block that goes: that is no use of it, and neither is what is stored there later. */
static inline void heap_unwatch(void *block)
{
    enum { CHUNK_FLAGS = 7 };
    if (!lwp_watched_any())
        return;
    size_t room = heap_glibc ? ((const size_t *)block)[-1] & ~(size_t)CHUNK_FLAGS : malloc_usable_size(block);
    lwp_watched_forget(block, room, LWPS_WATCH_FREED);
}

static LWP_HOT_CODE __attribute__((noinline)) void heap_free_noted(void *block)
{
    if (!heap_resolved())
        return;
    heap_unwatch(block);
    heap_forget(block);
    real_free(block);
}

/* Without a frame of its own, as malloc: most blocks are left out. */
LWP_EXPORT LWP_HOT_CODE void free(void *block)
{
    if (!block || lwp_bump_has(block))
        return;
    if (__builtin_expect(!real_malloc | lwp_early_on | lwp_watched_any(), 0) || heap_knows(block))
        heap_free_noted(block);
    else
        real_free(block);
}

static LWP_HOT_CODE __attribute__((noinline)) void *heap_calloc_noted(size_t count, size_t size, const uint64_t *frame)
{
    size_t bytes;
    bool too_large = __builtin_mul_overflow(count, size, &bytes);
    if (!heap_asks(bytes))
        return too_large ? NULL : lwp_bump_alloc(bytes);
    void *block = real_calloc(count, size);
    heap_note(block, count * size, frame);
    return block;
}

LWP_EXPORT LWP_HOT_CODE void *calloc(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_expect(!__builtin_mul_overflow(count, size, &bytes) && heap_leaves_out(bytes), 1))
        return real_calloc(count, size);
    return heap_calloc_noted(count, size, LWP_HEAP_FRAME);
}

LWP_EXPORT LWP_HOT_CODE void *realloc(void *old, size_t size)
{
    bool asks = heap_asks(size);
    if (lwp_bump_has(old) || (!old && !asks)) {
        void *fresh = asks ? real_malloc(size) : lwp_bump_alloc(size);
        if (fresh && old)
            lwp_bump_copy(fresh, old, size);
        return fresh;
    }
    if (old) {
        heap_unwatch(old);
        heap_forget(old);
    }
    void *block = real_realloc(old, size);
    if (!heap_leaves_out(size))
        heap_note_seldom(block, size, LWP_HEAP_FRAME); /* when it fails the old block stays, unknown from here on */
    return block;
}

LWP_EXPORT int posix_memalign(void **block, size_t alignment, size_t size)
{
    if (!heap_resolved())
        return ENOMEM;
    int status = real_posix_memalign(block, alignment, size);
    if (!status)
        heap_note_seldom(*block, size, LWP_HEAP_FRAME);
    return status;
}

#define HEAP_ALIGNED(name, parameters, allocate) \
    LWP_EXPORT void *name parameters             \
    {                                            \
        if (!heap_resolved())                    \
            return NULL;                         \
        void *block = allocate;                  \
        heap_note_seldom(block, size, LWP_HEAP_FRAME);    \
        return block;                            \
    }

HEAP_ALIGNED(aligned_alloc, (size_t alignment, size_t size), real_aligned_alloc(alignment, size))
HEAP_ALIGNED(memalign, (size_t alignment, size_t size), real_memalign(alignment, size))
HEAP_ALIGNED(valloc, (size_t size), real_memalign((size_t)sysconf(_SC_PAGESIZE), size))

/* ---- what the program says of its own allocators (lwp.h) ---- */

LWP_EXPORT void lwp_block_alloc(const void *pool, void *block, size_t size)
{
    struct lwp_sites *sites = lwp_sites_self;
    (void)pool;
    if (!sites && lwp_early_on) {
        lwp_process.wake(LWP_HEAP_FRAME);
        sites = lwp_sites_self;
    }
    if (!sites)
        return;
    sites->told = true;
    heap_note_seldom(block, size, LWP_HEAP_FRAME);
    sites->told = false;
}

LWP_EXPORT void lwp_block_free(const void *pool, void *block, size_t size)
{
    (void)pool, (void)size;
    if (block)
        heap_forget(block);
}
