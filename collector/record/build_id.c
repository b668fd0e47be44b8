#include "collector/record/build_id.h"

#include <elf.h>
#include <string.h>

static size_t note_aligned(size_t bytes)
{
    return (bytes + 3) & ~(size_t)3;
}

bool lwp_build_id_find(struct lwps_module *record, const void *notes, size_t bytes)
{
    const char *all = notes;
    for (size_t at = 0; at + sizeof(Elf64_Nhdr) <= bytes;) {
        const Elf64_Nhdr *note = (const void *)(all + at);
        size_t name = at + sizeof *note, id = name + note_aligned(note->n_namesz);
        if (id + note->n_descsz > bytes)
            return false;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(all + name, "GNU", 4) == 0 &&
            note->n_descsz <= sizeof record->build_id) {
            memcpy(record->build_id, all + id, note->n_descsz);
            record->build_id_bytes = (uint8_t)note->n_descsz;
            return true;
        }
        at = id + note_aligned(note->n_descsz);
    }
    return false;
}
