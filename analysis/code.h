/* Code of the profiled program: instruction address -> module, function, inlined frames, line, loop.
 * Addresses here are ELF virtual addresses of a module (process address - bias). Everything is read lazily, cached,
 * lives in the arena given, and may be missing: a stripped, replaced, unreadable or hostile file yields less, never
 * an error. JIT or unknown code has module LWP_NONE. */
#ifndef LWP_ANALYSIS_CODE_H
#define LWP_ANALYSIS_CODE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LWP_NONE UINT32_MAX

struct lwp_code;

struct lwp_code *lwp_code_new(struct lwp_arena *arena);
void lwp_code_free(struct lwp_code *code); /* closes files; the arena stays the caller's */

enum lwp_debug_info {
    LWP_DEBUG_NONE,     /* the file is gone, unreadable or has no symbols */
    LWP_DEBUG_SYMBOLS,  /* symbol table only */
    LWP_DEBUG_FULL,     /* DWARF */
    LWP_DEBUG_REPLACED, /* another build than the one that ran (build-id differs): not used at all */
};

/* What became of the file. */
enum lwp_module_file {
    LWP_FILE_NONE, /* there never was one: [vdso], JIT code, a memfd */
    LWP_FILE_READ,
    LWP_FILE_GONE,
    LWP_FILE_UNREADABLE, /* no permission */
    LWP_FILE_ODD,        /* no x86-64 ELF file (any more) */
};

struct lwp_module {
    const char *path;
    const char *build_id; /* hex, "" when there is none */
    enum lwp_debug_info debug_info;
    enum lwp_module_file file;
    int64_t changed;        /* when the file was last written, seconds since 1970; 0: unknown */
    uint32_t units_missing; /* compile units whose .dwo file was not found; known after debug info was asked for */
    const char *missing;    /* the name of the first of them, or of the file shared with others (dwz); NULL: none */
};

/* The module's index, the same for the same path and build id. build_id may be NULL (not checked then). */
uint32_t lwp_code_module(struct lwp_code *code, const char *path, const uint8_t *build_id, size_t build_id_bytes);
uint32_t lwp_code_module_count(const struct lwp_code *code);
const struct lwp_module *lwp_code_module_info(const struct lwp_code *code, uint32_t module);

struct lwp_frame {
    const char *function; /* demangled; NULL: unknown */
    const char *file;     /* NULL: unknown */
    uint32_t line;        /* 0: unknown */
    bool inlined;         /* into the next frame */
};

struct lwp_place {
    uint32_t module;
    uint64_t address;
    const struct lwp_frame *frames; /* innermost first; at least one */
    uint32_t frame_count;
    uint64_t function_low, function_high; /* of the physical function, from symbols or .eh_frame; 0, 0: unknown */
    uint32_t loop;                        /* innermost loop that holds the address, or LWP_NONE */
};

/* Cached per address; valid as long as the arena. */
const struct lwp_place *lwp_code_place(struct lwp_code *code, uint32_t module, uint64_t address);

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

/* What an instruction does to memory, decoded from the module's file. */
struct lwp_memory_operand {
    bool exists, load, store, vector;
    bool packed; /* may hold several numbers: not the scalar kind of a vector instruction */
    uint16_t bytes;
    int32_t displacement;
    int8_t base, index; /* 0..15 as in the ModRM encoding (rax=0 .. r15=15), -1: none, -2: rip */
    uint8_t scale;
};
struct lwp_memory_operand lwp_code_operand(struct lwp_code *code, uint32_t module, uint64_t address);

/* Other accesses of the same loop through the same base and index values (base and index registers hold the same
 * value plus a known constant, same scale), within one iteration: exact on every path, calls and redefinitions end
 * it. So one sampled field tells which other fields of the same element the loop touches. */
struct lwp_sibling {
    uint64_t address; /* of the instruction */
    int64_t delta;    /* its data address minus that of the given instruction */
    uint16_t bytes;
    bool load, store;
    uint32_t loop; /* innermost loop of that instruction: the given one's, or one inside it */
};
/* At most `room`, the given instruction (delta 0) among them, in order of address; returns how many there are in
 * all. 0 when the address is in no loop or accesses no memory through registers. */
size_t lwp_code_siblings(struct lwp_code *code, uint32_t module, uint64_t address, struct lwp_sibling *siblings,
                         size_t room);

/* The data symbol that holds the address (a static variable). */
struct lwp_symbol {
    const char *name; /* demangled */
    uint64_t start, bytes;
    uint64_t until; /* every address from start up to here has this answer */
};
bool lwp_code_data_symbol(struct lwp_code *code, uint32_t module, uint64_t address, struct lwp_symbol *symbol);

#endif
