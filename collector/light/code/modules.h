/* Which ELF images are mapped where, from load to unload. */
#ifndef LWP_COLLECTOR_LIGHT_CODE_MODULES_H
#define LWP_COLLECTOR_LIGHT_CODE_MODULES_H

#include <stdbool.h>
#include <stdint.h>

/* Records every image mapped now that is not recorded yet. Not for handlers: takes the loader's lock. Nothing in the child of a process
 * with several threads (below), where they are noticed as their code is sampled. */
void lwp_modules_update(void);

/* Makes sure the image that holds `ip` is recorded. Async-signal-safe. */
void lwp_modules_see(uint64_t ip);

/* Set while the calling thread unwinds for lwp but does not count as busy, before a process is set up: dl_iterate_phdr answers it as it
 * does busy threads, with the recorded images that have a table of frames. */
extern __thread bool lwp_modules_unwind;

/* Before a fork and in its child. The loader's lock may be held there by a thread that the child does not have: it is not asked for. */
void lwp_modules_before_fork(void);
void lwp_modules_again(void); /* all of them, into the new file */

#endif
