/* What Valgrind had to say, in lwp's words. */
#ifndef LWP_LAUNCH_EXACT_MESSAGES_H
#define LWP_LAUNCH_EXACT_MESSAGES_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

/* Valgrind writes there: DIR/valgrind.<PID>. */
#define LWP_EXACT_LOG "valgrind."

/* Reads what Valgrind wrote in `dir`, takes it away, warns of what went wrong, and returns all of it as sentences for the
 * report (an array, owned). `*failed`: Valgrind itself gave up in the process `program`, whose exit status is not its own. */
json_t *lwp_exact_messages(const char *dir, pid_t program, bool *failed);

#endif
