/* GCC's AddressSanitizer refuses to start behind a preloaded library, its LeakSanitizer and both compilers' ThreadSanitizer break
 * on functions that are interposed before they are ready. Their runtimes are libraries by GCC, or by clang part of the program, which
 * then has their functions among its own dynamic symbols. (Programs with clang's AddressSanitizer,
 * LeakSanitizer, MemorySanitizer, and any with UndefinedBehaviorSanitizer, run well.) */
#include "collector/sanitized.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum { HEADERS_MOST = 64, ENTRIES_MOST = 128, NEEDED_MOST = 64, NAME_MOST = 24, CHAIN_MOST = 256 };

/* Rows of a table in the file, some at a time: to ask the system for each costs as much as for all of them, and the stack may be small. */
struct rows {
    uint64_t first, count; /* that `row` holds */
    union {
        Elf64_Phdr header[16];
        Elf64_Dyn entry[56];
    } row;
};

/* Whether there is row i, at `at` in rows.row. */
static bool rows_read(struct rows *rows, int fd, uint64_t offset, size_t row_bytes, uint64_t i, uint64_t *at)
{
    if (i - rows->first >= rows->count) {
        ssize_t got = pread(fd, &rows->row, sizeof rows->row / row_bytes * row_bytes, (off_t)(offset + i * row_bytes));
        rows->first = i;
        rows->count = got < 0 ? 0 : (uint64_t)got / row_bytes;
    }
    *at = i - rows->first;
    return rows->count > 0;
}

static const Elf64_Phdr *header_read(struct rows *rows, int fd, const Elf64_Ehdr *head, unsigned i)
{
    uint64_t at;
    return i < head->e_phnum && rows_read(rows, fd, head->e_phoff, sizeof(Elf64_Phdr), i, &at) ? &rows->row.header[at] : NULL;
}

static uint64_t offset_of(int fd, const Elf64_Ehdr *head, uint64_t address)
{
    struct rows rows = {0};
    const Elf64_Phdr *header;
    for (unsigned i = 0; address && (header = header_read(&rows, fd, head, i)); i++)
        if (header->p_type == PT_LOAD && address >= header->p_vaddr && address - header->p_vaddr < header->p_filesz)
            return address - header->p_vaddr + header->p_offset;
    return 0;
}

/* Where its parts are in the file, 0: not there. */
struct dynamic {
    uint64_t strings, symbols, hash;
    uint32_t needed[NEEDED_MOST]; /* names of libraries, among the strings */
    unsigned needed_count;
};

static void dynamic_add(struct dynamic *dynamic, const Elf64_Dyn *entry)
{
    switch (entry->d_tag) {
    case DT_STRTAB: dynamic->strings = entry->d_un.d_ptr; break;
    case DT_SYMTAB: dynamic->symbols = entry->d_un.d_ptr; break;
    case DT_GNU_HASH: dynamic->hash = entry->d_un.d_ptr; break;
    case DT_NEEDED:
        if (dynamic->needed_count < NEEDED_MOST)
            dynamic->needed[dynamic->needed_count++] = (uint32_t)entry->d_un.d_val;
        break;
    default: break;
    }
}

static bool dynamic_find(int fd, struct dynamic *dynamic)
{
    Elf64_Ehdr head;
    struct rows rows = {0};
    const Elf64_Phdr *header;
    Elf64_Phdr section = {0};
    if (pread(fd, &head, sizeof head, 0) != sizeof head || memcmp(head.e_ident, ELFMAG, SELFMAG) ||
        head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof section || head.e_phnum > HEADERS_MOST)
        return false;
    for (unsigned i = 0; (header = header_read(&rows, fd, &head, i)); i++)
        if (header->p_type == PT_DYNAMIC)
            section = *header;
    rows.count = 0;
    uint64_t at;
    for (uint64_t i = 0; i < ENTRIES_MOST && i < section.p_filesz / sizeof(Elf64_Dyn) &&
                         rows_read(&rows, fd, section.p_offset, sizeof(Elf64_Dyn), i, &at) && rows.row.entry[at].d_tag != DT_NULL;
         i++)
        dynamic_add(dynamic, &rows.row.entry[at]);
    dynamic->strings = offset_of(fd, &head, dynamic->strings);
    dynamic->symbols = offset_of(fd, &head, dynamic->symbols);
    dynamic->hash = offset_of(fd, &head, dynamic->hash);
    return dynamic->strings != 0;
}

static bool word_read(int fd, uint64_t offset, uint32_t *word)
{
    return pread(fd, word, sizeof *word, (off_t)offset) == sizeof *word;
}

/* What there is room for of a name. */
static bool name_read(int fd, const struct dynamic *dynamic, uint32_t at, char text[NAME_MOST])
{
    ssize_t got = pread(fd, text, NAME_MOST - 1, (off_t)(dynamic->strings + at));
    text[got > 0 ? got : 0] = '\0';
    return got > 0;
}

/* Whether the file has the function itself. By the hash table: compilers have a megabyte of names, and are executed often. */
static bool defines(int fd, const struct dynamic *dynamic, const char *name)
{
    struct {
        uint32_t buckets, first, filters, shift;
    } table;
    uint32_t hash = 5381, symbol, other = 0;
    char text[NAME_MOST];
    for (const char *at = name; *at; at++)
        hash = hash * 33 + (unsigned char)*at;
    if (!dynamic->hash || !dynamic->symbols || pread(fd, &table, sizeof table, (off_t)dynamic->hash) != sizeof table || !table.buckets)
        return false;
    uint64_t bucket = dynamic->hash + sizeof table + table.filters * sizeof(uint64_t), chain = bucket + table.buckets * sizeof symbol;
    if (!word_read(fd, bucket + hash % table.buckets * sizeof symbol, &symbol) || symbol < table.first)
        return false;
    for (unsigned i = 0; i < CHAIN_MOST && !(other & 1) && word_read(fd, chain + (symbol - table.first) * sizeof other, &other); i++, symbol++) {
        Elf64_Sym entry;
        if ((other | 1) == (hash | 1) && pread(fd, &entry, sizeof entry, (off_t)(dynamic->symbols + symbol * sizeof entry)) == sizeof entry &&
            name_read(fd, dynamic, entry.st_name, text) && strcmp(text, name) == 0)
            return true;
    }
    return false;
}

const char *lwp_sanitized(int fd)
{
    static const struct {
        const char *library, *option;
    } runtimes[] = {{"libasan.so", "-fsanitize=address"},
                    {"liblsan.so", "-fsanitize=leak"},
                    {"libtsan.so", "-fsanitize=thread"},
                    {"libclang_rt.tsan", "-fsanitize=thread"}};
    struct dynamic dynamic = {0};
    char text[NAME_MOST];
    if (!dynamic_find(fd, &dynamic))
        return NULL;
    for (unsigned i = 0; i < dynamic.needed_count && name_read(fd, &dynamic, dynamic.needed[i], text); i++)
        for (size_t k = 0; k < sizeof runtimes / sizeof *runtimes; k++)
            if (strncmp(text, runtimes[k].library, strlen(runtimes[k].library)) == 0)
                return runtimes[k].option;
    return defines(fd, &dynamic, "__tsan_init") ? "-fsanitize=thread" : NULL;
}
