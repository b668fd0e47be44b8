/* What the files that walk over a translation unit share. */
#ifndef LWP_PATCH_WALK_H
#define LWP_PATCH_WALK_H

#include "patch/uses/clang_api.h"
#include "patch/uses/uses.h"

#include <stdint.h>

enum { WATCHED_MOST = 128, CHILDREN_MOST = 512 };

/* A cursor and those around it. */
struct frame {
    CXCursor cursor;
    const struct frame *up;
    unsigned index; /* among the children of the one around it */
};

struct functions;
struct skipped;
struct first_field;

/* The definition of one of the project's macros: its name, parameters and body. */
struct lwp_macro {
    const char *name;
    struct lwp_source *source;
    size_t begin, end;
};

struct walk {
    struct lwp_uses *uses;
    unsigned ways;                                               /* that what cannot be read forbids */
    void (*begin_unit)(struct walk *walk);                       /* NULL: nothing to do */
    void (*visit)(struct walk *walk, const struct frame *frame); /* each cursor outside of system headers, outer ones first */
    void (*end_unit)(struct walk *walk);                         /* the same */
    struct functions *functions;
    struct skipped *skipped;
    struct first_field *first_field;
    CXTranslationUnit unit;
    const struct lwp_unit *from;
    CXCursor type;                  /* the structure's definition in this unit, or null */
    CXCursor watched[WATCHED_MOST]; /* it, and the structures that hold one; the first is the type itself */
    size_t watched_count;
    const char *array_usr;                   /* the variable that holds the array */
    bool field_aggregate[CHILDREN_MOST + 1]; /* the field is an array or structure */
    const char **stringifiers;               /* the project's macros that turn arguments into strings or names */
    size_t stringifier_count, stringifier_room;
    struct lwp_macro *macros; /* of this unit */
    size_t macro_count, macro_room;
    struct lwp_member *macro_others; /* where macros access fields of other types that have a name of ours */
    size_t macro_other_count, macro_other_room;
    CXFile file;               /* the last one asked for, */
    struct lwp_source *source; /* and its text */
};

/* ---- walk_units.c ---- */

/* Visits all units. 0, or an error when libclang cannot be used; a unit that cannot be read is a refusal. */
int walk_units(struct walk *walk, struct lwp_error *err);

/* ---- walk_text.c: where a cursor is written ---- */

struct span {
    struct lwp_source *source; /* NULL: nowhere that can be edited */
    size_t begin, end;
    bool argument; /* of a macro */
};

char *walk_string(struct walk *walk, CXString string); /* in the arena */
const char *walk_usr(struct walk *walk, CXCursor declaration); /* one name in all units */
bool walk_place(struct walk *walk, CXSourceLocation location, struct lwp_source **source, size_t *offset);
struct span walk_span(struct walk *walk, CXCursor cursor);
bool walk_is_text(const struct lwp_source *source, size_t at, const char *text); /* a whole word there */
bool walk_is_file(const struct lwp_source *source, const char *recorded);
size_t walk_skip_space(const struct lwp_source *source, size_t at);              /* and comments */
void walk_refuse(struct walk *walk, unsigned ways, enum lwp_refusal reason, CXCursor at);
bool walk_is_stringified(struct walk *walk, CXCursor use); /* a macro makes its text a string or part of a name */
void walk_in_macro(struct walk *walk, CXCursor use);       /* refuses if so */

/* ---- walk_type.c: what an expression is of ---- */

unsigned walk_children(CXCursor cursor, CXCursor *children); /* at most CHILDREN_MOST; how many */
CXCursor walk_strip(CXCursor expression);                    /* without parentheses and casts */
CXCursor walk_written(CXCursor expression);                  /* without conversions that nobody wrote */
bool walk_is_same_type(CXType a, CXType b);
bool walk_number(CXCursor literal, long long *number);
bool walk_is_null(CXCursor expression);
bool walk_is_pointer(CXType type);
/* Which watched structure the type is or points to (through arrays and pointers, *depth of the latter), or -1. */
int walk_target(const struct walk *walk, CXType type, unsigned *pointers);
bool walk_is_value(const struct walk *walk, CXType type);          /* the structure itself, or an array of it */
bool walk_mentions(struct walk *walk, CXType type);                /* a function type that takes or returns it */
bool walk_is_array(const struct walk *walk, CXCursor declaration); /* the variable of the change */
/* The operator between the two operands of a binary operator, as written; "" if unclear. */
const char *walk_operator(struct walk *walk, CXCursor binary);
/* Whether a binary operator gives its left operand a value, as far as the text does not show another one. */
bool walk_may_assign(struct walk *walk, CXCursor expression);
int walk_step(struct walk *walk, CXCursor expression); /* ++: 1, --: -1, else 0 */
bool walk_is_null_test(struct walk *walk, const struct frame *above, unsigned index);
bool walk_keeps_address(struct walk *walk, CXCursor unary);      /* any operator but &, as far as the text shows it */
bool walk_is_sign(struct walk *walk, CXCursor unary, char sign); /* what a unary operator begins with */
/* The first frame above that is neither a cast nor parentheses; *index: which child of it leads here. */
const struct frame *walk_above(const struct frame *frame, unsigned *index);

/* ---- functions.c: what functions do with memory ---- */

enum lwp_role { ROLE_NONE, ROLE_ALLOCATE, ROLE_FREE, ROLE_SIZED, ROLE_PAIR, ROLE_SORT, ROLE_OPAQUE };

struct lwp_known {
    const char *name;
    enum lwp_role role;
    unsigned pointers; /* the arguments, by bit, that may point to elements */
    const char *pool;  /* the pool's function in its place, or NULL */
};
const struct lwp_known *walk_known(struct walk *walk, CXCursor callee); /* of the C library; or NULL */

void walk_function(struct walk *walk, CXCursor definition);
void walk_function_used(struct walk *walk, const struct frame *reference);
/* To be decided when all units are read: */
void walk_needs_definition(struct walk *walk, CXCursor function, CXCursor at, enum lwp_refusal reason);
void walk_needs_allocator(struct walk *walk, CXCursor function, CXCursor call);
void walk_needs_size(struct walk *walk, CXCursor function, CXCursor at);
void walk_needs_opaque(struct walk *walk, CXCursor function, unsigned argument, CXCursor call);
void walk_needs_single(struct walk *walk, CXCursor function, unsigned argument, CXCursor at);
void walk_needs_callback(struct walk *walk, CXCursor function, CXCursor at);
void walk_defines(struct walk *walk, CXCursor declaration);
bool walk_is_allocator(struct walk *walk, const char *usr); /* allocates as malloc or calloc does; once all units are read */
void walk_functions_decide(struct walk *walk);
void walk_functions_free(struct walk *walk);

/* ---- conversions.c, members.c, declarations.c, arrays.c ---- */

void walk_conversion(struct walk *walk, const struct frame *frame);
void walk_call(struct walk *walk, const struct frame *frame);
void walk_sizeof(struct walk *walk, const struct frame *frame);
void walk_member(struct walk *walk, const struct frame *frame);
void walk_member_name(struct walk *walk, const struct frame *frame);
void walk_address(struct walk *walk, const struct frame *frame);
void walk_initialiser(struct walk *walk, const struct frame *frame);
void walk_value(struct walk *walk, const struct frame *frame);
void walk_record(struct walk *walk, const struct frame *frame);
void walk_declaration(struct walk *walk, const struct frame *frame);
void walk_array_variable(struct walk *walk, CXCursor declaration); /* perhaps the one of the change */
void walk_type_name(struct walk *walk, const struct frame *frame);
void walk_variable(struct walk *walk, const struct frame *frame);
long walk_field(const struct walk *walk, CXCursor field); /* its index, or -1: of another type */

/* ---- macros.c: accesses that a macro spells ---- */

void walk_macro(struct walk *walk, CXCursor definition);
bool walk_macro_says(struct walk *walk, CXCursor expansion, const char *word); /* in its body or that of a macro it names */
bool walk_macro_member(struct walk *walk, CXCursor access, size_t field); /* false: the body cannot be edited for it */
void walk_macro_other(struct walk *walk, CXCursor access, CXCursor field); /* an access to another type's field */
void walk_macros_decide(struct walk *walk);

/* ---- pragmas.c: what pragmas name ---- */

void walk_pragmas_decide(struct walk *walk);

/* ---- first_field.c: addresses of elements by another name ---- */

void walk_first_field(struct walk *walk, const struct frame *frame); /* an access to a field */
void walk_freed(struct walk *walk, const struct frame *frame);       /* a conversion, in units that do not know the type, too */
void walk_first_field_decide(struct walk *walk);
void walk_first_field_free(struct walk *walk);

/* ---- skipped.c: branches of #if that no unit compiles ---- */

void walk_skipped(struct walk *walk);
void walk_skipped_decide(struct walk *walk);
void walk_skipped_free(struct walk *walk);

#endif
