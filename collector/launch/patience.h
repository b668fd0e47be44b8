/* What a person at a terminal reads while a program runs slowly under the exact engine. */
#ifndef LWP_COLLECTOR_LAUNCH_PATIENCE_H
#define LWP_COLLECTOR_LAUNCH_PATIENCE_H

#include <sys/types.h>

/* Starts a process that says from time to time on stderr how long the program has run; 0: nobody would read it. */
pid_t lwp_patience_start(void);

void lwp_patience_end(pid_t patience); /* 0 is fine */

#endif
