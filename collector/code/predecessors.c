/* The instruction in front of ip ran before it, unless a jump led there. The saved flags rule out many jumps: a jump
 * whose condition they do not meet was not taken, since no jump changes them. So do the values that what ran on a way would have left
 * in registers. A compare fused with its jump retires with it. */
#include "collector/code/predecessors.h"

#include "collector/code/function.h"
#include "collector/code/insn.h"
#include "collector/code/program.h"

#include <string.h>
#include <sys/mman.h>

enum { LINE_BYTES = 64, LINE_SLOTS = LINE_BYTES / 2, INSN_LINES = 128, LOCATION_LINES = 32, INSN_BYTES_MAX = 15 };
enum { CACHE_INSNS = INSN_LINES * LINE_SLOTS, CACHE_LOCATIONS = LOCATION_LINES * LINE_SLOTS };

struct lwp_code_cache {
    const struct lwp_program *program;
    struct lwp_functions *functions;
    uint16_t insn_place[CACHE_INSNS], location_place[CACHE_LOCATIONS]; /* of each slot, counted from 1; 0: never used */
    uint16_t insns, locations;                                         /* places in use */
    struct lwp_insn insn[CACHE_INSNS];
    struct lwp_code_location location[CACHE_LOCATIONS];
};

struct lwp_code_cache *lwp_code_cache_new(const struct lwp_program *program)
{
    struct lwp_code_cache *cache = program->memory(sizeof *cache);
    if (!cache)
        return NULL;
    cache->program = program;
    cache->functions = lwp_functions_new(program);
    if (cache->functions)
        return cache;
    munmap(cache, sizeof *cache);
    return NULL;
}

void lwp_code_cache_free(struct lwp_code_cache *cache)
{
    if (!cache)
        return;
    lwp_functions_free(cache->functions);
    munmap(cache, sizeof *cache);
}

const struct lwp_program *lwp_code_cache_program(const struct lwp_code_cache *cache)
{
    return cache->program;
}

/* Slots get their places in the order of their first use: what a thread has seen takes few pages, each of which it pays for when it first
 * touches it. */
static unsigned cache_place(uint16_t *places, uint16_t *used, uint64_t ip, unsigned lines)
{
    uint64_t line = ip / LINE_BYTES;
    uint16_t *place = &places[(line * 0x9e3779b97f4a7c15u >> 32) % lines * LINE_SLOTS + ip % LINE_BYTES / 2];
    if (!*place)
        *place = ++*used;
    return *place - 1u;
}

void lwp_code_cache_forget(struct lwp_code_cache *cache)
{
    for (unsigned i = 0; i < cache->insns; i++)
        cache->insn[i].ip = 0;
    for (unsigned i = 0; i < cache->locations; i++)
        cache->location[i].ip = 0;
    lwp_functions_forget(cache->functions);
}

const struct lwp_insn *lwp_code_at(struct lwp_code_cache *cache, uint64_t ip, uint64_t high)
{
    struct lwp_insn *insn = &cache->insn[cache_place(cache->insn_place, &cache->insns, ip, INSN_LINES)];
    if (insn->ip == ip)
        return insn;
    unsigned room = high - ip < INSN_BYTES_MAX ? (unsigned)(high - ip) : INSN_BYTES_MAX;
    lwp_insn_decode(insn, ip, cache->program->code(cache->program, ip, room), room);
    return insn;
}

/* The start of the instruction in front of `ip`, or 0. */
static uint64_t location_before(const struct lwp_function *function, uint64_t ip)
{
    for (uint64_t at = ip - 1; at >= function->low && ip - at <= INSN_BYTES_MAX; at--)
        if (lwp_function_bit(function->starts, at - function->low))
            return at;
    return 0;
}

static bool insn_fuses(const struct lwp_insn *insn)
{
    return insn->op == LWP_OP_CMP || insn->op == LWP_OP_TEST || insn->op == LWP_OP_ADD || insn->op == LWP_OP_SUB ||
           insn->op == LWP_OP_AND || insn->op == LWP_OP_INC || insn->op == LWP_OP_DEC;
}

/* Whether anything, as far as is known, jumps to `at`. */
static bool location_jumped_to(const struct lwp_function *function, uint64_t at)
{
    return lwp_function_bit(function->entered, at - function->low) || lwp_function_bit(function->targets, at - function->low);
}

/* The access charged when the jump at `at` ran just before the interrupt: that of a compare fused with it. Where something jumps to the
 * jump itself, it is not known whether that ran. */
static uint64_t location_fused(struct lwp_code_cache *cache, const struct lwp_function *function, uint64_t at, bool *others)
{
    uint64_t before = location_before(function, at);
    if (!before)
        return 0;
    const struct lwp_insn *insn = lwp_code_at(cache, before, function->high);
    if (!insn_fuses(insn) || !lwp_insn_accesses(insn))
        return 0;
    *others |= location_jumped_to(function, at);
    return before;
}

/* Whether the instruction at `at` only aligns what comes behind it, and never runs: it has no effect, stands behind a jump or a return, and
 * nothing jumps to it. */
static bool location_aligns(struct lwp_code_cache *cache, const struct lwp_function *function, uint64_t at)
{
    while (at && lwp_code_at(cache, at, function->high)->op == LWP_OP_NOP && !location_jumped_to(function, at))
        at = location_before(function, at);
    const uint8_t op = at ? lwp_code_at(cache, at, function->high)->op : LWP_OP_OTHER;
    return op == LWP_OP_JMP || op == LWP_OP_RET;
}

/* Where there is no room, two with the same access become one. */
static void location_add(struct lwp_code_location *location, const struct lwp_code_way *way)
{
    unsigned i = 0;
    if (location->way_count < LWP_LOCATION_WAYS) {
        location->way[location->way_count++] = *way;
        return;
    }
    while (i < LWP_LOCATION_WAYS && location->way[i].access != way->access)
        i++;
    if (i == LWP_LOCATION_WAYS) {
        location->others = true;
        return;
    }
    location->way[i].met &= way->met;
    location->way[i].ran[0].ip = 0;
}

static void location_fall(struct lwp_code_cache *cache, const struct lwp_function *function, struct lwp_code_location *location)
{
    struct lwp_code_way way = {0};
    uint64_t before = location_before(function, location->ip);
    if (location->ip == location->low) /* a call */
        location_add(location, &way);
    if (!before)
        return;
    location->before = before;
    const struct lwp_insn insn = *lwp_code_at(cache, before, function->high);
    location->syscall = insn.syscall;
    if (insn.op == LWP_OP_CALL || insn.op == LWP_OP_CALL_BY || insn.syscall || (insn.op == LWP_OP_STOP && insn.stack)) { /* returns */
        location_add(location, &way);
        return;
    }
    if (insn.op == LWP_OP_JMP || lwp_insn_leaves(&insn) || (insn.op == LWP_OP_NOP && location_aligns(cache, function, before)))
        return;
    location->falls = true;
    if (lwp_insn_accesses(&insn))
        way.access = before;
    else if (insn.op == LWP_OP_JCC)
        way.access = location_fused(cache, function, before, &location->others);
    way.ran[0].ip = before;
    location_add(location, &way);
}

static void location_jumps(struct lwp_code_cache *cache, const struct lwp_function *function, struct lwp_code_location *location)
{
    uint32_t here = (uint32_t)(location->ip - function->low);
    if (lwp_function_bit(function->entered, here)) /* an indirect jump, whose own access is none of those that are charged */
        location_add(location, &(struct lwp_code_way){0});
    for (uint32_t i = 0; i < function->jump_count; i++) {
        const struct lwp_jump *jump = &function->jumps[i];
        struct lwp_code_way way = {0};
        if (jump->to != here)
            continue;
        const unsigned met = jump->condition == LWP_JUMP_ALWAYS ? 0 : 1u << jump->condition;
        way.met = (uint16_t)met;
        if (jump->from == LWP_JUMP_ELSEWHERE) {
            location->others |= met != 0;
        } else {
            uint64_t from = function->low + jump->from;
            if (met)
                way.access = location_fused(cache, function, from, &location->others);
            if (!location_jumped_to(function, from))
                way.ran[0].ip = location_before(function, from);
        }
        location_add(location, &way);
    }
}

/* What ran on the way, back to where there may be several: from ran[0] on. */
static void location_ran(struct lwp_code_cache *cache, const struct lwp_function *function, struct lwp_code_way *way)
{
    unsigned met = way->met;
    bool kept = true; /* the flags, since then */
    uint64_t at = way->ran[0].ip;
    way->ran[0].ip = 0;
    for (unsigned count = 0; at && (kept || count < LWP_WAY_RAN); at = location_before(function, at)) {
        const struct lwp_insn *insn = lwp_code_at(cache, at, function->high);
        if (insn->op == LWP_OP_JMP || lwp_insn_leaves(insn))
            return;
        if (insn->op == LWP_OP_JCC) {
            met |= 1u << (insn->condition ^ 1);
        } else if (insn->op != LWP_OP_NOP) {
            if (count < LWP_WAY_RAN)
                way->ran[count++] = (struct lwp_code_ran){at, insn->writes_flags ? (uint16_t)met : 0};
            kept &= !insn->writes_flags;
            met = insn->writes_flags ? 0 : met;
        }
        if (kept)
            way->met = (uint16_t)met;
        if (location_jumped_to(function, at))
            return;
    }
}

/* What distinguishes the ways, where their accesses differ. */
static void location_distinguish(struct lwp_code_cache *cache, const struct lwp_function *function, struct lwp_code_location *location)
{
    bool differ = false;
    for (unsigned i = 1; i < location->way_count; i++)
        differ |= location->way[i].access != location->way[0].access;
    for (unsigned i = 0; differ && i < location->way_count; i++)
        location_ran(cache, function, &location->way[i]);
}

/* Where the innermost loop around ip stores and loads nothing, its time is that of its stores: the one in front of ip. */
static uint64_t location_loop_store(struct lwp_code_cache *cache, const struct lwp_function *function, uint64_t ip)
{
    uint32_t here = (uint32_t)(ip - function->low), low = 0, high = UINT32_MAX;
    for (uint32_t i = 0; i < function->jump_count; i++) {
        const struct lwp_jump *jump = &function->jumps[i];
        if (jump->back && jump->to <= here && jump->from >= here && jump->from - jump->to < high - low) {
            low = jump->to;
            high = jump->from;
        }
    }
    uint64_t nearest = 0;
    if (high == UINT32_MAX)
        return 0;
    for (uint64_t at = function->low + low; at <= function->low + high;) {
        const struct lwp_insn *insn = lwp_code_at(cache, at, function->high);
        if (insn->invalid || insn->load || lwp_insn_leaves(insn))
            return 0;
        if (insn->store && (at < ip || !nearest))
            nearest = at;
        at += insn->length;
    }
    return nearest;
}

static bool location_is_current(const struct lwp_program *program, const struct lwp_code_location *location)
{
    const uint8_t *code = program->code(program, location->ip - location->code_before, location->code_bytes);
    return code && !memcmp(location->code, code, location->code_bytes);
}

static void location_keep_code(const struct lwp_program *program, struct lwp_code_location *location)
{
    uint64_t before = location->ip - location->low < INSN_BYTES_MAX ? location->ip - location->low : INSN_BYTES_MAX;
    uint64_t after = location->high - location->ip < LWP_LOCATION_CODE - INSN_BYTES_MAX ? location->high - location->ip
                                                                                        : LWP_LOCATION_CODE - INSN_BYTES_MAX;
    enum { PAGE_MASK = 4095 };
    if ((location->ip & PAGE_MASK) < before) /* a page that another library need not have */
        before = location->ip & PAGE_MASK;
    if ((location->ip & PAGE_MASK) + after > PAGE_MASK)
        after = 1;
    location->code_before = (uint8_t)before;
    location->code_bytes = (uint8_t)(before + after);
    const uint8_t *code = program->code(program, location->ip - before, location->code_bytes);
    if (code)
        memcpy(location->code, code, location->code_bytes);
}

const struct lwp_code_location *lwp_code_location_find(struct lwp_code_cache *cache, uint64_t ip)
{
    struct lwp_code_location *location = &cache->location[cache_place(cache->location_place, &cache->locations, ip, LOCATION_LINES)];
    if (location->ip == ip && ip && location->low) {
        if (location_is_current(cache->program, location))
            return location;
        lwp_code_cache_forget(cache);
    }
    *location = (struct lwp_code_location){.ip = ip};
    const struct lwp_function *function = lwp_function_at(cache->functions, ip);
    if (!function)
        return location;
    location->low = function->low;
    location->high = function->high;
    location_keep_code(cache->program, location);
    location->decoded = lwp_function_bit(function->starts, ip - function->low);
    if (!location->decoded) /* data among the code, or a jump past a lock prefix */
        return location;
    location_fall(cache, function, location);
    location_jumps(cache, function, location);
    location_distinguish(cache, function, location);
    location->store = location_loop_store(cache, function, ip);
    return location;
}

unsigned lwp_code_ran_before(struct lwp_code_cache *cache, uint64_t ip, uint64_t *ran, unsigned most)
{
    const struct lwp_function *function = lwp_function_at(cache->functions, ip);
    unsigned count = 0;
    for (uint64_t at = ip; function && count < most && !location_jumped_to(function, at);) {
        at = location_before(function, at);
        const struct lwp_insn *insn = at ? lwp_code_at(cache, at, function->high) : NULL;
        if (!insn || insn->op == LWP_OP_JMP || lwp_insn_leaves(insn))
            break;
        if (insn->op != LWP_OP_JCC && insn->op != LWP_OP_NOP)
            ran[count++] = at;
    }
    return count;
}

bool lwp_flags_meet_all(uint64_t flags, unsigned known, uint16_t met)
{
    for (unsigned condition = 0, left = met; left; condition++, left >>= 1)
        if ((left & 1) && lwp_flags_known(known, condition) && !lwp_flags_meet(flags, condition))
            return false;
    return true;
}
