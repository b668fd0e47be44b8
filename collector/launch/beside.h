/* Files of lwp's that lie beside its executable (a build folder) or in ../lib/lwp (installed). */
#ifndef LWP_LAUNCH_BESIDE_H
#define LWP_LAUNCH_BESIDE_H

#include "base/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* The folder of the running executable. */
bool lwp_beside_folder(char folder[PATH_MAX], struct lwp_error *err);

/* Absolute path of the first folder/places[i]/name that may be accessed in `mode` (R_OK, X_OK), owned; NULL: none. */
char *lwp_beside_find(const char *folder, const char *const *places, size_t count, const char *name, int mode);

#endif
