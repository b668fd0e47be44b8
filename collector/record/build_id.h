/* GNU build ids in ELF notes. Freestanding: usable in a signal handler and under Valgrind. */
#ifndef LWP_COLLECTOR_RECORD_BUILD_ID_H
#define LWP_COLLECTOR_RECORD_BUILD_ID_H

#include "format/record.h"

#include <stdbool.h>
#include <stddef.h>

/* Sets the record's build id if it is among the notes of a PT_NOTE segment; false: it is not. */
bool lwp_build_id_find(struct lwps_module *record, const void *notes, size_t bytes);

#endif
