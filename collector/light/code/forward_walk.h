/* Integer registers of an interrupted thread, and the walk forward from there. */
#ifndef LWP_COLLECTOR_LIGHT_CODE_FORWARD_WALK_H
#define LWP_COLLECTOR_LIGHT_CODE_FORWARD_WALK_H

#include "collector/light/code/insn.h"
#include "collector/light/code/predecessors.h"

#include <stdbool.h>
#include <stdint.h>

struct lwp_registers {
    uint64_t value[16];
    uint16_t known; /* one bit a register */
    uint64_t fs_base;
    bool fs_known;
};

/* From a signal's ucontext: all are known. */
void lwp_registers_take(struct lwp_registers *registers, const void *ucontext);

/* The address of the instruction's memory operand. False: a register it needs is not known, or a form not followed. */
bool lwp_insn_address(const struct lwp_insn *insn, const struct lwp_registers *registers, uint64_t *address);

enum { LWP_WALK_KEEP = 3, LWP_WALK_LOOKED = 24 };

/* The accesses of a kind to come, and one of them, each as likely as the others. */
struct lwp_walk_choice {
    unsigned from; /* in: so many are looked at, LWP_WALK_LOOKED at most; 0: none wanted */
    unsigned seen; /* out: so many were; 0: nothing chosen */
    struct lwp_insn_access access;
    struct lwp_walk_site {
        uint64_t ip;
        unsigned count; /* of the accesses looked at; their sum is `seen` */
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
    struct lwp_walk_choice store, load; /* in, out */
};

/* Follows the program from `ip` within its function, changing nothing: computes what only depends on known registers
 * and memory (as it is, but for where it stores on the way), stops where the path is not certain. */
void lwp_walk_forward(struct lwp_code_cache *cache, const struct lwp_code_location *location, const struct lwp_registers *start,
                      uint64_t flags, struct lwp_forward_walk *walk, uint32_t *random);

#endif
