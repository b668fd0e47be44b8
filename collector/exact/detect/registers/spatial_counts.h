/* How many elements equal their neighbours, by who stored them and in which data; as records of a file of the process. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_REGISTERS_SPATIAL_COUNTS_H
#define LWP_COLLECTOR_EXACT_DETECT_REGISTERS_SPATIAL_COUNTS_H

#include "collector/exact/valgrind/tool.h"

#include <stdbool.h>
#include <stdint.h>

/* Elements of `size` bytes at each `step` from `low` on, `is_float`: floating point numbers. */
struct lwp_spatial_elements {
    Addr low;
    SizeT count, step, size;
    bool is_float;
    Addr ip;       /* who stored them */
    uint32_t node; /* of the call tree */
};

/* They can all be read. */
void lwp_spatial_count(const struct lwp_spatial_elements *elements);
/* Writes all counts so far in place of what was there. */
void lwp_spatial_write(void);
/* Begins anew. */
void lwp_spatial_reset(void);

#endif
