/* What the program itself asks for by the macros of collector/lwp.h. */
#ifndef LWP_COLLECTOR_EXACT_PROGRAM_REQUESTS_H
#define LWP_COLLECTOR_EXACT_PROGRAM_REQUESTS_H

void lwp_requests_start(void);

#endif
