/* The sample file as bytes on disk; docs/format.md explains it. All integers are little-endian.
 * Freestanding, shared by writer, reader and seal. */
#ifndef LWP_FORMAT_LAYOUT_H
#define LWP_FORMAT_LAYOUT_H

#include <stdint.h>

#define LWPS_MAGIC "LWPS"

enum {
    LWPS_VERSION = 1,        /* of the writer */
    LWPS_OLDEST_READER = 1,  /* the oldest version that can read what this one writes */
    LWPS_BYTE_ORDER = 0x0102,
    LWPS_HEADER_BYTES = 4096, /* a page of its own, so that counters in it can be updated in place */
    LWPS_BLOCK_PAYLOAD = 16 * 1024, /* a block is ended when it has grown beyond this */
    LWPS_RECORD_MAX = 12 * 1024,    /* longest encoded record */
    LWPS_STRING_MAX = 8 * 1024,     /* longer strings are cut when written */
    LWPS_PACK_RAW_MAX = 1 << 20,    /* decompressed size of a pack */
    LWPS_RAW_FREE = 64 << 20,       /* decompressed size of all packs of a file: so much, and */
    LWPS_RAW_PER_BYTE = 512,        /* so many times the file's size. What lwp writes shrinks to a half or a fifth */
};

struct lwps_disk_header {
    char magic[4];
    uint16_t byte_order;
    uint16_t version, oldest_reader;
    uint16_t header_bytes;
    uint32_t features; /* none so far; readers ignore bits they do not know */
    uint8_t engine, weight_unit;
    uint8_t sealed, reserved;
    uint32_t weight_scale; /* stored weights times this are in the weight unit */
    uint32_t time_scale;   /* stored times times this are nanoseconds */
    uint32_t pid, tid;
    uint64_t start_ns, start_wall_ns;
    uint64_t lost_records;
    uint32_t crc; /* CRC-32C of the bytes before lost_records */
    uint32_t reserved2;
};
_Static_assert(sizeof(struct lwps_disk_header) == 72, "part of the format");

enum lwps_block_type {
    LWPS_BLOCK_RECORDS = 1, /* tagged records */
    LWPS_BLOCK_PACK = 2,    /* one zstd frame holding whole blocks (sealed files) */
    LWPS_BLOCK_TRAILER = 3, /* empty: the writer was closed in order */
};

struct lwps_disk_block {
    uint16_t type, reserved;
    uint32_t bytes; /* of the payload that follows */
    uint32_t count; /* records; blocks in a pack */
    uint32_t crc;   /* CRC-32C of the payload, then of type, reserved, bytes and count */
};
_Static_assert(sizeof(struct lwps_disk_block) == 16, "part of the format");

/* A record begins with its tag. Tags below LWPS_TAG_SAMPLE are followed by the length of the rest (varint), so that
 * unknown ones can be skipped; a tag with the high bit set is a sample:
 * bits 0-1 kind, bits 2-5 number of accesses, bit 6 set: the context of the sample before. */
enum lwps_tag {
    LWPS_TAG_PROCESS = 1,
    LWPS_TAG_MODULE = 2,
    LWPS_TAG_MODULE_END = 3,
    LWPS_TAG_CONTEXT = 4,
    LWPS_TAG_POOL = 5,
    LWPS_TAG_POOL_COUNT = 6,
    LWPS_TAG_BLOCK = 7,
    LWPS_TAG_BLOCK_END = 8,
    LWPS_TAG_TOTALS = 9,
    LWPS_TAG_NOTE = 10,
    LWPS_TAG_THREAD = 11,
    LWPS_TAG_THREAD_END = 12,
    LWPS_TAG_WATCH = 13,
    LWPS_TAG_CANDIDATES = 14,
    LWPS_TAG_PAIR = 15,
    LWPS_TAG_REGISTERS = 16,
    LWPS_TAG_TRACE = 24,
    LWPS_TAG_FLOWS = 20,
    LWPS_TAG_PARTY = 21,
    LWPS_TAG_FLOW = 22,
    LWPS_TAG_FLOW_DISTANCE = 23,
    LWPS_TAG_FLOW_PIECES = 25,
    LWPS_TAG_CONTRIBUTION = 26,
    LWPS_TAG_SAMPLE = 0x80,
    LWPS_TAG_SAME_CONTEXT = 0x40,
};

/* What numbers are stored relative to; zero at the start of each block. */
struct lwps_delta {
    uint64_t time;    /* in time_scale */
    uint64_t weight;  /* in weight_scale */
    uint64_t ip, address, base; /* address: one chain, as the accesses of a sample mostly lie close together */
    uint32_t context, home, id;
};

/* An access: its ip relative to the sample's, flags, then this byte (and the width when its code is 0). */
enum { LWPS_ACCESS_SOURCE_BITS = 3, LWPS_ACCESS_HOME_BITS = 2 };

static inline uint64_t lwps_zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static inline int64_t lwps_unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1 ^ -(value & 1));
}

#endif
