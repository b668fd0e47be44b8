/* Which ELF images are mapped where, from load to unload. */
#ifndef LWP_COLLECTOR_LIGHT_CODE_MODULES_H
#define LWP_COLLECTOR_LIGHT_CODE_MODULES_H

#include <stdbool.h>
#include <stdint.h>

/* Records every image mapped now that is not recorded yet (not for handlers: takes the loader's lock). */
void lwp_modules_update(void);

/* Makes sure the image that holds `ip` is recorded. Async-signal-safe. */
void lwp_modules_see(uint64_t ip);

/* Set while the calling thread unwinds for lwp but does not count as busy, before a process is set up: dl_iterate_phdr answers it as it
 * does busy threads, with the recorded images that have a table of frames. */
extern __thread bool lwp_modules_unwind;

/* In the child of a fork: all of them again, into the new file. */
void lwp_modules_again(void);

#endif
