/* The writer's file: an encoded record is copied into the mmap'ed window, and the open block's header is updated with one
 * 16-byte store. A process killed at any point leaves a file of whole blocks, without the record being written. Space is
 * reserved with fallocate before it is touched: a full disk is an error here, never a SIGBUS. */
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

enum { WINDOW_FIRST = 16 * 1024, WINDOW_LARGEST = 256 * 1024, WRITER_FD_MIN = 200 };

_Static_assert(WINDOW_FIRST >= LWPS_RECORD_MAX + (int)sizeof(struct lwps_disk_block), "a record fits a window");

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

/* The next piece of memory, larger than the one before. */
static bool writer_advance_memory(struct lwps_writer *writer, uint32_t need)
{
    enum { FIRST = 768, GROWTH = 4, LARGEST = 15 * 1024 };
    uint32_t size = writer->window_size ? writer->window_size * GROWTH : FIRST;
    uint64_t end = writer->window_offset + writer->used;
    size = size < LARGEST ? size : LARGEST;
    uint8_t *window = writer->memory->take(writer->memory, writer, size > need ? size : need, &size);
    if (!window)
        return false;
    writer->window = window;
    writer->window_size = size;
    writer->window_offset = end;
    writer->used = 0;
    return true;
}

/* Moves the window so that it begins in the page of the file's current end. */
static bool writer_advance(struct lwps_writer *writer, uint32_t need)
{
    if (writer->memory)
        return writer_advance_memory(writer, need);
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
        (!writer_advance(writer, need) || writer->window_size - writer->used < need))
        return false;
    writer->block_type = type;
    writer->block_start = writer->used;
    writer->used += (uint32_t)sizeof(struct lwps_disk_block);
    writer->block_count = 0;
    writer->crc = 0;
    writer->delta = (struct lwps_delta){0};
    return true;
}

bool lwps_writer_ready(struct lwps_writer *writer, uint32_t room)
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

void lwps_writer_append(struct lwps_writer *writer, const uint8_t *bytes, uint32_t size)
{
    memcpy(writer->window + writer->used, bytes, size);
    writer->used += size;
    writer->crc = lwps_crc32c(writer->crc, bytes, size);
    writer->block_count++;
    if (writer->quiet && *bytes != LWPS_TAG_THREAD && *bytes != LWPS_TAG_THREAD_END) {
        *writer->quiet = 0;
        writer->quiet = NULL;
    }
    __asm__ volatile("" : : : "memory"); /* who reads along finds what the header counts */
    block_renew_header(writer);
}

void lwps_writer_lost(struct lwps_writer *writer, uint64_t records)
{
    if (writer->header)
        ((struct lwps_disk_header *)writer->header)->lost_records += records;
}

static void writer_put_header(struct lwps_writer *writer, const struct lwps_file *file, uint16_t header_bytes)
{
    writer->weight_scale = file->weight_unit == LWPS_WEIGHT_NS ? 1000 : 1;
    struct lwps_disk_header head = {
        .magic = LWPS_MAGIC, .byte_order = LWPS_BYTE_ORDER, .version = LWPS_VERSION,
        .oldest_reader = LWPS_OLDEST_READER, .header_bytes = header_bytes, .engine = file->engine,
        .weight_unit = file->weight_unit, .weight_scale = writer->weight_scale, .time_scale = 1000, .pid = file->pid,
        .tid = file->tid, .start_ns = file->start_ns, .start_wall_ns = file->start_wall_ns,
    };
    memcpy(head.magic, LWPS_MAGIC, 4);
    head.crc = lwps_crc32c(0, &head, offsetof(struct lwps_disk_header, lost_records));
    memcpy(writer->header, &head, sizeof head);
}

int lwps_writer_open_memory(struct lwps_writer *writer, const struct lwps_memory *memory, uint32_t again, const struct lwps_file *file)
{
    *writer = (struct lwps_writer){.fd = -1, .memory = memory, .tid = file->tid, .again = again};
    if (!writer_advance(writer, 0))
        return -ENOMEM;
    writer_put_header(writer, file, sizeof(struct lwps_disk_header));
    return 0;
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
    writer_put_header(writer, file, LWPS_HEADER_BYTES);
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
    if (writer->memory) {
        writer->window = writer->header = NULL;
        return;
    }
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
    if (writer->memory)
        writer->window = writer->header = NULL;
    writer_unmap(writer);
    if (writer_owns_fd(writer))
        close(writer->fd);
    *writer = (struct lwps_writer){.fd = -1};
    errno = saved;
}
