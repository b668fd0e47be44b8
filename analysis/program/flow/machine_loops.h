/* The loops of the profiled program's machine code. */
#ifndef LWP_ANALYSIS_PROGRAM_FLOW_MACHINE_LOOPS_H
#define LWP_ANALYSIS_PROGRAM_FLOW_MACHINE_LOOPS_H

#include "analysis/program/binary/modules.h"

/* Natural loops of the decoded control flow, nested as Havlak does (irreducible ones included). */
struct lwp_loop {
    uint32_t module;
    uint32_t parent;      /* enclosing loop or LWP_NONE */
    uint32_t depth;       /* 1: outermost */
    uint64_t header;      /* ELF address of the header block */
    const char *function; /* the innermost inlined function that holds the whole loop */
    const char *file;
    uint32_t first_line, last_line; /* 0: unknown */
};

uint32_t lwp_code_loop_count(const struct lwp_code *code);
const struct lwp_loop *lwp_code_loop(const struct lwp_code *code, uint32_t loop);

/* Compilers make several machine loops out of one source loop (vector loop and remainder, unswitched, peeled). They
 * get the same function, file and lines; this is the first of them, the same for all, itself when there is one only.
 * Nested loops written on one line have equal lines too, but are different source loops. */
uint32_t lwp_code_source_loop(const struct lwp_code *code, uint32_t loop);

#endif
