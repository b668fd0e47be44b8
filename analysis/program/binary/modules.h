/* The files a profiled program was loaded from, and the variables their symbols name. */
#ifndef LWP_ANALYSIS_PROGRAM_BINARY_MODULES_H
#define LWP_ANALYSIS_PROGRAM_BINARY_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LWP_NONE UINT32_MAX

struct lwp_code;

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

/* Where in a module's addresses its thread-local variables are: each thread has its own part of them. */
#define LWP_THREAD_LOCAL ((uint64_t)1 << 62)

/* How far below a thread's pointer its part of the program's own thread-local variables begins; 0: the module has none. */
uint64_t lwp_code_thread_local(const struct lwp_code *code, uint32_t module);

/* The data symbol that holds the address (a static variable). */
struct lwp_symbol {
    const char *name; /* demangled */
    uint64_t start, bytes;
    uint64_t until; /* every address from start up to here has this answer */
};
bool lwp_code_data_symbol(struct lwp_code *code, uint32_t module, uint64_t address, struct lwp_symbol *symbol);

/* Whether it is in a section of the program's that nobody writes: literals, jump tables, constant arrays. */
bool lwp_code_data_is_constant(struct lwp_code *code, uint32_t module, uint64_t address);

#endif
