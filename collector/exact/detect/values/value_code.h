/* Steps of a superblock (value_steps.h) as machine code of the processor that lwp runs on, for those that run often: nothing
 * is left to be looked up or decided that is the same each time. What a step does with memory or with the table of numbers
 * is a call; what it does with numbers is made in place. Superblocks go on to one another as they did in the program: the
 * code of one jumps to that of the next in the trace. For x86-64. Freestanding. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_VALUES_VALUE_CODE_H
#define LWP_COLLECTOR_EXACT_DETECT_VALUES_VALUE_CODE_H

#include "collector/exact/detect/values/value_steps.h"

/* What a superblock's first word in the trace leads to begins with it: what runs it. */
struct lwp_value_runner {
    const void *code;
};

/* Where code is put, one behind the other, for good. */
struct lwp_value_codes {
    uint8_t *memory; /* writable and executable */
    size_t used, room;
    size_t runner;     /* where what a superblock's first word points to has the pointer to its runner */
    const void *leave; /* code of superblocks that have none: lwp_value_code_run() returns there */
};

/* A superblock's words in the trace, behind the first, and what its computations' contexts are. */
struct lwp_value_words {
    uint32_t count, passed; /* all of them; which of them has the exits passed */
    const uint32_t *path;   /* a call path and a number; on that path contexts begin at that number + first. NULL: it computes nothing */
    uint32_t first;
};

/* The port's memory has to be executable. False: no memory. */
bool lwp_value_codes_init(struct lwp_value_codes *codes, const struct lwp_shadow_port *port, size_t room, size_t runner);

/* Machine code of the steps; NULL: there is no room. It looks at words up to LWP_VALUE_AHEAD behind its own. */
const void *lwp_value_code(struct lwp_value_codes *codes, const struct lwp_value_steps *steps, const struct lwp_value_words *words);
enum { LWP_VALUE_AHEAD = 32 };

/* Runs superblocks, which lie one behind the other, up to one that has no code or is numbered for another call path than
 * values->path. That one's first word. */
const uint64_t *lwp_value_code_run(struct lwp_values *values, const struct lwp_value_codes *codes, const uint64_t *words);

#endif
