/* The caches of a machine that is not this one, from a file. */
#ifndef LWP_LAUNCH_MACHINE_FILE_H
#define LWP_LAUNCH_MACHINE_FILE_H

#include "base/error.h"
#include "collector/launch/machine.h"

/* Replaces the caches, the line, and what else the file tells: JSON as "machine" of run.json and analysis.json is, alone or
 * within such a file. */
int lwp_machine_file(struct lwp_machine *machine, const char *path, struct lwp_error *err);

#endif
