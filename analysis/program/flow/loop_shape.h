/* What a machine loop is made of, and whether its loads wait for each other. */
#ifndef LWP_ANALYSIS_PROGRAM_FLOW_LOOP_SHAPE_H
#define LWP_ANALYSIS_PROGRAM_FLOW_LOOP_SHAPE_H

#include "analysis/program/binary/modules.h"

struct lwp_loop_shape {
    uint32_t instructions;  /* without those of loops in it, and without what takes no time of its own */
    uint32_t accesses;      /* of them: loads and stores */
    uint32_t loads, stores; /* one instruction may be both */
    uint32_t exits;         /* ways out of it */
    bool chained;           /* a load's address depends on what it, or another one, loaded an iteration before */
    bool steps;             /* the access at the address moves on by a constant each time round; */
    int64_t step;           /* ... by so many bytes; 0: not known, as it does so in several places */
    bool stays;             /* ... is to the same place each time round */
    bool repeats_value;     /* ... stores a constant, the loop's counter, or else what is not changed in it */
};

/* Of the innermost loop that holds the address; false when there is none or its code cannot be read. */
bool lwp_loop_shape(struct lwp_code *code, uint32_t module, uint64_t address, struct lwp_loop_shape *shape);

#endif
