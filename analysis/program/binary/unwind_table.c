/* Walks the frame descriptions of .eh_frame and decodes their address ranges; nothing else of them is of interest.
 * A description whose pointer encoding is neither absolute nor relative to itself is left out. */
#include "analysis/program/binary/unwind_table.h"

#include <dwarf.h>
#include <gelf.h>
#include <string.h>

enum { UNWIND_LIMIT = 8 * 1024 * 1024 };

struct unwind_section {
    Elf_Data *data;
    uint64_t address;
};

static bool unwind_section_find(Elf *elf, struct unwind_section *found)
{
    size_t names;
    if (elf_getshdrstrndx(elf, &names))
        return false;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        const char *name;
        if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS ||
            !(name = elf_strptr(elf, names, header.sh_name)) || strcmp(name, ".eh_frame"))
            continue;
        found->data = elf_getdata(section, NULL);
        found->address = header.sh_addr;
        return found->data && found->data->d_buf;
    }
    return false;
}

/* Reads one encoded number; `size_only` ignores what it is relative to. */
static bool unwind_number(const uint8_t **at, const uint8_t *end, uint8_t encoding, uint64_t own_address,
                          bool size_only, uint64_t *value)
{
    size_t bytes;
    bool is_signed = encoding & 8;
    switch (encoding & 7) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8 & 7:
        bytes = 8;
        break;
    case DW_EH_PE_udata4 & 7:
        bytes = 4;
        break;
    case DW_EH_PE_udata2 & 7:
        bytes = 2;
        break;
    default:
        return false;
    }
    if ((size_t)(end - *at) < bytes)
        return false;
    uint64_t raw = 0;
    memcpy(&raw, *at, bytes);
    if (is_signed && bytes == 4)
        raw = (uint64_t)(int64_t)(int32_t)raw;
    else if (is_signed && bytes == 2)
        raw = (uint64_t)(int64_t)(int16_t)raw;
    *at += bytes;
    if (!size_only && (encoding & 0x70) == DW_EH_PE_pcrel)
        raw += own_address;
    else if (!size_only && (encoding & 0x70))
        return false;
    *value = raw;
    return true;
}

/* The pointer encoding a CIE gives to its descriptions: 'R' in an augmentation that starts with 'z'. */
static uint8_t unwind_encoding(const Dwarf_CIE *cie)
{
    const char *letters = cie->augmentation;
    const uint8_t *at = cie->augmentation_data, *end = at ? at + cie->augmentation_data_size : NULL;
    if (!letters || letters[0] != 'z' || !at)
        return DW_EH_PE_absptr;
    for (letters++; *letters; letters++) {
        uint64_t ignored;
        if (*letters == 'R')
            return at < end ? *at : DW_EH_PE_omit;
        if (*letters == 'L') {
            if (at >= end)
                return DW_EH_PE_omit;
            at++;
        } else if (*letters == 'P') {
            if (at >= end)
                return DW_EH_PE_omit;
            uint8_t encoding = *at++;
            if (!unwind_number(&at, end, encoding & 15, 0, true, &ignored))
                return DW_EH_PE_omit;
        } else if (*letters != 'S' && *letters != 'B') {
            return DW_EH_PE_omit;
        }
    }
    return DW_EH_PE_absptr;
}

struct code_range *code_unwind_ranges(Elf *elf, size_t *count)
{
    struct unwind_section section;
    struct code_range *ranges = NULL;
    size_t capacity = 0;
    *count = 0;
    const char *ident = elf_getident(elf, NULL);
    if (!ident || !unwind_section_find(elf, &section))
        return NULL;
    const uint8_t *start = section.data->d_buf, *end = start + section.data->d_size;
    Dwarf_Off cie_offset = (Dwarf_Off)-1;
    uint8_t encoding = DW_EH_PE_omit;
    for (Dwarf_Off offset = 0, next; *count < UNWIND_LIMIT; offset = next) {
        Dwarf_CFI_Entry entry;
        int status = dwarf_next_cfi((const unsigned char *)ident, section.data, true, offset, &next, &entry);
        if (status > 0 || next <= offset || next == (Dwarf_Off)-1)
            break;
        if (status < 0)
            continue;
        if (dwarf_cfi_cie_p(&entry)) {
            cie_offset = offset;
            encoding = unwind_encoding(&entry.cie);
            continue;
        }
        if (entry.fde.CIE_pointer != cie_offset) {
            Dwarf_CFI_Entry cie;
            Dwarf_Off ignored;
            if (dwarf_next_cfi((const unsigned char *)ident, section.data, true, entry.fde.CIE_pointer, &ignored,
                               &cie) ||
                !dwarf_cfi_cie_p(&cie))
                continue;
            cie_offset = entry.fde.CIE_pointer;
            encoding = unwind_encoding(&cie.cie);
        }
        const uint8_t *at = entry.fde.start;
        if (encoding == DW_EH_PE_omit || at < start || at >= end)
            continue;
        uint64_t low, bytes;
        uint64_t own_address = section.address + (uint64_t)(at - start);
        if (!unwind_number(&at, end, encoding, own_address, false, &low) ||
            !unwind_number(&at, end, encoding & 7, 0, true, &bytes) || !bytes || low + bytes < low)
            continue;
        LWP_GROW(&ranges, *count, &capacity);
        ranges[(*count)++] = (struct code_range){low, low + bytes};
    }
    return ranges;
}
