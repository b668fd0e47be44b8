#include "format/seal.h"

#include "format/crc32c.h"
#include "format/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

/* Part of each run's cost: level 9 takes four times as long, for 4 to 5 % less bytes. */
enum { SEAL_LEVEL = 3 };

/* Length of the whole blocks at the start of `bytes`, at most `room`: what one pack takes. Zero: no more. A damaged block
 * among them is kept as it is: the reader counts it. */
static size_t seal_run(const uint8_t *bytes, size_t size, size_t room, uint32_t *blocks, bool *trailer)
{
    size_t taken = 0;
    *blocks = 0;
    *trailer = false;
    struct lwps_disk_block head;
    while (size - taken >= sizeof head) {
        memcpy(&head, bytes + taken, sizeof head);
        size_t whole = sizeof head + head.bytes;
        if (head.type == 0 || head.bytes > size - taken - sizeof head)
            break;
        if (head.type == LWPS_BLOCK_TRAILER && head.bytes == 0 &&
            lwps_crc32c(0, &head, offsetof(struct lwps_disk_block, crc)) == head.crc) {
            *trailer = true;
            break;
        }
        if (taken + whole > room)
            break;
        taken += whole;
        ++*blocks;
    }
    return taken;
}

static bool seal_block(FILE *to, uint16_t type, uint32_t count, const void *payload, size_t bytes)
{
    struct lwps_disk_block head = {.type = type, .bytes = (uint32_t)bytes, .count = count};
    head.crc = lwps_crc32c(lwps_crc32c(0, payload, bytes), &head, offsetof(struct lwps_disk_block, crc));
    return fwrite(&head, sizeof head, 1, to) == 1 && (bytes == 0 || fwrite(payload, bytes, 1, to) == 1);
}

static int seal_write(FILE *to, const char *path, const uint8_t *bytes, size_t size, struct lwp_error *err)
{
    struct lwps_disk_header head;
    memcpy(&head, bytes, sizeof head);
    const uint8_t *blocks = bytes + head.header_bytes;
    size_t left = size - head.header_bytes;
    head.sealed = 1;
    head.header_bytes = sizeof head;
    head.crc = lwps_crc32c(0, &head, offsetof(struct lwps_disk_header, lost_records));
    size_t bound = ZSTD_compressBound(LWPS_PACK_RAW_MAX);
    void *packed = malloc(bound);
    if (!packed)
        return lwp_error_set(err, LWP_ERR_MEMORY, "%s: out of memory while sealing", path);
    bool good = fwrite(&head, sizeof head, 1, to) == 1, trailer = false;
    while (good && !trailer) {
        uint32_t count;
        size_t run = seal_run(blocks, left, LWPS_PACK_RAW_MAX, &count, &trailer);
        if (run) {
            size_t bytes_packed = ZSTD_compress(packed, bound, blocks, run, SEAL_LEVEL);
            good = !ZSTD_isError(bytes_packed) && seal_block(to, LWPS_BLOCK_PACK, count, packed, bytes_packed);
        } else if (!trailer) {
            break; /* a torn tail, or a file cut in order without one */
        }
        blocks += run;
        left -= run;
    }
    if (good && trailer)
        good = seal_block(to, LWPS_BLOCK_TRAILER, 0, NULL, 0);
    free(packed);
    return good && fflush(to) == 0 ? LWP_OK : lwp_error_errno(err, "cannot write the sealed %s", path);
}

int lwps_seal(const char *path, struct lwp_error *err)
{
    char aside[4096];
    if ((size_t)snprintf(aside, sizeof aside, "%s.tmp", path) >= sizeof aside)
        return lwp_error_set(err, LWP_ERR_LIMIT, "%s: the path is too long", path);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return lwp_error_errno(err, "cannot open %s", path);
    int status;
    struct stat st;
    uint8_t *bytes = MAP_FAILED;
    size_t size = 0;
    FILE *to = NULL;
    struct lwps_disk_header head;
    if (fstat(fd, &st)) {
        status = lwp_error_errno(err, "cannot read %s", path);
        goto out;
    }
    size = (size_t)st.st_size;
    if (size < sizeof head || (bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0)) == MAP_FAILED) {
        status = lwp_error_set(err, LWP_ERR_FORMAT, "%s: not a sample file", path);
        goto out;
    }
    memcpy(&head, bytes, sizeof head);
    if (memcmp(head.magic, LWPS_MAGIC, 4) || head.byte_order != LWPS_BYTE_ORDER || head.header_bytes < sizeof head ||
        head.header_bytes > size || head.oldest_reader > LWPS_VERSION ||
        lwps_crc32c(0, &head, offsetof(struct lwps_disk_header, lost_records)) != head.crc) {
        status = lwp_error_set(err, LWP_ERR_FORMAT, "%s: not a sample file, or its header is damaged", path);
        goto out;
    }
    if (head.sealed) {
        status = LWP_OK;
        goto out;
    }
    int aside_fd = open(aside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (aside_fd < 0 || !(to = fdopen(aside_fd, "w"))) {
        status = lwp_error_errno(err, "cannot write %s", aside);
        if (aside_fd >= 0)
            close(aside_fd);
        goto out;
    }
    status = seal_write(to, path, bytes, size, err);
    if (fclose(to) && !status)
        status = lwp_error_errno(err, "cannot write %s", aside);
    if (!status && rename(aside, path))
        status = lwp_error_errno(err, "cannot rename %s", aside);
    if (status)
        unlink(aside);
out:
    if (bytes != MAP_FAILED)
        munmap(bytes, size);
    close(fd);
    return status;
}
