/* An ELF file that is mapped in a process: where the whole of it lies. */
#ifndef LWP_COLLECTOR_OUTSIDE_PROCESS_IMAGE_H
#define LWP_COLLECTOR_OUTSIDE_PROCESS_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lwp_image {
    uint64_t bias;                        /* address - bias = the file's virtual address */
    uint64_t start, end;                  /* of the whole image in memory */
    uint64_t unwind_table;                /* address of .eh_frame_hdr; 0: none */
    uint8_t build_id[32], build_id_bytes; /* 0: none */
};

/* `start`, `bytes` and `file_offset` are those of one mapping of `path`. False when no such ELF file is here (recorded
 * elsewhere): then offsets in it are taken for virtual addresses, and the image is this mapping. */
bool lwp_image_of(const char *path, uint64_t start, uint64_t bytes, uint64_t file_offset, struct lwp_image *image);

/* The bytes of a page of the image that the program cannot write to, from the file `fd`; zeroes beyond its end. False: it can, or the
 * image has nothing there. `address` and `bias` as above. */
bool lwp_image_page(int fd, uint64_t bias, uint64_t address, uint8_t *page, size_t bytes);

#endif
