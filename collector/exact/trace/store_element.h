/* Whether a store is of floating point numbers, and how long each is. */
#ifndef LWP_COLLECTOR_EXACT_TRACE_STORE_ELEMENT_H
#define LWP_COLLECTOR_EXACT_TRACE_STORE_ELEMENT_H

#include "collector/exact/trace/accesses.h"
#include "collector/exact/trace/float_class.h"

/* 4 or 8; 0: it stores no floating point, or it cannot be told. `block`: flat, as Valgrind hands it out. */
UInt lwp_store_element(const IRSB *block, const struct lwp_ir_access *access);

/* Of a store of integers: its bytes, or those of each lane of the vector operation that made the value; 0: not known. */
UInt lwp_store_lane(const IRSB *block, const struct lwp_ir_access *access);

/* The same as the first of any value, an atom, that an instruction of that class makes. */
UInt lwp_value_element(const IRSB *block, const IRExpr *value, struct lwp_float_class class);

#endif
