/* The writer: records are encoded into a scratch buffer on the stack, then copied into the mmap'ed window, and the open
 * block's header is renewed with one 16-byte store. A process killed at any point has a file whose blocks are all whole
 * but for the record being written. Space is reserved with fallocate before it is touched: a full disk is an error here
 * and never a SIGBUS. */
#define _GNU_SOURCE
#include "format/writer.h"

#include "format/crc32c.h"
#include "format/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WINDOW_FIRST = 16 * 1024, WINDOW_LARGEST = 256 * 1024, WRITER_FD_MIN = 200, SAMPLE_BYTES_MAX = 512,
       WATCH_BYTES_MAX = 256 };

_Static_assert(WINDOW_FIRST >= LWPS_RECORD_MAX + (int)sizeof(struct lwps_disk_block), "a record fits a window");

/* ---- encoding ---- */

struct cursor {
    uint8_t *at;
};

static void put_byte(struct cursor *to, uint8_t value)
{
    *to->at++ = value;
}

static void put_varint(struct cursor *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *to->at++ = (uint8_t)(value | 0x80);
    *to->at++ = (uint8_t)value;
}

static void put_signed(struct cursor *to, uint64_t value, uint64_t before)
{
    put_varint(to, lwps_zigzag((int64_t)(value - before)));
}

static void put_bytes(struct cursor *to, const void *bytes, size_t size)
{
    put_varint(to, size);
    memcpy(to->at, bytes, size);
    to->at += size;
}

static void put_string(struct cursor *to, const char *text)
{
    put_bytes(to, text ? text : "", text ? strnlen(text, LWPS_STRING_MAX) : 0);
}

/* ---- the window ---- */

/* Out of the way of programs that count on low numbers; the limit may be lower than that. */
static int raise_fd(int fd)
{
    for (int lowest = WRITER_FD_MIN; lowest > 2; lowest /= 2) {
        int raised = fcntl(fd, F_DUPFD_CLOEXEC, lowest);
        if (raised >= 0) {
            close(fd);
            return raised;
        }
    }
    return fd;
}

static bool writer_owns_fd(const struct lwps_writer *writer)
{
    struct stat st;
    return writer->fd >= 0 && fstat(writer->fd, &st) == 0 && (uint64_t)st.st_dev == writer->device &&
           (uint64_t)st.st_ino == writer->inode;
}

/* Programs that close all descriptors take ours too, and may have opened their own under its number. */
static bool writer_regain_fd(struct lwps_writer *writer)
{
    if (writer_owns_fd(writer))
        return true;
    writer->fd = open(writer->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (writer->fd < 0)
        return false;
    writer->fd = raise_fd(writer->fd);
    if (writer_owns_fd(writer))
        return true;
    close(writer->fd);
    writer->fd = -1;
    return false;
}

static int reserve(int fd, uint64_t from, uint64_t bytes)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && from + bytes > limit.rlim_cur)
        return -EFBIG; /* asking would raise SIGXFSZ in the program */
    if (fallocate(fd, 0, (off_t)from, (off_t)bytes) == 0)
        return 0;
    if (errno != EOPNOTSUPP && errno != ENOSYS)
        return -errno;
    static const uint8_t zeroes[4096];
    for (uint64_t done = 0; done < bytes; done += sizeof zeroes)
        if (pwrite(fd, zeroes, sizeof zeroes, (off_t)(from + done)) != (ssize_t)sizeof zeroes)
            return errno ? -errno : -ENOSPC;
    return 0;
}

static void *map(int fd, uint64_t from, uint64_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)from);
    return memory == MAP_FAILED ? NULL : memory;
}

/* Moves the window so that it begins in the page of the file's current end. */
static bool writer_advance(struct lwps_writer *writer)
{
    uint64_t end = writer->window_offset + writer->used, from = end & ~(uint64_t)4095;
    uint32_t size = writer->window_size ? writer->window_size : WINDOW_FIRST / 2;
    if (size < WINDOW_LARGEST)
        size *= 2;
    if (!writer_regain_fd(writer))
        return false;
    if (reserve(writer->fd, from, size)) {
        size = WINDOW_FIRST; /* a nearly full disk may still have room for a little */
        if (reserve(writer->fd, from, size))
            return false;
    }
    uint8_t *window = map(writer->fd, from, size);
    if (!window)
        return false;
    if (writer->window)
        munmap(writer->window, writer->window_size);
    writer->window = window;
    writer->window_size = size;
    writer->window_offset = from;
    writer->used = (uint32_t)(end - from);
    return true;
}

/* ---- blocks ---- */

static void block_renew_header(struct lwps_writer *writer)
{
    struct lwps_disk_block head = {.type = (uint16_t)writer->block_type,
                                   .bytes = writer->used - writer->block_start - (uint32_t)sizeof head,
                                   .count = writer->block_count};
    head.crc = lwps_crc32c(writer->crc, &head, offsetof(struct lwps_disk_block, crc));
    memcpy(writer->window + writer->block_start, &head, sizeof head);
}

static void block_end(struct lwps_writer *writer)
{
    writer->block_type = 0;
}

static bool block_begin(struct lwps_writer *writer, uint32_t type, uint32_t room)
{
    uint32_t need = (uint32_t)sizeof(struct lwps_disk_block) + room;
    if ((!writer->window || writer->window_size - writer->used < need) &&
        (!writer_advance(writer) || writer->window_size - writer->used < need))
        return false;
    writer->block_type = type;
    writer->block_start = writer->used;
    writer->used += (uint32_t)sizeof(struct lwps_disk_block);
    writer->block_count = 0;
    writer->crc = 0;
    writer->delta = (struct lwps_delta){0};
    return true;
}

/* Makes sure that an open block has `room` bytes. False: dropped. */
static bool writer_ready(struct lwps_writer *writer, uint32_t room)
{
    if (!writer->header)
        return false;
    if (writer->failed) {
        /* The disk was full: another try now and then is cheap enough and may find room again. */
        if (++writer->retry % 64)
            return false;
    }
    if (writer->block_type && (writer->used - writer->block_start > LWPS_BLOCK_PAYLOAD ||
                               writer->window_size - writer->used < room))
        block_end(writer);
    writer->failed = !writer->block_type && !block_begin(writer, LWPS_BLOCK_RECORDS, room);
    return !writer->failed;
}

static void writer_append(struct lwps_writer *writer, const uint8_t *bytes, uint32_t size)
{
    memcpy(writer->window + writer->used, bytes, size);
    writer->used += size;
    writer->crc = lwps_crc32c(writer->crc, bytes, size);
    writer->block_count++;
    block_renew_header(writer);
}

void lwps_writer_lost(struct lwps_writer *writer, uint64_t records)
{
    if (writer->header)
        ((struct lwps_disk_header *)writer->header)->lost_records += records;
}

static int writer_drop(struct lwps_writer *writer)
{
    lwps_writer_lost(writer, 1);
    return -1;
}

int lwps_writer_open(struct lwps_writer *writer, const char *path, const struct lwps_file *file)
{
    int saved = errno, status;
    *writer = (struct lwps_writer){.fd = -1};
    size_t length = strlen(path);
    if (length >= sizeof writer->path)
        return -ENAMETOOLONG;
    memcpy(writer->path, path, length + 1);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0) {
        status = -errno;
        goto out;
    }
    writer->fd = raise_fd(fd);
    struct stat st;
    if (fstat(writer->fd, &st)) {
        status = -errno;
        goto fail;
    }
    writer->device = (uint64_t)st.st_dev;
    writer->inode = (uint64_t)st.st_ino;
    status = reserve(writer->fd, 0, LWPS_HEADER_BYTES);
    if (status)
        goto fail;
    writer->header = map(writer->fd, 0, LWPS_HEADER_BYTES);
    if (!writer->header) {
        status = -errno;
        goto fail;
    }
    writer->weight_scale = file->weight_unit == LWPS_WEIGHT_NS ? 1000 : 1;
    struct lwps_disk_header head = {
        .magic = LWPS_MAGIC, .byte_order = LWPS_BYTE_ORDER, .version = LWPS_VERSION,
        .oldest_reader = LWPS_OLDEST_READER, .header_bytes = LWPS_HEADER_BYTES, .engine = file->engine,
        .weight_unit = file->weight_unit, .weight_scale = writer->weight_scale, .time_scale = 1000, .pid = file->pid,
        .tid = file->tid, .start_ns = file->start_ns, .start_wall_ns = file->start_wall_ns,
    };
    memcpy(head.magic, LWPS_MAGIC, 4);
    head.crc = lwps_crc32c(0, &head, offsetof(struct lwps_disk_header, lost_records));
    memcpy(writer->header, &head, sizeof head);
    writer->window_offset = LWPS_HEADER_BYTES;
    status = 0;
    goto out;
fail:
    close(writer->fd);
    writer->fd = -1;
    unlink(path);
out:
    errno = saved;
    return status;
}

static void writer_unmap(struct lwps_writer *writer)
{
    if (writer->window)
        munmap(writer->window, writer->window_size);
    if (writer->header)
        munmap(writer->header, LWPS_HEADER_BYTES);
    writer->window = writer->header = NULL;
}

void lwps_writer_close(struct lwps_writer *writer)
{
    if (!writer->header)
        return;
    int saved = errno;
    writer->failed = false;
    block_end(writer);
    if (block_begin(writer, LWPS_BLOCK_TRAILER, 0))
        block_renew_header(writer);
    writer_unmap(writer);
    /* Not cut to its size, which takes some file systems milliseconds: the end is type 0, and sealing leaves it out. */
    if (writer_owns_fd(writer))
        close(writer->fd);
    writer->fd = -1;
    errno = saved;
}

void lwps_writer_abandon(struct lwps_writer *writer)
{
    int saved = errno;
    writer_unmap(writer);
    if (writer_owns_fd(writer))
        close(writer->fd);
    *writer = (struct lwps_writer){.fd = -1};
    errno = saved;
}

/* ---- records ---- */

/* All records but samples: tag, length, body. `body` has LWPS_RECORD_MAX bytes of which the first 8 are left free. */
enum { BODY_HEAD = 8 };

static int writer_put(struct lwps_writer *writer, uint8_t tag, uint8_t *body, const struct cursor *end)
{
    uint8_t head[BODY_HEAD];
    struct cursor to = {head};
    put_byte(&to, tag);
    put_varint(&to, (uint64_t)(end->at - body - BODY_HEAD));
    size_t head_bytes = (size_t)(to.at - head);
    uint8_t *start = body + BODY_HEAD - head_bytes;
    memcpy(start, head, head_bytes);
    writer_append(writer, start, (uint32_t)(end->at - start));
    return 0;
}

/* Begins a record that takes at most `room` bytes: leaves errno alone and drops it when there is no place. */
#define RECORD_BEGIN(room)                         \
    int saved_errno = errno;                       \
    uint8_t body[BODY_HEAD + (room)];              \
    struct cursor to = {body + BODY_HEAD};         \
    if (!writer_ready(writer, sizeof body)) {      \
        errno = saved_errno;                       \
        return writer_drop(writer);                \
    }                                              \
    struct lwps_delta *delta = &writer->delta;     \
    (void)delta;                                   \
    errno = saved_errno

#define RECORD_END(tag) return writer_put(writer, (tag), body, &to)

static void put_time(struct cursor *to, struct lwps_delta *delta, uint64_t time)
{
    uint64_t stored = time / 1000;
    put_signed(to, stored, delta->time);
    delta->time = stored;
}

static void put_id(struct cursor *to, struct lwps_delta *delta, uint32_t id)
{
    put_signed(to, id, delta->id);
    delta->id = id;
}

static void put_address(struct cursor *to, uint64_t *before, uint64_t address)
{
    put_signed(to, address, *before);
    *before = address;
}

int lwps_put_process(struct lwps_writer *writer, const struct lwps_process *record)
{
    RECORD_BEGIN(LWPS_STRING_MAX + 64);
    uint32_t bytes = record->command_bytes < LWPS_STRING_MAX ? record->command_bytes : LWPS_STRING_MAX;
    put_varint(&to, record->pid);
    put_varint(&to, record->parent_pid);
    put_time(&to, delta, record->time);
    put_bytes(&to, record->command, bytes);
    RECORD_END(LWPS_TAG_PROCESS);
}

int lwps_put_module(struct lwps_writer *writer, const struct lwps_module *record)
{
    RECORD_BEGIN(LWPS_STRING_MAX + 128);
    put_id(&to, delta, record->id);
    put_time(&to, delta, record->time);
    put_address(&to, &delta->base, record->start);
    put_varint(&to, record->end - record->start);
    put_signed(&to, record->bias, record->start);
    put_bytes(&to, record->build_id, record->build_id_bytes <= 32 ? record->build_id_bytes : 32);
    put_string(&to, record->path);
    RECORD_END(LWPS_TAG_MODULE);
}

int lwps_put_module_end(struct lwps_writer *writer, const struct lwps_module_end *record)
{
    RECORD_BEGIN(32);
    put_id(&to, delta, record->id);
    put_time(&to, delta, record->time);
    RECORD_END(LWPS_TAG_MODULE_END);
}

int lwps_put_context(struct lwps_writer *writer, const struct lwps_context *record)
{
    RECORD_BEGIN(32);
    put_signed(&to, record->id, delta->context);
    put_signed(&to, record->parent, record->id);
    put_address(&to, &delta->ip, record->ip);
    delta->context = record->id;
    RECORD_END(LWPS_TAG_CONTEXT);
}

int lwps_put_pool(struct lwps_writer *writer, const struct lwps_pool *record)
{
    RECORD_BEGIN(32);
    put_id(&to, delta, record->id);
    put_varint(&to, record->context);
    put_varint(&to, record->size);
    RECORD_END(LWPS_TAG_POOL);
}

int lwps_put_pool_count(struct lwps_writer *writer, const struct lwps_pool_count *record)
{
    RECORD_BEGIN(64);
    put_id(&to, delta, record->id);
    put_varint(&to, record->allocations);
    put_varint(&to, record->frees);
    put_varint(&to, record->peak_blocks);
    put_varint(&to, record->bytes);
    RECORD_END(LWPS_TAG_POOL_COUNT);
}

int lwps_put_block(struct lwps_writer *writer, const struct lwps_block *record)
{
    RECORD_BEGIN(64);
    put_id(&to, delta, record->id);
    put_byte(&to, record->kind);
    put_varint(&to, record->context);
    put_time(&to, delta, record->time);
    put_address(&to, &delta->address, record->address);
    put_varint(&to, record->size);
    RECORD_END(LWPS_TAG_BLOCK);
}

int lwps_put_block_end(struct lwps_writer *writer, const struct lwps_block_end *record)
{
    RECORD_BEGIN(32);
    put_id(&to, delta, record->id);
    put_time(&to, delta, record->time);
    RECORD_END(LWPS_TAG_BLOCK_END);
}

int lwps_put_totals(struct lwps_writer *writer, const struct lwps_totals *record)
{
    RECORD_BEGIN(128);
    put_time(&to, delta, record->time);
    put_varint(&to, record->user_ns);
    put_varint(&to, record->system_ns);
    put_varint(&to, record->own_ns);
    put_varint(&to, record->samples);
    put_varint(&to, record->samples_with_address);
    put_varint(&to, record->samples_lost);
    put_varint(&to, record->allocations);
    RECORD_END(LWPS_TAG_TOTALS);
}

int lwps_put_note(struct lwps_writer *writer, const struct lwps_note *record)
{
    RECORD_BEGIN(LWPS_STRING_MAX + 16);
    put_string(&to, record->text);
    RECORD_END(LWPS_TAG_NOTE);
}

int lwps_put_thread(struct lwps_writer *writer, const struct lwps_thread *record)
{
    RECORD_BEGIN(LWPS_STRING_MAX + 64);
    put_varint(&to, record->tid);
    put_time(&to, delta, record->time);
    put_varint(&to, record->stack_low);
    put_varint(&to, record->stack_high);
    put_string(&to, record->name);
    RECORD_END(LWPS_TAG_THREAD);
}

int lwps_put_thread_end(struct lwps_writer *writer, const struct lwps_thread_end *record)
{
    RECORD_BEGIN(32);
    put_time(&to, delta, record->time);
    put_varint(&to, record->cpu_ns);
    RECORD_END(LWPS_TAG_THREAD_END);
}

static void put_access(struct cursor *to, struct lwps_delta *delta, const struct lwps_access *access, uint64_t ip)
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
        put_signed(to, access->home_id, delta->home);
        delta->home = access->home_id;
        put_address(to, &delta->base, access->home_base);
        put_signed(to, access->address, access->home_base);
    }
}

/* The weights are not carried on: a candidate's rounding is lost, 0.1 % of it at most. */
int lwps_put_watch(struct lwps_writer *writer, const struct lwps_watch *record)
{
    RECORD_BEGIN(WATCH_BYTES_MAX);
    put_time(&to, delta, record->end_time);
    put_varint(&to, record->end_time > record->time ? (record->end_time - record->time) / 1000 : 0);
    put_varint(&to, record->weight / writer->weight_scale);
    put_byte(&to, record->verdicts);
    put_byte(&to, record->end);
    put_byte(&to, record->value);
    put_varint(&to, record->overlap);
    put_varint(&to, record->first_tid);
    put_varint(&to, record->first_context);
    put_access(&to, delta, &record->first, delta->ip);
    delta->ip = record->first.ip;
    bool second = record->second.ip;
    put_byte(&to, second);
    if (second) {
        put_varint(&to, record->second_context);
        put_access(&to, delta, &record->second, record->first.ip);
    }
    RECORD_END(LWPS_TAG_WATCH);
}

int lwps_put_candidates(struct lwps_writer *writer, const struct lwps_candidates *record)
{
    RECORD_BEGIN(64);
    put_time(&to, delta, record->time);
    put_varint(&to, record->count);
    put_varint(&to, record->weight / writer->weight_scale);
    put_byte(&to, record->verdicts);
    put_varint(&to, record->context);
    put_address(&to, &delta->ip, record->ip);
    RECORD_END(LWPS_TAG_CANDIDATES);
}

int lwps_put_pair(struct lwps_writer *writer, const struct lwps_pair *record)
{
    RECORD_BEGIN(WATCH_BYTES_MAX);
    put_time(&to, delta, record->time);
    put_byte(&to, record->verdict);
    put_varint(&to, record->use);
    put_varint(&to, record->waste);
    put_varint(&to, record->close);
    put_varint(&to, record->open);
    put_varint(&to, record->times);
    put_varint(&to, record->again);
    put_varint(&to, record->first_context);
    put_access(&to, delta, &record->first, delta->ip);
    delta->ip = record->first.ip;
    put_varint(&to, record->second_context);
    put_access(&to, delta, &record->second, record->first.ip);
    RECORD_END(LWPS_TAG_PAIR);
}

int lwps_put_registers(struct lwps_writer *writer, const struct lwps_registers *record)
{
    RECORD_BEGIN(64);
    put_byte(&to, record->flags);
    put_varint(&to, record->bytes);
    put_varint(&to, record->same);
    put_varint(&to, record->close);
    put_varint(&to, record->instructions);
    put_varint(&to, record->of_instructions);
    RECORD_END(LWPS_TAG_REGISTERS);
}

int lwps_put_sample(struct lwps_writer *writer, const struct lwps_sample *record)
{
    RECORD_BEGIN(SAMPLE_BYTES_MAX);
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
        put_signed(&to, record->context, delta->context);
    delta->context = record->context;
    for (unsigned i = 0; i < accesses; i++)
        put_access(&to, delta, &record->access[i], record->ip);
    writer_append(writer, body + BODY_HEAD, (uint32_t)(to.at - body - BODY_HEAD));
    return 0;
}
