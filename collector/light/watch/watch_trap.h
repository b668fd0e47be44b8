/* Which instruction touched watched bytes: a data breakpoint reports the instruction after it. */
#ifndef LWP_COLLECTOR_LIGHT_WATCH_WATCH_TRAP_H
#define LWP_COLLECTOR_LIGHT_WATCH_WATCH_TRAP_H

#include "collector/light/code/predecessors.h"
#include "collector/light/code/walk.h"

#include <stdbool.h>
#include <stdint.h>

enum lwp_trap_kind {
    LWP_TRAP_UNKNOWN, /* no instruction before here touches these bytes for certain */
    LWP_TRAP_ACCESS,
    LWP_TRAP_KERNEL, /* a system call did */
};

struct lwp_trap {
    uint64_t ip, address; /* address 0: the instruction overwrote a register it is made of */
    uint16_t bytes;
    bool load, store, vector, floating;
    bool string;     /* one pass of a string instruction over the watched bytes, `address` and `bytes` are those */
    bool partial;    /* a string instruction within the watched bytes: it stops there again before it is through */
    uint8_t element; /* bytes of one floating point number; 0: not floating point */
};

/* `after`: the registers as the trap left them, `place` where it stopped; [address, address + bytes) is watched. */
enum lwp_trap_kind lwp_trap_find(struct lwp_code_cache *cache, const struct lwp_place *place,
                                 const struct lwp_registers *after, uint64_t flags, uint64_t address, unsigned bytes,
                                 struct lwp_trap *trap);

#endif
