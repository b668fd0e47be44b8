/* Which instruction touched watched bytes: a data breakpoint reports the instruction after it. */
#ifndef LWP_COLLECTOR_LIGHT_WATCH_WATCH_TRAP_H
#define LWP_COLLECTOR_LIGHT_WATCH_WATCH_TRAP_H

#include "collector/code/forward_walk.h"
#include "collector/light/code/unwind.h"

#include <stdbool.h>
#include <stdint.h>

/* A thread that a debug register has stopped. */
struct lwp_stop {
    struct lwp_code_cache *cache;
    struct lwp_frames *frames; /* room for its call path */
    void *ucontext;
    /* by lwp_stop_look */
    const struct lwp_code_location *location; /* where it stopped */
    struct lwp_registers after;               /* as the trap left them */
    uint64_t flags;
};

void lwp_stop_look(struct lwp_stop *stop);

enum lwp_trap_kind {
    LWP_TRAP_UNKNOWN, /* no instruction before here touches these bytes for certain */
    LWP_TRAP_ACCESS,
    LWP_TRAP_KERNEL, /* a system call did */
};

struct lwp_trap {
    struct lwp_insn_access access; /* address 0: the instruction overwrote a register it is made of */
    bool string;  /* one pass of a string instruction over the watched bytes, which are the access */
    bool partial; /* a string instruction within the watched bytes: it stops there again before it is through */
};

/* [address, address + bytes) is watched. */
enum lwp_trap_kind lwp_trap_find(const struct lwp_stop *stop, uint64_t address, unsigned bytes, struct lwp_trap *trap);

#endif
