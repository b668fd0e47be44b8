/* From a call of the allocator to its call path, without unwinding: what one thread learnt of its call sites. */
#ifndef LWP_COLLECTOR_LIGHT_HEAP_SITES_H
#define LWP_COLLECTOR_LIGHT_HEAP_SITES_H

#include "collector/light/heap/shadow.h"
#include "collector/light/own/thread.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LWP_SITES = 2048, LWP_SITE_WAYS = 4, LWP_ALLOCATION_CALLS = 1024, LWP_ALLOCATION_PATHS = 2048 };

/* A return address, and how far up the stack from it the next one is. */
struct lwp_allocation_site {
    uint64_t ra;
    uint32_t words; /* 0: not found */
    bool deep;      /* of an allocator's wrapper in a library: its caller's caller counts, too */
};

/* Return addresses on the way to the allocator, innermost first. Where one is not known or not asked for, the one before
 * stands in. */
struct lwp_allocation_callers {
    uint64_t ra, caller, above;
};

struct lwp_allocation_call {
    struct lwp_allocation_callers callers;
    uint32_t context;
};

/* Blocks of one size from the same callers. */
struct lwp_allocation_path {
    uint64_t key;         /* of both, 0: free */
    uint16_t count, most; /* allocations since they were counted in, at most so many */
    uint8_t hot;          /* index in the shadow, 0: the pool has none */
};

/* What is seldom asked of them. */
struct lwp_allocation_pool {
    uint32_t size, pool;
};

struct lwp_sites {
    struct lwp_thread *thread; /* NULL: does not record */
    struct lwp_sites *next;
    bool used;
    uint64_t stack_high; /* the thread's, 0: not known */
    uint64_t start_ns, slow_ns;
    uint32_t frees[LWP_SHADOW_HOT + 1];
    struct lwp_allocation_site site[LWP_SITES];
    struct lwp_allocation_call call[LWP_ALLOCATION_CALLS];
    struct lwp_allocation_path path[LWP_ALLOCATION_PATHS]; /* each at one place, by its key */
    struct lwp_allocation_pool pool[LWP_ALLOCATION_PATHS];
    uint64_t paths_used[LWP_ALLOCATION_PATHS / 64]; /* a bit for each: most threads use few, spread over many pages */
};

extern __thread struct lwp_sites *lwp_sites_self;

void lwp_sites_begin(struct lwp_thread *thread); /* the calling thread records from here on */
void lwp_sites_end(void);                        /* ... no longer; counts are added */
void lwp_sites_finish(void);                     /* adds the counts of all threads */
void lwp_sites_after_fork(void);

struct lwp_allocation_path *lwp_sites_path_slow(struct lwp_sites *sites, const uint64_t *frame, uint32_t size);
void lwp_sites_count(struct lwp_sites *sites, struct lwp_allocation_path *path);
void lwp_sites_freed(struct lwp_sites *sites, uint8_t hot);

/* The context of a block that gets a record of its own. With the process lock held. */
uint32_t lwp_sites_context(struct lwp_sites *sites, const uint64_t *frame);

static inline uint32_t lwp_sites_pool(const struct lwp_sites *sites, const struct lwp_allocation_path *path)
{
    return sites->pool[path - sites->path].pool;
}

/* A sum of products, as two keys are to differ where their callers do: only keys are compared. Its upper bits are a place. */
static inline uint64_t lwp_sites_key(const struct lwp_allocation_callers *callers, uint32_t size)
{
    return (callers->ra * 0x9e3779b97f4a7c15u + callers->caller * 0xd6e8feb86659fd93u +
            callers->above * 0xc2b2ae3d27d4eb4fu + size * 0x165667b19e3779f9u) | 1;
}

/* Where a site is looked for first. */
static inline uint32_t lwp_sites_first(uint64_t ra)
{
    return (uint32_t)(ra * 0x9e3779b97f4a7c15u >> 53);
}

/* How far up the next return address is, 0: not known, or the stack ends before. */
static inline uint32_t lwp_sites_reach(const struct lwp_sites *sites, const struct lwp_allocation_site *site, const uint64_t *frame)
{
    return (uint64_t)(frame + site->words) < sites->stack_high ? site->words : 0;
}

/* `frame` points at the allocator's return address on the stack. NULL: not known. */
static inline struct lwp_allocation_path *lwp_sites_path(struct lwp_sites *sites, const uint64_t *frame, uint32_t size)
{
    const struct lwp_allocation_site *site = &sites->site[lwp_sites_first(*frame)];
    if (__builtin_expect(site->ra != *frame, 0))
        return lwp_sites_path_slow(sites, frame, size);
    uint32_t at = lwp_sites_reach(sites, site, frame);
    struct lwp_allocation_callers callers = {*frame, frame[at], frame[at]};
    if (site->deep && at) {
        const struct lwp_allocation_site *upper = &sites->site[lwp_sites_first(callers.caller)];
        if (__builtin_expect(upper->ra != callers.caller, 0))
            return lwp_sites_path_slow(sites, frame, size);
        callers.above = frame[at + lwp_sites_reach(sites, upper, frame + at)];
    }
    uint64_t key = lwp_sites_key(&callers, size);
    struct lwp_allocation_path *path = &sites->path[key >> 53];
    return __builtin_expect(path->key == key, 1) ? path : lwp_sites_path_slow(sites, frame, size);
}

_Static_assert(LWP_SITES == 1 << 11, "the product's upper 11 bits");
_Static_assert(LWP_ALLOCATION_PATHS == 1 << 11 && sizeof(struct lwp_allocation_path) == 16, "the key's upper 11 bits; four in a line");

#endif
