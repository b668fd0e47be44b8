/* Where a machine loop is in the source; behind code_loops.h. */
#ifndef LWP_ANALYSIS_PROGRAM_FLOW_LOOP_LINES_H
#define LWP_ANALYSIS_PROGRAM_FLOW_LOOP_LINES_H

#include "analysis/program/flow/cfg.h"

struct loop_lines {
    const char *function, *file;
    uint32_t first_line, last_line;
    uint64_t origin; /* the same for loops of copies of one source function; 0: unknown */
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
