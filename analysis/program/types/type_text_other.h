/* Types as Fortran and Rust write them; behind type_die.h. */
#ifndef LWP_ANALYSIS_PROGRAM_TYPES_TYPE_TEXT_OTHER_H
#define LWP_ANALYSIS_PROGRAM_TYPES_TYPE_TEXT_OTHER_H

#include "analysis/program/types/type_die.h"

/* "type(body), allocatable :: cells(:)", "real(kind=8), dimension(3)" without a name. */
const char *type_text_fortran(struct lwp_code *code, Dwarf_Die *type, const char *name);

/* "next: Option<Box<Node>>"; "[f32; 3]" without a name. */
const char *type_text_rust(struct lwp_code *code, Dwarf_Die *type, const char *name);

#endif
