/* The reader: maps a file, walks its blocks, checks each checksum and has the records decoded. Every length is checked
 * against what is left, nothing is allocated but one buffer for a pack (LWPS_PACK_RAW_MAX), each step consumes at
 * least a byte, and packs hold at most LWPS_RAW_PER_BYTE times the file, so that no input can make it hang. */
#include "format/reader.h"

#include "format/crc32c.h"
#include "format/decode.h"
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
    struct lwps_decoder decoder;
    struct lwps_damage *damage;
    struct lwp_error *err;
    uint8_t *pack; /* decompressed, allocated at the first pack */
    size_t size; /* of the file */
    uint64_t raw; /* bytes that packs may still hold */
    bool trailer;
};

/* ---- blocks ---- */

static int read_blocks(struct reader *reader, const uint8_t *bytes, size_t size, bool inside_pack);

static int read_pack(struct reader *reader, const uint8_t *bytes, size_t size)
{
    if (!reader->pack && !(reader->pack = malloc(LWPS_PACK_RAW_MAX)))
        return lwp_error_set(reader->err, LWP_ERR_MEMORY, "%s: out of memory", reader->name);
    size_t raw = !reader->raw ? LWPS_PACK_RAW_MAX : ZSTD_decompress(reader->pack, LWPS_PACK_RAW_MAX, bytes, size);
    if (ZSTD_isError(raw) || raw > reader->raw) {
        reader->raw = ZSTD_isError(raw) ? reader->raw : 0;
        reader->damage->bad_blocks++;
        return LWP_OK;
    }
    reader->raw -= raw;
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
            status = lwps_decode(&reader->decoder, payload, head.bytes, &stopped);
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
        const struct lwps_visitor *visitor = reader->decoder.visitor;
        status = inside_pack || !visitor->position ? LWP_OK : visitor->position(reader->decoder.to, reader->size - size, reader->size);
        if (status)
            return status;
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
    reader->decoder.weight_scale = head.weight_scale;
    reader->decoder.time_scale = head.time_scale;
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
    struct reader reader = {.name = name, .decoder = {.visitor = visitor, .to = to}, .damage = damage ? damage : &unasked, .err = err, .size = size,
                            .raw = LWPS_RAW_FREE + (uint64_t)LWPS_RAW_PER_BYTE * size};
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
