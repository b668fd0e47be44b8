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
    bool outlined;                        /* the body of an OpenMP parallel region, named after the function that it stands in */
    bool unread;                          /* only its name is known, and not its loops: code that the program made */
    uint32_t loop;                        /* innermost loop that holds the address, or LWP_NONE */
};

/* Cached per address; valid as long as the arena. */
const struct lwp_symbolized *lwp_code_symbolize(struct lwp_code *code, uint32_t module, uint64_t address);

/* Are the instructions of one line and column, in one function or one inlined copy of it? So are the copies that an
 * unrolled loop has of an instruction. False where the line table has no columns. */
bool lwp_code_same_expression(struct lwp_code *code, uint32_t module, uint64_t a, uint64_t b);

/* ---- remainder_loop.c: what the code beside a vectorised loop says that the loop needs ---- */

struct lwp_type;

struct lwp_remainder_use {
    uint64_t offset; /* in the element */
    uint16_t bytes;
};

/* A loop that was made into a vector loop, and one for what is left over. */
struct lwp_vector_loop {
    uint32_t module;
    uint64_t address; /* of a vector access */
    const char *file;
    uint32_t first_line, last_line;
};

/* The accesses to elements of the type on the loop's source lines, but for the machine loop that holds the vector access; at most `room`.
 * 0: there are none, or for some it is not known what they lead to. */
size_t lwp_remainder_uses(struct lwp_code *code, const struct lwp_vector_loop *loop, const struct lwp_type *type,
                          struct lwp_remainder_use *uses, size_t room);

#endif
