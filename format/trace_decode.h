/* Decodes what trace_code.h encodes, chunk by chunk, from untrusted files: damage ends its window, and memory is bounded. */
#ifndef LWP_FORMAT_TRACE_DECODE_H
#define LWP_FORMAT_TRACE_DECODE_H

#include "format/trace_code.h"

struct lwps_trace_decoder;

struct lwps_trace_decoder *lwps_trace_decoder_new(void);
void lwps_trace_decoder_free(struct lwps_trace_decoder *decoder);

struct lwps_traced {
    uint32_t site; /* lwps_trace_decoder_site */
    struct lwps_trace_place place;
};

/* The accesses of a chunk, in order; at most as many as it has bytes. */
struct lwps_traced_all {
    uint32_t count;
    struct lwps_traced accesses[LWPS_TRACE_BYTES];
};

/* A new file: sites have other numbers. */
void lwps_trace_decoder_begin(struct lwps_trace_decoder *decoder);

/* False: the chunk, or one before it in its window, is damaged or missing; `all` has the accesses before the damage. */
bool lwps_trace_decode(struct lwps_trace_decoder *decoder, const struct lwps_trace *chunk, struct lwps_traced_all *all);

/* Ip, bytes and flags of a site; valid until the next chunk. Sites are numbered from 0 on. */
const struct lwps_trace_site *lwps_trace_decoder_site(const struct lwps_trace_decoder *decoder, uint32_t site);
uint32_t lwps_trace_decoder_sites(const struct lwps_trace_decoder *decoder);

#endif
