/* Records as bytes, encoded into a scratch buffer on the stack. */
#include "format/layout.h"
#include "format/writer.h"

#include <errno.h>
#include <string.h>

/* ---- fields ---- */

struct output {
    uint8_t *at;
};

static void put_byte(struct output *to, uint8_t value)
{
    *to->at++ = value;
}

static void put_varint(struct output *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *to->at++ = (uint8_t)(value | 0x80);
    *to->at++ = (uint8_t)value;
}

static void put_signed(struct output *to, uint64_t value, uint64_t before)
{
    put_varint(to, lwps_zigzag((int64_t)(value - before)));
}

static void put_bytes(struct output *to, const void *bytes, size_t size, size_t most)
{
    size = size < most ? size : most;
    put_varint(to, size);
    memcpy(to->at, bytes, size);
    to->at += size;
}

static void put_time(struct output *to, struct lwps_delta *delta, uint64_t time)
{
    uint64_t stored = time / 1000;
    put_signed(to, stored, delta->time);
    delta->time = stored;
}

static void put_id(struct output *to, uint32_t *before, uint32_t id)
{
    put_signed(to, id, *before);
    *before = id;
}

static void put_address(struct output *to, uint64_t *before, uint64_t address)
{
    put_signed(to, address, *before);
    *before = address;
}

static void put_access(struct output *to, struct lwps_delta *delta, const struct lwps_access *access, uint64_t ip)
{
    unsigned width = access->bytes && access->bytes <= 64 && !(access->bytes & (access->bytes - 1))
                         ? 1 + (unsigned)__builtin_ctz(access->bytes)
                         : 0;
    put_signed(to, access->ip, ip);
    put_byte(to, access->flags);
    put_byte(to, (uint8_t)((access->source & 7) | (access->home & 3) << LWPS_ACCESS_SOURCE_BITS |
                           width << (LWPS_ACCESS_SOURCE_BITS + LWPS_ACCESS_HOME_BITS)));
    if (!width)
        put_varint(to, access->bytes);
    put_byte(to, access->level);
    if (!(access->flags & LWPS_ACCESS_KNOWN))
        return;
    if (access->home == LWPS_HOME_ADDRESS) {
        put_address(to, &delta->address, access->address);
    } else {
        put_id(to, &delta->home, access->home_id);
        put_address(to, &delta->base, access->home_base);
        put_signed(to, access->address, access->home_base);
    }
}

/* ---- how much room a record's texts take less than they may ---- */

static uint32_t text_saves(const char *text, uint64_t bytes)
{
    uint64_t length = text ? strnlen(text, bytes < LWPS_STRING_MAX ? bytes : LWPS_STRING_MAX) : 0;
    return (uint32_t)(LWPS_STRING_MAX - length);
}

#define BYTE(member)
#define NUMBER(member)
#define TIME(member)
#define PAST(member, of)
#define WEIGHT(member)
#define ID(member)
#define CONTEXT(member)
#define CHAIN(member, chain)
#define BEHIND(member, chain)
#define BEYOND(member, of)
#define NEAR(member, of)
#define BYTES(member, count)
#define TEXT(member) +text_saves(record->member, LWPS_STRING_MAX)
#define TEXTS(member, count) +(uint32_t)(record->count < LWPS_STRING_MAX ? LWPS_STRING_MAX - record->count : 0)
#define ACCESS(member)
#define ACCESS_NEAR(member, of)
#define IF(member, fields)
#define CHECK(condition)
#define RECORD(tag, name, room, fields)                                 \
    static inline uint32_t saves_##name(const struct lwps_##name *record) \
    {                                                                   \
        (void)record;                                                   \
        return 0 fields;                                                \
    }
#include "format/fields.h"
#undef BYTE
#undef NUMBER
#undef TIME
#undef PAST
#undef WEIGHT
#undef ID
#undef CONTEXT
#undef CHAIN
#undef BEHIND
#undef BEYOND
#undef NEAR
#undef BYTES
#undef TEXT
#undef TEXTS
#undef ACCESS
#undef ACCESS_NEAR
#undef IF
#undef CHECK
#undef RECORD

/* ---- records ---- */

/* Before a record's fields: its tag and length, when they are known. */
enum { HEAD_BYTES = 8 };

static int drop(struct lwps_writer *writer)
{
    lwps_writer_lost(writer, 1);
    return -1;
}

static bool ready(struct lwps_writer *writer, uint32_t room)
{
    int saved = errno;
    bool is_ready = lwps_writer_ready(writer, room);
    errno = saved;
    return is_ready;
}

/* `body` begins with HEAD_BYTES left free. */
static int put_record(struct lwps_writer *writer, uint8_t tag, uint8_t *body, const uint8_t *end)
{
    uint8_t head[HEAD_BYTES];
    struct output to = {head};
    put_byte(&to, tag);
    put_varint(&to, (uint64_t)(end - body - HEAD_BYTES));
    size_t head_bytes = (size_t)(to.at - head);
    uint8_t *start = body + HEAD_BYTES - head_bytes;
    memcpy(start, head, head_bytes);
    lwps_writer_append(writer, start, (uint32_t)(end - start));
    return 0;
}

#define BYTE(member) put_byte(&to, record->member);
#define NUMBER(member) put_varint(&to, record->member);
#define TIME(member) put_time(&to, delta, record->member);
#define PAST(member, of) put_varint(&to, record->of > record->member ? (record->of - record->member) / 1000 : 0);
/* The rest is not carried on: of a candidate's weight 0.1 % at most. */
#define WEIGHT(member) put_varint(&to, record->member / writer->weight_scale);
#define ID(member) put_id(&to, &delta->id, record->member);
#define CONTEXT(member) put_id(&to, &delta->context, record->member);
#define CHAIN(member, chain) put_address(&to, &delta->chain, record->member);
#define BEHIND(member, chain) put_address(&to, &delta->chain, record->member + (record->member != 0));
#define BEYOND(member, of) put_varint(&to, record->member - record->of);
#define NEAR(member, of) put_signed(&to, record->member, record->of);
#define BYTES(member, count) put_bytes(&to, record->member, record->count, sizeof record->member);
#define TEXT(member) put_bytes(&to, record->member, record->member ? strnlen(record->member, LWPS_STRING_MAX) : 0, LWPS_STRING_MAX);
#define TEXTS(member, count) put_bytes(&to, record->member, record->count, LWPS_STRING_MAX);
#define ACCESS(member) put_access(&to, delta, &record->member, delta->ip), delta->ip = record->member.ip;
#define ACCESS_NEAR(member, of) put_access(&to, delta, &record->member, record->of.ip);
#define IF(member, fields) put_byte(&to, record->member != 0); if (record->member) { fields }
#define CHECK(condition)

#define RECORD(tag, name, room, fields)                                                   \
    int lwps_put_##name(struct lwps_writer *writer, const struct lwps_##name *record)    \
    {                                                                                     \
        uint8_t body[HEAD_BYTES + (room)];                                                \
        struct output to = {body + HEAD_BYTES};                                           \
        struct lwps_delta *delta = &writer->delta;                                        \
        (void)delta;                                                                      \
        if (!ready(writer, sizeof body - saves_##name(record)))                                                  \
            return drop(writer);                                                          \
        fields return put_record(writer, LWPS_TAG_##tag, body, to.at);                    \
    }
#include "format/fields.h"

enum { SAMPLE_BYTES_MAX = 512 };

int lwps_put_sample(struct lwps_writer *writer, const struct lwps_sample *record)
{
    uint8_t bytes[SAMPLE_BYTES_MAX];
    struct output to = {bytes};
    struct lwps_delta *delta = &writer->delta;
    if (!ready(writer, sizeof bytes))
        return drop(writer);
    unsigned accesses = record->access_count <= LWPS_ACCESSES_MAX ? record->access_count : LWPS_ACCESSES_MAX;
    bool same = record->context == delta->context;
    uint64_t weight = record->weight + writer->weight_rest; /* so that rounding does not add up */
    writer->weight_rest = (uint32_t)(weight % writer->weight_scale);
    weight /= writer->weight_scale;

    put_byte(&to, (uint8_t)(LWPS_TAG_SAMPLE | (same ? LWPS_TAG_SAME_CONTEXT : 0) | accesses << 2 | (record->kind & 3)));
    put_time(&to, delta, record->time);
    put_signed(&to, weight, delta->weight);
    delta->weight = weight;
    put_address(&to, &delta->ip, record->ip);
    if (!same)
        put_id(&to, &delta->context, record->context);
    for (unsigned i = 0; i < accesses; i++)
        put_access(&to, delta, &record->access[i], record->ip);
    lwps_writer_append(writer, bytes, (uint32_t)(to.at - bytes));
    return 0;
}
