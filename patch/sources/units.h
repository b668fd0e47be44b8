/* Which sources make up the program, and how are they compiled? From compile_commands.json or a compiler's command line. */
#ifndef LWP_PATCH_UNITS_H
#define LWP_PATCH_UNITS_H

#include "base/arena.h"
#include "base/error.h"

#include <stddef.h>

struct lwp_unit {
    const char *file;       /* absolute */
    const char *directory;  /* absolute: where it is compiled */
    const char **arguments; /* for libclang: what decides how the source is read, no warnings or optimisation; NULL-ended */
    size_t argument_count, argument_room;
};

struct lwp_units {
    struct lwp_arena *arena;
    struct lwp_unit *units;
    size_t unit_count, unit_room;
    const char *root; /* the project's folder: the work tree around the first source, or what all have in common; absolute */
};

/* From a compilation database (clang's JSON format). */
int lwp_units_read(struct lwp_units *units, const char *path, struct lwp_error *err);

/* From a command as one types it: gcc -O2 -DX=1 a.c b.c. Quotes and backslashes as in a shell; nothing is expanded. */
int lwp_units_parse(struct lwp_units *units, const char *command, struct lwp_error *err);

void lwp_units_free(struct lwp_units *units);

#endif
