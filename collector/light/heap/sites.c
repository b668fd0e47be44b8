/* A call site is its return address with those of its caller (and of that one's, when the site is a wrapper in a
 * library). Where they are on the stack is learnt from one unwinding and then read: the distance is the same whenever
 * the same site runs, but for functions that move their stack pointer about, which are then learnt again and again
 * until the time for it is used up. Two call paths that differ only further out count as one. */
#define _GNU_SOURCE
#include "collector/light/heap/sites.h"

#include "collector/light/code/unwind.h"
#include "collector/light/heap/pools.h"
#include "collector/light/own/own_memory.h"
#include "collector/light/own/process.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    SLOW_PART = 128, /* at most this part of the time goes into unwinding at allocations */
    SLOW_FIRST_NS = 10000000,
    STACK_WORDS = 96, /* how far up a return address is looked for */
    COUNT_MOST = 1000,
};

__thread struct lwp_sites *lwp_sites_self;
static struct lwp_sites *sites_all;

/* ---- life ---- */

static struct lwp_sites *sites_take(void)
{
    for (struct lwp_sites *sites = __atomic_load_n(&sites_all, __ATOMIC_ACQUIRE); sites; sites = sites->next)
        if (!__atomic_exchange_n(&sites->used, true, __ATOMIC_ACQUIRE))
            return sites;
    struct lwp_sites *sites = lwp_own_memory(sizeof *sites);
    if (!sites)
        return NULL;
    /* A child that no atfork handler prepared (clone, _Fork) must not write into its parent's files. */
    madvise(sites, sizeof *sites, MADV_WIPEONFORK);
    sites->used = true;
    sites->next = __atomic_load_n(&sites_all, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&sites_all, &sites->next, sites, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
    return sites;
}

void lwp_sites_begin(struct lwp_thread *thread)
{
    struct lwp_sites *sites = sites_take();
    if (!sites)
        return;
    sites->start_ns = lwp_clock(CLOCK_THREAD_CPUTIME_ID);
    sites->stack_high = thread->stack_high;
    sites->thread = thread;
    lwp_sites_self = sites;
}

/* With `frees` of its pool. */
static void sites_add_path(struct lwp_sites *sites, struct lwp_allocation_path *path, uint32_t frees)
{
    const struct lwp_allocation_pool *of = &sites->pool[path - sites->path];
    if (path->count || frees)
        lwp_pool_count_in(of->pool, path->count, frees, (uint64_t)path->count * of->size);
    path->count = 0;
}

static void sites_add_counts(struct lwp_sites *sites)
{
    for (unsigned i = 0; i < LWP_ALLOCATION_PATHS / 64; i++)
        for (uint64_t used = sites->paths_used[i]; used; used &= used - 1)
            sites_add_path(sites, &sites->path[i * 64 + (unsigned)__builtin_ctzll(used)], 0);
    for (unsigned i = 1; i <= LWP_SHADOW_HOT; i++)
        if (sites->frees[i]) {
            lwp_pool_count_in(lwp_shadow_hot[i], 0, sites->frees[i], 0);
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
    sites->thread = NULL;
    /* the tables' pages go back; the list's own fields must stay */
    uint64_t from = ((uint64_t)&sites->site + 4095) & ~(uint64_t)4095, to = ((uint64_t)(sites + 1)) & ~(uint64_t)4095;
    memset(sites->site, 0, (char *)from - (char *)sites->site);
    madvise((void *)from, to - from, MADV_DONTNEED);
    memset((void *)to, 0, (uint64_t)(sites + 1) - to);
    sites->slow_ns = 0;
    __atomic_store_n(&sites->used, false, __ATOMIC_RELEASE);
}

void lwp_sites_finish(void)
{
    for (struct lwp_sites *sites = __atomic_load_n(&sites_all, __ATOMIC_ACQUIRE); sites; sites = sites->next)
        if (sites->thread)
            sites_add_counts(sites);
}

void lwp_sites_after_fork(void)
{
    sites_all = NULL; /* wiped; the address space is a small loss */
    lwp_sites_self = NULL;
}

/* ---- slow paths ---- */

/* Programs with ever new call paths would spend their time being unwound: past its part of the CPU time (waiting for a
 * processor does not count), paths stay unknown. */
static bool sites_slow_begin(const struct lwp_sites *sites, uint64_t *now)
{
    *now = lwp_clock(CLOCK_THREAD_CPUTIME_ID);
    return sites->slow_ns < SLOW_FIRST_NS + (*now - sites->start_ns) / SLOW_PART;
}

static void sites_slow_end(struct lwp_sites *sites, uint64_t begun)
{
    sites->slow_ns += lwp_clock(CLOCK_THREAD_CPUTIME_ID) - begun;
}

static bool sites_in_program(uint64_t ip)
{
    static uint64_t low, high; /* of the executable, where most call sites are */
    if (!high) {
        struct dl_find_object object;
        if (!_dl_find_object((void *)_r_debug.r_map->l_ld, &object)) {
            low = (uint64_t)object.dlfo_map_start;
            high = (uint64_t)object.dlfo_map_end;
        }
    }
    return ip >= low && ip < high;
}

static struct lwp_allocation_site *sites_site(struct lwp_sites *sites, uint64_t ra)
{
    uint32_t at = lwp_sites_first(ra);
    for (uint32_t way = 0; way < LWP_SITE_WAYS; way++) {
        struct lwp_allocation_site *site = &sites->site[(at + way) & (LWP_SITES - 1)];
        if (site->ra == ra)
            return site;
    }
    return NULL;
}

static void sites_put(struct lwp_sites *sites, uint64_t ra, uint32_t words)
{
    struct lwp_allocation_site *site = sites_site(sites, ra);
    uint32_t at = lwp_sites_first(ra);
    for (uint32_t way = 0; !site && way < LWP_SITE_WAYS; way++)
        if (!sites->site[(at + way) & (LWP_SITES - 1)].ra)
            site = &sites->site[(at + way) & (LWP_SITES - 1)];
    if (!site)
        site = &sites->site[at];
    *site = (struct lwp_allocation_site){ra, words, !sites_in_program(ra)};
}

static uint32_t sites_distance(const struct lwp_sites *sites, const uint64_t *frame, uint64_t wanted)
{
    for (uint32_t words = 1; words < STACK_WORDS && (uint64_t)(frame + words + 1) <= sites->stack_high; words++)
        if (frame[words] == wanted)
            return words;
    return 0;
}

/* False: the time for it is used up. */
static bool sites_learn(struct lwp_sites *sites, const uint64_t *frame)
{
    uint64_t begun, ips[10];
    if (!sites_slow_begin(sites, &begun))
        return false;
    unsigned count = lwp_unwind_here(ips, 10, 0), own = 0;
    while (own < count && ips[own] != *frame)
        own++;
    uint32_t words = own + 1 < count ? sites_distance(sites, frame, ips[own + 1]) : 0;
    sites_put(sites, *frame, words);
    if (words && !sites_site(sites, ips[own + 1]))
        sites_put(sites, ips[own + 1], own + 2 < count ? sites_distance(sites, frame + words, ips[own + 2]) : 0);
    sites_slow_end(sites, begun);
    return true;
}

/* The return address' caller, where its site is known. */
static const struct lwp_allocation_site *sites_upper(struct lwp_sites *sites, const struct lwp_allocation_site *site, const uint64_t *frame)
{
    return sites_site(sites, frame[lwp_sites_reach(sites, site, frame)]);
}

/* False: not known, and the time to learn it is used up. */
static bool sites_callers(struct lwp_sites *sites, const uint64_t *frame, struct lwp_allocation_callers *callers)
{
    const struct lwp_allocation_site *site = sites_site(sites, *frame);
    bool known = site && (!site->deep || sites_upper(sites, site, frame));
    if (!known && sites_learn(sites, frame))
        site = sites_site(sites, *frame);
    if (!site)
        return false;
    uint32_t at = lwp_sites_reach(sites, site, frame);
    *callers = (struct lwp_allocation_callers){*frame, frame[at], frame[at]};
    const struct lwp_allocation_site *upper = at && site->deep ? sites_upper(sites, site, frame) : NULL;
    if (upper)
        callers->above = frame[at + lwp_sites_reach(sites, upper, frame + at)];
    return true;
}

/* The call path from `ra`, the return address of the interposed function, outwards: our own frames are left out. */
static uint32_t sites_unwind(uint64_t ra)
{
    uint64_t ips[LWP_FRAMES_MAX];
    unsigned count = lwp_unwind_here(ips, LWP_FRAMES_MAX, 0), own = 0;
    while (own < count && ips[own] != ra)
        own++;
    if (own == count) /* not unwindable through us: the call site alone */
        return lwps_paths_intern(&lwp_process.contexts, &ra, 1);
    return lwps_paths_intern(&lwp_process.contexts, ips + own, count - own);
}

static bool sites_same(const struct lwp_allocation_callers *a, const struct lwp_allocation_callers *b)
{
    return a->ra == b->ra && a->caller == b->caller && a->above == b->above;
}

_Static_assert(LWP_ALLOCATION_CALLS == 1 << 10, "the key's upper 10 bits");

/* With the process lock held. */
static uint32_t sites_context(struct lwp_sites *sites, const struct lwp_allocation_callers *callers)
{
    struct lwp_allocation_call *call = &sites->call[lwp_sites_key(callers, 0) >> 54];
    uint64_t begun;
    if (sites_same(&call->callers, callers))
        return call->context;
    if (!sites_slow_begin(sites, &begun))
        return 0;
    *call = (struct lwp_allocation_call){*callers, sites_unwind(callers->ra)};
    sites_slow_end(sites, begun);
    return call->context;
}

uint32_t lwp_sites_context(struct lwp_sites *sites, const uint64_t *frame)
{
    struct lwp_allocation_callers callers;
    if (!sites_callers(sites, frame, &callers))
        callers = (struct lwp_allocation_callers){.ra = *frame};
    return sites_context(sites, &callers);
}

static bool sites_path_new(struct lwp_sites *sites, const struct lwp_allocation_callers *callers, uint32_t size,
                           struct lwp_allocation_path *path)
{
    if (!lwp_process_lock_soon())
        return false;
    uint32_t context = sites_context(sites, callers);
    uint32_t pool = context ? lwp_pool_intern(context, size) : 0;
    lwp_process_unlock();
    if (!pool)
        return false;
    sites_add_path(sites, path, 0);
    size_t index = (size_t)(path - sites->path);
    sites->paths_used[index / 64] |= (uint64_t)1 << index % 64;
    *path = (struct lwp_allocation_path){.key = lwp_sites_key(callers, size), .most = 1, .hot = lwp_pools[pool].hot};
    sites->pool[index] = (struct lwp_allocation_pool){size, pool};
    return true;
}

__attribute__((noinline)) struct lwp_allocation_path *lwp_sites_path_slow(struct lwp_sites *sites, const uint64_t *frame, uint32_t size)
{
    int saved = errno;
    struct lwp_allocation_callers callers;
    struct lwp_allocation_path *path = NULL;
    if (sites_callers(sites, frame, &callers)) {
        uint64_t key = lwp_sites_key(&callers, size);
        path = &sites->path[key >> 53];
        if (path->key != key && !sites_path_new(sites, &callers, size, path))
            path = NULL;
    }
    errno = saved;
    return path;
}

/* Counts in early while a pool is small, so that its peak is exact, and seldom later. */
__attribute__((noinline)) void lwp_sites_count(struct lwp_sites *sites, struct lwp_allocation_path *path)
{
    const struct lwp_pool *pool = &lwp_pools[lwp_sites_pool(sites, path)];
    uint32_t frees = path->hot ? sites->frees[path->hot] : 0;
    if (path->hot)
        sites->frees[path->hot] = 0;
    sites_add_path(sites, path, frees);
    uint64_t most = (pool->allocations - pool->frees) / 16 + pool->allocations / 1024;
    path->most = (uint16_t)(most < 1 ? 1 : most > COUNT_MOST ? COUNT_MOST : most);
    path->hot = pool->hot;
}

__attribute__((noinline)) void lwp_sites_freed(struct lwp_sites *sites, uint8_t hot)
{
    lwp_pool_count_in(lwp_shadow_hot[hot], 0, sites->frees[hot], 0);
    sites->frees[hot] = 0;
}
