/* Encodes a trace: all accesses of a process in a window, in order. Accesses come in runs: one execution of a superblock
 * (straight code with one entry), whose sites are its accesses as translated. A run gives its block relative to the one that
 * followed its predecessor last time; an access gives its address relative to the prediction from the site's last stride,
 * and its home where that changes. Strided accesses take one byte, others two to five. Predictions are reset with each
 * window, so that a lost window costs no other one.
 * docs/format.md has the layout. Freestanding. */
#ifndef LWP_FORMAT_TRACE_CODE_H
#define LWP_FORMAT_TRACE_CODE_H

#include "format/record.h"

enum {
    LWPS_TRACE_SITES = 1024,     /* of a block, at most */
    LWPS_TRACE_BYTES = 8 * 1024, /* of a chunk, at most: a record holds it */
    LWPS_TRACE_RUN_BYTES = 16, /* of the begin of a run of a known block */
    LWPS_TRACE_ACCESS_BYTES = 32, /* of an access */
};

/* An access of an instruction, and what predicts its next one. */
struct lwps_trace_site {
    uint64_t ip;
    uint64_t address, step; /* the last one's; its distance from the one before */
    uint64_t home_base;     /* the last one's home, as in struct lwps_access */
    uint32_t home_id;
    uint16_t bytes;
    uint8_t flags; /* enum lwps_access_flag */
    uint8_t home;  /* enum lwps_home */
};

struct lwps_trace_block {
    uint32_t id;     /* 0, 1, 2, ... in the file */
    uint32_t count;  /* of sites */
    uint32_t next;   /* the block that ran after this one the last time */
    uint32_t window; /* in which all of that is valid */
    struct lwps_trace_site *sites;
};

/* Encoder and decoder go through the same states. Starts from zero. */
struct lwps_trace_coder {
    uint32_t window; /* 1, 2, ... */
    struct lwps_trace_block *last; /* that ran, NULL: none in this window */
};

/* Where an access went. */
struct lwps_trace_place {
    uint64_t address, home_base;
    uint32_t home_id;
    uint8_t home;
};

/* Resets the predictions. */
void lwps_trace_window(struct lwps_trace_coder *coder, uint32_t window);

/* Writes the start of a run to `at` and returns its end. `is_new`: the block is new in this file and comes with its sites, which
 * takes room for lwps_trace_block_bytes() instead of LWPS_TRACE_RUN_BYTES. */
uint8_t *lwps_trace_put_run(struct lwps_trace_coder *coder, struct lwps_trace_block *block, bool is_new, uint8_t *at);
uint32_t lwps_trace_block_bytes(const struct lwps_trace_block *block);

/* One for each site of the block, in order; NULL: it did not happen. At most LWPS_TRACE_ACCESS_BYTES. */
uint8_t *lwps_trace_put_access(struct lwps_trace_site *site, const struct lwps_trace_place *place, uint8_t *at);

/* The low bits of an access: its home. */
enum lwps_trace_home {
    LWPS_TRACE_SAME_BASE = 0,   /* as the site's last one */
    LWPS_TRACE_SAME_OFFSET = 1, /* of the same kind and id, and as far from its base */
    LWPS_TRACE_NEW_HOME = 2,    /* follows: kind, and, unless it is LWPS_HOME_ADDRESS, id and offset */
    LWPS_TRACE_NOTHING = 3,     /* the access did not happen */
    LWPS_TRACE_HOME_BITS = 2,
};

/* The block predicted to run next. */
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
