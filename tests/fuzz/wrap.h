/* Records as a sample file: what a fuzzer changes then always gets past header and checksum. */
#ifndef LWP_FUZZ_WRAP_H
#define LWP_FUZZ_WRAP_H

#include "format/crc32c.h"
#include "format/layout.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The first byte says which engine and unit, what follows are the records of one block; the caller frees the file. */
static inline uint8_t *fuzz_wrap(const uint8_t *input, size_t size, size_t *made)
{
    uint8_t kind = size ? *input : 0;
    size_t bytes = size ? size - 1 : 0;
    struct lwps_disk_header header = {.magic = LWPS_MAGIC,
                                      .byte_order = LWPS_BYTE_ORDER,
                                      .version = LWPS_VERSION,
                                      .header_bytes = sizeof header,
                                      .engine = kind % 4,
                                      .weight_unit = kind / 4 % 8,
                                      .sealed = 1,
                                      .weight_scale = 1000,
                                      .time_scale = 1000,
                                      .pid = 1,
                                      .tid = 1};
    struct lwps_disk_block block = {.type = LWPS_BLOCK_RECORDS, .bytes = (uint32_t)bytes},
                           trailer = {.type = LWPS_BLOCK_TRAILER};
    *made = sizeof header + sizeof block + bytes + sizeof trailer;
    uint8_t *file = malloc(*made), *to = file;
    if (!file)
        abort();
    header.crc = lwps_crc32c(0, &header, offsetof(struct lwps_disk_header, lost_records));
    block.crc = lwps_crc32c(lwps_crc32c(0, input + 1, bytes), &block, offsetof(struct lwps_disk_block, crc));
    trailer.crc = lwps_crc32c(0, &trailer, offsetof(struct lwps_disk_block, crc));
    to = (uint8_t *)memcpy(to, &header, sizeof header) + sizeof header;
    to = (uint8_t *)memcpy(to, &block, sizeof block) + sizeof block;
    if (bytes)
        memcpy(to, input + 1, bytes);
    memcpy(to + bytes, &trailer, sizeof trailer);
    return file;
}

#endif
