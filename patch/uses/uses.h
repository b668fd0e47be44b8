/* Where and how do the sources use a type? Every use is found by declaration, in all translation units, and either understood or a
 * reason to refuse. What a use forbids depends on the change: */
#ifndef LWP_PATCH_USES_H
#define LWP_PATCH_USES_H

#include "patch/sources/change.h"
#include "patch/sources/refusals.h"
#include "patch/sources/source.h"
#include "patch/sources/units.h"

#include <stdbool.h>

enum lwp_way {
    LWP_WAY_LAYOUT,  /* the fields move within the element */
    LWP_WAY_POOL,    /* elements come from a pool, cold fields are found by arithmetic */
    LWP_WAY_ARRAYS,  /* one array becomes one for each group */
    LWP_WAY_LOOPS,   /* two loops change places */
    LWP_WAY_REGROUP, /* several arrays become one, or move apart */
    LWP_WAY_NODES,   /* elements come from a pool as they are */
    LWP_WAYS
};
enum {
    IN_LAYOUT = 1,
    IN_POOL = 2,
    IN_ARRAYS = 4,
    IN_SPLIT = IN_POOL | IN_ARRAYS,
    IN_FIELDS = IN_LAYOUT | IN_SPLIT, /* fields move */
    IN_LOOPS = 8,
    IN_REGROUP = 16,
    IN_NODES = 32,
    IN_POOLS = IN_POOL | IN_NODES,
    IN_ALL = IN_FIELDS | IN_NODES
};

struct lwp_field {
    const char *name, *type;    /* the canonical type */
    size_t begin, name_at, end; /* of the declaration, without the semicolon; two declarators share `begin` */
    long long offset, bytes;
};

/* The definition. */
struct lwp_type {
    struct lwp_source *source;
    const char *tag, *alias;   /* one may be NULL */
    size_t begin, open, close; /* "struct", "{", "}" */
    long long bytes;
    struct lwp_field *fields;
    size_t field_count, field_room;
};

/* BASE->field or BASE.field. */
struct lwp_member {
    struct lwp_source *source;
    size_t begin, base_end, name_at, end;
    size_t field;
    bool arrow;
    bool in_macro; /* in the body of one */
};

/* A call that allocates or frees elements, by a function that a pool has one for. */
struct lwp_pool_call {
    struct lwp_source *source;
    size_t name_at, name_end;
    const char *as; /* malloc, calloc, realloc, free */
};

/* A use of the variable that holds the one array. */
struct lwp_array_use {
    struct lwp_source *source;
    size_t at;         /* of its name */
    size_t begin, end; /* of the statement to repeat, with ";"; or of the declaration */
    long field;        /* >= 0: an access to this field; the name is all that changes */
    bool declaration, statement, null_test;
};

/* The type named in a declaration or sizeof: "struct neuron". */
struct lwp_type_name {
    struct lwp_source *source;
    size_t begin, end;
};

/* Values in an initialiser, to be given the names of their fields. */
struct lwp_positional {
    struct lwp_source *source;
    size_t at;
    size_t field;
};

struct lwp_uses {
    struct lwp_arena *arena;
    struct lwp_sources *sources;
    const struct lwp_change *change;
    const struct lwp_units *units;
    struct lwp_refusals refusals[LWP_WAYS];
    struct lwp_type type; /* source NULL: not found */
    struct lwp_member *members;
    size_t member_count, member_room;
    struct lwp_pool_call *pool_calls;
    size_t pool_call_count, pool_call_room;
    struct lwp_array_use *array_uses;
    size_t array_use_count, array_use_room;
    struct lwp_type_name *type_names;
    size_t type_name_count, type_name_room;
    struct lwp_positional *positionals;
    size_t positional_count, positional_room;
    unsigned units_read;
};

/* Reads all units. 0, or an error when libclang cannot be used; what forbids a change is in the refusals. */
int lwp_uses_find(struct lwp_uses *uses, struct lwp_error *err);
void lwp_uses_free(struct lwp_uses *uses);

/* Adds a refusal to the ways in the mask. */
static inline void lwp_uses_refuse(struct lwp_uses *uses, unsigned ways, enum lwp_refusal reason, const struct lwp_source *source,
                                   size_t offset)
{
    for (unsigned way = 0; way < LWP_WAYS; way++) {
        uses->refusals[way].arena = uses->arena;
        if (ways & 1u << way)
            lwp_refuse(&uses->refusals[way], reason, source, offset, NULL);
    }
}

#endif
