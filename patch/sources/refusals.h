/* Which uses forbid a change, and why? */
#ifndef LWP_PATCH_REFUSALS_H
#define LWP_PATCH_REFUSALS_H

#include "patch/sources/source.h"

#include <stdio.h>

/* One row each: its name, which scripts and tests know it by, and the reason in a clause. */
#define LWP_REFUSALS(R)                                                                                                                    \
    R(PARSE, "parse", "libclang cannot read this source, so uses in it are not known")                                                     \
    R(CPLUSPLUS, "c++", "this is C++; only C is rewritten")                                                                                \
    R(NO_TYPE, "no-type", "the type is not declared in any of the sources")                                                                \
    R(TWICE, "defined-twice", "the type is defined in more than one place")                                                                \
    R(CHANGED, "other-layout", "the type has another size or other fields here than when the program ran or than in another source")       \
    R(SYSTEM, "system-header", "the type belongs to a system header or to a header outside the project")                                   \
    R(UNION, "union", "a union gives the same bytes a second meaning")                                                                     \
    R(BIT_FIELD, "bit-field", "a bit field shares its bytes with its neighbours")                                                          \
    R(ANONYMOUS, "anonymous-member", "an anonymous member's fields are named as if they were its own")                                     \
    R(PACKED, "packed", "an attribute or pragma fixes the layout")                                                                         \
    R(FLEXIBLE, "flexible-array", "the last field is an array of as many elements as were allocated for")                                  \
    R(IFDEF_FIELDS, "ifdef-in-type", "a preprocessor line lies between the fields")                                                        \
    R(MACRO_FIELDS, "macro-in-type", "the fields are declared by a macro")                                                                 \
    R(DECLARATOR, "declarator", "several fields are declared in one declaration that cannot be taken apart")                               \
    R(FIELD_TAG, "tag-of-field", "this field uses a type or a number that an earlier field's declaration defines")                         \
    R(INACTIVE, "inactive-branch", "a branch of #if that is compiled in no source uses the type")                                          \
    R(MACRO, "macro", "the use is written inside a macro")                                                                                 \
    R(STRINGIFIED, "stringified", "a macro turns the text of this use into a string")                                                      \
    R(INITIALISER, "initialiser", "the initialiser gives values by their order, and not one for each field")                               \
    R(OFFSETOF, "offsetof", "offsetof makes a number of the layout")                                                                       \
    R(ASSERT, "static-assert", "a static assertion fixes the layout")                                                                      \
    R(SIZEOF, "sizeof", "the size is used as a number, not to allocate, copy or clear whole elements")                                     \
    R(NUMBER, "size-as-number", "memory of this type is allocated, copied or cleared by a size that does not say sizeof the type")         \
    R(CAST, "cast", "a pointer to it becomes one to another type, or the reverse")                                                         \
    R(INTEGER, "integer-cast", "a pointer to it becomes an integer, or the reverse")                                                       \
    R(VOID, "void-pointer", "a pointer to it goes through void *, and what reads it there is not known")                                   \
    R(RAW, "raw-bytes", "its bytes are compared, copied, read or written as such, so that the layout is known elsewhere")                  \
    R(VARARGS, "varargs", "it is passed in place of '...'")                                                                                \
    R(EXTERNAL, "external-function", "a function outside these sources knows the type")                                                    \
    R(EXTERNAL_VARIABLE, "external-variable", "a variable of the type is defined outside these sources")                                   \
    R(FUNCTION_CAST, "function-cast", "a function that takes it is called as one of another type")                                         \
    R(FIELD_ADDRESS, "field-address",                                                                                                      \
      "the address of a field is taken whose neighbour has the same type, so both may be used as an array")                                \
    R(FIRST_FIELD, "first-field", "the address of the first field is the element's, and pointers of its type are freed or become void *")  \
    R(ASSEMBLER, "assembler", "inline assembly uses it")                                                                                   \
    R(UNKNOWN_ALLOCATOR, "allocator", "it is not known how this memory was allocated")                                                     \
    R(TRAILING, "trailing-bytes", "more than whole elements is allocated at once")                                                         \
    R(BY_VALUE, "by-value", "an element is declared, copied, passed or returned as a whole")                                               \
    R(EMBEDDED, "embedded", "an element is part of another structure")                                                                     \
    R(NESTED, "nested-type", "the type is defined inside another structure or a function")                                                 \
    R(OTHER_VARIABLE, "other-variable", "the type is used for more than the one array")                                                    \
    R(ARRAY_ESCAPES, "array-escapes", "the array's address is used for more than to access an element's fields")                           \
    R(ONE_DECLARATION, "one-declaration", "the variables of this declaration cannot be taken apart, or are declared again")                \
    R(ALLOCATION, "allocation", "the allocation is not a statement that can be repeated for each part")                                    \
    R(NAME_TAKEN, "name-taken", "the name that a part would get is used already")                                                          \
    R(NO_ARRAY, "no-array", "no array of this name is declared for all of a source and allocated where it was when the program ran")       \
    R(SIDE, "side-by-side", "the arrays are not allocated, tested and freed as one: same function and count, statements side by side")     \
    R(FREED, "freed-here", "one of the arrays may be freed or resized here, by another source or not by a call of free()")                 \
    R(UNSEEN, "unseen-use", "an array is named where no use is seen: in a branch of #if, a pragma or a macro")                             \
    R(NEST, "nest", "there are no two loops at these lines, or not all that stands around the inner one is understood")                    \
    R(HEAD, "loop-head", "a loop has another form than for (i = a; i < b; i++), or its ends depend on the other loop")                     \
    R(COUNTER, "loop-counter", "a loop's counter is changed in the loops, or used after them")                                             \
    R(DIRECTIVE, "directive", "a pragma names it, or a line of the preprocessor or a macro stands in the loops or right before them")      \
    R(JUMP, "jump", "a jump leaves the iteration in the middle")                                                                           \
    R(CALL, "call", "what this function does may depend on the order of its calls")                                                        \
    R(EXPRESSION, "expression", "it is not known what this does")                                                                          \
    R(CARRIED, "carried-value", "a variable keeps its value from one iteration to the next, or for what follows the loops")                \
    R(DEPENDENCE, "dependence", "an iteration may use an element that another one writes, and their order would change")                   \
    R(ALIAS, "alias", "it is not known that this is other memory than what else the loops write or read")

enum lwp_refusal {
#define LWP_REFUSAL_NUMBER(id, name, reason) LWP_REFUSAL_##id,
    LWP_REFUSALS(LWP_REFUSAL_NUMBER)
#undef LWP_REFUSAL_NUMBER
};

struct lwp_refused {
    enum lwp_refusal reason;
    const char *path;
    unsigned line;   /* 0: the whole file */
    const char *use; /* the line's text; or what the compiler says */
};

struct lwp_refusals {
    struct lwp_arena *arena;
    struct lwp_refused *refuseds;
    size_t refused_count, refused_room;
};

/* Adds one; `source` may be NULL, `detail` too (the line is shown then). One a line and reason. */
void lwp_refuse(struct lwp_refusals *refusals, enum lwp_refusal reason, const struct lwp_source *source, size_t offset, const char *detail);

/* PATH:LINE: name: reason, and the line itself. Paths relative to `root`. */
void lwp_refusals_print(FILE *to, const struct lwp_refusals *refusals, const char *root);

#endif
