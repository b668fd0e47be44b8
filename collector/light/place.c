/* Function bounds come from the unwind table (.eh_frame_hdr), which stripped programs have too. Within them code is
 * decoded from the start, so that instruction boundaries are certain. Which instruction ran before `ip` is certain when
 * no jump leads there; at a jump target the jump's source may have, and a compare fused with its jump retires as one. */
#define _GNU_SOURCE
#include "collector/light/place.h"

#include "collector/light/insn.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>

enum { CACHE_INSNS = 2048, CACHE_PLACES = 512, FUNCTION_BYTES_MAX = 96 * 1024, JUMPS_MAX = 64 };

struct lwp_code_cache {
    struct lwp_insn insn[CACHE_INSNS];
    struct lwp_place place[CACHE_PLACES];
    struct lwp_insn window[8]; /* while scanning a function */
};

struct lwp_code_cache *lwp_code_cache_new(void)
{
    void *memory = mmap(NULL, sizeof(struct lwp_code_cache), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void lwp_code_cache_free(struct lwp_code_cache *cache)
{
    if (cache)
        munmap(cache, sizeof *cache);
}

/* The table's pairs are (function start, FDE), both relative to the header; an FDE is
 * length, CIE pointer, start (pc-relative), size. */
static bool place_function(uint64_t ip, uint64_t *low, uint64_t *high)
{
    struct dl_find_object object;
    if (_dl_find_object((void *)ip, &object) || !object.dlfo_eh_frame)
        return false;
    const uint8_t *header = object.dlfo_eh_frame;
    enum { PCREL_SDATA4 = 0x1b, UDATA4 = 0x03, DATAREL_SDATA4 = 0x3b };
    if (header[0] != 1 || header[1] != PCREL_SDATA4 || header[2] != UDATA4 || header[3] != DATAREL_SDATA4)
        return false;
    uint32_t count;
    memcpy(&count, header + 8, 4);
    const int32_t(*table)[2] = (const void *)(header + 12);
    uint32_t from = 0, to = count;
    while (to - from > 1) {
        uint32_t middle = from + (to - from) / 2;
        if ((uint64_t)header + (uint64_t)(int64_t)table[middle][0] <= ip)
            from = middle;
        else
            to = middle;
    }
    if (!count)
        return false;
    *low = (uint64_t)header + (uint64_t)(int64_t)table[from][0];
    const uint8_t *fde = header + table[from][1];
    int32_t start;
    uint32_t size;
    memcpy(&start, fde + 8, 4);
    memcpy(&size, fde + 12, 4);
    *high = *low + size;
    return (uint64_t)(fde + 8) + (uint64_t)(int64_t)start == *low && ip >= *low && ip < *high;
}

const struct lwp_insn *lwp_code_at(struct lwp_code_cache *cache, uint64_t ip, uint64_t high)
{
    struct lwp_insn *insn = &cache->insn[(ip * 0x9e3779b97f4a7c15u) >> 53];
    _Static_assert(CACHE_INSNS == 2048, "the shift keeps 11 bits");
    if (insn->ip != ip)
        lwp_insn_decode(insn, ip, high - ip < 15 ? (unsigned)(high - ip) : 15);
    return insn;
}

static bool insn_ends_path(const struct lwp_insn *insn)
{
    return insn->op == LWP_OP_JMP || insn->op == LWP_OP_STOP;
}

static bool insn_fuses(const struct lwp_insn *insn)
{
    return insn->op == LWP_OP_CMP || insn->op == LWP_OP_TEST || insn->op == LWP_OP_ADD || insn->op == LWP_OP_SUB ||
           insn->op == LWP_OP_AND || insn->op == LWP_OP_INC || insn->op == LWP_OP_DEC;
}

/* The access charged when `last` ran just before the interrupt and `before` just before it. */
static uint64_t place_charged(const struct lwp_insn *last, const struct lwp_insn *before)
{
    if (lwp_insn_accesses(last))
        return last->ip;
    if (last->op == LWP_OP_JCC && before && insn_fuses(before) && lwp_insn_accesses(before))
        return before->ip;
    return 0;
}

struct loop_seen {
    uint64_t low, high;
};

static void place_scan(struct lwp_code_cache *cache, struct lwp_place *place)
{
    uint64_t fall_access = 0, jump_access = 0;
    bool falls = false, jumps_here = false;
    struct loop_seen loop = {0, UINT64_MAX};
    struct lwp_insn *now = &cache->window[0], *before = NULL;
    unsigned slot = 0;
    for (uint64_t at = place->low; at < place->high;) {
        now = &cache->window[slot];
        lwp_insn_decode(now, at, place->high - at < 15 ? (unsigned)(place->high - at) : 15);
        if (now->invalid)
            return;
        at += now->length;
        if (at == place->ip && !insn_ends_path(now)) {
            falls = true;
            fall_access = place_charged(now, before);
        }
        if ((now->op == LWP_OP_JMP || now->op == LWP_OP_JCC)) {
            if (now->target == place->ip) {
                jumps_here = true;
                if (now->ip >= place->ip || !jump_access)
                    jump_access = place_charged(now, before);
            }
            if (now->target <= place->ip && now->ip >= place->ip && now->target >= place->low &&
                now->ip - now->target < loop.high - loop.low)
                loop = (struct loop_seen){now->target, now->ip};
        }
        before = now;
        slot = (slot + 1) % 8;
    }
    place->access = jumps_here && jump_access ? jump_access : fall_access;
    place->sure = place->access && !jumps_here && falls;
    if (loop.high == UINT64_MAX)
        return;
    uint64_t nearest = 0;
    for (uint64_t at = loop.low; at <= loop.high;) {
        now = &cache->window[0];
        lwp_insn_decode(now, at, 15);
        if (now->invalid || now->load || now->op == LWP_OP_STOP)
            return;
        if (now->store && (at < place->ip || !nearest))
            nearest = at;
        at += now->length;
    }
    place->store = nearest;
}

const struct lwp_place *lwp_place_find(struct lwp_code_cache *cache, uint64_t ip)
{
    struct lwp_place *place = &cache->place[(ip * 0x9e3779b97f4a7c15u) >> 55];
    _Static_assert(CACHE_PLACES == 512, "the shift keeps 9 bits");
    if (place->ip == ip && ip)
        return place;
    *place = (struct lwp_place){.ip = ip};
    uint64_t low, high;
    if (place_function(ip, &low, &high) && high - low <= FUNCTION_BYTES_MAX) {
        place->low = low;
        place->high = high;
        place_scan(cache, place);
    }
    return place;
}
