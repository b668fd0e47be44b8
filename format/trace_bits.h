/* What encoder and decoder of traces (trace_code.h) must do alike. Freestanding. */
#ifndef LWP_FORMAT_TRACE_BITS_H
#define LWP_FORMAT_TRACE_BITS_H

#include "format/trace_code.h"

/* The low bits of an access: whose memory it is. */
enum lwps_trace_home {
    LWPS_TRACE_SAME_BASE = 0,   /* as the site's last one */
    LWPS_TRACE_SAME_OFFSET = 1, /* of the same kind and id, and as far from its base */
    LWPS_TRACE_NEW_HOME = 2,    /* follows: kind, and, unless it is LWPS_HOME_ADDRESS, id and offset */
    LWPS_TRACE_NOTHING = 3,     /* the access did not happen */
    LWPS_TRACE_HOME_BITS = 2,
};

/* The block expected to run. */
static inline uint32_t lwps_trace_run_guess(const struct lwps_trace_coder *coder)
{
    return coder->last ? coder->last->next : 0;
}

static inline void lwps_trace_run_began(struct lwps_trace_coder *coder, struct lwps_trace_block *block)
{
    if (coder->last)
        coder->last->next = block->id;
    coder->last = block;
    if (block->window == coder->window)
        return;
    block->window = coder->window;
    block->next = block->id + 1;
    for (uint32_t i = 0; i < block->count; i++) {
        struct lwps_trace_site *site = &block->sites[i];
        *site = (struct lwps_trace_site){.ip = site->ip, .bytes = site->bytes, .flags = site->flags};
    }
}

static inline void lwps_trace_site_went(struct lwps_trace_site *site, const struct lwps_trace_place *place)
{
    site->step = site->address ? place->address - site->address : 0;
    site->address = place->address;
    site->home = place->home;
    site->home_id = place->home_id;
    site->home_base = place->home_base;
}

#endif
