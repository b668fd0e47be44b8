/* The candidates are the instruction in front of the stop (or the compare that is fused with a jump in front of it),
 * the string instruction it stopped within, and what uses the stack without naming it: call, push, pop, ret. One is
 * taken when its operand covers the watched bytes, or when it is the only way to the stop and its address can no longer
 * be computed.
 * Some processors stop after a masked access even where the mask leaves the watched bytes out (seen on AMD family 26), and
 * the mask is not known here: what a masked access did is unknown. */
#include "collector/light/watch/watch_trap.h"

#include <ucontext.h>

enum { RCX = 1, RSP = 4, RSI = 6, RDI = 7, FLAG_DIRECTION = 0x400, STRING_GROUP = 64 };

void lwp_stop_look(struct lwp_stop *stop)
{
    const greg_t *machine = ((const ucontext_t *)stop->ucontext)->uc_mcontext.gregs;
    lwp_registers_take(&stop->after, stop->ucontext);
    stop->flags = (uint64_t)machine[REG_EFL];
    stop->location = lwp_code_location_find(stop->cache, (uint64_t)machine[REG_RIP]);
}

static bool covers(uint64_t start, uint64_t length, uint64_t address, unsigned bytes)
{
    return start < address + bytes && address < start + length;
}

static enum lwp_trap_kind trap_take(struct lwp_trap *trap, const struct lwp_insn *insn, uint64_t address)
{
    *trap = (struct lwp_trap){.access = lwp_insn_access(insn, address)};
    return LWP_TRAP_ACCESS;
}

/* Stopped at the instruction itself there is more to come; with the count used up there is none. Each step within the
 * watched bytes stops: one pass over them is one access, and what they hold is only known at its end. */
static bool trap_is_partial(const struct lwp_stop *stop, const struct lwp_insn *insn, uint64_t at, uint64_t address, unsigned bytes)
{
    if (!insn->rep_string || stop->location->ip != insn->ip || !stop->after.value[RCX])
        return false;
    return stop->flags & FLAG_DIRECTION ? at + insn->bytes > address : at < address + bytes;
}

/* A string instruction has passed the bytes that it touched last; fast ones go on for a group before they stop. */
static bool trap_string(const struct lwp_stop *stop, const struct lwp_insn *insn, uint64_t address, unsigned bytes, struct lwp_trap *trap)
{
    for (int rdi = 1; rdi >= 0; rdi--) {
        unsigned reg = rdi ? RDI : RSI;
        if (!(insn->spoils >> reg & 1))
            continue;
        uint64_t at = stop->after.value[reg];
        unsigned group = insn->rep_string ? STRING_GROUP : insn->bytes;
        uint64_t start = stop->flags & FLAG_DIRECTION ? at + insn->bytes : at - group;
        if (!covers(start, group, address, bytes))
            continue;
        trap_take(trap, insn, address);
        trap->access.bytes = (uint16_t)bytes;
        trap->access.store = rdi && insn->store;
        trap->access.load = !trap->access.store;
        trap->string = true;
        trap->partial = trap_is_partial(stop, insn, at, address, bytes);
        return true;
    }
    return false;
}

/* Whether no push, pop, call or ret leads to the stop, so that what lies at the top of the stack has its own reason to be touched:
 * jumps do not touch it, a call leads to a function's beginning, and a ret to what is behind a call. */
static bool trap_is_no_stack(const struct lwp_stop *stop)
{
    const struct lwp_code_location *location = stop->location;
    return location->falls && location->ip != location->low && !lwp_code_at(stop->cache, location->before, location->high)->stack;
}

static bool trap_stack(const struct lwp_stop *stop, uint64_t address, unsigned bytes, struct lwp_trap *trap)
{
    enum { SLOT = 8 };
    const struct lwp_code_location *location = stop->location;
    uint64_t top = stop->after.value[RSP];
    bool pushed = covers(top, SLOT, address, bytes);
    if (!pushed && !covers(top - SLOT, SLOT, address, bytes))
        return false;
    /* a call is found by its return address; a ret, by where it led to */
    bool called = pushed && location->ip == location->low;
    *trap = (struct lwp_trap){.access = {.ip = called             ? *(const uint64_t *)top - 1
                                               : location->before ? location->before
                                                                  : location->ip,
                                         .address = pushed ? top : top - SLOT,
                                         .bytes = SLOT,
                                         .load = !pushed,
                                         .store = pushed}};
    return true;
}

enum lwp_trap_kind lwp_trap_find(const struct lwp_stop *stop, uint64_t address, unsigned bytes, struct lwp_trap *trap)
{
    const struct lwp_code_location *location = stop->location;
    if (!location->decoded)
        return LWP_TRAP_UNKNOWN;
    const struct lwp_insn *now = lwp_code_at(stop->cache, location->ip, location->high);
    if (now->rep_string && trap_string(stop, now, address, bytes, trap))
        return LWP_TRAP_ACCESS;
    if (location->syscall)
        return LWP_TRAP_KERNEL;
    uint64_t candidate[LWP_LOCATION_WAYS];
    unsigned count = 0;
    for (unsigned i = 0; i < location->way_count; i++)
        if (location->way[i].access && lwp_flags_meet_all(stop->flags, FLAGS_ALL, location->way[i].met))
            candidate[count++] = location->way[i].access;
    uint64_t lost = 0;
    unsigned lost_count = 0;
    for (unsigned i = 0; i < count; i++) {
        const struct lwp_insn *insn = lwp_code_at(stop->cache, candidate[i], location->high);
        if (insn->string) {
            if (trap_string(stop, insn, address, bytes, trap))
                return LWP_TRAP_ACCESS;
            continue;
        }
        uint64_t start;
        struct lwp_registers left = stop->after;
        left.known = (uint16_t)(left.known & ~insn->spoils);
        if (!lwp_insn_address(insn, &left, &start)) {
            lost = candidate[i];
            lost_count++;
        } else if (covers(start, insn->bytes, address, bytes)) {
            return insn->masked ? LWP_TRAP_UNKNOWN : trap_take(trap, insn, start);
        }
    }
    if (!trap_is_no_stack(stop) && trap_stack(stop, address, bytes, trap))
        return LWP_TRAP_ACCESS;
    const struct lwp_insn *only = lost_count == 1 ? lwp_code_at(stop->cache, lost, location->high) : NULL;
    return only && !only->masked ? trap_take(trap, only, 0) : LWP_TRAP_UNKNOWN;
}
