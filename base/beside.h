/* Files of lwp's that lie beside its executable (a build folder), in ../lib/lwp (installed, wherever it was moved to), or
 * in the folder that configure was told of. */
#ifndef LWP_BASE_BESIDE_H
#define LWP_BASE_BESIDE_H

#include "base/error.h"

/* Absolute path of the first `name` there that may be accessed in `mode` (R_OK, X_OK), owned; or NULL and why. */
char *lwp_beside_find(const char *name, int mode, struct lwp_error *err);

#endif
