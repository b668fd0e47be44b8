/* Which pages of the program's memory are there, and how many page faults did they take? */
#ifndef LWP_COLLECTOR_EXACT_VALGRIND_CLIENT_PAGES_H
#define LWP_COLLECTOR_EXACT_VALGRIND_CLIENT_PAGES_H

#include <stdint.h>

/* At least, of what the program has mapped now; 0: not known. */
uint64_t lwp_client_page_faults(void);

/* Takes the page faults of all that is there now, in a copy of the process; of so many pages at most. */
void lwp_client_pages_touch(unsigned most);

#endif
