/* What the files behind analysis/program/code.h and analysis/program/types/types.h share; nobody else includes it.
 * A module's parts (symbols, debug info, control flow, types) are each read when first asked for and kept. */
#ifndef LWP_ANALYSIS_PROGRAM_BINARY_MODULE_H
#define LWP_ANALYSIS_PROGRAM_BINARY_MODULE_H

#include "analysis/program/binary/modules.h"
#include "base/arena.h"
#include "base/hash.h"

#include <elfutils/libdw.h>
#include <gelf.h>

struct code_symbols;
struct code_debug;
struct code_types;
struct lwp_jit_code;

/* kept.c: answers given once and kept, by a key. All zero: empty. */
struct code_kept {
    struct lwp_map *index;
    void **items;
    size_t count, capacity;
};

/* The place of the key's answer, NULL in it when it is new (then *fresh, unless that is NULL); valid until the next
 * call. The items are the caller's to free. */
void **code_kept_at(struct code_kept *kept, uint64_t key, bool *fresh);
void code_kept_free(struct code_kept *kept);

/* One copy of equal texts, so that they compare by pointer. NULL stays NULL. */
const char *code_intern(struct lwp_code *code, const char *text);

/* Whether the words of the list, apart by spaces, hold the name; whether it begins with one of the texts apart by |. */
bool code_is_one_of(const char *name, const char *words);
bool code_begins_with(const char *name, const char *texts);

/* A section that is mapped when the program runs. */
struct code_section {
    uint64_t start, end;
    bool executable;
    bool constant; /* the program's own, which nobody writes: no table of the loader's */
};

/* A part of the file that is mapped: address -> bytes of the file. */
struct code_segment {
    uint64_t start, bytes;
    const uint8_t *data;
};

struct code_module {
    struct lwp_module info;
    struct lwp_code *code;
    uint32_t index;
    int fd, debug_fd;
    bool completed;
    Elf *elf, *debug_elf; /* debug_elf: where symbols and DWARF are; the same as elf when not separate */
    struct code_section *sections;
    size_t section_count;
    struct code_segment *segments;
    size_t segment_count;
    uint64_t thread_local;      /* bytes, aligned */
    struct code_kept locations; /* address -> struct lwp_symbolized */
    struct code_kept scopes;    /* function's DIE -> struct code_scopes (scopes.c) */
    struct code_kept functions; /* range -> struct flow_function (code_loops.c) */
    struct lwp_map *noreturn;   /* callee address -> whether it never returns, as far as asked (noreturn.c) */
    struct lwp_map *pure;       /* callee address -> which registers it changes, if it is free of side effects (pure.c) */
    struct code_symbols *symbols;
    struct code_debug *debug;
    struct code_types *types;
    struct lwp_jit_code *jit; /* of code that the program made; then there is no file */
};

struct lwp_code {
    struct lwp_arena *arena;
    struct code_module **modules;
    size_t module_count, module_capacity;
    struct code_kept strings;
    struct lwp_loop **loops;
    size_t loop_count, loop_capacity;
    struct code_kept loop_accesses; /* loop -> struct loop_accesses (siblings.c) */
    struct code_kept loop_facts;    /* loop -> struct loop_facts, NULL: its code cannot be read (loop_shape.c) */
    struct code_kept names;         /* DIE -> its name with what encloses it (die.c) */
    struct code_kept children;      /* DIE -> struct die_children (die.c) */
    struct code_kept types;         /* content -> struct lwp_type: equal types of several units are one */
};

/* modules.c */
struct code_module *code_module_at(const struct lwp_code *code, uint32_t module); /* NULL: LWP_NONE or no such */

/* elf_module.c */
void code_elf_open(struct code_module *module, const uint8_t *build_id, size_t build_id_bytes);
void code_elf_close(struct code_module *module);
/* Before anything of the module is asked for: fetches debug info that nobody has here, if the environment allows it. */
void code_elf_complete(struct code_module *module);
/* The bytes at an address as far as the file holds them; NULL and 0 outside. */
const uint8_t *code_bytes(const struct code_module *module, uint64_t address, size_t *available);
const struct code_section *code_section_at(const struct code_module *module, uint64_t address);

/* From now on a mapped page whose file no longer reaches so far reads as zeros instead of killing the process. */
void code_file_guard(void);

/* symbols.c */
struct code_range {
    uint64_t low, high;
};
/* Bounds of the physical function, and its raw symbol name (NULL when there is none). */
bool code_function_at(struct code_module *module, uint64_t address, struct code_range *range, const char **name);
/* The raw name of the function that a stub (PLT) or a pointer slot (GOT) at the address leads to, or NULL. */
const char *code_import_at_stub(struct code_module *module, uint64_t address);
const char *code_import_at_slot(struct code_module *module, uint64_t address);
void code_symbols_free(struct code_symbols *symbols);

/* jit_code.c: the name and bounds of the function at an address, NULL: none is there; its source line there, if it is known. */
const char *code_jit_function(const struct lwp_jit_code *jit, uint64_t address, struct code_range *range);
bool code_jit_line(const struct lwp_jit_code *jit, uint64_t address, const char **file, uint32_t *line);

/* unwind_table.c: function bounds from .eh_frame, all that is left in a stripped file. Unsorted; the caller frees them.
 * NULL when there are none. */
struct code_range *code_unwind_ranges(Elf *elf, size_t *count);

/* demangle.c: what a person would call it, interned. */
const char *code_demangle(struct lwp_code *code, const char *raw);

/* demangle_rust.c: the name that a symbol of Rust's v0 scheme stands for; false: it is none, or has what is not known. */
bool code_demangle_rust(const char *symbol, char *out, size_t room);

#endif
