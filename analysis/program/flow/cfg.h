/* The control-flow graph of one function's machine code, and where its loops are in the source. */
#ifndef LWP_ANALYSIS_PROGRAM_FLOW_CFG_H
#define LWP_ANALYSIS_PROGRAM_FLOW_CFG_H

#include "analysis/program/binary/module.h"
#include "analysis/program/debug/frame.h"

struct cfg_instruction {
    uint64_t address, target; /* target as in code_instruction */
    uint8_t length, flow;
    bool never_returns; /* a call */
    bool padding;
};

struct cfg_block {
    uint64_t start, end;
    uint32_t first_instruction, instruction_count;
    bool padding; /* nothing but */
};

struct cfg {
    struct cfg_instruction *instructions;
    struct cfg_block *blocks; /* by address */
    uint32_t instruction_count, block_count;
    uint32_t *edge_first, *edges; /* successors of block b: edges[edge_first[b]] … edges[edge_first[b + 1] - 1] */
};

/* Decodes [low, high). False: nothing there, or too large to be worth it. cfg_free in any case. */
bool cfg_build(struct code_module *module, struct code_range range, struct cfg *cfg);
void cfg_free(struct cfg *cfg);

/* Whether the function that starts at the address, or is imported there, is known not to come back. */
bool cfg_never_returns(struct code_module *module, uint64_t target, uint64_t slot);

/* ---- lines of loops (loop_lines.c) ---- */

struct loop_lines {
    const char *function, *file;
    uint32_t first_line, last_line;
    uint64_t origin; /* the same for loops of copies of one source function; 0: unknown */
    uint32_t latch_line, latch_column; /* of all jumps back to the header; 0: unknown, or they have several */
    const struct lwp_frame *calls;     /* that inlined the function, innermost first; in the arena */
    uint32_t call_count;
};

struct loop_blocks {
    const uint32_t *blocks; /* members, those of inner loops too */
    uint32_t block_count;
    uint32_t header;
};

/* The source lines of all instructions of a function, for finding those of its loops. */
struct loop_source;
struct loop_source *loop_source_new(struct code_module *module, struct code_range range, const struct cfg *cfg);
void loop_source_free(struct loop_source *source);

struct loop_lines loop_lines_of(struct loop_source *source, const struct loop_blocks *loop);

#endif
