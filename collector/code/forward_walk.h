/* What an interrupted thread does next. */
#ifndef LWP_COLLECTOR_CODE_FORWARD_WALK_H
#define LWP_COLLECTOR_CODE_FORWARD_WALK_H

#include "collector/code/insn.h"
#include "collector/code/predecessors.h"
#include "collector/code/registers.h"

#include <stdbool.h>
#include <stdint.h>

enum { LWP_WALK_KEEP = 3, LWP_WALK_LOOKED = 24, LWP_WALK_CALLS = 4, LWP_WALK_PATHS = 8 };

/* How the function was entered that the walk is in: it has returned from `returned` functions on the interrupted thread's path, and
 * then called, to return to call[0], from there to call[1], ... */
struct lwp_walk_path {
    uint8_t returned, calls;
    uint64_t call[LWP_WALK_CALLS];
};

/* The accesses of a kind to come, and one of them, each as likely as the others. */
struct lwp_walk_choice {
    unsigned from; /* in: so many are looked at, LWP_WALK_LOOKED at most; 0: none wanted */
    unsigned seen; /* out: so many were; 0: nothing chosen */
    struct lwp_insn_access access;
    uint8_t path; /* of the access: in `paths` */
    struct lwp_walk_site {
        uint64_t ip;
        unsigned count; /* of the accesses looked at; their sum is `seen` */
        uint8_t path;
    } site[LWP_WALK_LOOKED];
    unsigned sites;
};

struct lwp_forward_walk {
    /* in */
    uint64_t wanted; /* the instruction whose next address is looked for, or 0 */
    unsigned skip;   /* accesses to pass before keeping LWP_WALK_KEEP of them */
    /* out */
    bool found;
    uint64_t found_address;
    struct lwp_insn_access kept[LWP_WALK_KEEP];
    unsigned kept_count;
    bool short_of_skip;                         /* the walk ended before: what is kept is one of those that it passed */
    struct lwp_walk_choice store, load;         /* in, out */
    struct lwp_walk_path paths[LWP_WALK_PATHS]; /* out; the first is where it began */
    unsigned path_count;
};

/* Follows the program from `ip` on, through direct calls and returns, changing nothing: computes what only depends on known registers
 * and memory (as it is, but for where it stores on the way), stops where the path is not certain. What is kept is of the function
 * where it begins. */
void lwp_walk_forward(struct lwp_code_cache *cache, const struct lwp_code_location *location, const struct lwp_registers *start,
                      uint64_t flags, struct lwp_forward_walk *walk, uint32_t *random);

#endif
