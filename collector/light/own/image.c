/* Libraries are mapped in one piece that begins with the ELF header. Of a program that has gaps between its segments (linked for large
 * pages, say) the loader finds each segment as if it were an image; its headers are where the kernel says. */
#include "collector/light/own/image.h"

#include <dlfcn.h>
#include <elf.h>
#include <string.h>
#include <sys/auxv.h>

enum { PAGE_BYTES = 4096 };

static void image_headers(struct lwp_image *image, const void *start)
{
    const ElfW(Ehdr) *elf = start;
    if (memcmp(elf->e_ident, ELFMAG, SELFMAG) == 0) {
        image->headers = (const void *)((const char *)start + elf->e_phoff);
        image->header_count = elf->e_phnum;
    } else {
        image->headers = (const void *)getauxval(AT_PHDR);
        image->header_count = image->headers ? (unsigned)getauxval(AT_PHNUM) : 0;
    }
}

bool lwp_image_find(const void *inside, struct lwp_image *image)
{
    struct dl_find_object found;
    if (_dl_find_object((void *)inside, &found))
        return false;
    *image = (struct lwp_image){.start = UINT64_MAX, .map = found.dlfo_link_map};
    image_headers(image, found.dlfo_map_start);
    for (unsigned i = 0; i < image->header_count; i++) {
        const ElfW(Phdr) *segment = &image->headers[i];
        uint64_t at = found.dlfo_link_map->l_addr + segment->p_vaddr;
        if (segment->p_type != PT_LOAD)
            continue;
        image->start = at < image->start ? at & ~(uint64_t)(PAGE_BYTES - 1) : image->start;
        image->end = at + segment->p_memsz > image->end ? at + segment->p_memsz : image->end;
    }
    return (uint64_t)inside - image->start < image->end - image->start;
}
