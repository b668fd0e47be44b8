/* ELF notes, and GNU build ids among them. Freestanding: usable in a signal handler and under Valgrind. */
#ifndef LWP_COLLECTOR_RECORD_BUILD_ID_H
#define LWP_COLLECTOR_RECORD_BUILD_ID_H

#include "format/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the first note of this owner and type holds, among the notes of a PT_NOTE segment, and how many bytes it has. NULL: there
 * is none. Of owners whose name has three characters at most. */
const void *lwp_note_find(const void *notes, size_t bytes, const char owner[4], uint32_t type, size_t *found_bytes);

/* Sets the record's build id if it is among the notes of a PT_NOTE segment; false: it is not. */
bool lwp_build_id_find(struct lwps_module *record, const void *notes, size_t bytes);

#endif
