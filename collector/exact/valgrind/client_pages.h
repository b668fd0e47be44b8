/* How many page faults did the program's memory take? */
#ifndef LWP_COLLECTOR_EXACT_VALGRIND_CLIENT_PAGES_H
#define LWP_COLLECTOR_EXACT_VALGRIND_CLIENT_PAGES_H

#include <stdint.h>

/* At least, of what the program has mapped now; 0: not known. */
uint64_t lwp_client_page_faults(void);

#endif
