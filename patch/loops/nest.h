/* Two loops, and what their iterations read and write. */
#ifndef LWP_PATCH_NEST_H
#define LWP_PATCH_NEST_H

#include "patch/loops/form.h"
#include "patch/uses/walk.h"

enum { INDICES_MOST = 4, OWN_MOST = 8 };
enum { FOR_INIT, FOR_CONDITION, FOR_ADVANCE, FOR_BODY, FOR_PARTS }; /* of a for statement that has them all */

struct head {
    size_t begin, end; /* between the parentheses */
    CXCursor counter;
    const char *variable;      /* its USR */
    int step;                  /* its sign */
    bool by_one;               /* that is all it is */
    bool is_unsigned;
    struct form least, beyond; /* least <= counter < beyond */
};

enum base {
    BASE_UNKNOWN,
    BASE_ARRAY,    /* declared as an array */
    BASE_POINTER,  /* a pointer that the loops leave as it is */
    BASE_RESTRICT, /* the same, a parameter that is `restrict` */
};

/* An element that an iteration reads or writes. */
struct element {
    enum base base;
    const char *variable; /* USR; NULL: unknown */
    const char *type;     /* see nest_type() */
    unsigned index_count;
    struct form indices[INDICES_MOST]; /* the last subscript first */
    long long bytes;                   /* of it */
    long long all_bytes;               /* of all elements; 0: not known; of a pointer set by nest_check_order() */
    bool always;                       /* every iteration has it */
    bool writes;
    bool alone; /* set by nest_check_order(): elements of two variables with this are apart */
    struct lwp_source *source;
    size_t at;
};

/* A variable from outside of the loops. */
struct outside {
    CXCursor declaration;
    const char *variable, *type;
    bool reads, writes; /* `reads`: a value from before the loops or from another iteration */
    bool sometimes;     /* not every iteration writes it */
    struct lwp_source *source;
    size_t at; /* of the last use */
};

/* A variable that belongs to one iteration of the outer loop, declared in it. */
struct own {
    CXCursor declaration;
    const char *name, *type; /* as written */
    size_t begin, name_at, end;
    bool is_set; /* it is declared with a value */
};
struct own_use {
    unsigned own;
    size_t at;
};

/* Where things are that stand around the inner loop; see around.c. */
struct around {
    size_t body_begin, body_end;              /* of the outer loop's body */
    size_t inner_begin, inner_end;            /* of the inner loop */
    size_t work_begin;                        /* of the inner loop's body */
    const char *counter, *type, *first, *end; /* of the outer loop's head, as written */
    struct own owns[OWN_MOST];
    unsigned own_count;
    struct own_use *uses;
    size_t use_count, use_room;
};

struct nest {
    struct lwp_source *source; /* NULL: none found */
    size_t begin, end;         /* of the outer loop */
    unsigned depth;            /* loops around the inner one */
    bool is_perfect;           /* the inner loop is all that the outer one does */
    struct around around;      /* otherwise */
    bool is_read;              /* heads and body, as far as no refusal says else */
    bool any_type;             /* memory may be used as of any type: -fno-strict-aliasing */
    const char *function;      /* its USR */
    unsigned number;           /* of the inner loop among those of the function */
    const char *printed;       /* the whole function, as libclang understands it: without macros */
    size_t function_begin, function_end;
    bool has_macro; /* one is used in the loops */
    struct head outer, inner;
    struct element *elements;
    size_t element_count, element_room;
    struct outside *outsides;
    size_t outside_count, outside_room;
    struct lwp_refusals refusals;
};

void nest_free(struct nest *nest);

void nest_refuse(struct nest *nest, struct walk *walk, enum lwp_refusal reason, CXCursor at);

/* The type without qualifiers and sign; "": memory of it may be that of any other type, as with characters and structures. */
const char *nest_type(CXType type);

bool nest_is_inside(struct walk *walk, CXCursor cursor, const struct lwp_source *source, size_t begin, size_t end);

/* ---- expand.c: macros in the loops ---- */

/* A use of a macro. */
struct expansion {
    CXCursor cursor;
    struct lwp_source *source;
    size_t at;
};

/* Those of a unit. */
struct expansions {
    struct expansion *expansions;
    size_t expansion_count, expansion_room;
};

void expansions_visit(struct expansions *expansions, struct walk *walk, const struct frame *frame);
bool expansions_are_in(const struct expansions *expansions, const struct lwp_source *source, size_t begin, size_t end);
/* Whether one of them makes a pragma, which no cursor shows. */
bool expansions_have_pragma(const struct expansions *expansions, struct walk *walk, const struct lwp_source *source, size_t begin,
                            size_t end);

unsigned nest_number(CXCursor function, CXCursor inner);
void nest_print(struct nest *nest, struct walk *walk, CXCursor function);
/* The source with the function as it was printed. */
const char *nest_expand(const struct nest *nest, struct lwp_arena *arena);

/* ---- heads.c ---- */

/* Reads a nest at its inner loop; what forbids an interchange, or is not understood, is in its refusals. */
void nest_read(struct nest *nest, struct walk *walk, const struct expansions *expansions, const struct frame *inner);

/* ---- body.c ---- */

/* Reads an expression of a loop's head, and what it is as a form. */
struct form nest_read_end(struct nest *nest, struct walk *walk, CXCursor expression);
/* Reads the inner loop's body. */
void nest_read_body(struct nest *nest, struct walk *walk, CXCursor body);

/* Reads the statements of a loop; the body of the loop among them is `work`. */
void nest_read_statements(struct nest *nest, struct walk *walk, CXCursor body, CXCursor work, CXCursor loop);

/* ---- around.c ---- */

/* Reads what the outer loop does beside the inner one; false: not understood. `outer`, `inner`: the parts of their statements. */
bool nest_read_around(struct nest *nest, struct walk *walk, const CXCursor *outer, const CXCursor *inner, CXCursor loop);
/* Makes the edits that give it loops of its own. */
void nest_distribute(const struct nest *nest, struct lwp_arena *arena);

/* ---- memory.c: which pointers have memory of their own? ---- */

struct memory;
struct memory *memory_new(void);
void memory_free(struct memory *memory);
void memory_visit(struct memory *memory, struct walk *walk, const struct frame *frame);
/* Once all units are read: */
bool memory_is_own(const struct memory *memory, const char *variable);     /* nothing else leads to the memory that it points to */
bool memory_is_exposed(const struct memory *memory, const char *variable); /* its address is taken somewhere */
/* The most memory that it ever points to; 0: not known. */
long long memory_most_bytes(const struct memory *memory, const char *variable);
unsigned memory_values(const struct memory *memory, const char *variable); /* places that give a pointer a value */

/* ---- order.c ---- */

/* Refuses unless the iterations do the same in the other order. */
void nest_check_order(struct nest *nest, const struct memory *memory);

#endif
