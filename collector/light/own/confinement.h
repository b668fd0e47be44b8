/* Whether a system call filter (seccomp) may kill the program for a call of lwp's. */
#ifndef LWP_COLLECTOR_LIGHT_OWN_CONFINEMENT_H
#define LWP_COLLECTOR_LIGHT_OWN_CONFINEMENT_H

#include <stdbool.h>

/* Once, before anything else. `filters`: how many lwp collect itself runs under, as text, or NULL. False: the process began under
 * another filter, and that kills for what lwp does (tried in a child). */
bool lwp_confinement_start(const char *filters);

/* Whether the program has installed a filter since, by whichever way. Async-signal-safe; a tenth of a microsecond. */
bool lwp_confinement_came(void);
void lwp_confinement_comes(void); /* the program is about to install one: from now on not even that is asked */

#endif
