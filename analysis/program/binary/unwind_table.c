/* Walks the frame descriptions (FDE) of .eh_frame and decodes their address ranges. libdw reads them, but hands out
 * only the ranges of single rows (dwarf_frame_info). A description whose pointer encoding is neither absolute nor
 * relative to itself is left out. */
#include "analysis/program/binary/debug_files.h"

#include <dwarf.h>
#include <string.h>

enum { UNWIND_LIMIT = 8 * 1024 * 1024 };

/* Reads one encoded number; `size_only` ignores what it is relative to. */
static bool unwind_number(const uint8_t **at, const uint8_t *end, uint8_t encoding, uint64_t own_address,
                          bool size_only, uint64_t *value)
{
    static const size_t sizes[8] = {
        [DW_EH_PE_absptr] = 8, [DW_EH_PE_udata2] = 2, [DW_EH_PE_udata4] = 4, [DW_EH_PE_udata8] = 8};
    size_t bytes = sizes[encoding & 7];
    if (!bytes || (size_t)(end - *at) < bytes)
        return false;
    uint64_t raw = 0, sign = encoding & DW_EH_PE_signed ? (uint64_t)1 << (bytes * 8 - 1) : 0;
    memcpy(&raw, *at, bytes);
    raw = (raw ^ sign) - sign; /* extends the sign */
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
        if (*letters == 'S' || *letters == 'B')
            continue;
        if ((*letters != 'L' && *letters != 'P') || at >= end)
            return DW_EH_PE_omit;
        uint8_t own = *at++;
        if (*letters == 'P' && !unwind_number(&at, end, own & 15, 0, true, &ignored))
            return DW_EH_PE_omit;
    }
    return DW_EH_PE_absptr;
}

struct code_range *code_unwind_ranges(Elf *elf, size_t *count)
{
    GElf_Shdr section;
    struct code_range *ranges = NULL;
    size_t capacity = 0;
    *count = 0;
    const char *ident = elf_getident(elf, NULL);
    Elf_Data *data = elf_getdata(code_elf_section(elf, NULL, SHT_NULL, ".eh_frame", &section), NULL);
    if (!ident || !data || !data->d_buf)
        return NULL;
    const uint8_t *start = data->d_buf, *end = start + data->d_size;
    Dwarf_Off cie_offset = (Dwarf_Off)-1;
    uint8_t encoding = DW_EH_PE_omit;
    for (Dwarf_Off offset = 0, next; *count < UNWIND_LIMIT; offset = next) {
        Dwarf_CFI_Entry entry;
        int status = dwarf_next_cfi((const unsigned char *)ident, data, true, offset, &next, &entry);
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
            if (dwarf_next_cfi((const unsigned char *)ident, data, true, entry.fde.CIE_pointer, &ignored, &cie) ||
                !dwarf_cfi_cie_p(&cie))
                continue;
            cie_offset = entry.fde.CIE_pointer;
            encoding = unwind_encoding(&cie.cie);
        }
        const uint8_t *at = entry.fde.start;
        if (encoding == DW_EH_PE_omit || at < start || at >= end)
            continue;
        uint64_t low, bytes;
        uint64_t own_address = section.sh_addr + (uint64_t)(at - start);
        if (!unwind_number(&at, end, encoding, own_address, false, &low) ||
            !unwind_number(&at, end, encoding & 7, 0, true, &bytes) || !bytes || low + bytes < low)
            continue;
        LWP_GROW(&ranges, *count, &capacity);
        ranges[(*count)++] = (struct code_range){low, low + bytes};
    }
    return ranges;
}
