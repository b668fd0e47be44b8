/* When a load stalls, the interrupt lands on the instruction after it (97-99.9 % of the time), so the CPU time since the
 * last sample belongs to the memory instruction that ran just before the saved ip (predecessors.c). Its address comes from the
 * saved registers when the instruction did not change them (undo), or can be computed from them once more (ran.c). Else it is the
 * caller's to find: by walking forward to its next execution (forward_walk.c), or by a breakpoint. */
#include "collector/code/charge.h"

#include "collector/code/ran.h"

enum { RSI = 6, RDI = 7 };

bool lwp_point_find(struct lwp_code_cache *cache, uint64_t ip, struct lwp_point *point)
{
    point->location = *lwp_code_location_find(cache, ip);
    if (point->location.decoded)
        point->insn = *lwp_code_at(cache, ip, point->location.high);
    return point->location.decoded;
}

/* The address an instruction just used, when it did not overwrite what the address is made of. */
static bool point_undo(const struct lwp_insn *insn, const struct lwp_registers *registers, uint64_t *address)
{
    if ((insn->base <= 15 && insn->spoils >> insn->base & 1) || (insn->index <= 15 && insn->spoils >> insn->index & 1))
        return false;
    return lwp_insn_address(insn, registers, address);
}

static void access_found(struct lwps_access *access, uint64_t address)
{
    access->address = address;
    access->flags |= LWPS_ACCESS_KNOWN;
    access->source = LWPS_SOURCE_UNDO;
}

/* A REP instruction is interrupted before its next step: its pointers are exact. A copy waits for what it loads. */
static void point_charge_rep(const struct lwp_point *point, struct lwps_sample *sample)
{
    const struct lwp_insn *insn = &point->insn;
    bool compares = insn->load && !insn->store && insn->spoils >> RDI & 1;
    sample->kind = insn->load ? LWPS_SAMPLE_STALL : LWPS_SAMPLE_STORE;
    for (int rdi = 0; rdi < 2; rdi++) {
        bool load = rdi ? compares : insn->load && insn->spoils >> RSI & 1, store = rdi && insn->store;
        if (!load && !store)
            continue;
        const struct lwp_insn_access step = {.ip = insn->ip, .bytes = insn->bytes, .load = load, .store = store};
        struct lwps_access *access = &sample->access[sample->access_count++];
        *access = lwp_access_record(&step);
        access_found(access, point->registers.value[rdi ? RDI : RSI]);
    }
    sample->access[0].flags |= LWPS_ACCESS_WEIGHTED;
}

/* The access that all ways have which the flags allow, and, if they do not agree, which registers and memory do not contradict. Where
 * none is left it was an indirect jump or a return that was not seen, which is charged with no access. */
static bool point_agree(struct lwp_code_cache *cache, const struct lwp_point *point, bool look, uint64_t *access)
{
    const struct lwp_code_location *location = &point->location;
    bool found = false;
    *access = 0;
    for (unsigned i = 0; i < location->way_count; i++) {
        const struct lwp_code_way *way = &location->way[i];
        if (!lwp_flags_meet_all(point->flags, FLAGS_ALL, way->met) ||
            (look && lwp_ran_contradicts(cache, location, way, &point->registers, point->flags)))
            continue;
        if (found && way->access != *access)
            return false;
        found = true;
        *access = way->access;
    }
    return true;
}

bool lwp_point_before(struct lwp_code_cache *cache, const struct lwp_point *point, uint64_t *access)
{
    if (!point->location.others && (point_agree(cache, point, false, access) || point_agree(cache, point, true, access)))
        return true;
    *access = 0;
    return false;
}

uint64_t lwp_point_charge(struct lwp_code_cache *cache, const struct lwp_point *point, struct lwps_sample *sample)
{
    if (!point->location.decoded)
        return 0;
    if (point->insn.rep_string) {
        point_charge_rep(point, sample);
        return 0;
    }
    uint64_t address, before = 0, store = point->location.store;
    const bool sure = lwp_point_before(cache, point, &before);
    sample->kind = before ? LWPS_SAMPLE_STALL : store ? LWPS_SAMPLE_STORE : sure ? LWPS_SAMPLE_COMPUTE : LWPS_SAMPLE_UNKNOWN;
    if (!before && !store)
        return 0;
    const struct lwp_insn insn = *lwp_code_at(cache, before ? before : store, point->location.high);
    if (insn.store && !insn.load && store)
        sample->kind = LWPS_SAMPLE_STORE;
    const struct lwp_insn_access charged = lwp_insn_access(&insn, 0);
    sample->access[0] = lwp_access_record(&charged);
    sample->access[0].flags |= LWPS_ACCESS_WEIGHTED;
    sample->access_count = 1;
    if (!before || (!point_undo(&insn, &point->registers, &address) &&
                    !lwp_ran_address(cache, &point->location, before, &point->registers, &address)))
        return insn.ip;
    access_found(&sample->access[0], address);
    return 0;
}

struct lwps_access lwp_access_record(const struct lwp_insn_access *access)
{
    return (struct lwps_access){.ip = access->ip,
                                .bytes = access->bytes,
                                .flags = (uint8_t)((access->load ? LWPS_ACCESS_LOAD : 0) | (access->store ? LWPS_ACCESS_STORE : 0) |
                                                   (access->vector ? LWPS_ACCESS_VECTOR : 0) | (access->floating ? LWPS_ACCESS_FLOAT : 0) |
                                                   (access->apart ? LWPS_ACCESS_APART : 0))};
}
