/* Code that a compiler inside the program made: what it said of that in the files it makes for perf, /tmp/perf-PID.map (address, size and
 * name of a function a line) and jit-PID.dump (the kernel's tools/perf/Documentation/jitdump-specification.txt: with times, moves and
 * source lines), of which a result has copies. Neither is trusted: what is damaged ends there, and what is too large is cut. */
#ifndef LWP_ANALYSIS_PROGRAM_BINARY_JIT_CODE_H
#define LWP_ANALYSIS_PROGRAM_BINARY_JIT_CODE_H

#include "analysis/program/binary/modules.h"

struct lwp_jit_line {
    uint64_t offset; /* in the function */
    uint32_t line;
    uint32_t file; /* where its name begins in `text` */
};

struct lwp_jit_function {
    uint64_t start, end; /* in the process */
    uint64_t time;       /* CLOCK_MONOTONIC from when it was there, ns; 0: not known, always */
    uint64_t place;      /* as address of the module: functions that were at one address one after the other have places of their own */
    uint64_t reach;      /* the furthest end of all that start before, and its own */
    uint32_t name;       /* where it begins in `text` */
    uint32_t order;      /* of two at one address the later one counts */
    uint32_t line, lines;
};

struct lwp_jit_code {
    struct lwp_jit_function *functions; /* by start */
    size_t function_count, function_room;
    struct lwp_jit_line *lines;
    size_t line_count, line_room;
    char *text;
    size_t text_count, text_room;
    bool moves; /* an address had several functions */
};

/* Of a process's folder of the result. NULL: it says nothing of such code. Owned. */
struct lwp_jit_code *lwp_jit_code_read(const char *folder);
void lwp_jit_code_free(struct lwp_jit_code *jit);

/* The function at an address of the process at a time (0: whenever), as an address of the module; false: there is none. */
bool lwp_jit_code_at(const struct lwp_jit_code *jit, uint64_t ip, uint64_t time, uint64_t *address);

/* A module of that name for it, which owns it from then on. LWP_NONE: there is one already, and it is freed. */
uint32_t lwp_code_jit_module(struct lwp_code *code, const char *name, struct lwp_jit_code *jit);

#endif
