/* From a call of the allocator to its call path, without unwinding: what one thread learnt of its call sites. */
#ifndef LWP_LIGHT_SITES_H
#define LWP_LIGHT_SITES_H

#include "collector/light/shadow.h"
#include "collector/light/thread.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LWP_SITES = 1024, LWP_SITE_WAYS = 4, LWP_CALLS = 1024, LWP_PATHS = 2048 };

/* A return address, and how far up the stack from it the next one is. */
struct lwp_site {
    uint64_t ra;
    uint32_t words; /* 0: not found */
    bool deep;      /* of an allocator's wrapper in a library: its caller's caller counts, too */
};

struct lwp_call {
    uint64_t ra, caller, above;
    uint32_t context;
};

struct lwp_path {
    uint64_t ra, caller, above;
    uint32_t size, pool;
    uint16_t count, most; /* allocations since they were counted in, at most so many */
    uint8_t hot;          /* index in the shadow, 0: the pool has none */
};

struct lwp_sites {
    struct lwp_thread *thread; /* NULL: does not record */
    struct lwp_sites *next;
    bool used;
    uint64_t start_ns, slow_ns;
    uint32_t frees[LWP_SHADOW_HOT + 1];
    struct lwp_site site[LWP_SITES];
    struct lwp_call call[LWP_CALLS];
    struct lwp_path path[LWP_PATHS];
};

extern __thread struct lwp_sites *lwp_sites_self;

void lwp_sites_begin(struct lwp_thread *thread); /* the calling thread records from here on */
void lwp_sites_end(void);                        /* ... no longer; counts are added */
void lwp_sites_finish(void);                     /* adds the counts of all threads */
void lwp_sites_after_fork(void);

struct lwp_path *lwp_sites_path_slow(struct lwp_sites *sites, const uint64_t *frame, uint64_t caller, uint64_t above,
                                     uint32_t size, struct lwp_path *path);
struct lwp_site *lwp_sites_learn(struct lwp_sites *sites, const uint64_t *frame);
void lwp_sites_count(struct lwp_sites *sites, struct lwp_path *path);
void lwp_sites_freed(struct lwp_sites *sites, uint8_t hot);

/* The context of a block that gets a record of its own. With the process lock held. */
uint32_t lwp_sites_context(struct lwp_sites *sites, const uint64_t *frame);

static inline struct lwp_site *lwp_sites_site(struct lwp_sites *sites, uint64_t ra)
{
    uint32_t at = (uint32_t)(ra ^ ra >> 11);
    for (uint32_t way = 0; way < LWP_SITE_WAYS; way++) {
        struct lwp_site *site = &sites->site[(at + way) & (LWP_SITES - 1)];
        if (site->ra == ra)
            return site;
    }
    return NULL;
}

/* Return addresses of the allocator's caller's callers; false: to be learnt. */
static inline bool lwp_sites_callers(struct lwp_sites *sites, const uint64_t *frame, uint64_t *caller, uint64_t *above)
{
    *caller = *above = 0;
    uint64_t high = sites->thread->stack_high;
    const struct lwp_site *site = lwp_sites_site(sites, *frame);
    if (__builtin_expect(!site, 0))
        return false;
    if (!site->words || (uint64_t)(frame + site->words + 1) > high)
        return true;
    frame += site->words;
    *caller = *frame;
    if (!site->deep)
        return true;
    site = lwp_sites_site(sites, *frame);
    if (site && site->words && (uint64_t)(frame + site->words + 1) <= high)
        *above = frame[site->words];
    return true;
}

/* `frame` points at the allocator's return address on the stack. NULL: not known. */
static inline struct lwp_path *lwp_sites_path(struct lwp_sites *sites, const uint64_t *frame, uint32_t size)
{
    uint64_t caller, above;
    if (__builtin_expect(!lwp_sites_callers(sites, frame, &caller, &above), 0)) {
        if (!lwp_sites_learn(sites, frame) || !lwp_sites_callers(sites, frame, &caller, &above))
            return NULL;
    }
    uint64_t hash = (*frame ^ caller << 17 ^ above << 29 ^ (uint64_t)size << 47) * 0x9e3779b97f4a7c15u;
    struct lwp_path *path = &sites->path[hash >> 53];
    if (__builtin_expect(path->ra == *frame && path->caller == caller && path->size == size && path->above == above, 1))
        return path;
    return lwp_sites_path_slow(sites, frame, caller, above, size, path);
}

_Static_assert(LWP_PATHS == 1 << 11, "the hash's upper 11 bits");

#endif
