#include "collector/record/build_id.h"

#include <elf.h>
#include <string.h>

static size_t note_aligned(size_t bytes)
{
    return (bytes + 3) & ~(size_t)3;
}

const void *lwp_note_find(const void *notes, size_t bytes, const char owner[4], uint32_t type, size_t *found_bytes)
{
    const char *all = notes;
    for (size_t at = 0; at + sizeof(Elf64_Nhdr) <= bytes;) {
        const Elf64_Nhdr *note = (const void *)(all + at);
        size_t name = at + sizeof *note, text = name + note_aligned(note->n_namesz);
        if (text + note->n_descsz > bytes)
            return NULL;
        if (note->n_type == type && note->n_namesz == 4 && memcmp(all + name, owner, 4) == 0) {
            *found_bytes = note->n_descsz;
            return all + text;
        }
        at = text + note_aligned(note->n_descsz);
    }
    return NULL;
}

bool lwp_build_id_find(struct lwps_module *record, const void *notes, size_t bytes)
{
    size_t id_bytes;
    const void *id = lwp_note_find(notes, bytes, "GNU", NT_GNU_BUILD_ID, &id_bytes);
    if (!id || id_bytes > sizeof record->build_id)
        return false;
    memcpy(record->build_id, id, id_bytes);
    record->build_id_bytes = (uint8_t)id_bytes;
    return true;
}
