/* The flow over one function, as type_flow.c (blocks to a fixed point) and type_flow_step.c (instructions) share it. */
#ifndef LWP_ANALYSIS_PROGRAM_TYPES_TYPE_FLOW_RUN_H
#define LWP_ANALYSIS_PROGRAM_TYPES_TYPE_FLOW_RUN_H

#include "analysis/program/flow/code_loops.h"
#include "analysis/program/types/type_flow_values.h"
#include "analysis/program/types/type_seeds.h"

enum { FLOW_REGISTERS = 16, FLOW_SLOTS = 24, FLOW_ARGUMENTS = 6, FLOW_BEHIND = 8 };

extern const int8_t flow_arguments[FLOW_ARGUMENTS]; /* the registers that hand over arguments */

struct flow_state {
    struct flow_value of[FLOW_REGISTERS];
    struct flow_slot {
        int64_t at; /* from the CFA */
        struct flow_value value;
    } slots[FLOW_SLOTS];
    uint32_t slot_count;
    bool reached;
};

struct flow_answer {
    uint64_t pc;
    struct flow_value value;
};

/* All that is kept of a function. */
struct code_flow_answers {
    struct flow_sources sources;
    struct flow_answer *items; /* by pc */
    size_t count, capacity;
    struct flow_passed { /* what a call hands over in the registers of arguments */
        uint64_t pc;
        struct flow_value values[FLOW_ARGUMENTS];
    } * passed; /* by pc */
    size_t passed_count, passed_capacity;
};

struct flow_run {
    struct code_module *module;
    const struct flow_function *function;
    struct code_scopes *scopes;
    struct code_flow_answers *answers;
    struct code_seeds seeds;
    uint32_t *seed_source; /* of each seed */
    uint32_t *block_seeds, *block_seed_first;
    struct flow_state *in;
    struct lwp_map *frame_index; /* instruction -> what it accesses in the frame, looked up once */
    struct flow_frame {
        bool exists, pointer; /* in the frame; a pointer variable is there, `source` */
        int64_t at;           /* from the CFA */
        uint32_t source;
    } * frames;
    size_t frame_count, frame_capacity;
    bool recording;
    struct flow_behind { /* elements of `inner` follow an `outer`, from so many bytes after its start */
        uint32_t outer, inner;
        int64_t at;
    } behind[FLOW_BEHIND];
    uint32_t behind_count;
};

/* Takes the state at the block's start to its end; records what is found when run->recording. */
void flow_block_run(struct flow_run *run, uint32_t block, struct flow_state *state);

/* What the frame's slot at `at` holds; false: nothing known. */
bool flow_slot_find(const struct flow_state *state, int64_t at, struct flow_value *value);

#endif
