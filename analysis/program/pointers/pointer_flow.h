/* The data flow over one function, as pointer_flow.c (blocks to a fixed point), pointer_step.c (instructions),
 * pointer_values.c (values) and seeds.c share it. */
#ifndef LWP_ANALYSIS_PROGRAM_POINTERS_POINTER_FLOW_H
#define LWP_ANALYSIS_PROGRAM_POINTERS_POINTER_FLOW_H

#include "analysis/program/debug/scopes.h"
#include "analysis/program/flow/code_loops.h"
#include "analysis/program/pointers/pointers.h"

/* ---- values (pointer_values.c) ---- */

enum pointer_kind { POINTER_NONE, POINTER_NUMBER, POINTER_ADDRESS };

/* A number, or so many bytes from where something begins; known up to multiples of the modulus. What is multiplied may be known to be
 * the same number as in another value: so x + 8 * x is a multiple of 9. */
struct pointer_value {
    uint8_t kind;
    uint32_t source; /* of an address: what it leads to, index in the sources */
    int64_t offset;
    uint64_t modulus; /* 0: exactly `offset`; 1: of a number, unknown */
    uint64_t factor;  /* which number is multiplied, 0: nobody knows */
    int64_t times;    /* ... by what: the modulus, with its sign */
    uint64_t origin;  /* of an address: which pointer it was made of; 0: nobody knows */
};

extern const struct pointer_value pointer_unknown;

/* What the addresses of one function lead to. */
struct pointer_sources {
    struct code_pointee *items;
    size_t count, capacity;
    struct lwp_map *index; /* made with the first; freed when no more come */
};

uint32_t pointer_source(struct pointer_sources *sources, const struct code_pointee *pointee);
bool pointer_same_source(const struct pointer_sources *sources, uint32_t a, uint32_t b);

struct pointer_value pointer_address(uint32_t source, int64_t offset);
bool pointer_equal(const struct pointer_value *a, const struct pointer_value *b);
struct pointer_value pointer_add(const struct pointer_value *a, const struct pointer_value *b);
/* Gives what the value is a multiple of a name of its own. */
void pointer_name(struct pointer_value *value, uint64_t factor);

struct pointer_value pointer_scaled(const struct pointer_value *value, int64_t scale);

/* What is known of a value that is one or the other. */
struct pointer_value pointer_join(const struct pointer_sources *sources, const struct pointer_value *a,
                                  const struct pointer_value *b);

/* Whether an `inner` that is `inner_offset` bytes before the address is a part of the `outer` that it leads to. */
bool pointer_holds(struct code_module *module, const struct code_pointee *outer, const struct pointer_value *value,
                   const struct code_pointee *inner, int64_t inner_offset);

/* ---- seeds (seeds.c): which registers hold pointer variables, over which addresses of the function ---- */

struct code_seed {
    uint64_t low, scope; /* sorted by these; the scope is where the variable is known */
    uint64_t high;
    bool scoped; /* only where that scope is: the location itself has no bounds */
    int8_t reg;
    bool stored;    /* the pointer is in memory, `offset` behind where the first argument points */
    int64_t offset; /* else: the register is the pointer plus this */
    struct code_pointee pointee;
};

struct code_seeds {
    struct code_seed *items; /* by low */
    size_t count, capacity;
};

/* The caller frees `items`. */
void code_seeds_of(struct code_scopes *scopes, struct code_seeds *seeds);

/* ---- the flow ---- */

enum { POINTER_REGISTERS = 16, POINTER_SLOTS = 96, POINTER_ARGUMENTS = 6, POINTER_BEHIND = 64 };

extern const int8_t pointer_arguments[POINTER_ARGUMENTS]; /* the registers that hand over arguments */

/* What is known at one instruction. */
struct pointer_state {
    struct pointer_value of[POINTER_REGISTERS];
    struct pointer_slot {
        int64_t at; /* from the CFA */
        struct pointer_value value;
    } slots[POINTER_SLOTS];
    uint32_t slot_count;
    bool reached;
};

/* All that is kept of a function. */
struct code_pointers {
    struct pointer_sources sources;
    struct pointer_answer {
        uint64_t pc;
        struct pointer_value value;
    } * items; /* by pc */
    size_t count, capacity;
    struct pointer_passed { /* what a call hands over in the registers of arguments */
        uint64_t pc;
        struct pointer_value values[POINTER_ARGUMENTS];
    } * passed; /* by pc */
    size_t passed_count, passed_capacity;
};

struct pointer_run {
    struct code_module *module;
    const struct flow_function *function;
    struct code_scopes *scopes;
    struct code_pointers *answers;
    struct code_seeds seeds;
    uint32_t *seed_source; /* of each seed */
    uint32_t *block_seeds, *block_seed_first;
    struct pointer_state *in;
    struct lwp_map *frame_index; /* instruction -> what it accesses in the frame, looked up once */
    struct pointer_frame {
        bool exists, pointer; /* in the frame; a pointer variable is there, `source` */
        int64_t at;           /* from the CFA */
        uint32_t source;
    } * frames;
    size_t frame_count, frame_capacity;
    bool recording;
    struct pointer_behind { /* elements of `inner` follow the `outer` that this pointer leads to, from so many bytes after its start */
        uint32_t outer, inner;
        int64_t at;
        uint64_t origin;
    } behind[POINTER_BEHIND];
    uint32_t behind_count;
};

/* Takes the state at the block's start to its end; records what is found when run->recording. */
void pointer_block_run(struct pointer_run *run, uint32_t block, struct pointer_state *state);

/* Nothing but `but` (NULL: nothing at all) is known to be a multiple of this number any more, since it changes. */
void pointer_forget(struct pointer_state *state, uint64_t factor, const struct pointer_value *but);

/* Names of numbers and of pointers: what a register holds after an instruction or at the start of a block (the first is the function's),
 * what is in the frame. */
enum { POINTER_OF_CODE = 1, POINTER_OF_BLOCK = 2, POINTER_OF_FRAME = 3 };
static inline uint64_t pointer_factor(int of, uint64_t where, int reg)
{
    return where << 8 | (uint64_t)reg << 2 | (uint64_t)of;
}

/* What the frame's slot at `at` holds; false: nothing known. */
bool pointer_slot_find(const struct pointer_state *state, int64_t at, struct pointer_value *value);

#endif
