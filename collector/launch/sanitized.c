/* GCC's AddressSanitizer refuses to start behind a preloaded library, its LeakSanitizer and both compilers' ThreadSanitizer break
 * on functions that are interposed before they are ready. Their runtimes are libraries by GCC, or part of the program by clang:
 * either way a name among the strings of the dynamic section tells. (Programs with clang's AddressSanitizer,
 * LeakSanitizer, MemorySanitizer, and any with UndefinedBehaviorSanitizer, run well.) */
#define _GNU_SOURCE
#include "collector/launch/sanitized.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HEADERS_MOST = 64, ENTRIES_MOST = 128, STRINGS_MOST = 1 << 20, PAGE_BYTES = 4096 };

struct strings {
    uint64_t offset, bytes;
};

static uint64_t offset_of(const Elf64_Phdr *headers, unsigned count, uint64_t address)
{
    for (unsigned i = 0; i < count; i++)
        if (headers[i].p_type == PT_LOAD && address >= headers[i].p_vaddr && address - headers[i].p_vaddr < headers[i].p_filesz)
            return address - headers[i].p_vaddr + headers[i].p_offset;
    return 0;
}

static bool strings_find(int fd, struct strings *strings)
{
    Elf64_Ehdr head;
    Elf64_Phdr headers[HEADERS_MOST];
    Elf64_Dyn entries[ENTRIES_MOST];
    uint64_t dynamic = 0, dynamic_bytes = 0, address = 0;
    if (pread(fd, &head, sizeof head, 0) != sizeof head || memcmp(head.e_ident, ELFMAG, SELFMAG) ||
        head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof *headers || head.e_phnum > HEADERS_MOST ||
        pread(fd, headers, head.e_phnum * sizeof *headers, (off_t)head.e_phoff) != (ssize_t)(head.e_phnum * sizeof *headers))
        return false;
    for (unsigned i = 0; i < head.e_phnum; i++)
        if (headers[i].p_type == PT_DYNAMIC) {
            dynamic = headers[i].p_offset;
            dynamic_bytes = headers[i].p_filesz < sizeof entries ? headers[i].p_filesz : sizeof entries;
        }
    ssize_t got = dynamic ? pread(fd, entries, dynamic_bytes, (off_t)dynamic) : 0;
    *strings = (struct strings){0};
    for (size_t i = 0; got > 0 && i < (size_t)got / sizeof *entries; i++) {
        if (entries[i].d_tag == DT_STRTAB)
            address = entries[i].d_un.d_ptr;
        else if (entries[i].d_tag == DT_STRSZ)
            strings->bytes = entries[i].d_un.d_val;
    }
    strings->offset = offset_of(headers, head.e_phnum, address);
    return strings->offset && strings->bytes;
}

const char *lwp_sanitized(int fd)
{
    static const struct {
        const char *name, *option;
        bool whole;
    } signs[] = {{"libasan.so", "-fsanitize=address", false}, {"liblsan.so", "-fsanitize=leak", false},
                 {"libtsan.so", "-fsanitize=thread", false}, {"__tsan_init", "-fsanitize=thread", true}};
    struct strings strings;
    off_t end = lseek(fd, 0, SEEK_END);
    if (!strings_find(fd, &strings) || end < 0 || strings.offset > (uint64_t)end)
        return NULL;
    if (strings.bytes > STRINGS_MOST)
        strings.bytes = STRINGS_MOST;
    if (strings.bytes > (uint64_t)end - strings.offset)
        strings.bytes = (uint64_t)end - strings.offset;
    uint64_t page = strings.offset & ~(uint64_t)(PAGE_BYTES - 1), before = strings.offset - page;
    char *text = mmap(NULL, before + strings.bytes, PROT_READ, MAP_PRIVATE, fd, (off_t)page);
    if (text == MAP_FAILED)
        return NULL;
    const char *option = NULL;
    for (size_t i = 0; i < sizeof signs / sizeof *signs && !option; i++) {
        size_t length = strlen(signs[i].name);
        const char *found = memmem(text + before, strings.bytes, signs[i].name, length + signs[i].whole);
        if (found && found > text + before && !found[-1])
            option = signs[i].option;
    }
    munmap(text, before + strings.bytes);
    return option;
}
