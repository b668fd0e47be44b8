/* What the files that regroup arrays share. */
#ifndef LWP_PATCH_REGROUP_H
#define LWP_PATCH_REGROUP_H

#include "patch/uses/walk.h"

enum { ARRAYS_MOST = 32, FACTORS_MOST = 6 };

enum use {
    USE_ELEMENT,  /* array[index] */
    USE_TEST,     /* for NULL */
    USE_SIZE,     /* sizeof *array */
    USE_ALLOCATE, /* array = malloc(count * sizeof *array); */
    USE_FREE,     /* free(array); */
};

struct array_use {
    enum use kind;
    size_t array, at;      /* which, and where its name is */
    size_t begin, end;     /* of the element, or of the statement with ";" */
    CXCursor block;        /* around the statement, */
    CXCursor statement;    /* which is this */
    const char *allocator; /* USR */
    bool from_library;     /* of the C library */
    const char *count;     /* that is allocated: the same text is the same number */
    size_t cast_begin, cast_end, size_begin, size_end;
};

struct array {
    const char *name;
    const char *usr; /* NULL: not found yet */
    size_t at;       /* its name in its declaration */
    size_t begin;    /* of the declaration, which others may be part of */
    CXType element;
    bool is_static;
    bool elsewhere; /* another variable of this name can be seen by other units */
};

struct regroup {
    struct walk walk; /* first: visitors get it */
    struct array arrays[ARRAYS_MOST];
    size_t array_count;
    struct lwp_source *source; /* where all of them are declared, and so used */
    struct array_use *uses;
    size_t use_count, use_room;
    size_t *explaineds; /* places of their names that cursors lead to */
    size_t explained_count, explained_room;
};

void regroup_refuse(struct regroup *regroup, enum lwp_refusal reason, size_t at);

/* ---- regroup_uses.c ---- */

void regroup_visit(struct walk *walk, const struct frame *frame);

/* ---- regroup_check.c: are they allocated and freed as one? ---- */

void regroup_check(struct regroup *regroup);

/* ---- regroup_edit.c ---- */

void regroup_edit(struct regroup *regroup);

#endif
