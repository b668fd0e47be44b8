/* Call paths of allocations without unwinding. How far apart two return addresses are on the stack depends only on the
 * inner one, but for functions that move their stack pointer about. One thread learns that once for each return address
 * by unwinding, and reads the stack from then on. */
#ifndef LWP_COLLECTOR_LIGHT_HEAP_CHAINS_H
#define LWP_COLLECTOR_LIGHT_HEAP_CHAINS_H

#include "collector/light/code/unwind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LWP_CHAINS = 1024, LWP_CHAIN_LINKS = 20, LWP_CHAIN_STEPS = 2048, LWP_CHAIN_WALK = 256 };

/* All allocations whose stacks hold these return addresses in these places have the same call path, but for the rounds
 * of a recursion, and but for what is further out than the last one, where that is not the end of the stack. Those
 * within the recursion are at a distance from the innermost one, those beyond it at a distance from the end of the
 * stack. */
struct lwp_chain {
    uint64_t sum;        /* of its return addresses */
    uint8_t count, near; /* links; how many of them are at a distance from the innermost one */
    bool whole;          /* up to the end of the stack */
    uint32_t words[LWP_CHAIN_LINKS];
    uint32_t hash, context; /* context 0: not written yet */
    uint32_t unused[7];
};

_Static_assert(sizeof(struct lwp_chain) == 128, "each allocation looks at one cache line of it, or two");

struct lwp_chain_path {
    uint64_t ra[LWP_CHAIN_LINKS]; /* innermost first: the caller of the allocator */
};

/* What was learnt of a return address. */
struct lwp_chain_step {
    uint64_t ra, function; /* 0: free; where its function starts */
    uint32_t words;        /* to the next one; 0: see below */
    bool last;             /* it is the outermost */
    bool lost;             /* how far up the next one is differs, or is not known */
    bool beyond;           /* likewise, as no copy of a stack so far had it */
};

struct lwp_chain_frame {
    uint64_t ra, function;
    uint32_t words; /* from the innermost */
};

struct lwp_chains {
    uint64_t stack_low, stack_high; /* the thread's, 0: not known */
    const struct lwp_stack_copy *copy; /* in place of it */
    const struct lwp_stack_words *words;
    uint32_t count, depth;          /* chains from 1 on; links at most */
    uint64_t learnt_ns;             /* went into unwinding */
    struct lwp_chain chain[LWP_CHAINS];
    struct lwp_chain_path path[LWP_CHAINS];
    uint16_t index[2 * LWP_CHAINS];
    struct lwp_chain_step step[LWP_CHAIN_STEPS];
    struct lwp_chain_frame frame[LWP_CHAIN_WALK]; /* of the walk under way */
    uint16_t seen[2 * LWP_CHAIN_WALK];
};

enum { LWP_CHAIN_ROOM = 12 * 1024 }; /* bytes of stack that unwinding may take */

/* Whether the stack whose innermost return address is at `frame` is the thread's own, with room: nothing is read of others. */
static inline bool lwp_chains_own(const struct lwp_chains *chains, const uint64_t *frame)
{
    return (uint64_t)frame >= chains->stack_low + LWP_CHAIN_ROOM && (uint64_t)frame < chains->stack_high;
}

/* Any odd numbers: stacks that differ in one word differ in the sum, and of those that differ in several one in 2^64 does not. */
extern const uint64_t lwp_chain_factor[LWP_CHAIN_LINKS];

/* Whether the stack holds it; the innermost link does already. All places are on the thread's own stack, so that they
 * can be read whatever it holds. If all within a place hold what they should, it is a return address; those looked for
 * from the end of the stack are so from its end inwards. */
static inline bool lwp_chain_holds(const struct lwp_chains *chains, const struct lwp_chain *chain, const uint64_t *frame)
{
    uint32_t near = chain->near, count = chain->count;
    if (count == 1 && !chain->whole)
        return true;
    const uint64_t *last = frame + chain->words[near - 1], *high = (const uint64_t *)chains->stack_high;
    if (last >= high || (near < count && high - chain->words[near] <= last))
        return false;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < near; i++)
        sum += frame[chain->words[i]] * lwp_chain_factor[i];
    for (uint32_t i = near; __builtin_expect(i < count, 0); i++)
        sum += *(high - chain->words[i]) * lwp_chain_factor[i];
    return sum == chain->sum;
}

/* The chain that the stack holds, made if need be. 0: it is not known, or there is no room for more chains. *cut: it ends where
 * more would be known if `learns` had let it unwind. */
uint32_t lwp_chains_find(struct lwp_chains *chains, const uint64_t *frame, bool learns, bool *cut);

/* The first link in which they differ; the smaller count: one begins with all of the other. */
uint32_t lwp_chains_fork(const struct lwp_chains *chains, uint32_t a, uint32_t b);

/* All chains, not how far apart return addresses are. `shorter`: from here on shorter ones are made, lest as many come again. */
void lwp_chains_forget(struct lwp_chains *chains, bool shorter);

/* Writes the chain's path, without the innermost `skip` links. With the process lock held. */
uint32_t lwp_chains_context(struct lwp_chains *chains, uint32_t chain, uint32_t skip);

#endif
