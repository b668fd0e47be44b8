/* Starting a program under the exact engine: lwp's Valgrind tool, without Valgrind's own launcher script. */
#ifndef LWP_LAUNCH_EXACT_H
#define LWP_LAUNCH_EXACT_H

#include "base/error.h"
#include "collector/launch/collect_options.h"
#include "collector/machine/machine.h"

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

/* The folder of the tool: exact/ beside the lwp executable (a build folder) or in ../lib/lwp (installed). Owned. */
char *lwp_exact_find(struct lwp_error *err);

/* The tool's command line for `command` (NULL-ended, borrowed), and the environment for it: lists to be freed with
 * lwp_preload_environment_free. `dir`: the result directory, absolute. NULL: the machine's caches are unknown. */
char **lwp_exact_command(const struct lwp_settings *settings, const struct lwp_machine *machine, const char *dir, const char *folder,
                         char *const *command, struct lwp_error *err);
char **lwp_exact_environment(char *const *from, const char *folder, const char *program);

/* Valgrind writes there: DIR/valgrind.<PID>. */
#define LWP_EXACT_LOG "valgrind."

/* Reads and removes Valgrind's messages in `dir`, prints warnings, and returns all as sentences for the report (an array,
 * owned). `*failed`: Valgrind itself gave up in the process `program`, whose exit status is not its own. */
json_t *lwp_exact_messages(const char *dir, pid_t program, bool *failed);

#endif
