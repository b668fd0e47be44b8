/* What lies at an offset of a type, and what the pointers there point to; behind types.h. */
#ifndef LWP_ANALYSIS_PROGRAM_TYPES_TYPE_MEMBERS_H
#define LWP_ANALYSIS_PROGRAM_TYPES_TYPE_MEMBERS_H

#include "analysis/program/debug/die.h"

/* What a pointer leads to. Of pointers to arrays, one element. */
struct code_pointee {
    Dwarf_Die type;
    uint64_t bytes;   /* of the type; 0: unknown */
    bool shares;      /* the record of what an OpenMP region shares */
    bool descriptor;  /* not to `type` itself but to Fortran's descriptor of an array of it */
    bool untyped;     /* to void: `type` is the pointer's own */
    bool of_caller;   /* to a pointer that the caller has, by a parameter */
    const char *name; /* the variable or member that holds the pointer, "graph->nodes"; interned */
};

/* What a value of this type points to; false: it is no pointer, or to void or code. */
bool code_pointee_of(Dwarf_Die type, struct code_pointee *pointee);

/* What a variable or member of this type is made of: one element of arrays, or the descriptor of Fortran's. */
bool code_pointee_itself(Dwarf_Die type, struct code_pointee *pointee);

/* The pointer stored `offset` bytes into a value of the type. `name` becomes the member's, below `pointee->name` (the
 * outer path, "" for none). */
bool code_pointer_at(struct code_module *module, Dwarf_Die type, uint64_t offset, struct code_pointee *pointee);

/* The pointer stored at `offset` from where the pointee begins, whose addresses are known up to multiples of `modulus`
 * (0: exactly). The name is made longer: "graph" -> "graph->nodes". `untyped`: a pointer to void counts as well. */
bool code_pointer_through(struct code_module *module, const struct code_pointee *from, int64_t offset, uint64_t modulus, bool untyped,
                          struct code_pointee *pointee);

/* An address behind a structure that ends in an array of unknown length is in that array: its element, and where in it the address is.
 * So are those of a loop over a large array in a structure. `offset` and `modulus` as above. */
bool code_pointee_in_tail(struct code_module *module, const struct code_pointee *from, int64_t offset, uint64_t modulus,
                          struct code_pointee *element, uint64_t *at);

/* A large array that is a member of a structure, or of what that is made of. */
struct code_inner_array {
    Dwarf_Die element;
    uint64_t start, bytes, elements; /* in the structure; of an element; how many */
    const char *name;                /* "level.tiles" */
};
/* The one at `offset` of a value of this type. */
bool code_inner_array(struct code_module *module, Dwarf_Die type, uint64_t offset, struct code_inner_array *found);

/* Whether a value of `inner` begins `offset` bytes into one of `outer`, itself, as a member, in an array, or with its members written
 * again at the start of a struct. */
bool code_type_holds(Dwarf_Die outer, uint64_t offset, Dwarf_Die inner);

/* The same, kept: it is asked again and again. */
bool code_type_holds_kept(struct code_module *module, Dwarf_Die outer, uint64_t offset, Dwarf_Die inner);

/* The same, where numbers of one width and kind are alike, whatever they are called, and all pointers; and where an array of
 * bytes has room for anything. */
bool code_type_reads(Dwarf_Die outer, uint64_t offset, Dwarf_Die inner);

/* Fortran's arrays whose place is known at run time only: bytes of their descriptor; 0: it is none. */
uint64_t code_descriptor_bytes(Dwarf_Die *stripped);

#endif
