/* What becomes of the registers' values in a loop: which are computed or loaded from which, all instructions taken together, whatever their
 * order. */
#ifndef LWP_ANALYSIS_PROGRAM_FLOW_LOOP_FLOW_H
#define LWP_ANALYSIS_PROGRAM_FLOW_LOOP_FLOW_H

#include "analysis/program/flow/decode.h"
#include "analysis/program/flow/loop_waits.h"

/* Starts from zero. */
struct loop_flow {
    uint32_t from[CODE_REGISTERS];   /* registers whose value goes into this one, a bit each */
    uint32_t loaded[CODE_REGISTERS]; /* ... as the address of a load */
    uint32_t stepped, changed;  /* registers that grow by a constant; that become something else */
    uint32_t stepped_again;     /* ... in more than one place */
    int64_t step[CODE_REGISTERS]; /* the constant */
    uint32_t changed_vectors;
    uint32_t selected;                               /* registers that keep their value or take another's (cmov) */
    uint32_t computed;                               /* registers that get more than another one's value and a constant */
    uint32_t copied[CODE_REGISTERS];                 /* ... or from which others they get that */
    uint32_t loads_into[CODE_REGISTERS];             /* instructions that load it */
    struct lwp_memory_operand from_field[CODE_REGISTERS]; /* the first of them; */
    uint32_t from_others;                            /* registers that are loaded from another field, too */
    uint32_t indexed[CODE_REGISTERS];                /* registers that are an index where it is loaded */
    uint32_t places;                                 /* registers that say from where is loaded */
    uint64_t made;                   /* general and vector registers that get a new value, neither loaded nor another one's */
    uint64_t moved[LOOP_REGISTERS];  /* ... that get another one's value, and of which */
    uint64_t used[LOOP_REGISTERS];   /* general and vector registers whose value goes into this one in any way */
    uint32_t place[LOOP_REGISTERS];  /* general ones that say from where it is loaded */
    uint64_t weighed;                /* general and vector registers that are compared with a value that is no constant */
    uint32_t weighed_at;             /* general ones that say where in memory what is so compared lies */
    uint64_t elsewhere;              /* general and vector registers that calls and inner loops change */
    uint32_t few;                    /* general ones that are compared with a small constant */
    uint32_t branches, halvings, calls, computed_calls;
};

static inline uint32_t loop_flow_bit(int reg)
{
    return reg >= 0 && reg < CODE_REGISTERS ? 1u << reg : 0;
}

/* Registers that get something from these, themselves among them. */
uint64_t loop_flow_spread(const struct loop_flow *flow, uint64_t from);

/* Registers that get something from what is loaded: from one place after another, as what stays at hand is hardly waited for. */
uint64_t loop_flow_from_loads(const struct loop_flow *flow);

/* Whether something that the loop loads, one after another, is compared with a key. Where all is compared with constants, it looks for a
 * state or a delimiter, by which nothing can be looked up. */
bool loop_flow_has_key(const struct loop_flow *flow);

void loop_flow_add_values(struct loop_flow *flow, const struct code_instruction *instruction);

/* A field of what a pointer leads to: compilers copy the load of a list's next element to each place that goes on. */
bool loop_flow_same_field(const struct lwp_memory_operand *x, const struct lwp_memory_operand *y);

void loop_flow_add(struct loop_flow *flow, const struct code_instruction *instruction);

/* The registers whose value comes from that of one, a bit each, itself among them. */
uint32_t loop_flow_reached(const struct loop_flow *flow, int from);

/* These registers, and those of which they are copies, or further on. */
uint32_t loop_flow_copied(const struct loop_flow *flow, uint32_t all);

/* Registers that keep their value or take one that is computed from it, as where elements that meet a condition are added up: not what was
 * found, as an element or an index is. */
uint32_t loop_flow_accumulated(const struct loop_flow *flow);

/* Whether the loop leaves the register alone, adds to it, or copies it to others and back: it is never set anew. */
bool loop_flow_goes_on(const struct loop_flow *flow, int from);

/* Registers whose load's address comes from what was loaded into them, a bit each; *pointers: those and that address's. */
uint32_t loop_flow_chased(const struct loop_flow *flow, uint32_t *pointers);

#endif
