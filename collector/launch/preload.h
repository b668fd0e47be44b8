/* The preload library: where it is, and the environment that puts it into a program. */
#ifndef LWP_LAUNCH_PRELOAD_H
#define LWP_LAUNCH_PRELOAD_H

#include "base/error.h"

/* Absolute path of liblwp-light.so: beside the lwp executable (a build folder) or in ../lib/lwp (installed). Owned. */
char *lwp_preload_find(struct lwp_error *err);

/* The loader splits LD_PRELOAD at blanks and colons. For a path that holds one, makes a link without them in a
 * temporary folder and returns the link's path (owned); otherwise a copy of `path`. NULL on an error. */
char *lwp_preload_usable(const char *path, struct lwp_error *err);

/* Removes what lwp_preload_usable made, if it made something, and frees `usable`. */
void lwp_preload_release(char *usable, const char *path);

/* A new environment: this process's own, with `library` (NULL: none) first in LD_PRELOAD and the NULL-ended "NAME=value" list
 * `settings` in place of variables of the same names. lwp_preload_environment_free frees it. */
char **lwp_preload_environment(char *const *from, const char *library, char *const *settings);
void lwp_preload_environment_free(char **environment);

#endif
