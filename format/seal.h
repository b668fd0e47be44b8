/* Seals a live sample file: the same blocks, packed with zstd, exact size, written aside and renamed. */
#ifndef LWP_FORMAT_SEAL_H
#define LWP_FORMAT_SEAL_H

#include "base/error.h"

/* 0 and `path` is sealed (also when it already was); on an error the live file is left as it is. A torn tail is kept
 * out of the sealed file, which then stays without its trailer ("incomplete"). */
int lwps_seal(const char *path, struct lwp_error *err);

#endif
