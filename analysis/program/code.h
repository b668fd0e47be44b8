/* Code of the profiled program: instruction address -> module, function, inlined frames, line, loop.
 * Addresses here are ELF virtual addresses of a module (process address - bias). Everything is read lazily, cached,
 * lives in the arena given, and may be missing: a stripped, replaced, unreadable or hostile file yields less, never
 * an error. JIT or unknown code has module LWP_NONE. */
#ifndef LWP_ANALYSIS_PROGRAM_CODE_H
#define LWP_ANALYSIS_PROGRAM_CODE_H

#include "analysis/program/binary/modules.h"
#include "analysis/program/debug/frame.h"
#include "analysis/program/flow/machine_code.h"
#include "base/arena.h"

struct lwp_code *lwp_code_new(struct lwp_arena *arena);
void lwp_code_free(struct lwp_code *code); /* closes files; the arena stays the caller's */

struct lwp_symbolized {
    uint32_t module;
    uint64_t address;
    const struct lwp_frame *frames; /* innermost first; at least one */
    uint32_t frame_count;
    uint64_t function_low, function_high; /* of the physical function, from symbols or .eh_frame; 0, 0: unknown */
    uint32_t loop;                        /* innermost loop that holds the address, or LWP_NONE */
};

/* Cached per address; valid as long as the arena. */
const struct lwp_symbolized *lwp_code_symbolize(struct lwp_code *code, uint32_t module, uint64_t address);

#endif
