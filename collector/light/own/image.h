/* The image that an address lies in, by the loader's tables: takes no lock. */
#ifndef LWP_COLLECTOR_LIGHT_OWN_IMAGE_H
#define LWP_COLLECTOR_LIGHT_OWN_IMAGE_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

struct lwp_image {
    uint64_t start, end; /* of all its segments, with what lies between them */
    const struct link_map *map;
    const ElfW(Phdr) * headers;
    unsigned header_count;
};

/* False where no image is, or its headers are not found. */
bool lwp_image_find(const void *inside, struct lwp_image *image);

#endif
