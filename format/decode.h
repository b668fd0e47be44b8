/* What reader.c needs of the records' encoding. */
#ifndef LWP_FORMAT_DECODE_H
#define LWP_FORMAT_DECODE_H

#include "format/layout.h"
#include "format/reader.h"

struct lwps_decoder {
    const struct lwps_visitor *visitor;
    void *to;
    uint32_t weight_scale, time_scale;
    struct lwps_delta delta;
};

/* Decodes a block's records into the visitor; `bytes` may come from anybody. LWP_ERR_FORMAT at the first record that is
 * none, after which the block is given up; a visitor's own non-zero status ends the reading and sets `*stopped`. */
int lwps_decode(struct lwps_decoder *decoder, const uint8_t *bytes, size_t size, bool *stopped);

#endif
