/* From perf's records to a result directory. */
#ifndef LWP_IMPORT_IMPORT_H
#define LWP_IMPORT_IMPORT_H

#include "base/error.h"

#include <stdint.h>

struct lwp_imported {
    uint64_t samples, with_address, kernel, lost, bad_records;
    unsigned processes, threads;
    char event[256]; /* what was counted */
    const char *weight_unit;
};

/* Reads the perf.data file `path` and writes it into `dir`, which exists and is empty. */
int lwp_import_perf(const char *path, const char *dir, struct lwp_imported *imported, struct lwp_error *err);

#endif
