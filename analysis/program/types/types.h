/* Types of the profiled program from DWARF: which type an access, a variable or an allocation is of.
 * Hostile or damaged debug info ends in "unknown" (NULL), bounded in time and memory. */
#ifndef LWP_ANALYSIS_PROGRAM_TYPES_TYPES_H
#define LWP_ANALYSIS_PROGRAM_TYPES_TYPES_H

#include "analysis/program/binary/modules.h"

struct lwp_type;

struct lwp_field {
    const char *name; /* "" for an anonymous member */
    uint64_t offset, bytes;
    const char *type;        /* its type alone as C text, e.g. "double", "struct node *" */
    const char *declaration; /* the member as C text without ';', e.g. "double w[4]", "int (*cmp)(int)" */
    uint64_t alignment;
    const char *inherited; /* the base class whose member it is; NULL: its own */
    bool of_library;       /* ... which is not the program's to change */
};

/* Of a member that is a struct: its own members, named "position.x", with offsets from the start of the whole. */
struct lwp_parts {
    const struct lwp_field *items;
    uint32_t count;
};

/* Of the unit that declares a type: which language its names and declarations are in. */
enum lwp_language { LWP_LANGUAGE_C, LWP_LANGUAGE_CXX, LWP_LANGUAGE_FORTRAN, LWP_LANGUAGE_RUST, LWP_LANGUAGE_OTHER };

/* Whose declaration it is: `file` under the system's or the tool chain's folders (/usr/include, a compiler's own
 * headers, Rust's library and packages) is not the project's to change. */
enum lwp_type_owner { LWP_TYPE_OWNER_UNKNOWN, LWP_TYPE_OF_PROJECT, LWP_TYPE_OF_SYSTEM };

enum lwp_type_kind { LWP_TYPE_STRUCT, LWP_TYPE_UNION, LWP_TYPE_SCALAR, LWP_TYPE_OTHER };

struct lwp_type {
    const char *name; /* as written in C or C++: "struct neuron", "Particle", "double" */
    const char *tag;  /* the bare identifier for a declaration: "neuron" */
    enum lwp_type_kind kind;
    bool is_typedef; /* `name` needs no "struct" (typedef, or C++ class) */
    bool is_class;   /* C++ with bases or methods: a C declaration would not be the whole truth */
    bool is_derived; /* ... with bases, or a table of virtual functions: they have their place */
    bool is_virtual; /* ... with virtual bases, which are one field at its end */
    uint64_t bytes;
    uint64_t alignment; /* what its members need, or it was declared with; 1: unknown */
    bool aligned;       /* declared with an alignment of its own (alignas, __attribute__((aligned))) */
    enum lwp_language language;
    enum lwp_type_owner owner;
    const char *file; /* where it is declared, with its folder; NULL: unknown */
    uint32_t line;
    const struct lwp_field *fields; /* of a struct, union or class, in order of offset; bases flattened */
    uint32_t field_count;
    const struct lwp_parts *parts; /* of each field; NULL: not known */
    const struct lwp_type *payload; /* of a node of the language's library: the structure that the program keeps in it; NULL: none */
    uint64_t payload_at;           /* ... where it begins */
    const void *die;               /* DWARF's entry of it, for lwp_types_hold(); NULL: none */
};

/* Whether it ends in an array of unknown length: no other one lies behind it. */
static inline bool lwp_types_is_open(const struct lwp_type *type)
{
    return type->field_count && type->fields[type->field_count - 1].bytes == 0;
}

enum { LWP_TYPE_ELEMENT_MAX = 1 << 16 }; /* bytes; what is larger is no element of an array whose layout matters */

/* A static variable, or the large array in it that the address is in: the type of one element and how many (1 when it is no array).
 * NULL: unknown. */
const struct lwp_type *lwp_types_of_static(struct lwp_code *code, uint32_t module, uint64_t address, uint64_t *elements);

/* That array: where it lies, and what it is called within the variable ("level.tiles"). False: the address is in none. */
bool lwp_types_array_in_static(struct lwp_code *code, uint32_t module, uint64_t address, uint64_t *start, uint64_t *bytes,
                               const char **name);

/* Whether a function of this name belongs to the language's library (C++, Rust), whatever module its code is in. */
bool lwp_types_is_library(const char *function);

/* Rust's pointer that counts the references to a value of the type of this name ("std::rc::Rc"); NULL: none does. */
const char *lwp_types_counts(const char *name);

/* The container of the C++ library that has nodes of this type: "std::map" (or a multimap), or Rust's pointer that counts its references;
 * NULL: it is no such node. */
const char *lwp_types_container(const struct lwp_type *type);

/* Whether it is the node of a std::map or a std::set, through which the library's functions go. */
bool lwp_types_is_tree_node(const struct lwp_type *type);

/* Whether one of its members may lead to another one of its kind: a list's, a tree's or a hash chain's node. */
bool lwp_types_links_itself(const struct lwp_type *type);

/* Whether it is the node of a list that the language's library declares: programs walk those, while nodes of trees and tables are found. */
bool lwp_types_is_list_node(const struct lwp_type *type);

/* Whether a type of that name, or NULL, is the frame of a coroutine of C++, as GCC (_Z3runv.Frame) and Clang call them. */
bool lwp_types_is_coroutine(const char *name);

/* What the pointers visible at an access point to: candidates with a score, best first. A variable whose DWARF
 * location is the access's base register at that address is exact (`exact`); other pointer variables in scope
 * (locals, parameters, inlined ones, globals of the unit) are only possible. */
struct lwp_candidate {
    const struct lwp_type *type;
    const char *variable; /* name of the variable it came through */
    bool exact;
    bool table;          /* of a block: a hash table's; other bytes follow the elements (element_table.h) */
    const char *kept;    /* of a block: the variable outside of functions, or the member, that it is stored in; NULL: none */
    int64_t kept_at;     /* how many bytes into the block that points */
    bool kept_in_array;  /* by an index: others from the same call may be beside it */
    bool returned;       /* of a block: the function gives it to its caller, whose name for it counts */
    int64_t returned_at; /* how many bytes into the block that points */
    int8_t handed;       /* of a block: the register of the argument that leads to the caller's pointer to it; 0: none does */
    bool header;         /* of a block: it only begins with that; what is behind is given to the caller as something else */
};
size_t lwp_types_at_access(struct lwp_code *code, uint32_t module, uint64_t address, struct lwp_candidate *candidates, size_t room);

/* The field of an access by its code alone: what the pointer in its registers leads to and the instruction's displacement. */
struct lwp_code_place {
    const struct lwp_type *type;
    uint64_t at;          /* bytes into a value of the type */
    int64_t from;         /* bytes from the beginning of the value that is pointed to; unlike `at` where it is not in that */
    bool beside;          /* not in the value that is pointed to, but in one some elements away: if there are any (container_of) */
    const char *variable; /* through which the pointer came; "": not known */
};

/* False: unknown, or known up to a part of the type only, as of loops over an array in it. */
bool lwp_types_place(struct lwp_code *code, uint32_t module, uint64_t address, struct lwp_code_place *place);

/* Whether a value of `inner` lies `offset` bytes into one of `outer`: itself, as a base, a member, or an element of an array in it.
 * Numbers are alike when they have the same width and are both of integers, or both not; so are all pointers. An array of bytes has
 * room for anything. */
bool lwp_types_hold(const struct lwp_type *outer, uint64_t offset, const struct lwp_type *inner);

/* The same for a structure that is declared there: not what merely looks like it. */
bool lwp_types_contain(const struct lwp_type *outer, uint64_t offset, const struct lwp_type *inner);

/* The same for the function that allocates (call site address = return address - 1): pointer variables in scope. */
size_t lwp_types_at_call(struct lwp_code *code, uint32_t module, uint64_t address, struct lwp_candidate *candidates, size_t room);

/* What the call at the address (return address - 1) allocates: the T of the library's allocator that it is in (Vec<T>,
 * std::allocator<T>), or what the variable, member or method that receives its result says; `is_result`: whether the
 * call's result is the block. RETURNED: the function gives the block to its caller; ask there. INSIDE: it is the
 * library's; ask the caller, but the call's result there is something else. */
enum lwp_block_answer { LWP_BLOCK_UNKNOWN, LWP_BLOCK_KNOWN, LWP_BLOCK_RETURNED, LWP_BLOCK_INSIDE };
enum lwp_block_answer lwp_types_of_block(struct lwp_code *code, uint32_t module, uint64_t address, bool is_result,
                                         struct lwp_candidate *candidate);

/* With the call at the address (return address - 1) the caller hands over the address of a pointer in that register, to the function of the
 * same module that holds `callee`: what that pointer is called; NULL: not known. *in_array: it is one of several. */
const char *lwp_types_handed_name(struct lwp_code *code, uint32_t module, uint64_t address, uint64_t callee, int8_t argument,
                                  bool *in_array);

/* Whether a function of the call at the address (return address - 1) gives what the call returns to its caller as an untyped pointer:
 * an allocator's wrapper. `inlined`: of how many inlined functions there, from the innermost, it is the next one further out. */
bool lwp_types_wraps(struct lwp_code *code, uint32_t module, uint64_t address, uint32_t inlined);

/* The stack variable at `offset` bytes from the CFA in the frame executing `address`. `start` is its lowest offset. */
const struct lwp_type *lwp_types_of_stack(struct lwp_code *code, uint32_t module, uint64_t address, int64_t offset, const char **variable,
                                          int64_t *start, uint64_t *bytes, uint64_t *elements);

/* Whether that variable is in memory at times only, where the compiler has no register for it. */
bool lwp_types_is_spilled(struct lwp_code *code, uint32_t module, uint64_t address, int64_t offset);

/* Whether the program asks for each access to a variable of static data, or of the stack, by its type (volatile, atomic). */
bool lwp_types_static_is_volatile(struct lwp_code *code, uint32_t module, uint64_t address);
bool lwp_types_stack_is_volatile(struct lwp_code *code, uint32_t module, uint64_t address, int64_t offset);

#endif
