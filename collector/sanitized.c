/* GCC's AddressSanitizer refuses to start behind a preloaded library, its LeakSanitizer and both compilers' ThreadSanitizer break
 * on functions that are interposed before they are ready. Their runtimes are libraries by GCC, or part of the program by clang:
 * either way a name among the strings of the dynamic section says so. (Programs with clang's AddressSanitizer,
 * LeakSanitizer, MemorySanitizer, and any with UndefinedBehaviorSanitizer, run well.) */
#include "collector/sanitized.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum { HEADERS_MOST = 64, ENTRIES_MOST = 128, STRINGS_MOST = 1 << 20, CHUNK = 2048 };

struct strings {
    uint64_t offset, bytes;
};

static bool header_read(int fd, const Elf64_Ehdr *head, unsigned i, Elf64_Phdr *header)
{
    return pread(fd, header, sizeof *header, (off_t)(head->e_phoff + i * sizeof *header)) == sizeof *header;
}

static uint64_t offset_of(int fd, const Elf64_Ehdr *head, uint64_t address)
{
    Elf64_Phdr header;
    for (unsigned i = 0; i < head->e_phnum && header_read(fd, head, i, &header); i++)
        if (header.p_type == PT_LOAD && address >= header.p_vaddr && address - header.p_vaddr < header.p_filesz)
            return address - header.p_vaddr + header.p_offset;
    return 0;
}

static bool strings_find(int fd, struct strings *strings)
{
    Elf64_Ehdr head;
    Elf64_Phdr header, dynamic = {0};
    Elf64_Dyn entry;
    uint64_t address = 0;
    if (pread(fd, &head, sizeof head, 0) != sizeof head || memcmp(head.e_ident, ELFMAG, SELFMAG) ||
        head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof header || head.e_phnum > HEADERS_MOST)
        return false;
    for (unsigned i = 0; i < head.e_phnum && header_read(fd, &head, i, &header); i++)
        if (header.p_type == PT_DYNAMIC)
            dynamic = header;
    *strings = (struct strings){0};
    for (uint64_t i = 0; i < ENTRIES_MOST && i < dynamic.p_filesz / sizeof entry; i++) {
        if (pread(fd, &entry, sizeof entry, (off_t)(dynamic.p_offset + i * sizeof entry)) != sizeof entry || entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag == DT_STRTAB)
            address = entry.d_un.d_ptr;
        else if (entry.d_tag == DT_STRSZ)
            strings->bytes = entry.d_un.d_val;
    }
    strings->offset = offset_of(fd, &head, address);
    if (strings->bytes > STRINGS_MOST)
        strings->bytes = STRINGS_MOST;
    return strings->offset && strings->bytes;
}

/* The option of a sign among the strings; each string begins behind a NUL. */
static const char *sign_in(const char *text, size_t bytes)
{
    static const struct {
        const char *name, *option;
        bool whole;
    } signs[] = {{"libasan.so", "-fsanitize=address", false}, {"liblsan.so", "-fsanitize=leak", false},
                 {"libtsan.so", "-fsanitize=thread", false}, {"__tsan_init", "-fsanitize=thread", true}};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        const char *found = memmem(text, bytes, signs[i].name, strlen(signs[i].name) + signs[i].whole);
        if (found && found > text && !found[-1])
            return signs[i].option;
    }
    return NULL;
}

const char *lwp_sanitized(int fd)
{
    enum { SIGN_MOST = 16 }; /* with the NULs around it */
    struct strings strings;
    char text[CHUNK];
    const char *option = NULL;
    if (!strings_find(fd, &strings))
        return NULL;
    for (uint64_t at = 0; at < strings.bytes && !option; at += CHUNK - SIGN_MOST) {
        size_t wanted = strings.bytes - at < CHUNK ? strings.bytes - at : CHUNK;
        ssize_t got = pread(fd, text, wanted, (off_t)(strings.offset + at));
        if (got <= 0)
            break;
        option = sign_in(text, (size_t)got);
    }
    return option;
}
