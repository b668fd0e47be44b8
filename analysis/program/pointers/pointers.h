/* What the registers of a function point to, everywhere in it, and what calls return; behind types.h. */
#ifndef LWP_ANALYSIS_PROGRAM_POINTERS_POINTERS_H
#define LWP_ANALYSIS_PROGRAM_POINTERS_POINTERS_H

#include "analysis/program/types/type_cache.h"
#include "analysis/program/types/type_members.h"

/* Where a memory operand leads: `offset` bytes from where a `pointee` begins, up to multiples of `modulus`. */
struct code_target {
    struct code_pointee pointee;
    int64_t offset;
    uint64_t modulus;
    int8_t argument; /* the register in which the function was given the pointer; 0: in none */
};

/* Of the instruction at `pc`; false: unknown. */
bool code_points_to(struct code_module *module, uint64_t pc, struct code_target *target);

/* What it keeps in the types of a module; before code_types_free. NULL: nothing. */
void code_pointers_free(struct code_types *types);

/* What the result of the call that returns to `pc` points to, from where it goes. RETURNED: to the caller's caller, as
 * an untyped pointer. */
enum code_result { CODE_RESULT_LOST, CODE_RESULT_KNOWN, CODE_RESULT_RETURNED };
enum code_result code_result_of_call(struct code_module *module, uint64_t pc, struct code_pointee *pointee);

/* Who holds that result. */
struct code_holder {
    const char *variable; /* the function's own, or else an inlined one's; NULL: none is known */
    const char *kept;     /* a variable outside of functions, or a member; NULL: none is known */
    int64_t kept_at;      /* how far on from the result that points */
    bool kept_in_array;   /* by an index: others of the same call may be beside it */
    bool returned;        /* to the caller: its own name for it counts */
    int64_t returned_at;  /* how far on from the result that points */
    int8_t handed;        /* the register of the argument that leads to the caller's own pointer to it; 0: none does */
};
void code_holder_of_call(struct code_module *module, uint64_t pc, struct code_holder *holder);

struct code_allocator {
    bool library; /* all that is at the address, inlined or not, is the library's */
    bool shared;  /* found from a function of its own, which compilers may have merged with one for another T of the same
                     code */
    bool table;   /* a hash table's: control bytes follow the elements */
};

/* What the allocator of the language's library that holds the call makes: the T of std::allocator<T>, Vec<T>, Box<T>,
 * RawTable<T>. */
bool code_allocator_at(struct code_module *module, uint64_t address, struct code_pointee *pointee, struct code_allocator *allocator);

/* The call that returns to `pc` hands over the address of a pointer in that register: what that pointer is called; NULL: not known, or what
 * is called is not the function that holds `callee`, which may have been jumped to from there. Lives as long as the module's code.
 * *in_array: it is one of several. */
const char *code_handed_name(struct code_module *module, uint64_t pc, uint64_t callee, int8_t argument, bool *in_array);

#endif
