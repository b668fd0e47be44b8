#include "collector/outside/process/image.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SEGMENTS_MAX = 256, PAGE = 4096 };

static bool image_from_elf(Elf *elf, uint64_t file_offset, struct lwp_image *image, uint64_t start)
{
    size_t count = 0;
    uint64_t low = UINT64_MAX, high = 0, address = 0, table = 0;
    bool found = false;
    if (elf_getphdrnum(elf, &count))
        return false;
    for (size_t i = 0; i < count && i < SEGMENTS_MAX; i++) {
        GElf_Phdr segment;
        if (!gelf_getphdr(elf, (int)i, &segment))
            continue;
        if (segment.p_type == PT_GNU_EH_FRAME)
            table = segment.p_vaddr;
        if (segment.p_type != PT_LOAD)
            continue;
        uint64_t page_start = segment.p_offset & ~(uint64_t)(PAGE - 1);
        if (!found && file_offset >= page_start && file_offset < segment.p_offset + segment.p_filesz) {
            address = segment.p_vaddr - segment.p_offset + file_offset;
            found = true;
        }
        low = segment.p_vaddr < low ? segment.p_vaddr : low;
        high = segment.p_vaddr + segment.p_memsz > high ? segment.p_vaddr + segment.p_memsz : high;
    }
    if (!found || high <= low || high - low > (uint64_t)1 << 40)
        return false;
    image->bias = start - address;
    image->start = image->bias + (low & ~(uint64_t)(PAGE - 1));
    image->end = image->bias + high;
    image->unwind_table = table ? image->bias + table : 0;
    const void *build_id;
    ssize_t id_bytes = dwelf_elf_gnu_build_id(elf, &build_id);
    if (id_bytes > 0 && (size_t)id_bytes <= sizeof image->build_id) {
        memcpy(image->build_id, build_id, (size_t)id_bytes);
        image->build_id_bytes = (uint8_t)id_bytes;
    }
    return image->start < image->end;
}

bool lwp_image_of(const char *path, uint64_t start, uint64_t bytes, uint64_t file_offset, struct lwp_image *image)
{
    *image = (struct lwp_image){.bias = start - file_offset, .start = start, .end = start + bytes};
    struct stat info;
    bool found = false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    elf_version(EV_CURRENT);
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
        Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
        found = elf && elf_kind(elf) == ELF_K_ELF && image_from_elf(elf, file_offset, image, start);
        elf_end(elf);
    }
    close(fd);
    return found;
}

bool lwp_image_page(int fd, uint64_t bias, uint64_t address, uint8_t *page, size_t bytes)
{
    size_t count = 0;
    bool found = false;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    if (elf && elf_getphdrnum(elf, &count))
        count = 0;
    for (size_t i = 0; i < count && i < SEGMENTS_MAX && !found; i++) {
        GElf_Phdr segment;
        if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD || segment.p_flags & PF_W)
            continue;
        uint64_t start = segment.p_vaddr & ~(uint64_t)(PAGE - 1), at = address - bias - start;
        if (address - bias < start || at >= segment.p_filesz + (segment.p_vaddr - start))
            continue;
        memset(page, 0, bytes);
        found = pread(fd, page, bytes, (off_t)((segment.p_offset & ~(uint64_t)(PAGE - 1)) + at)) > 0;
    }
    elf_end(elf);
    return found;
}
