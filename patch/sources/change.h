/* What does a finding ask for? Read from analysis.json. */
#ifndef LWP_PATCH_CHANGE_H
#define LWP_PATCH_CHANGE_H

#include "base/arena.h"
#include "base/error.h"

#include <jansson.h>
#include <stddef.h>

enum lwp_change_kind {
    LWP_CHANGE_REORDER,
    LWP_CHANGE_SPLIT,
    LWP_CHANGE_NODES, /* as they are, from a pool */
    LWP_CHANGE_PAD,
    LWP_CHANGE_INTERCHANGE,
    LWP_CHANGE_REGROUP,
    LWP_CHANGE_APART
};

struct lwp_change_group {
    const char **fields;
    const long long *offsets; /* in the structure as it is; a field's place */
    size_t count;
};

/* A variable, and where its memory is allocated. */
struct lwp_change_array {
    const char *name, *file;
    unsigned line;
    long long move; /* bytes; to move apart */
};

struct lwp_change {
    enum lwp_change_kind kind;
    const char *finding; /* its id */
    const char *title;
    const char *type;                /* without "struct": the tag or the typedef's name */
    const char *object;              /* the variable or what holds the block; or NULL */
    const char *file;                /* where the object is declared, or the inner loop is, as recorded; or NULL */
    long long bytes;                 /* of an element */
    double speedup, low, high;       /* predicted; low 0: not */
    struct lwp_change_group *groups; /* the hot ones, as advised; the rest is cold; to pad: one, of the fields that threads share */
    size_t group_count;
    struct lwp_change_array *arrays; /* to regroup or to move apart */
    size_t array_count;
    long long line_bytes;           /* to pad: of a cache line */
    unsigned first_line, last_line; /* of the inner loop */
};

/* `finding` is its number in the report, from 1, or its id. `root` and `arena` must outlive the answer. */
int lwp_change_read(struct lwp_change *change, struct lwp_arena *arena, const json_t *root, const char *finding, struct lwp_error *err);

#endif
