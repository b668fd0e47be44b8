/* Loops of the machine code, numbered across all modules; behind analysis/program/code.h. */
#ifndef LWP_ANALYSIS_PROGRAM_FLOW_CODE_LOOPS_H
#define LWP_ANALYSIS_PROGRAM_FLOW_CODE_LOOPS_H

#include "analysis/program/binary/module.h"
#include "analysis/program/flow/machine_code.h"

/* A function's blocks, kept after its loops are known. Successors may leave a loop; block 0 is the entry. */
struct flow_block {
    uint64_t start, end;
    uint32_t loop;   /* innermost, or LWP_NONE */
    uint32_t header; /* block number of that loop's header */
};

struct flow_function {
    struct code_range range;
    struct flow_block *blocks; /* by address */
    uint32_t block_count;
    uint32_t *edge_first, *edges;
};

/* The flow of the function that holds the address, decoded when first asked about; NULL when there is none. */
const struct flow_function *code_flow_at(struct code_module *module, uint64_t address);
uint32_t code_flow_block(const struct flow_function *function, uint64_t address); /* or LWP_NONE */

/* The innermost loop that holds the address, or LWP_NONE. */
uint32_t code_loop_at(struct code_module *module, uint64_t address);

/* Whether the loop (or LWP_NONE) is `outer` or inside it. */
bool code_loop_holds(const struct lwp_code *code, uint32_t outer, uint32_t loop);

/* The loop's blocks from its header on, in reverse postorder, into `order` (room: the function's blocks), and where each block is in it
 * into `position` (by block; LWP_NONE: not in the loop). Returns how many they are. */
uint32_t code_loop_order(const struct lwp_code *code, const struct flow_function *function, uint32_t loop, uint32_t header, uint32_t *order,
                         uint32_t *position);

void code_flow_free(struct code_kept *functions);

#endif
