/* One hardware execution breakpoint of a thread: the last resort for an address that neither the saved registers nor the
 * walk forward give. Signals its thread synchronously just before the instruction runs. */
#ifndef LWP_LIGHT_BREAKPOINT_H
#define LWP_LIGHT_BREAKPOINT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct lwp_breakpoint {
    int fd;            /* valid when `open` */
    bool open, armed;
    uint8_t refusals;  /* debug registers taken, not permitted: given up after a few */
};

/* On the calling thread. False: not possible here and now. */
bool lwp_breakpoint_arm(struct lwp_breakpoint *breakpoint, uint64_t ip);
void lwp_breakpoint_disarm(struct lwp_breakpoint *breakpoint);
void lwp_breakpoint_close(struct lwp_breakpoint *breakpoint);
void lwp_breakpoint_forget(struct lwp_breakpoint *breakpoint); /* in the child of a fork: the event is the parent's */

bool lwp_breakpoint_owns(int signal, const siginfo_t *info);

#endif
