/* The interchange of two loops. */
#ifndef LWP_PATCH_LOOPS_H
#define LWP_PATCH_LOOPS_H

#include "patch/uses/uses.h"

/* Reads all units and makes the edits for a change of LWP_CHANGE_INTERCHANGE; what forbids it is in refusals[LWP_WAY_LOOPS]. 0, or an
 * error when libclang cannot be used. */
int lwp_loops_interchange(struct lwp_uses *uses, struct lwp_error *err);

#endif
