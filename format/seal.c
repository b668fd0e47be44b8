#include "format/seal.h"

#include "format/columns.h"
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

/* Short runs cost nothing to pack hard; long ones must not keep people waiting. */
enum { SEAL_LEVEL = 19, SEAL_LEVEL_LARGE = 12, SEAL_LARGE = 4 << 20, SEAL_ROOM = LWPS_PACK_RAW_MAX - LWPS_COLUMNS_EXTRA };

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

struct sealer {
    int level;
    uint8_t *packed, *columns, *rows;
    size_t bound; /* of packed */
};

static void sealer_free(struct sealer *sealer)
{
    free(sealer->packed);
    free(sealer->columns);
    free(sealer->rows);
}

/* By column when that gives the same bytes back, else as they are: a newer writer's records may not split. */
static bool seal_pack(struct sealer *sealer, FILE *to, const uint8_t *blocks, size_t run, uint32_t count)
{
    size_t split = lwps_columns_split(blocks, run, sealer->columns, LWPS_PACK_RAW_MAX);
    bool by_column = split && lwps_columns_join(sealer->columns, split, sealer->rows, LWPS_PACK_RAW_MAX) == run &&
                     memcmp(sealer->rows, blocks, run) == 0;
    size_t bytes = by_column ? ZSTD_compress(sealer->packed, sealer->bound, sealer->columns, split, sealer->level)
                             : ZSTD_compress(sealer->packed, sealer->bound, blocks, run, sealer->level);
    return !ZSTD_isError(bytes) &&
           seal_block(to, by_column ? LWPS_BLOCK_COLUMNS : LWPS_BLOCK_PACK, count, sealer->packed, bytes);
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
    struct sealer sealer = {.level = size > SEAL_LARGE ? SEAL_LEVEL_LARGE : SEAL_LEVEL,
                            .bound = ZSTD_compressBound(LWPS_PACK_RAW_MAX)};
    sealer.packed = malloc(sealer.bound);
    sealer.columns = malloc(LWPS_PACK_RAW_MAX);
    sealer.rows = malloc(LWPS_PACK_RAW_MAX);
    if (!sealer.packed || !sealer.columns || !sealer.rows) {
        sealer_free(&sealer);
        return lwp_error_set(err, LWP_ERR_MEMORY, "%s: out of memory while sealing", path);
    }
    bool good = fwrite(&head, sizeof head, 1, to) == 1, trailer = false;
    while (good && !trailer) {
        uint32_t count;
        size_t run = seal_run(blocks, left, SEAL_ROOM, &count, &trailer);
        if (run) {
            good = seal_pack(&sealer, to, blocks, run, count);
        } else if (!trailer) {
            break; /* a torn tail, or a file cut in order without one */
        }
        blocks += run;
        left -= run;
    }
    if (good && trailer)
        good = seal_block(to, LWPS_BLOCK_TRAILER, 0, NULL, 0);
    sealer_free(&sealer);
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
