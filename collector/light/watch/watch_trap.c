/* The candidates are the instruction in front of the stop (or the compare that is fused with a jump in front of it),
 * the string instruction it stopped within, and what uses the stack without naming it: call, push, pop, ret. One is
 * taken when its operand covers the watched bytes, or when it is the only way to the stop and its address can no longer
 * be told. */
#include "collector/light/watch/watch_trap.h"

#include "collector/light/code/flags.h"
#include "collector/light/code/insn.h"

enum { RCX = 1, RSP = 4, RSI = 6, RDI = 7, FLAG_DIRECTION = 0x400, STRING_GROUP = 64 };

static bool covers(uint64_t start, uint64_t length, uint64_t address, unsigned bytes)
{
    return start < address + bytes && address < start + length;
}

static enum lwp_trap_kind trap_take(struct lwp_trap *trap, const struct lwp_insn *insn, uint64_t address)
{
    *trap = (struct lwp_trap){.ip = insn->ip,
                              .address = address,
                              .bytes = insn->bytes,
                              .load = insn->load,
                              .store = insn->store,
                              .vector = insn->vector,
                              .floating = insn->floating,
                              .element = insn->element};
    return LWP_TRAP_ACCESS;
}

/* Stopped at the instruction itself there is more to come; with the count used up there is none. Each step within the
 * watched bytes stops: one pass over them is one access, and what they hold is only known at its end. */
static bool trap_is_partial(const struct lwp_insn *insn, const struct lwp_registers *after, uint64_t flags, uint64_t at,
                            uint64_t address, unsigned bytes)
{
    if (!after->value[RCX])
        return false;
    return flags & FLAG_DIRECTION ? at + insn->bytes > address : at < address + bytes;
}

/* A string instruction has passed the bytes that it touched last; fast ones go on for a group before they stop. */
static enum lwp_trap_kind trap_string(const struct lwp_insn *insn, uint64_t stopped_at,
                                      const struct lwp_registers *after, uint64_t flags, uint64_t address,
                                      unsigned bytes, struct lwp_trap *trap)
{
    for (int rdi = 1; rdi >= 0; rdi--) {
        unsigned reg = rdi ? RDI : RSI;
        if (!(insn->spoils >> reg & 1))
            continue;
        uint64_t at = after->value[reg];
        unsigned group = insn->rep_string ? STRING_GROUP : insn->bytes;
        uint64_t start = flags & FLAG_DIRECTION ? at + insn->bytes : at - group;
        if (!covers(start, group, address, bytes))
            continue;
        trap_take(trap, insn, address);
        trap->bytes = (uint16_t)bytes;
        trap->string = true;
        trap->store = rdi && insn->store;
        trap->load = !trap->store;
        trap->partial = insn->rep_string && stopped_at == insn->ip && trap_is_partial(insn, after, flags, at, address, bytes);
        return LWP_TRAP_ACCESS;
    }
    return LWP_TRAP_UNKNOWN;
}

/* Whether no push, pop, call or ret leads to the stop, so that what lies at the top of the stack has its own reason to be touched:
 * jumps do not touch it, a call leads to a function's beginning, and a ret to what is behind a call. */
static bool trap_is_no_stack(struct lwp_code_cache *cache, const struct lwp_place *place)
{
    return place->falls && place->ip != place->low && !lwp_code_at(cache, place->before, place->high)->stack;
}

static enum lwp_trap_kind trap_stack(const struct lwp_place *place, const struct lwp_registers *after, uint64_t address,
                                     unsigned bytes, struct lwp_trap *trap)
{
    enum { SLOT = 8 };
    bool pushed = covers(after->value[RSP], SLOT, address, bytes);
    if (!pushed && !covers(after->value[RSP] - SLOT, SLOT, address, bytes))
        return LWP_TRAP_UNKNOWN;
    /* a call is found by its return address; a ret, by the place it led to */
    bool called = pushed && place->ip == place->low;
    *trap = (struct lwp_trap){.ip = called          ? *(const uint64_t *)after->value[RSP] - 1
                                    : place->before ? place->before
                                                    : place->ip,
                              .address = pushed ? after->value[RSP] : after->value[RSP] - SLOT,
                              .bytes = SLOT,
                              .load = !pushed,
                              .store = pushed};
    return LWP_TRAP_ACCESS;
}

enum lwp_trap_kind lwp_trap_find(struct lwp_code_cache *cache, const struct lwp_place *place,
                                 const struct lwp_registers *after, uint64_t flags, uint64_t address, unsigned bytes,
                                 struct lwp_trap *trap)
{
    if (!place->decoded)
        return LWP_TRAP_UNKNOWN;
    const struct lwp_insn *now = lwp_code_at(cache, place->ip, place->high);
    if (now->rep_string && trap_string(now, place->ip, after, flags, address, bytes, trap))
        return LWP_TRAP_ACCESS;
    if (place->syscall)
        return LWP_TRAP_KERNEL;
    uint64_t candidate[1 + LWP_PLACE_JUMPS] = {place->fall_access};
    unsigned count = 1;
    for (unsigned i = 0; i < place->jump_count; i++)
        if (place->jump[i].access && lwp_flags_meet(flags, place->jump[i].condition))
            candidate[count++] = place->jump[i].access;
    uint64_t lost = 0;
    unsigned lost_count = 0;
    for (unsigned i = 0; i < count; i++) {
        if (!candidate[i])
            continue;
        const struct lwp_insn *insn = lwp_code_at(cache, candidate[i], place->high);
        if (insn->string) {
            if (trap_string(insn, place->ip, after, flags, address, bytes, trap))
                return LWP_TRAP_ACCESS;
            continue;
        }
        uint64_t start;
        struct lwp_registers left = *after;
        left.known = (uint16_t)(left.known & ~insn->spoils);
        if (!lwp_walk_address(insn, &left, &start)) {
            lost = candidate[i];
            lost_count++;
        } else if (covers(start, insn->bytes, address, bytes)) {
            return trap_take(trap, insn, start);
        }
    }
    if (!trap_is_no_stack(cache, place) && trap_stack(place, after, address, bytes, trap))
        return LWP_TRAP_ACCESS;
    if (lost_count == 1)
        return trap_take(trap, lwp_code_at(cache, lost, place->high), 0);
    return LWP_TRAP_UNKNOWN;
}
