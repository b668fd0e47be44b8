/* A program that is about to be executed in place of this one. */
#ifndef LWP_COLLECTOR_EXACT_PROGRAM_EXEC_H
#define LWP_COLLECTOR_EXACT_PROGRAM_EXEC_H

#include "collector/exact/valgrind/tool.h"

#include <stdbool.h>

bool lwp_exec_is(UInt number);

/* Whether there is a file of that name: a search through PATH tries many. */
bool lwp_exec_may_succeed(UInt number, const UWord *arguments);

/* What Valgrind does not run (32-bit, setuid) is executed as if lwp were not there, and a note says so. */
void lwp_exec_before(UInt number, const UWord *arguments);
/* It failed. */
void lwp_exec_after(void);

#endif
