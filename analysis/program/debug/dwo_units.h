/* What a package of .dwo files (.dwp) holds: its sections and, by the format's index, each unit's parts of them; and
 * .dwo files put together from such parts. */
#ifndef LWP_ANALYSIS_PROGRAM_DEBUG_DWO_UNITS_H
#define LWP_ANALYSIS_PROGRAM_DEBUG_DWO_UNITS_H

#include "analysis/program/binary/module.h"

/* The numbers of the index's columns; section 0 are the strings. */
enum {
    CODE_DWO_STR,
    CODE_DWO_INFO,
    CODE_DWO_TYPES,
    CODE_DWO_ABBREV,
    CODE_DWO_LINE,
    CODE_DWO_LOC,
    CODE_DWO_STR_OFFSETS,
    CODE_DWO_7,
    CODE_DWO_8,
    CODE_DWO_SECTIONS
};

/* Bytes of the file, which they live as long as; NULL: none. */
struct code_dwo_part {
    const uint8_t *data;
    size_t bytes;
};

struct code_dwo_index {
    const uint8_t *start;
    size_t bytes;
    uint32_t version, columns, units, slots;
};

/* A type unit, by where its abbreviations are: what came from one .dwo file is together. */
struct code_dwo_type {
    const uint8_t *abbrev;
    uint64_t row;
};

struct code_dwo_units {
    struct code_dwo_index cu, tu;
    struct code_dwo_part sections[CODE_DWO_SECTIONS];
    struct code_dwo_type *types;
    size_t type_count;
};

/* False: not a package, or a damaged one. To be freed with code_dwo_units_free in either case. */
bool code_dwo_units_read(Elf *elf, struct code_dwo_units *units);
void code_dwo_units_free(struct code_dwo_units *units);

/* The nth section of the name in any ELF file, unpacked. */
struct code_dwo_part code_dwo_section(Elf *elf, const char *name, unsigned nth);

/* NULL: a column that is left out. */
const char *code_dwo_section_name(uint32_t version, unsigned column);

/* The row of a compilation unit, from 1; 0: not there. */
uint32_t code_dwo_row(const struct code_dwo_units *units, uint64_t id);

/* A unit's part of a section. */
struct code_dwo_part code_dwo_slice(const struct code_dwo_units *units, const struct code_dwo_index *index,
                                    uint32_t row, unsigned column);

/* dwo_file.c: the unit of a row (from 1) with the type units that came with it. *data: to be freed by the caller. */
void code_dwo_file_unit(const struct code_dwo_units *units, uint32_t row, uint8_t **data, size_t *bytes);

/* The .dwo file's sections, those of one name joined; false: it has none of a .dwo file's. *data: to be freed in either
 * case. */
bool code_dwo_file_join(Elf *elf, uint8_t **data, size_t *bytes);

#endif
