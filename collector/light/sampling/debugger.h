/* Whether somebody debugs the process: sampling's traps would stop them, and the debug registers are theirs. */
#ifndef LWP_COLLECTOR_LIGHT_SAMPLING_DEBUGGER_H
#define LWP_COLLECTOR_LIGHT_SAMPLING_DEBUGGER_H

#include <stdbool.h>

/* Async-signal-safe; some 10 us. */
bool lwp_debugger_is_here(void);

#endif
