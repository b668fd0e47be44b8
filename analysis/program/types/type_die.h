/* Type DIEs of possibly damaged DWARF, with every walk bounded; behind types.h. */
#ifndef LWP_ANALYSIS_PROGRAM_TYPES_TYPE_DIE_H
#define LWP_ANALYSIS_PROGRAM_TYPES_TYPE_DIE_H

#include "analysis/program/debug/die.h"
#include "analysis/program/types/types.h"

/* The DIE that DW_AT_type of a variable, member, pointer … leads to; false: void or damaged. */
bool type_die_of(Dwarf_Die *die, Dwarf_Die *type);

/* Without const, volatile, restrict, atomic and typedefs; `alias` (may be NULL) gets the first typedef's DIE, addr NULL
 * when there is none. A declaration is replaced by its definition in a type unit or another unit, and bytes of the C++ library's for a T by
 * the T. False: cyclic or void. */
bool type_die_strip(Dwarf_Die *type, Dwarf_Die *alias);

/* Whether each access to what is declared with this type, or to an element of it, has to be made: volatile or atomic. */
bool type_die_is_volatile(Dwarf_Die *type);

/* Whether the type is room that the C++ library keeps for a value of type T: __aligned_membuf<T>. */
bool type_die_storage(Dwarf_Die *type, Dwarf_Die *held);

enum lwp_language type_die_language(Dwarf_Die *unit);

enum lwp_type_owner type_die_owner(struct lwp_code *code, Dwarf_Die *die, Dwarf_Die *unit);

bool type_die_is_pointer(Dwarf_Die *stripped);
bool type_die_flag(Dwarf_Die *die, unsigned attribute);

bool type_die_bytes(Dwarf_Die *type, uint64_t *bytes);
/* What it was declared with; false, and the alignment unchanged, when that is nothing or absurd. */
bool type_die_own_alignment(Dwarf_Die *die, uint64_t *alignment);
uint64_t type_die_alignment(Dwarf_Die *type); /* 1 when unknown */

/* How many elements one dimension of an array has, from the lower bound that the language or the program gives it; 0: flexible or unknown.
 */
uint64_t type_die_dimension(Dwarf_Die *range);

/* Of an array: the element's type behind all dimensions, and how many (0: flexible or unknown). */
bool type_die_array(Dwarf_Die *stripped, Dwarf_Die *element, uint64_t *elements);

/* Constant offset of a member or base in its struct. */
bool type_die_offset(Dwarf_Die *member, uint64_t *offset);

/* `inner` declared with this type, as C text: "struct node *left", "double w[4]", "int (*cmp)(int)"; of Fortran and
 * Rust in their own words. `type` NULL: void. An empty `inner` gives the type alone. */
const char *type_die_declare(struct lwp_code *code, Dwarf_Die *type, const char *inner);

#endif
