#include "format/trace_code.h"

#include "format/layout.h"

void lwps_trace_window(struct lwps_trace_coder *coder, uint32_t window)
{
    coder->window = window;
    coder->last = NULL;
}

static uint8_t *trace_varint(uint8_t *at, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *at++ = (uint8_t)(value | 0x80);
    *at++ = (uint8_t)value;
    return at;
}

uint32_t lwps_trace_block_bytes(const struct lwps_trace_block *block)
{
    enum { HEAD = 32, SITE = 7 }; /* a site lies near the one before */
    return HEAD + SITE * block->count;
}

uint8_t *lwps_trace_put_run(struct lwps_trace_coder *coder, struct lwps_trace_block *block, bool is_new, uint8_t *at)
{
    uint32_t guess = lwps_trace_run_guess(coder);
    at = trace_varint(at, lwps_zigzag((int64_t)block->id - (int64_t)guess) << 1 | is_new);
    if (is_new) {
        uint64_t ip = 0;
        at = trace_varint(at, block->count);
        for (uint32_t i = 0; i < block->count; i++) {
            at = trace_varint(at, lwps_zigzag((int64_t)(block->sites[i].ip - ip)));
            at = trace_varint(at, block->sites[i].bytes);
            *at++ = block->sites[i].flags;
            ip = block->sites[i].ip;
        }
    }
    lwps_trace_run_began(coder, block);
    return at;
}

static enum lwps_trace_home trace_home(const struct lwps_trace_site *site, const struct lwps_trace_place *place)
{
    if (place->home != site->home || place->home_id != site->home_id)
        return LWPS_TRACE_NEW_HOME;
    if (place->home_base == site->home_base)
        return LWPS_TRACE_SAME_BASE;
    return place->address - place->home_base == site->address - site->home_base ? LWPS_TRACE_SAME_OFFSET : LWPS_TRACE_NEW_HOME;
}

uint8_t *lwps_trace_put_access(struct lwps_trace_site *site, const struct lwps_trace_place *place, uint8_t *at)
{
    if (!place)
        return trace_varint(at, LWPS_TRACE_NOTHING);
    enum lwps_trace_home home = trace_home(site, place);
    uint64_t beside = place->address - site->address - site->step;
    at = trace_varint(at, lwps_zigzag((int64_t)beside) << LWPS_TRACE_HOME_BITS | home);
    if (home == LWPS_TRACE_NEW_HOME) {
        *at++ = place->home;
        if (place->home != LWPS_HOME_ADDRESS) {
            at = trace_varint(at, place->home_id);
            at = trace_varint(at, lwps_zigzag((int64_t)(place->address - place->home_base)));
        }
    }
    lwps_trace_site_went(site, place);
    return at;
}
