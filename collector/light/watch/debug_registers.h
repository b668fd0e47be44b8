/* The four hardware debug registers of a thread, as perf breakpoint events: each stops the thread just before an
 * instruction or just after an access to an address. Opened when first used, aimed again for 1 us each time. */
#ifndef LWP_COLLECTOR_LIGHT_WATCH_DEBUG_REGISTERS_H
#define LWP_COLLECTOR_LIGHT_WATCH_DEBUG_REGISTERS_H

#include "collector/light/own/own_memory.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

enum { LWP_DEBUG_REGISTERS = LWP_OWN_STOPS };

enum lwp_debug_kind {
    LWP_DEBUG_EXECUTE, /* before the instruction at the address runs */
    LWP_DEBUG_WRITE,   /* after a store to any of the bytes */
    LWP_DEBUG_ACCESS,  /* after a load or store of any of the bytes */
};

struct lwp_debug_registers { /* zeroed: none open */
    struct {
        int fd;
        uint64_t event; /* lwp_own_files_event() of it */
        bool open, armed, data; /* data: on an access, not an instruction */
    } at[LWP_DEBUG_REGISTERS];
    uint32_t refusals; /* in a row: taken by a debugger, not permitted */
};

/* What being armed costs a thread, in ns. */
struct lwp_armed_costs {
    uint64_t switch_ns; /* each register, each time that the thread leaves the processor and comes back */
    uint64_t fault_ns;  /* however many they are, each page fault */
};

/* What the process knows of its debug registers. */
extern struct lwp_debug {
    bool sees_kernel;      /* accesses by the kernel on a thread's behalf (system calls) stop it, too */
    uint64_t given_up_ns;  /* when, CLOCK_MONOTONIC; 0: they are ours */
    uint64_t open[1 << 10]; /* a bit for each descriptor of ours; the thread that clears it closes it */
} lwp_debug;

void lwp_debug_init(void); /* once a process */

unsigned lwp_debug_armed(const struct lwp_debug_registers *registers); /* how many are */

/* Aims register `which` of the calling thread and switches it on. `bytes`: 1, 2, 4 or 8, aligned. False: not possible
 * here and now; after a few refusals it is tried rarely. */
bool lwp_debug_arm(struct lwp_debug_registers *registers, unsigned which, enum lwp_debug_kind kind, uint64_t address,
                   unsigned bytes);
void lwp_debug_disarm(struct lwp_debug_registers *registers, unsigned which);

/* Register `which` stopped the thread, so it is on, whatever was believed: prctl(PR_TASK_PERF_EVENTS_ENABLE) switches on all. */
void lwp_debug_is_on(struct lwp_debug_registers *registers, unsigned which);

void lwp_debug_close(struct lwp_debug_registers *registers);
void lwp_debug_forget(struct lwp_debug_registers *registers); /* in the child of a fork: the events are the parent's */

/* Any thread: all registers of all threads go, and none is armed again in this process, nor in children of a fork. */
void lwp_debug_give_up(void);
uint64_t lwp_debug_given_up(void); /* when, CLOCK_MONOTONIC ns; 0: they are ours */

/* Which register sent the signal, or -1. */
int lwp_debug_sender(int signal, const siginfo_t *info);

#endif
