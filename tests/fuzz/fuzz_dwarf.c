/* Everything that reads the profiled program's files. An input is an ELF file; it is
 * asked all there is to ask at some addresses of its sections and symbols. The answers do not matter. */
#include "analysis/program/code.h"
#include "analysis/program/types/types.h"
#include "tests/fuzz/folder.h"

#include <gelf.h>
#include <string.h>

enum { ADDRESSES = 96 };

static uint64_t seen;

static size_t take_addresses(const uint8_t *input, size_t size, uint64_t *addresses)
{
    size_t count = 0;
    char *copy = malloc(size ? size : 1);
    if (!copy)
        abort();
    memcpy(copy, input, size);
    Elf *elf = elf_memory(copy, size);
    for (Elf_Scn *section = NULL; elf && count < ADDRESSES / 2 && (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_ALLOC) || !header.sh_addr)
            continue;
        for (int i = 0; i < 6 && count < ADDRESSES / 2; i++)
            addresses[count++] = header.sh_addr + header.sh_size * (uint64_t)i / 6;
    }
    for (Elf_Scn *section = NULL; elf && (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        Elf_Data *data;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB || !(data = elf_getdata(section, NULL)))
            continue;
        GElf_Sym symbol;
        for (int i = 0; count < ADDRESSES && gelf_getsym(data, i, &symbol); i++)
            if (symbol.st_value && symbol.st_size)
                addresses[count++] = symbol.st_value + symbol.st_size / 2;
    }
    elf_end(elf);
    free(copy);
    return count;
}

static void ask(struct lwp_code *code, uint64_t address)
{
    struct lwp_candidate candidates[16];
    struct lwp_sibling siblings[8];
    struct lwp_symbol symbol;
    const char *variable;
    int64_t start;
    uint64_t bytes, elements;
    const struct lwp_symbolized *location = lwp_code_symbolize(code, 0, address);
    if (!location->frame_count)
        abort();
    if (location->loop != LWP_NONE)
        seen += lwp_code_loop(code, location->loop)->first_line + lwp_code_source_loop(code, location->loop);
    seen += lwp_code_operand(code, 0, address).bytes;
    seen += lwp_code_siblings(code, 0, address, siblings, 8);
    seen += lwp_code_data_symbol(code, 0, address, &symbol);
    size_t count = lwp_types_at_access(code, 0, address, candidates, 16);
    for (size_t i = 0; i < count && i < 16; i++)
        for (uint32_t f = 0; candidates[i].type && f < candidates[i].type->field_count; f++)
            seen += strlen(candidates[i].type->fields[f].declaration);
    lwp_types_at_call(code, 0, address, candidates, 16);
    const struct lwp_type *type = lwp_types_of_static(code, 0, address, &elements);
    seen += type ? strlen(type->name) : 0;
    lwp_types_of_stack(code, 0, address, -64, &variable, &start, &bytes, &elements);
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room) __attribute__((weak)); /* not there without libFuzzer */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);
int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

/* Changes mostly inside of one section, so that the file stays an ELF file and the changes reach what reads it. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    Elf64_Ehdr header;
    Elf64_Shdr section;
    if (seed % 16 == 0 || size < sizeof header)
        return LLVMFuzzerMutate(data, size, room);
    memcpy(&header, data, sizeof header);
    uint64_t at = header.e_shoff + (uint64_t)(seed / 16 % (header.e_shnum + 1u)) * sizeof section;
    if (at > size || size - at < sizeof section)
        return LLVMFuzzerMutate(data, size, room);
    memcpy(&section, data + at, sizeof section);
    if (section.sh_type == SHT_NOBITS || section.sh_offset >= size || section.sh_size > size - section.sh_offset ||
        !section.sh_size)
        return LLVMFuzzerMutate(data, size, room);
    LLVMFuzzerMutate(data + section.sh_offset, section.sh_size, section.sh_size);
    return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    uint64_t addresses[ADDRESSES];
    const char *path = fuzz_file("program", input, size);
    struct lwp_arena *arena = lwp_arena_new();
    struct lwp_code *code = lwp_code_new(arena);
    lwp_code_module(code, path, NULL, 0);
    size_t count = take_addresses(input, size, addresses);
    for (size_t i = 0; i < count; i++)
        ask(code, addresses[i]);
    lwp_code_free(code);
    lwp_arena_free(arena);
    return 0;
}
