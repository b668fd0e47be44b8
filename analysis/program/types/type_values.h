/* What becomes of a call's result; behind types.h. */
#ifndef LWP_ANALYSIS_PROGRAM_TYPES_TYPE_VALUES_H
#define LWP_ANALYSIS_PROGRAM_TYPES_TYPE_VALUES_H

#include "analysis/program/debug/scopes.h"
#include "analysis/program/types/type_members.h"

enum code_result { CODE_RESULT_LOST, CODE_RESULT_KNOWN, CODE_RESULT_RETURNED };

/* What the result of the call that returns to `pc` points to, from where it goes. RETURNED: to the caller's caller, as
 * an untyped pointer. */
enum code_result code_result_of_call(struct code_module *module, uint64_t pc, struct code_pointee *pointee);

struct code_allocator {
    bool library; /* all that is at the address, inlined or not, is the library's */
    bool shared;  /* a function of its own told, which compilers may have merged with one for another T of the same code */
    bool table;   /* a hash table's: control bytes follow the elements */
};

/* What the allocator of the language's library that holds the call makes: the T of std::allocator<T>, Vec<T>, Box<T>,
 * RawTable<T>. */
bool code_allocator_at(struct code_module *module, uint64_t address, struct code_pointee *pointee,
                       struct code_allocator *allocator);

#endif
