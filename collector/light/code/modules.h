/* Which ELF images are mapped where, from load to unload. */
#ifndef LWP_COLLECTOR_LIGHT_CODE_MODULES_H
#define LWP_COLLECTOR_LIGHT_CODE_MODULES_H

#include <stdint.h>

/* Records every image mapped now that is not recorded yet (not for handlers: takes the loader's lock). */
void lwp_modules_update(void);

/* Makes sure the image that holds `ip` is recorded. Async-signal-safe. */
void lwp_modules_see(uint64_t ip);

/* In the child of a fork: all of them again, into the new file. */
void lwp_modules_again(void);

#endif
