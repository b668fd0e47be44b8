/* A small block's path and size are found by the innermost return address, and by as many words of the stack more as
 * distinguish its chains. Whether the stack really holds the chain found is looked at each time. */
#include "collector/light/heap/sites.h"

#include "collector/light/heap/early.h"
#include "collector/light/heap/hook_cost.h"
#include "collector/light/heap/pools.h"
#include "collector/light/heap/thinning.h"
#include "collector/light/own/floats.h"
#include "collector/light/own/own_memory.h"
#include "collector/light/own/own_stack.h"
#include "collector/light/own/process.h"
#include "collector/light/own/run.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    /* blocks that stay unknown after one whose path could not be afforded: to walk the stack and to ask the clock costs, too. Twice as
     * many each time, until one can */
    RESTS = 64,
    RESTS_MOST = 65536,
    COUNT_MOST = 1000,
    PAID_BYTES = 1 << 20, /* to touch the pages of so large a block takes the kernel longer than to unwind its path takes */
    LONGEST_NS = 20000,   /* without unwinding; longer: the thread had to wait for a processor */
};

__thread struct lwp_sites *lwp_sites_self;
static struct lwp_sites *sites_all;
static uint64_t sites_left_out; /* by threads that are over */

/* ---- life ---- */

/* What is found by hashes, from the chains' index on, is all over its pages. */
static void sites_touch(struct lwp_sites *sites)
{
    enum { PAGE_BYTES = 4096 };
    char *from = (char *)sites + offsetof(struct lwp_sites, chains.index) / PAGE_BYTES * PAGE_BYTES;
    lwp_own_memory_touch(from, (size_t)((char *)(sites + 1) - from));
}

static struct lwp_sites *sites_take(void)
{
    for (struct lwp_sites *sites = __atomic_load_n(&sites_all, __ATOMIC_ACQUIRE); sites; sites = sites->next)
        if (!__atomic_exchange_n(&sites->used, true, __ATOMIC_ACQUIRE))
            return sites;
    struct lwp_sites *sites = lwp_own_memory(sizeof *sites);
    if (!sites)
        return NULL;
    if (!sites_all) /* most other threads use little of it */
        sites_touch(sites);
    /* A child that no atfork handler prepared (clone, _Fork) must not write into its parent's files. */
    madvise(sites, sizeof *sites, MADV_WIPEONFORK);
    sites->used = true;
    sites->next = __atomic_load_n(&sites_all, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&sites_all, &sites->next, sites, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
    return sites;
}

/* What a thread before it learnt is as true of this one: whether the stack holds a chain is looked at each time. But paths refer to chains,
 * and those of early blocks are of copies. */
void lwp_sites_begin(struct lwp_thread *thread)
{
    const bool of_copies = lwp_sites_self != NULL;
    struct lwp_sites *sites = of_copies ? lwp_sites_self : sites_take();
    if (!sites)
        return;
    sites->start_ns = lwp_clock(CLOCK_THREAD_CPUTIME_ID);
    sites->chains.stack_low = thread->stack_low;
    sites->chains.stack_high = thread->stack_high;
    sites->chains.learnt_ns = sites->charged_learnt_ns = 0; /* of early ones: setting up is charged by itself */
    if (of_copies)
        lwp_chains_forget(&sites->chains, false);
    sites->thread = thread;
    lwp_sites_self = sites;
}

/* With `frees` of its pool. */
static void sites_add_path(struct lwp_sites *sites, struct lwp_allocation_path *path, uint32_t frees)
{
    struct lwp_allocation_pool *of = &sites->pool[path - sites->path];
    const struct lwp_pool_counts counts = {
        .allocations = path->count, .left_out = of->left_out, .frees = frees, .bytes = ((uint64_t)path->count + of->left_out) * of->size};
    if (of->pool && (path->count || frees))
        lwp_pool_count_in(of->pool, &counts);
    path->count = 0;
    of->left_out = 0;
}

static void sites_add_counts(struct lwp_sites *sites)
{
    for (unsigned i = 0; i < LWP_ALLOCATION_PATHS / 64; i++)
        for (uint64_t used = sites->paths_used[i]; used; used &= used - 1)
            sites_add_path(sites, &sites->path[i * 64 + (unsigned)__builtin_ctzll(used)], 0);
    for (unsigned i = 1; i <= LWP_SHADOW_HOT; i++)
        if (sites->frees[i]) {
            lwp_pool_count_in(lwp_shadow_hot[i], &(struct lwp_pool_counts){.frees = sites->frees[i]});
            sites->frees[i] = 0;
        }
}

void lwp_sites_end(void)
{
    struct lwp_sites *sites = lwp_sites_self;
    if (!sites)
        return;
    lwp_sites_self = NULL;
    sites_add_counts(sites);
    if (sites->thread)
        lwp_thinning_end(sites->thread);
    __atomic_fetch_add(&sites_left_out, sites->thread ? sites->thread->heap_left_out : 0, __ATOMIC_RELAXED);
    sites->thread = NULL;
    sites->rests = sites->rests_next = 0;
    __atomic_store_n(&sites->used, false, __ATOMIC_RELEASE);
}

void lwp_sites_finish(void)
{
    for (struct lwp_sites *sites = __atomic_load_n(&sites_all, __ATOMIC_ACQUIRE); sites; sites = sites->next)
        if (sites->thread)
            sites_add_counts(sites);
}

uint64_t lwp_sites_left_out(void)
{
    uint64_t all = __atomic_load_n(&sites_left_out, __ATOMIC_RELAXED);
    for (struct lwp_sites *sites = __atomic_load_n(&sites_all, __ATOMIC_ACQUIRE); sites; sites = sites->next)
        all += sites->thread ? sites->thread->heap_left_out : 0;
    return all - lwp_thinning_skips;
}

void lwp_sites_after_fork(void)
{
    sites_all = NULL; /* wiped; the address space is a small loss */
    lwp_sites_self = NULL;
    lwp_thinning_skips = 0;
}

/* ---- slow paths ---- */

void lwp_sites_charge(struct lwp_sites *sites, uint64_t begun_ns)
{
    struct lwp_thread *self = sites->thread;
    uint64_t ns = lwp_clock(CLOCK_MONOTONIC) - begun_ns, most = LONGEST_NS + sites->chains.learnt_ns - sites->charged_learnt_ns;
    ns = ns < most ? ns : most;
    sites->charged_learnt_ns = sites->chains.learnt_ns;
    lwp_budget_spend(&self->budget, LWP_COST_HEAP, ns * LWP_HEAP_COLD);
    lwp_thinning_spent(self, ns);
}

/* Of the CPU time that was seen last: to ask for it costs as much as many a path. */
static bool sites_learns(const struct lwp_sites *sites)
{
    const struct lwp_thread *self = sites->thread;
    uint64_t cpu_ns = self->last_cpu_ns > self->heap_cpu_ns ? self->last_cpu_ns : self->heap_cpu_ns;
    return LWP_HEAP_COLD * (double)sites->chains.learnt_ns <
           lwp_budget_paths_ns(&self->budget, cpu_ns > sites->start_ns ? cpu_ns - sites->start_ns : 0);
}

/* 0: not known. */
static uint32_t sites_chain(struct lwp_sites *sites, const uint64_t *frame, size_t bytes, bool *cut)
{
    bool learns = bytes >= PAID_BYTES || sites_learns(sites);
    uint32_t chain = lwp_chains_find(&sites->chains, frame, learns, cut);
    if (!chain) {
        sites_add_counts(sites);
        memset(sites->path, 0, sizeof sites->path);
        memset(sites->paths_used, 0, sizeof sites->paths_used);
        lwp_chains_forget(&sites->chains, true);
        chain = lwp_chains_find(&sites->chains, frame, learns, cut);
    }
    if (*cut)
        sites->rests = sites->rests_next = sites->rests_next < RESTS        ? RESTS
                                           : sites->rests_next < RESTS_MOST ? sites->rests_next * 2
                                                                            : RESTS_MOST;
    else if (learns)
        sites->rests_next = 0;
    return chain;
}

uint32_t lwp_sites_context(struct lwp_sites *sites, const uint64_t *frame, size_t bytes)
{
    bool cut;
    uint32_t chain = sites_chain(sites, frame, bytes, &cut);
    return chain ? lwp_chains_context(&sites->chains, chain, sites->told) : 0;
}

/* What is learnt of the stacks kept is true of those to come. */
uint32_t lwp_sites_context_kept(const struct lwp_early_block *kept)
{
    const struct lwp_stack_copy *copy = kept->stack;
    if (!copy || (!lwp_sites_self && !(lwp_sites_self = sites_take())))
        return 0;
    struct lwp_chains *chains = &lwp_sites_self->chains;
    chains->stack_high = copy->registers.sp + copy->words * sizeof copy->words;
    if (!lwp_chains_own(chains, kept->frame))
        return 0;
    if (chains->count + 1 >= LWP_CHAINS)
        lwp_chains_forget(chains, false); /* nothing refers to them */
    chains->copy = copy;
    chains->words = kept->words;
    bool cut;
    uint32_t chain = lwp_chains_find(chains, kept->frame, true, &cut);
    chains->copy = NULL;
    return chain ? lwp_chains_context(chains, chain, 0) : 0;
}

void lwp_sites_leave_open(struct lwp_sites *sites, const uint64_t *frame, uint32_t size, uint32_t stands_for)
{
    const uint64_t key = lwp_sites_key(*frame, size, lwp_chains_own(&sites->chains, frame));
    struct lwp_allocation_open *open = &sites->open[key >> 53];
    if (open->key != key)
        *open = (struct lwp_allocation_open){.key = key};
    open->blocks += stands_for;
}

static uint32_t sites_open(struct lwp_sites *sites, const uint64_t *frame, uint32_t size)
{
    const uint64_t key = lwp_sites_key(*frame, size, lwp_chains_own(&sites->chains, frame));
    struct lwp_allocation_open *open = &sites->open[key >> 53];
    const uint32_t blocks = open->key == key ? open->blocks : 0;
    open->blocks = open->key == key ? 0 : open->blocks;
    return blocks;
}

/* Of a path whose blocks of that size stay unknown that is remembered: to find it out takes a microsecond. */
static bool sites_path_new(struct lwp_sites *sites, uint32_t chain, uint32_t size, uint64_t key, struct lwp_allocation_path *path)
{
    if (!lwp_process_lock_soon())
        return false;
    uint32_t context = lwp_chains_context(&sites->chains, chain, sites->told);
    uint32_t pool = context ? lwp_pool_intern(context, size) : 0;
    lwp_process_unlock();
    if (!context)
        return false;
    sites_add_path(sites, path, 0);
    size_t index = (size_t)(path - sites->path);
    sites->paths_used[index / 64] |= (uint64_t)1 << index % 64;
    *path = (struct lwp_allocation_path){.key = key, .most = 1, .chain = (uint16_t)chain, .hot = lwp_pools[pool].hot};
    sites->pool[index] = (struct lwp_allocation_pool){.size = size, .pool = pool};
    return true;
}

/* The link of the chain that distinguishes it from others at this entry, which becomes a fork. 0: none does. */
static uint32_t sites_fork(struct lwp_sites *sites, uint32_t number, struct lwp_allocation_path *path)
{
    const struct lwp_chain *chain = &sites->chains.chain[number], *other = &sites->chains.chain[path->chain];
    uint32_t at = lwp_chains_fork(&sites->chains, number, path->chain), known = 1;
    while (path->fork && known < at && (other->words[known] != path->words || (known < other->near) != (path->fork == LWP_FORK_NEAR)))
        known++;
    if (path->fork && known < at)
        return known;
    if (at >= chain->count || at >= other->count || (at < chain->near) != (at < other->near) || chain->words[at] != other->words[at] ||
        chain->words[at] > UINT16_MAX)
        return 0;
    sites_add_path(sites, path, 0);
    path->words = (uint16_t)chain->words[at]; /* what further words distinguished is found again */
    path->fork = at < chain->near ? LWP_FORK_NEAR : LWP_FORK_END;
    return at;
}

/* Where the chain's blocks of this size are to be counted: found where no other chain is. */
static struct lwp_allocation_path *sites_place(struct lwp_sites *sites, uint32_t number, const uint64_t *frame, uint32_t size,
                                               uint64_t *key)
{
    *key = lwp_sites_key(*frame, size, lwp_chains_own(&sites->chains, frame));
    for (;;) {
        struct lwp_allocation_path *path = &sites->path[*key >> 53];
        uint32_t fork = 0;
        if (path->key == *key && (path->fork || path->chain != number))
            fork = sites_fork(sites, number, path);
        if (!fork)
            return path;
        *key = lwp_sites_key_further(*key, sites->chains.path[number].ra[fork]);
    }
}

static struct lwp_allocation_path *sites_path_slow(struct lwp_sites *sites, const uint64_t *frame, uint32_t size)
{
    int saved = errno;
    bool cut;
    struct lwp_allocation_path *path = NULL;
    uint32_t chain = sites_chain(sites, frame, size, &cut);
    if (chain && !cut) {
        uint64_t key;
        path = sites_place(sites, chain, frame, size, &key);
        bool known = path->key == key && !path->fork && path->chain == chain;
        if (!known && !sites_path_new(sites, chain, size, key, path))
            path = NULL;
        else if (!known)
            sites->pool[path - sites->path].left_out = sites_open(sites, frame, size);
    }
    errno = saved;
    return path;
}

struct sites_slow {
    struct lwp_sites *sites;
    const uint64_t *frame;
    uint32_t size;
    struct lwp_allocation_path *path;
};

static void sites_path_there(void *of)
{
    struct sites_slow *slow = of;
    slow->path = sites_path_slow(slow->sites, slow->frame, slow->size);
}

/* A coroutine's stack may have no room; and what is not on the thread's own is not unwound. */
static __attribute__((noinline)) struct lwp_allocation_path *sites_path_on_any_stack(struct lwp_sites *sites, const uint64_t *frame,
                                                                                     uint32_t size)
{
    struct sites_slow slow = {.sites = sites, .frame = frame, .size = size};
    if (sites->rests && (sites->rests % RESTS || !sites_learns(sites))) {
        sites->rests--;
        sites->thread->heap_left_out++;
        return NULL;
    }
    sites->rests = 0;
    uint64_t begun = lwp_clock(CLOCK_MONOTONIC);
    if (lwp_chains_own(&sites->chains, frame))
        slow.path = sites_path_slow(sites, frame, size);
    else
        lwp_own_stack_run(sites_path_there, &slow);
    lwp_sites_charge(sites, begun);
    return slow.path;
}

__attribute__((noinline)) struct lwp_allocation_path *lwp_sites_path_slow(struct lwp_sites *sites, const uint64_t *frame, uint32_t size)
{
    const uint32_t floats = lwp_floats_begin();
    struct lwp_allocation_path *path = sites_path_on_any_stack(sites, frame, size);
    lwp_floats_end(floats);
    return path;
}

/* Counts in early while a pool is small, so that its peak is exact, and rarely later. */
__attribute__((noinline)) void lwp_sites_count(struct lwp_sites *sites, struct lwp_allocation_path *path)
{
    const struct lwp_pool *pool = &lwp_pools[lwp_sites_pool(sites, path)];
    uint32_t frees = path->hot ? sites->frees[path->hot] : 0;
    if (path->hot)
        sites->frees[path->hot] = 0;
    sites_add_path(sites, path, frees);
    uint64_t most = pool == lwp_pools ? COUNT_MOST : (pool->allocations - pool->frees) / 16 + pool->allocations / 1024;
    path->most = (uint16_t)(most < 1 ? 1 : most > COUNT_MOST ? COUNT_MOST : most);
    path->hot = pool->hot;
}

__attribute__((noinline)) void lwp_sites_freed(struct lwp_sites *sites, uint8_t hot)
{
    lwp_pool_count_in(lwp_shadow_hot[hot], &(struct lwp_pool_counts){.frees = sites->frees[hot]});
    sites->frees[hot] = 0;
}
