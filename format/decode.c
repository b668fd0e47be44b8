/* Decodes records. Nothing is allocated, every length is checked against the rest, and each step consumes at least a byte. */
#include "format/decode.h"

#include "base/error.h"
#include "format/layout.h"

#include <string.h>

/* ---- fields ---- */

/* Numbers are read without bounds checks: no part of a record but strings is longer than SLACK bytes, so many are readable
 * behind its end, and a record that went beyond is detected afterwards. */
enum { SLACK = 512 };
_Static_assert(SLACK >= 1 + 4 * 10 + LWPS_ACCESSES_MAX * (5 * 10 + 3), "the longest sample");

struct input {
    const uint8_t *at, *end;
    bool bad;
};

static inline uint8_t get_byte(struct input *from)
{
    return *from->at++;
}

__attribute__((noinline)) static uint64_t get_varint_longest(struct input *from)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        uint8_t byte = get_byte(from);
        if (shift == 63 && byte > 1)
            break;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    from->bad = true;
    return 0;
}

/* Up to eight bytes at once: packs seven bits of each, pair by pair. */
static inline uint64_t get_varint_long(struct input *from)
{
    uint64_t word, ends;
    memcpy(&word, from->at, sizeof word);
    ends = ~word & 0x8080808080808080;
    if (!ends)
        return get_varint_longest(from);
    unsigned last = (unsigned)__builtin_ctzll(ends); /* the last byte's highest bit */
    from->at += last / 8 + 1;
    word &= ((uint64_t)2 << last) - 1;
    word = (word & 0x7f007f007f007f00) >> 1 | (word & 0x007f007f007f007f);
    word = (word & 0x3fff00003fff0000) >> 2 | (word & 0x00003fff00003fff);
    return (word & 0x0fffffff00000000) >> 4 | (word & 0x000000000fffffff);
}

static inline __attribute__((always_inline)) uint64_t get_varint(struct input *from)
{
    /* Most numbers are differences of one or two bytes. */
    uint8_t first = from->at[0], second = from->at[1];
    if (!(first & 0x80)) {
        from->at++;
        return first;
    }
    if (!(second & 0x80)) {
        from->at += 2;
        return (uint64_t)(first & 0x7f) | (uint64_t)second << 7;
    }
    return get_varint_long(from);
}

static inline __attribute__((always_inline)) uint64_t get_signed(struct input *from, uint64_t before)
{
    return before + (uint64_t)lwps_unzigzag(get_varint(from));
}

static inline uint64_t get_address(struct input *from, uint64_t *before)
{
    return *before = get_signed(from, *before);
}

static const uint8_t *get_bytes(struct input *from, uint64_t most, uint64_t *size)
{
    *size = get_varint(from);
    if (*size > most || from->at > from->end || *size > (uint64_t)(from->end - from->at)) {
        from->bad = true;
        *size = 0;
    }
    const uint8_t *bytes = from->at;
    from->at += *size;
    return bytes;
}

/* Ends the text in `buffer` (LWPS_STRING_MAX + 1 bytes) with NUL; returns its length. */
static uint64_t get_text(struct input *from, char *buffer)
{
    uint64_t size;
    const uint8_t *bytes = get_bytes(from, LWPS_STRING_MAX, &size);
    memcpy(buffer, bytes, size);
    buffer[size] = '\0';
    return size;
}

static uint64_t get_time(struct input *from, struct lwps_decoder *decoder)
{
    return get_address(from, &decoder->delta.time) * decoder->time_scale;
}

static uint32_t get_id(struct input *from, uint32_t *before)
{
    return *before = (uint32_t)get_signed(from, *before);
}

static inline void read_access(struct lwps_decoder *decoder, struct input *from, uint64_t ip, struct lwps_access *access)
{
    access->ip = get_signed(from, ip);
    access->flags = get_byte(from);
    uint8_t packed = get_byte(from);
    access->source = packed & 7;
    access->home = packed >> LWPS_ACCESS_SOURCE_BITS & 3;
    unsigned width = packed >> (LWPS_ACCESS_SOURCE_BITS + LWPS_ACCESS_HOME_BITS);
    uint64_t bytes = width ? 1u << (width - 1) : get_varint(from);
    access->bytes = (uint16_t)bytes;
    access->level = get_byte(from);
    from->bad |= bytes > UINT16_MAX || access->home > LWPS_HOME_STACK;
    access->address = access->home_base = 0;
    access->home_id = 0;
    if (!(access->flags & LWPS_ACCESS_KNOWN))
        return;
    if (access->home == LWPS_HOME_ADDRESS) {
        access->address = get_address(from, &decoder->delta.address);
    } else {
        access->home_id = get_id(from, &decoder->delta.home);
        access->home_base = get_address(from, &decoder->delta.base);
        access->address = get_signed(from, access->home_base);
    }
}

/* ---- records ---- */

#define VISIT(name, record)                \
    if (from->bad || from->at > from->end) \
        return LWP_ERR_FORMAT;             \
    return decoder->visitor->name ? decoder->visitor->name(decoder->to, record) : LWP_OK;

#define BYTE(member) record->member = get_byte(from);
#define NUMBER(member)                                       \
    {                                                        \
        uint64_t number = get_varint(from);                  \
        record->member = (__typeof__(record->member))number; \
        from->bad |= record->member != number;               \
    }
#define TIME(member) record->member = get_time(from, decoder);
#define PAST(member, of) record->member = record->of - get_varint(from) * decoder->time_scale;
#define WEIGHT(member) record->member = get_varint(from) * decoder->weight_scale;
#define ID(member) record->member = get_id(from, &decoder->delta.id);
#define CONTEXT(member) record->member = get_id(from, &decoder->delta.context);
#define CHAIN(member, chain) record->member = get_address(from, &decoder->delta.chain);
#define BEHIND(member, chain)                                      \
    record->member = get_address(from, &decoder->delta.chain); \
    record->member -= record->member != 0;
#define BEYOND(member, of) record->member = record->of + get_varint(from);
#define NEAR(member, of) record->member = (__typeof__(record->member))get_signed(from, record->of);
#define BYTES(member, count)                                                \
    uint64_t count;                                                         \
    const uint8_t *member = get_bytes(from, sizeof record->member, &count); \
    memcpy(record->member, member, count);                                  \
    record->count = (uint8_t)count;
#define TEXT(member)                  \
    char member[LWPS_STRING_MAX + 1]; \
    get_text(from, member);           \
    record->member = member;
#define TEXTS(member, count)                          \
    char member[LWPS_STRING_MAX + 1];                 \
    record->count = (uint32_t)get_text(from, member); \
    record->member = member;
#define ACCESS(member) ACCESS_AT(member, decoder->delta.ip) decoder->delta.ip = record->member.ip;
#define ACCESS_NEAR(member, of) ACCESS_AT(member, record->of.ip)
#define ACCESS_AT(member, ip) read_access(decoder, from, ip, &record->member);
#define IF(member, fields) if (get_byte(from)) { fields }
#define CHECK(condition) from->bad |= !(condition);

#define RECORD(tag, name, room, fields)                                                  \
    static int read_##name(struct lwps_decoder *decoder, struct input *from)            \
    {                                                                                    \
        struct lwps_##name decoded = {0}, *record = &decoded;                            \
        fields                                                                           \
        VISIT(name, record)                                                              \
    }
#include "format/fields.h"
#undef RECORD

#define RECORD(tag, name, room, fields) [LWPS_TAG_##tag] = read_##name,
static int (*const readers[])(struct lwps_decoder *, struct input *) = {
#include "format/fields.h"
};

static int read_sample(struct lwps_decoder *decoder, struct input *from, uint8_t tag)
{
    struct lwps_sample record; /* the accesses there are get their values one by one */
    record.kind = tag & 3;
    record.access_count = tag >> 2 & 15;
    if (record.access_count > LWPS_ACCESSES_MAX)
        return LWP_ERR_FORMAT;
    record.time = get_time(from, decoder);
    record.weight = get_address(from, &decoder->delta.weight) * decoder->weight_scale;
    record.ip = get_address(from, &decoder->delta.ip);
    if (!(tag & LWPS_TAG_SAME_CONTEXT))
        decoder->delta.context = (uint32_t)get_signed(from, decoder->delta.context);
    record.context = decoder->delta.context;
    for (unsigned i = 0; i < record.access_count; i++)
        read_access(decoder, from, record.ip, &record.access[i]);
    VISIT(sample, &record)
}

/* A record without its last fields is from an older writer: they are read as zeroes. */
static int read_shorter(struct lwps_decoder *decoder, uint8_t tag, const uint8_t *bytes, uint64_t length)
{
    uint8_t filled[LWPS_RECORD_MAX + SLACK];
    memcpy(filled, bytes, length);
    memset(filled + length, 0, SLACK);
    struct input record = {.at = filled, .end = filled + length + SLACK};
    return readers[tag](decoder, &record);
}

static int read_record(struct lwps_decoder *decoder, uint8_t tag, const uint8_t *bytes, uint64_t length)
{
    if (tag >= sizeof readers / sizeof *readers || !readers[tag])
        return LWP_OK;
    const struct lwps_delta before = decoder->delta;
    struct input record = {.at = bytes, .end = bytes + length};
    int status = readers[tag](decoder, &record);
    if (status != LWP_ERR_FORMAT || record.at <= record.end)
        return status;
    decoder->delta = before;
    return read_shorter(decoder, tag, bytes, length);
}

int lwps_decode(struct lwps_decoder *decoder, const uint8_t *bytes, size_t size, bool *stopped)
{
    struct input from = {.at = bytes, .end = bytes + size};
    uint8_t last[2 * SLACK]; /* the block's end, with something to read behind it */
    decoder->delta = (struct lwps_delta){0};
    while (from.at < from.end) {
        size_t left = (size_t)(from.end - from.at);
        if (left < SLACK && from.end == bytes + size) {
            memcpy(last, from.at, left);
            memset(last + left, 0, SLACK);
            from = (struct input){.at = last, .end = last + left};
        }
        uint8_t tag = get_byte(&from);
        int status = LWP_OK;
        if (tag & LWPS_TAG_SAMPLE) {
            status = read_sample(decoder, &from, tag);
        } else {
            uint64_t length;
            const uint8_t *record = get_bytes(&from, LWPS_RECORD_MAX, &length);
            if (from.bad)
                return LWP_ERR_FORMAT;
            status = read_record(decoder, tag, record, length);
        }
        if (status == LWP_ERR_FORMAT)
            return LWP_ERR_FORMAT;
        if (status) {
            *stopped = true;
            return status;
        }
    }
    return LWP_OK;
}
