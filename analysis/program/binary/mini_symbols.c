/* .gnu_debugdata ("minidebuginfo", Fedora and its kin): an xz-packed ELF file with a symbol table of the functions that
 * the dynamic symbols leave out. Unpacked by ourselves and not by libdwfl, to have a say in how large it gets. */
#include "analysis/program/binary/module.h"

#include <lzma.h>
#include <stdlib.h>

enum { MINI_STEP = 1 << 20, MINI_LIMIT = 256 << 20, MINI_DICTIONARY = 128 << 20 };

static uint8_t *mini_unpack(const Elf_Data *packed, size_t *bytes)
{
    lzma_stream stream = LZMA_STREAM_INIT;
    uint8_t *memory = NULL;
    size_t room = 0;
    lzma_ret status = lzma_stream_decoder(&stream, MINI_DICTIONARY, 0);
    stream.next_in = packed->d_buf;
    stream.avail_in = packed->d_size;
    while (status == LZMA_OK && room < MINI_LIMIT) {
        uint8_t *more = realloc(memory, room + MINI_STEP);
        if (!more)
            break;
        memory = more;
        stream.next_out = memory + room;
        stream.avail_out = MINI_STEP;
        while (status == LZMA_OK && stream.avail_out)
            status = lzma_code(&stream, LZMA_FINISH);
        room += MINI_STEP;
    }
    *bytes = room - stream.avail_out;
    lzma_end(&stream);
    if (status == LZMA_STREAM_END)
        return memory;
    free(memory);
    return NULL;
}

Elf *code_mini_symbols_open(Elf *elf, void **memory)
{
    GElf_Shdr header;
    Elf_Data *packed = elf_rawdata(code_elf_section(elf, NULL, SHT_NULL, ".gnu_debugdata", &header), NULL);
    size_t bytes = 0;
    *memory = packed && packed->d_buf ? mini_unpack(packed, &bytes) : NULL;
    Elf *found = *memory ? elf_memory(*memory, bytes) : NULL;
    if (found && elf_kind(found) == ELF_K_ELF && gelf_getclass(found) == ELFCLASS64)
        return found;
    elf_end(found);
    free(*memory);
    *memory = NULL;
    return NULL;
}
