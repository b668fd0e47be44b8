/* From a call of the allocator to its call path, without unwinding: what one thread learnt of its call sites. */
#ifndef LWP_COLLECTOR_LIGHT_HEAP_SITES_H
#define LWP_COLLECTOR_LIGHT_HEAP_SITES_H

#include "collector/light/heap/chains.h"
#include "collector/light/heap/shadow.h"
#include "collector/light/own/thread.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lwp_early_block;

enum { LWP_ALLOCATION_PATHS = 2048 };

enum { LWP_FORK_NONE, LWP_FORK_NEAR, LWP_FORK_END };

/* Blocks of one size from one chain of return addresses; or, where several chains begin alike, what distinguishes them:
 * one more word of the stack. It leads to another entry, and is no more than a hint: the chain decides. */
struct lwp_allocation_path {
    uint64_t key;   /* of the innermost return address, the size, and the words that lead here; 0: free */
    uint16_t count; /* allocations since they were counted in */
    union {
        uint16_t most;  /* counted in when there are so many */
        uint16_t words; /* of a fork: to the word, from the innermost return address or from the end of the stack */
    };
    uint16_t chain; /* of a fork: one of several */
    uint8_t hot;    /* index in the shadow, 0: the pool has none */
    uint8_t fork;
};

/* What is rarely asked of them. */
struct lwp_allocation_pool {
    uint32_t size, pool; /* pool 0: such blocks stay unknown */
    uint32_t left_out;   /* that were not recorded, since they were counted in, on average */
};

/* Blocks whose call path could not be afforded yet, by what is known of it: they are counted with the first path that begins so. */
struct lwp_allocation_open {
    uint64_t key; /* as a path's that no fork leads to */
    uint32_t blocks;
};

struct lwp_sites {
    struct lwp_thread *thread; /* NULL: does not record */
    struct lwp_sites *next;
    bool used;
    bool told; /* the block is of a function of the program that says so: its callers allocate */
    uint32_t rests, rests_next; /* of the allocations to come so many are not looked into; so many were the last time */
    struct lwp_chains chains;
    uint64_t start_ns; /* of CPU time, when it began */
    uint64_t charged_learnt_ns;   /* of chains.learnt_ns */
    uint32_t frees[LWP_SHADOW_HOT + 1];
    _Alignas(64) struct lwp_allocation_path path[LWP_ALLOCATION_PATHS]; /* each at one place, by its key */
    struct lwp_allocation_pool pool[LWP_ALLOCATION_PATHS];
    struct lwp_allocation_open open[LWP_ALLOCATION_PATHS]; /* each at the place of its path */
    uint64_t paths_used[LWP_ALLOCATION_PATHS / 64]; /* a bit for each: most threads use few, spread over many pages */
};

extern __thread struct lwp_sites *lwp_sites_self;

void lwp_sites_begin(struct lwp_thread *thread); /* the calling thread records from here on */
void lwp_sites_end(void);                        /* ... no longer; counts are added */
void lwp_sites_finish(void);                     /* adds the counts of all threads */
void lwp_sites_after_fork(void);

/* Small blocks whose allocation was not recorded, as that would have cost too much. */
uint64_t lwp_sites_left_out(void);

struct lwp_allocation_path *lwp_sites_path_slow(struct lwp_sites *sites, const uint64_t *frame, uint32_t size);
/* Of a block without a path, which stands for so many. */
void lwp_sites_leave_open(struct lwp_sites *sites, const uint64_t *frame, uint32_t size, uint32_t stands_for);
/* A call path, or a block with a record of its own, took from then on (CLOCK_MONOTONIC). */
void lwp_sites_charge(struct lwp_sites *sites, uint64_t begun_ns);

void lwp_sites_count(struct lwp_sites *sites, struct lwp_allocation_path *path);
void lwp_sites_freed(struct lwp_sites *sites, uint8_t hot);

/* The context of a block of so many bytes that gets a record of its own. With the process lock held. */
uint32_t lwp_sites_context(struct lwp_sites *sites, const uint64_t *frame, size_t bytes);

/* Of one that was kept before the calling thread records; 0: not known. Likewise. */
uint32_t lwp_sites_context_kept(const struct lwp_early_block *kept);

static inline uint32_t lwp_sites_pool(const struct lwp_sites *sites, const struct lwp_allocation_path *path)
{
    return sites->pool[path - sites->path].pool;
}

/* Of the innermost return address; on a stack that is not the thread's own, another one. Its upper bits are a place. */
static inline uint64_t lwp_sites_key(uint64_t ra, uint32_t size, bool own)
{
    return (ra * 0x9e3779b97f4a7c15u + size * 0x165667b19e3779f9u + !own * 0xc2b2ae3d27d4eb4fu) | 1;
}

static inline uint64_t lwp_sites_key_further(uint64_t key, uint64_t word)
{
    return ((key ^ word) * 0xd6e8feb86659fd93u) | 1;
}

/* Whether they are so many that they are to be counted in, lest they count when others are there. */
static inline bool lwp_sites_left_out_too(struct lwp_sites *sites, const struct lwp_allocation_path *path, uint32_t more)
{
    enum { MANY = 256 };
    uint32_t *sum = &sites->pool[path - sites->path].left_out;
    *sum += more;
    return *sum >= MANY;
}

/* `frame` points at the allocator's return address on the stack. NULL: not known. */
static inline struct lwp_allocation_path *lwp_sites_path(struct lwp_sites *sites, const uint64_t *frame, uint32_t size)
{
    const struct lwp_chains *chains = &sites->chains;
    uint64_t key = lwp_sites_key(*frame, size, lwp_chains_own(chains, frame));
    struct lwp_allocation_path *path = &sites->path[key >> 53];
    while (__builtin_expect(path->key == key && path->fork, 0)) {
        const uint64_t *place = path->fork == LWP_FORK_NEAR ? frame + path->words : (const uint64_t *)chains->stack_high - path->words;
        if ((uint64_t)place >= chains->stack_high || place < frame) /* learnt on a larger stack */
            break;
        key = lwp_sites_key_further(key, *place);
        path = &sites->path[key >> 53];
    }
    bool known = path->key == key && !path->fork && lwp_chain_holds(chains, &chains->chain[path->chain], frame);
    return __builtin_expect(known, 1) ? path : lwp_sites_path_slow(sites, frame, size);
}

_Static_assert(LWP_ALLOCATION_PATHS == 1 << 11 && sizeof(struct lwp_allocation_path) == 16, "the key's upper 11 bits; four in a line");

#endif
