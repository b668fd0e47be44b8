/* Whether somebody came to debug the process: sampling's traps would stop them, and the debug registers are theirs. */
#ifndef LWP_LIGHT_DEBUGGER_H
#define LWP_LIGHT_DEBUGGER_H

#include <stdbool.h>

void lwp_debugger_start(void); /* who traces the process already (strace) does not count */

/* Async-signal-safe; some 10 us. */
bool lwp_debugger_came(void);

#endif
