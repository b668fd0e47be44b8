/* The memory that a process's files are written to: handed to lwp collect, which writes them. Where that is not there (it was killed,
 * or is in another network namespace) the process writes them itself, at its end and whenever a piece is full. */
#ifndef LWP_COLLECTOR_LIGHT_OWN_OWN_SPOOL_H
#define LWP_COLLECTOR_LIGHT_OWN_OWN_SPOOL_H

#include "format/writer.h"

#include <stdbool.h>

/* Makes it and hands it over; the parent's, in the child of a fork, is let go. 0 or -errno. */
int lwp_own_spool_begin(const char *directory, const char *keeper);

const struct lwps_memory *lwp_own_spool_memory(void);

/* Whether lwp collect wants no samples at present. */
bool lwp_own_spool_is_paused(void);

/* Before the process ends or executes another program. */
void lwp_own_spool_flush(void);

#endif
