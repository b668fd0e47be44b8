/* Call paths by libunwind, loaded privately (dlopen RTLD_LOCAL: its _Unwind_* must not shadow the program's). */
#ifndef LWP_COLLECTOR_LIGHT_CODE_UNWIND_H
#define LWP_COLLECTOR_LIGHT_CODE_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

enum { LWP_FRAMES_MAX = 64 };

/* Once, from the constructor; warms the caches. False: no libunwind here (paths will be empty). */
bool lwp_unwind_init(void);

/* Return addresses of the caller's callers, innermost first; `skip` frames of our own are left out. */
unsigned lwp_unwind_here(uint64_t *ips, unsigned room, unsigned skip);

/* From a signal's ucontext: callers of the interrupted function, innermost first, the interrupted ip left out.
 * `cfas` (may be NULL) gets each frame's CFA beginning with the interrupted frame's own: cfas[0] is the interrupted
 * function's, cfas[i] that of the function returned to by ips[i - 1]. */
unsigned lwp_unwind_signal(void *ucontext, uint64_t *ips, uint64_t *cfas, unsigned room);

#endif
