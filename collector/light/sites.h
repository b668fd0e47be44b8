/* From a call of the allocator to its call path, without unwinding: what one thread learnt of its call sites. */
#ifndef LWP_LIGHT_SITES_H
#define LWP_LIGHT_SITES_H

#include "collector/light/shadow.h"
#include "collector/light/thread.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LWP_SITES = 1024, LWP_SITE_WAYS = 4, LWP_CALLS = 1024, LWP_PATHS = 2048, LWP_PATHS_LATE = 512 };

/* A return address, and how far up the stack from it the next one is. */
struct lwp_site {
    uint64_t ra;
    uint32_t words; /* 0: not found */
    bool deep;      /* of an allocator's wrapper in a library: its caller's caller counts, too */
};

/* Return addresses on the way to the allocator, innermost first, and how many words up the stack from the first the others
 * are. Where one is not known or not asked for, the one before stands in. */
struct lwp_callers {
    uint64_t ra, caller, above;
    uint8_t caller_at, above_at;
};

struct lwp_call {
    struct lwp_callers callers;
    uint32_t context;
};

struct lwp_path {
    struct lwp_callers callers;
    uint8_t hot;          /* index in the shadow, 0: the pool has none */
    uint16_t count, most; /* allocations since they were counted in, at most so many */
    uint32_t size, pool;
};

struct lwp_sites {
    struct lwp_thread *thread; /* NULL: does not record */
    struct lwp_sites *next;
    bool used;
    uint64_t stack_high; /* the thread's, 0: not known */
    uint64_t start_ns, slow_ns;
    uint32_t frees[LWP_SHADOW_HOT + 1];
    struct lwp_site site[LWP_SITES];
    struct lwp_call call[LWP_CALLS];
    struct lwp_path path[LWP_PATHS];
    uint64_t paths_used[LWP_PATHS / 64]; /* a bit for each: most threads use few, spread over many pages */
    struct lwp_path *late[LWP_PATHS_LATE]; /* what a call site led to last for a size, by a hash of both */
};

extern __thread struct lwp_sites *lwp_sites_self;

void lwp_sites_begin(struct lwp_thread *thread); /* the calling thread records from here on */
void lwp_sites_end(void);                        /* ... no longer; counts are added */
void lwp_sites_finish(void);                     /* adds the counts of all threads */
void lwp_sites_after_fork(void);

struct lwp_path *lwp_sites_path_slow(struct lwp_sites *sites, const uint64_t *frame, uint32_t size, struct lwp_path **late);
void lwp_sites_count(struct lwp_sites *sites, struct lwp_path *path);
void lwp_sites_freed(struct lwp_sites *sites, uint8_t hot);

/* The context of a block that gets a record of its own. With the process lock held. */
uint32_t lwp_sites_context(struct lwp_sites *sites, const uint64_t *frame);

static inline bool lwp_sites_same(const struct lwp_callers *a, const struct lwp_callers *b)
{
    return a->ra == b->ra && a->caller == b->caller && a->above == b->above;
}

/* Whether the callers of `frame` are these ones, whose places on the stack are known from another call of the site. */
static inline bool lwp_sites_are(const struct lwp_callers *callers, const uint64_t *frame, uint64_t stack_high)
{
    return callers->ra == *frame && (!callers->above_at || (uint64_t)(frame + callers->above_at) < stack_high) &&
           callers->caller == frame[callers->caller_at] && callers->above == frame[callers->above_at];
}

/* `frame` points at the allocator's return address on the stack. NULL: not known. */
static inline struct lwp_path *lwp_sites_path(struct lwp_sites *sites, const uint64_t *frame, uint32_t size)
{
    struct lwp_path **late = &sites->late[(*frame ^ (uint64_t)size << 32) * 0x9e3779b97f4a7c15u >> 55], *path = *late;
    if (__builtin_expect(path && path->size == size && lwp_sites_are(&path->callers, frame, sites->stack_high), 1))
        return path;
    return lwp_sites_path_slow(sites, frame, size, late);
}

_Static_assert(LWP_PATHS_LATE == 1 << 9, "the hash's upper 9 bits");

#endif
