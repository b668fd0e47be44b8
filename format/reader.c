/* The reader: maps a file, walks its blocks, checks each checksum, decodes record by record into the visitor.
 * Every length is checked against what is left, nothing is allocated but one buffer for a pack (LWPS_PACK_RAW_MAX), and
 * each step consumes at least a byte, so that no input can make it hang. */
#include "format/reader.h"

#include "format/crc32c.h"
#include "format/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

struct reader {
    const char *name;
    const struct lwps_visitor *visitor;
    void *to;
    struct lwps_damage *damage;
    struct lwp_error *err;
    uint32_t weight_scale, time_scale;
    struct lwps_delta delta;
    uint8_t *pack; /* decompressed, allocated at the first pack */
    bool trailer;
};

/* ---- decoding ---- */

/* Numbers are taken without asking whether there are any left: none of the records' parts but strings reaches further
 * than SLACK bytes from its start, so many can be read behind its end, and then it shows that it went beyond. */
enum { SLACK = 512 };
_Static_assert(SLACK >= 1 + 4 * 10 + LWPS_ACCESSES_MAX * (5 * 10 + 3), "the longest sample");

struct cursor {
    const uint8_t *at, *end;
    bool bad;
};

static inline uint8_t get_byte(struct cursor *from)
{
    return *from->at++;
}

__attribute__((noinline)) static uint64_t get_varint_longest(struct cursor *from)
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

/* Up to eight bytes at once: seven bits of each, moved together pair by pair. */
static inline uint64_t get_varint_long(struct cursor *from)
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

static inline __attribute__((always_inline)) uint64_t get_varint(struct cursor *from)
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

static inline __attribute__((always_inline)) uint64_t get_signed(struct cursor *from, uint64_t before)
{
    return before + (uint64_t)lwps_unzigzag(get_varint(from));
}

static inline uint64_t get_address(struct cursor *from, uint64_t *before)
{
    return *before = get_signed(from, *before);
}

static const uint8_t *get_bytes(struct cursor *from, uint64_t most, uint64_t *size)
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

/* Ends the string in `buffer` (LWPS_STRING_MAX + 1 bytes). */
static const char *get_string(struct cursor *from, char *buffer)
{
    uint64_t size;
    const uint8_t *bytes = get_bytes(from, LWPS_STRING_MAX, &size);
    memcpy(buffer, bytes, size);
    buffer[size] = '\0';
    return buffer;
}

static uint64_t get_time(struct cursor *from, struct reader *reader)
{
    return get_address(from, &reader->delta.time) * reader->time_scale;
}

static uint32_t get_id(struct cursor *from, uint32_t *before)
{
    return *before = (uint32_t)get_signed(from, *before);
}

/* ---- records ---- */

#define VISIT(member, record)                                                                                          \
    if (from->bad || from->at > from->end)                                                                             \
        return LWP_ERR_FORMAT;                                                                                         \
    return reader->visitor->member ? reader->visitor->member(reader->to, &record) : LWP_OK

static int read_process(struct reader *reader, struct cursor *from)
{
    struct lwps_process record = {.pid = (uint32_t)get_varint(from)};
    record.parent_pid = (uint32_t)get_varint(from);
    record.time = get_time(from, reader);
    uint64_t size;
    const uint8_t *bytes = get_bytes(from, LWPS_STRING_MAX, &size);
    char text[LWPS_STRING_MAX + 1];
    memcpy(text, bytes, size);
    text[size] = '\0';
    record.command = text;
    record.command_bytes = (uint32_t)size;
    VISIT(process, record);
}

static int read_module(struct reader *reader, struct cursor *from)
{
    struct lwps_module record = {.id = get_id(from, &reader->delta.id)};
    record.time = get_time(from, reader);
    record.start = get_address(from, &reader->delta.base);
    record.end = record.start + get_varint(from);
    record.bias = get_signed(from, record.start);
    uint64_t size;
    const uint8_t *bytes = get_bytes(from, sizeof record.build_id, &size);
    memcpy(record.build_id, bytes, size);
    record.build_id_bytes = (uint8_t)size;
    char text[LWPS_STRING_MAX + 1];
    record.path = get_string(from, text);
    if (record.end < record.start)
        return LWP_ERR_FORMAT;
    VISIT(module, record);
}

static int read_module_end(struct reader *reader, struct cursor *from)
{
    struct lwps_module_end record = {.id = get_id(from, &reader->delta.id)};
    record.time = get_time(from, reader);
    VISIT(module_end, record);
}

static int read_context(struct reader *reader, struct cursor *from)
{
    struct lwps_context record = {.id = get_id(from, &reader->delta.context)};
    record.parent = (uint32_t)get_signed(from, record.id);
    record.ip = get_address(from, &reader->delta.ip);
    if (record.parent >= record.id)
        return LWP_ERR_FORMAT;
    VISIT(context, record);
}

static int read_pool(struct reader *reader, struct cursor *from)
{
    struct lwps_pool record = {.id = get_id(from, &reader->delta.id)};
    record.context = (uint32_t)get_varint(from);
    record.size = get_varint(from);
    VISIT(pool, record);
}

static int read_pool_count(struct reader *reader, struct cursor *from)
{
    struct lwps_pool_count record = {.id = get_id(from, &reader->delta.id)};
    record.allocations = get_varint(from);
    record.frees = get_varint(from);
    record.peak_blocks = get_varint(from);
    record.bytes = get_varint(from);
    VISIT(pool_count, record);
}

static int read_block(struct reader *reader, struct cursor *from)
{
    struct lwps_block record = {.id = get_id(from, &reader->delta.id)};
    record.kind = get_byte(from);
    record.context = (uint32_t)get_varint(from);
    record.time = get_time(from, reader);
    record.address = get_address(from, &reader->delta.address);
    record.size = get_varint(from);
    if (record.address + record.size < record.address)
        return LWP_ERR_FORMAT;
    VISIT(block, record);
}

static int read_block_end(struct reader *reader, struct cursor *from)
{
    struct lwps_block_end record = {.id = get_id(from, &reader->delta.id)};
    record.time = get_time(from, reader);
    VISIT(block_end, record);
}

static int read_totals(struct reader *reader, struct cursor *from)
{
    struct lwps_totals record = {.time = get_time(from, reader)};
    record.user_ns = get_varint(from);
    record.system_ns = get_varint(from);
    record.own_ns = get_varint(from);
    record.samples = get_varint(from);
    record.samples_with_address = get_varint(from);
    record.samples_lost = get_varint(from);
    record.allocations = get_varint(from);
    VISIT(totals, record);
}

static int read_note(struct reader *reader, struct cursor *from)
{
    char text[LWPS_STRING_MAX + 1];
    struct lwps_note record = {.text = get_string(from, text)};
    VISIT(note, record);
}

static int read_thread(struct reader *reader, struct cursor *from)
{
    struct lwps_thread record = {.tid = (uint32_t)get_varint(from)};
    record.time = get_time(from, reader);
    record.stack_low = get_varint(from);
    record.stack_high = get_varint(from);
    char text[LWPS_STRING_MAX + 1];
    record.name = get_string(from, text);
    VISIT(thread, record);
}

static int read_thread_end(struct reader *reader, struct cursor *from)
{
    struct lwps_thread_end record = {.time = get_time(from, reader)};
    record.cpu_ns = get_varint(from);
    VISIT(thread_end, record);
}

static inline void read_access(struct reader *reader, struct cursor *from, uint64_t ip, struct lwps_access *access)
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
        access->address = get_address(from, &reader->delta.address);
    } else {
        access->home_id = get_id(from, &reader->delta.home);
        access->home_base = get_address(from, &reader->delta.base);
        access->address = get_signed(from, access->home_base);
    }
}

static int read_watch(struct reader *reader, struct cursor *from)
{
    struct lwps_watch record = {.end_time = get_time(from, reader)};
    record.time = record.end_time - get_varint(from) * reader->time_scale;
    record.weight = get_varint(from) * reader->weight_scale;
    record.verdicts = get_byte(from);
    record.end = get_byte(from);
    record.value = get_byte(from);
    record.overlap = (uint16_t)get_varint(from);
    record.first_tid = (uint32_t)get_varint(from);
    record.first_context = (uint32_t)get_varint(from);
    read_access(reader, from, reader->delta.ip, &record.first);
    reader->delta.ip = record.first.ip;
    if (get_byte(from)) {
        record.second_context = (uint32_t)get_varint(from);
        read_access(reader, from, record.first.ip, &record.second);
    }
    VISIT(watch, record);
}

static int read_candidates(struct reader *reader, struct cursor *from)
{
    struct lwps_candidates record = {.time = get_time(from, reader)};
    uint64_t count = get_varint(from);
    record.count = (uint32_t)count;
    record.weight = get_varint(from) * reader->weight_scale;
    record.verdicts = get_byte(from);
    record.context = (uint32_t)get_varint(from);
    record.ip = get_address(from, &reader->delta.ip);
    from->bad |= count > UINT32_MAX;
    VISIT(candidates, record);
}

static int read_pair(struct reader *reader, struct cursor *from)
{
    struct lwps_pair record = {.time = get_time(from, reader)};
    record.verdict = get_byte(from);
    record.use = get_varint(from);
    record.waste = get_varint(from);
    record.close = get_varint(from);
    record.open = get_varint(from);
    record.times = get_varint(from);
    record.again = get_varint(from);
    record.first_context = (uint32_t)get_varint(from);
    read_access(reader, from, reader->delta.ip, &record.first);
    reader->delta.ip = record.first.ip;
    record.second_context = (uint32_t)get_varint(from);
    read_access(reader, from, record.first.ip, &record.second);
    VISIT(pair, record);
}

static int read_registers(struct reader *reader, struct cursor *from)
{
    struct lwps_registers record = {.flags = get_byte(from)};
    record.bytes = get_varint(from);
    record.same = get_varint(from);
    record.close = get_varint(from);
    record.instructions = get_varint(from);
    record.of_instructions = get_varint(from);
    VISIT(registers, record);
}

static int read_sample(struct reader *reader, struct cursor *from, uint8_t tag)
{
    struct lwps_sample record; /* the accesses there are get their values one by one */
    record.kind = tag & 3;
    record.access_count = tag >> 2 & 15;
    if (record.access_count > LWPS_ACCESSES_MAX)
        return LWP_ERR_FORMAT;
    record.time = get_time(from, reader);
    record.weight = get_address(from, &reader->delta.weight) * reader->weight_scale;
    record.ip = get_address(from, &reader->delta.ip);
    if (!(tag & LWPS_TAG_SAME_CONTEXT))
        reader->delta.context = (uint32_t)get_signed(from, reader->delta.context);
    record.context = reader->delta.context;
    for (unsigned i = 0; i < record.access_count; i++)
        read_access(reader, from, record.ip, &record.access[i]);
    VISIT(sample, record);
}

static int (*const readers[])(struct reader *, struct cursor *) = {
    [LWPS_TAG_PROCESS] = read_process, [LWPS_TAG_MODULE] = read_module,
    [LWPS_TAG_MODULE_END] = read_module_end, [LWPS_TAG_CONTEXT] = read_context,
    [LWPS_TAG_POOL] = read_pool, [LWPS_TAG_POOL_COUNT] = read_pool_count,
    [LWPS_TAG_BLOCK] = read_block, [LWPS_TAG_BLOCK_END] = read_block_end,
    [LWPS_TAG_TOTALS] = read_totals, [LWPS_TAG_NOTE] = read_note,
    [LWPS_TAG_THREAD] = read_thread, [LWPS_TAG_THREAD_END] = read_thread_end,
    [LWPS_TAG_WATCH] = read_watch,
    [LWPS_TAG_CANDIDATES] = read_candidates,
    [LWPS_TAG_PAIR] = read_pair,
    [LWPS_TAG_REGISTERS] = read_registers,
};

/* A block whose checksum is right but whose records are not is given up at the first bad record. A visitor's own
 * non-zero status ends the reading; it is told apart by `*stopped`. */
static int read_records(struct reader *reader, const uint8_t *bytes, size_t size, bool *stopped)
{
    struct cursor from = {.at = bytes, .end = bytes + size};
    uint8_t last[2 * SLACK]; /* the block's end, with something to read behind it */
    reader->delta = (struct lwps_delta){0};
    while (from.at < from.end) {
        size_t left = (size_t)(from.end - from.at);
        if (left < SLACK && from.end == bytes + size) {
            memcpy(last, from.at, left);
            memset(last + left, 0, SLACK);
            from = (struct cursor){.at = last, .end = last + left};
        }
        uint8_t tag = get_byte(&from);
        int status = LWP_OK;
        if (tag & LWPS_TAG_SAMPLE) {
            status = read_sample(reader, &from, tag);
        } else {
            uint64_t length;
            struct cursor record = {.at = get_bytes(&from, LWPS_RECORD_MAX, &length)};
            record.end = record.at + length;
            if (from.bad)
                return LWP_ERR_FORMAT;
            if (tag < sizeof readers / sizeof *readers && readers[tag])
                status = readers[tag](reader, &record);
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

/* ---- blocks ---- */

static int read_blocks(struct reader *reader, const uint8_t *bytes, size_t size, bool inside_pack);

static int read_pack(struct reader *reader, const uint8_t *bytes, size_t size)
{
    if (!reader->pack && !(reader->pack = malloc(LWPS_PACK_RAW_MAX)))
        return lwp_error_set(reader->err, LWP_ERR_MEMORY, "%s: out of memory", reader->name);
    size_t raw = ZSTD_decompress(reader->pack, LWPS_PACK_RAW_MAX, bytes, size);
    if (ZSTD_isError(raw)) {
        reader->damage->bad_blocks++;
        return LWP_OK;
    }
    return read_blocks(reader, reader->pack, raw, true);
}

static int read_blocks(struct reader *reader, const uint8_t *bytes, size_t size, bool inside_pack)
{
    while (size) {
        struct lwps_disk_block head;
        if (size < sizeof head) {
            reader->damage->torn_bytes += size;
            return LWP_OK;
        }
        memcpy(&head, bytes, sizeof head);
        if (head.type == 0 && head.bytes == 0) {
            /* Reserved but never written: the end of a live file. */
            return LWP_OK;
        }
        if (head.bytes > size - sizeof head) {
            reader->damage->torn_bytes += size;
            return LWP_OK;
        }
        const uint8_t *payload = bytes + sizeof head;
        uint32_t crc = lwps_crc32c(lwps_crc32c(0, payload, head.bytes), &head, offsetof(struct lwps_disk_block, crc));
        bool stopped = false;
        int status = LWP_OK;
        if (crc != head.crc)
            reader->damage->bad_blocks++;
        else if (head.type == LWPS_BLOCK_RECORDS)
            status = read_records(reader, payload, head.bytes, &stopped);
        else if (head.type == LWPS_BLOCK_PACK && !inside_pack)
            status = read_pack(reader, payload, head.bytes);
        else if (head.type == LWPS_BLOCK_TRAILER && !inside_pack) {
            /* What follows may be cut off at this moment by a writer that closes. */
            reader->trailer = true;
            return LWP_OK;
        } else
            reader->damage->unknown_blocks++;
        if (status == LWP_ERR_FORMAT && !stopped)
            reader->damage->bad_blocks++;
        else if (status)
            return status;
        bytes += sizeof head + head.bytes;
        size -= sizeof head + head.bytes;
    }
    return LWP_OK;
}

/* The trailer is the last block of a file, sealed or not: known before the records are read. */
static bool ends_with_trailer(const uint8_t *bytes, size_t size)
{
    struct lwps_disk_block head;
    while (size >= sizeof head) {
        memcpy(&head, bytes, sizeof head);
        if (head.type == LWPS_BLOCK_TRAILER)
            return head.bytes == 0 && lwps_crc32c(0, &head, offsetof(struct lwps_disk_block, crc)) == head.crc;
        if (head.bytes > size - sizeof head || (head.type == 0 && head.bytes == 0))
            return false;
        bytes += sizeof head + head.bytes;
        size -= sizeof head + head.bytes;
    }
    return false;
}

static int read_header(struct reader *reader, const uint8_t *bytes, size_t size, struct lwps_file *file)
{
    struct lwps_disk_header head;
    if (size < sizeof head)
        return lwp_error_set(reader->err, LWP_ERR_FORMAT, "%s: not a sample file: only %zu bytes long", reader->name, size);
    memcpy(&head, bytes, sizeof head);
    if (memcmp(head.magic, LWPS_MAGIC, 4))
        return lwp_error_set(reader->err, LWP_ERR_FORMAT, "%s: not a sample file of lwp", reader->name);
    if (head.byte_order == (uint16_t)(LWPS_BYTE_ORDER << 8 | LWPS_BYTE_ORDER >> 8))
        return lwp_error_set(reader->err, LWP_ERR_FORMAT, "%s: written on a machine of the other byte order",
                             reader->name);
    if (head.oldest_reader > LWPS_VERSION)
        return lwp_error_set(reader->err, LWP_ERR_NEWER,
                             "%s: written by a newer lwp (format %u, this one reads up to %u); upgrade lwp to read it",
                             reader->name, head.version, LWPS_VERSION);
    uint32_t crc = lwps_crc32c(0, &head, offsetof(struct lwps_disk_header, lost_records));
    if (head.byte_order != LWPS_BYTE_ORDER || crc != head.crc || head.header_bytes < sizeof head ||
        head.header_bytes > size || !head.weight_scale || !head.time_scale)
        return lwp_error_set(reader->err, LWP_ERR_FORMAT, "%s: the file's header is damaged", reader->name);
    reader->weight_scale = head.weight_scale;
    reader->time_scale = head.time_scale;
    *file = (struct lwps_file){
        .version = head.version, .engine = head.engine, .weight_unit = head.weight_unit, .pid = head.pid,
        .tid = head.tid, .start_ns = head.start_ns, .start_wall_ns = head.start_wall_ns,
        .lost_records = head.lost_records, .sealed = head.sealed,
        .complete = ends_with_trailer(bytes + head.header_bytes, size - head.header_bytes),
    };
    return head.header_bytes;
}

int lwps_read_memory(const char *name, const uint8_t *bytes, size_t size, const struct lwps_visitor *visitor, void *to,
                     struct lwps_damage *damage, struct lwp_error *err)
{
    struct lwps_damage unasked;
    struct reader reader = {.name = name, .visitor = visitor, .to = to, .damage = damage ? damage : &unasked, .err = err};
    *reader.damage = (struct lwps_damage){0};
    struct lwps_file file;
    int header_bytes = read_header(&reader, bytes, size, &file);
    if (header_bytes < 0)
        return header_bytes;
    int status = visitor->file ? visitor->file(to, &file) : LWP_OK;
    if (!status)
        status = read_blocks(&reader, bytes + header_bytes, size - (size_t)header_bytes, false);
    reader.damage->incomplete = !reader.trailer;
    free(reader.pack);
    return status;
}

int lwps_read(const char *path, const struct lwps_visitor *visitor, void *to, struct lwps_damage *damage,
              struct lwp_error *err)
{
    int status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return lwp_error_errno(err, "cannot open %s", path);
    struct stat st;
    uint8_t *bytes = NULL;
    size_t size = 0;
    if (fstat(fd, &st)) {
        status = lwp_error_errno(err, "cannot read %s", path);
        goto out;
    }
    if (!S_ISREG(st.st_mode)) {
        status = lwp_error_set(err, LWP_ERR_FORMAT, "%s: not a regular file", path);
        goto out;
    }
    size = (size_t)st.st_size;
    if (size) {
        bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes == MAP_FAILED) {
            bytes = NULL;
            status = lwp_error_errno(err, "cannot read %s", path);
            goto out;
        }
    }
    status = lwps_read_memory(path, bytes ? bytes : (const uint8_t *)"", size, visitor, to, damage, err);
out:
    if (bytes)
        munmap(bytes, size);
    close(fd);
    return status;
}
