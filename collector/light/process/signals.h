/* Keeps the sampler's signal working whatever the program does with its signals, and the program's handlers too. */
#ifndef LWP_COLLECTOR_LIGHT_PROCESS_SIGNALS_H
#define LWP_COLLECTOR_LIGHT_PROCESS_SIGNALS_H

#include <stdbool.h>

bool lwp_signals_start(void); /* installs the sampler's handler */
void lwp_signals_finish(void); /* gives the signal back to the program */

/* Whether the calling thread believes that it blocks our signal; its new threads believe so, too. */
bool lwp_signals_blocked(void);
void lwp_signals_inherit(bool blocked);

/* Before a vfork: what the child does with signals, on its parent's memory, is not its parent's. */
void lwp_signals_vfork(void);

#endif
