/* Where an ELF file's bytes belong in memory: perf records mappings of parts of files, lwp knows images as wholes. */
#ifndef LWP_IMPORT_IMAGE_H
#define LWP_IMPORT_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

struct lwp_image {
    uint64_t bias;       /* address - bias = the file's virtual address */
    uint64_t start, end; /* of the whole image in memory */
};

/* `start`, `bytes` and `file_offset` are those of one mapping of `path`. False when no such ELF file is here (recorded
 * elsewhere): then offsets in it are taken for virtual addresses, and the image is this mapping. */
bool lwp_image_of(const char *path, uint64_t start, uint64_t bytes, uint64_t file_offset, struct lwp_image *image);

#endif
