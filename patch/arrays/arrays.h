/* Several arrays that become one array of structures, or that move apart. */
#ifndef LWP_PATCH_ARRAYS_H
#define LWP_PATCH_ARRAYS_H

#include "patch/uses/uses.h"

/* Reads all units and makes the edits for a change of LWP_CHANGE_REGROUP; what forbids it is in refusals[LWP_WAY_REGROUP]. 0, or an
 * error when libclang cannot be used. */
int lwp_arrays_regroup(struct lwp_uses *uses, struct lwp_error *err);
/* The same for LWP_CHANGE_APART. */
int lwp_arrays_apart(struct lwp_uses *uses, struct lwp_error *err);

#endif
