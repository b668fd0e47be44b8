#include "format/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAGIC = 0x6c777363 };

int lwps_spool_make(struct lwps_spool *spool, const char *name, uint64_t most)
{
    struct rlimit limit;
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -errno;
    most = most < (uint64_t)LWPS_SPOOL_SLABS * LWPS_SPOOL_SLAB ? most : (uint64_t)LWPS_SPOOL_SLABS * LWPS_SPOOL_SLAB;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && most > limit.rlim_cur) /* asking for more would raise SIGXFSZ */
        most = limit.rlim_cur & ~(uint64_t)(LWPS_SPOOL_HEAD - 1);
    if (most < 2 * LWPS_SPOOL_HEAD)
        errno = EFBIG;
    else if (ftruncate(fd, (off_t)most) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0) {
        uint64_t first = most < LWPS_SPOOL_SLAB ? most : LWPS_SPOOL_SLAB;
        uint8_t *memory = mmap(NULL, first, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
        if (memory != MAP_FAILED) {
            madvise(memory, first, MADV_DONTDUMP);
            spool->slab[0] = memory;
            spool->head = (struct lwps_spool_head *)memory;
            *spool->head = (struct lwps_spool_head){.magic = MAGIC, .bytes = most, .used = LWPS_SPOOL_HEAD};
            return fd;
        }
    }
    int status = -errno;
    close(fd);
    return status;
}

static uint64_t slab_bytes(const struct lwps_spool *spool, uint64_t number)
{
    uint64_t left = spool->head->bytes - number * LWPS_SPOOL_SLAB;
    return left < LWPS_SPOOL_SLAB ? left : LWPS_SPOOL_SLAB;
}

/* The memory is mapped further on without its descriptor, which the program may have closed: a shared mapping can be had twice. */
static uint8_t *slab_map(struct lwps_spool *spool, uint64_t number)
{
    uint8_t *mapped = __atomic_load_n(&spool->slab[number], __ATOMIC_ACQUIRE);
    if (mapped)
        return mapped;
    uint64_t before = number * LWPS_SPOOL_SLAB, bytes = slab_bytes(spool, number);
    uint8_t *all = mremap(spool->slab[0], 0, before + bytes, MREMAP_MAYMOVE);
    if (all == MAP_FAILED)
        return NULL;
    munmap(all, before);
    madvise(all + before, bytes, MADV_DONTDUMP);
    if (__atomic_compare_exchange_n(&spool->slab[number], &mapped, all + before, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return all + before;
    munmap(all + before, bytes);
    return mapped;
}

void lwps_spool_abandon(struct lwps_spool *spool)
{
    for (uint64_t i = LWPS_SPOOL_SLABS; i-- && spool->head;)
        if (spool->slab[i]) {
            uint64_t bytes = slab_bytes(spool, i);
            munmap(spool->slab[i], bytes);
            spool->slab[i] = NULL;
        }
    spool->head = NULL;
}

/* A chunk of at least `bytes` with its header, all zero but for `bytes`. NULL: no memory. */
static struct lwps_spool_chunk *chunk_take(struct lwps_spool *spool, uint32_t bytes)
{
    uint64_t *used = &spool->head->used, from, at;
    bytes = (bytes + LWPS_SPOOL_UNIT - 1) & ~(uint32_t)(LWPS_SPOOL_UNIT - 1);
    from = __atomic_load_n(used, __ATOMIC_RELAXED);
    do {
        at = from;
        if (at / LWPS_SPOOL_SLAB != (at + bytes - 1) / LWPS_SPOOL_SLAB)
            at = (at / LWPS_SPOOL_SLAB + 1) * LWPS_SPOOL_SLAB;
        if (at + bytes > spool->head->bytes)
            return NULL;
    } while (!__atomic_compare_exchange_n(used, &from, at + bytes, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    uint8_t *slab = slab_map(spool, at / LWPS_SPOOL_SLAB);
    if (!slab)
        return NULL;
    struct lwps_spool_chunk *chunk = (struct lwps_spool_chunk *)(slab + at % LWPS_SPOOL_SLAB);
    chunk->bytes = bytes;
    return chunk;
}

uint8_t *lwps_spool_take(struct lwps_spool *spool, struct lwps_writer *writer, uint32_t need, uint32_t *size)
{
    uint32_t head = sizeof(struct lwps_spool_chunk) + (writer->header ? 0 : sizeof(struct lwps_disk_header));
    struct lwps_spool_chunk *chunk = chunk_take(spool, need + head);
    if (!chunk)
        return NULL;
    if (writer->chunk)
        __atomic_store_n(&((struct lwps_spool_chunk *)writer->chunk)->complete, 1, __ATOMIC_RELEASE);
    writer->chunk = chunk;
    chunk->tid = writer->tid;
    chunk->again = writer->again;
    chunk->offset = writer->window_offset + writer->used;
    chunk->first = !writer->header;
    if (!writer->header) {
        writer->header = (uint8_t *)(chunk + 1);
        chunk->quiet = writer->tid != 0;
        writer->quiet = writer->tid ? &chunk->quiet : NULL;
    }
    *size = chunk->bytes - head;
    __atomic_store_n(&chunk->magic, MAGIC, __ATOMIC_RELEASE);
    return (uint8_t *)chunk + head;
}

struct lwps_spool_chunk *lwps_spool_next(struct lwps_spool *spool, uint64_t *at)
{
    uint64_t used = __atomic_load_n(&spool->head->used, __ATOMIC_ACQUIRE);
    for (*at = *at < LWPS_SPOOL_HEAD ? LWPS_SPOOL_HEAD : *at; *at < used; *at += LWPS_SPOOL_UNIT) {
        uint8_t *slab = slab_map(spool, *at / LWPS_SPOOL_SLAB);
        struct lwps_spool_chunk *chunk = slab ? (struct lwps_spool_chunk *)(slab + *at % LWPS_SPOOL_SLAB) : NULL;
        if (chunk && __atomic_load_n(&chunk->magic, __ATOMIC_ACQUIRE) == MAGIC) {
            *at += chunk->bytes;
            return chunk;
        }
    }
    return NULL;
}

/* ---- to the file ---- */

static char *put_number(char *to, uint32_t number)
{
    char digits[10];
    size_t count = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    while (count)
        *to++ = digits[--count];
    return to;
}

static void chunk_name(const struct lwps_spool_chunk *chunk, char *name)
{
    if (!chunk->tid) {
        memcpy(name, "process.lwps", sizeof "process.lwps");
        return;
    }
    *name++ = 't';
    name = put_number(name, chunk->tid);
    if (chunk->again) {
        *name++ = '.';
        name = put_number(name, chunk->again);
    }
    memcpy(name, ".lwps", sizeof ".lwps");
}

static int write_at(int fd, const void *from, uint64_t bytes, uint64_t at)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && at + bytes > limit.rlim_cur)
        return -EFBIG;
    ssize_t written = pwrite(fd, from, bytes, (off_t)at);
    return written == (ssize_t)bytes ? 0 : written < 0 ? -errno : -ENOSPC;
}

/* The header of the block at `at`; false: none that is whole begins there. */
static bool spool_block(const struct lwps_spool_chunk *chunk, uint64_t at, uint32_t bytes, struct lwps_disk_block *head)
{
    if (at + sizeof *head > bytes)
        return false;
    memcpy(head, (const char *)chunk + at, sizeof *head);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return head->type && head->bytes <= bytes - at - sizeof *head;
}

static uint64_t chunk_start(const struct lwps_spool_chunk *chunk)
{
    return sizeof *chunk + (chunk->first ? sizeof(struct lwps_disk_header) : 0);
}

/* Where the blocks that are whole end. */
static uint64_t chunk_end(const struct lwps_spool_chunk *chunk, uint32_t bytes)
{
    struct lwps_disk_block head;
    uint64_t to = chunk_start(chunk);
    while (spool_block(chunk, to, bytes, &head))
        to += sizeof head + head.bytes;
    return to;
}

uint64_t lwps_spool_state(const struct lwps_spool_chunk *chunk, uint32_t bytes)
{
    uint64_t lost = chunk->first ? ((const struct lwps_disk_header *)(chunk + 1))->lost_records : 0;
    return chunk_end(chunk, bytes) << 32 | (uint32_t)lost;
}

/* Blocks from `at` on, each header first: what it counts is there by then. */
static int write_blocks(int fd, const struct lwps_spool_chunk *chunk, uint64_t at, uint32_t bytes, uint64_t file)
{
    struct lwps_disk_block head;
    int status = 0;
    while (!status && spool_block(chunk, at, bytes, &head)) {
        status = write_at(fd, &head, sizeof head, file);
        if (!status && head.bytes)
            status = write_at(fd, (const char *)chunk + at + sizeof head, head.bytes, file + sizeof head);
        at += sizeof head + head.bytes;
        file += sizeof head + head.bytes;
    }
    return status;
}

/* What is complete goes at once. */
static int write_all(int fd, const struct lwps_spool_chunk *chunk, uint64_t from, uint32_t bytes, uint64_t file)
{
    uint64_t to = chunk_end(chunk, bytes);
    return to > from ? write_at(fd, (const char *)chunk + from, to - from, file) : 0;
}

int lwps_spool_write(const struct lwps_spool_chunk *chunk, uint32_t bytes, int folder)
{
    char name[40];
    int saved = errno, status = 0;
    bool complete = __atomic_load_n(&chunk->complete, __ATOMIC_ACQUIRE);
    uint64_t start = chunk_start(chunk);
    uint64_t file = sizeof(struct lwps_disk_header) + chunk->offset;
    chunk_name(chunk, name);
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0)
        status = -errno;
    if (!status && chunk->first)
        status = write_at(fd, chunk + 1, sizeof(struct lwps_disk_header), 0);
    if (!status)
        status = (complete ? write_all : write_blocks)(fd, chunk, start, bytes, file);
    if (fd >= 0)
        close(fd);
    errno = saved;
    return status;
}
