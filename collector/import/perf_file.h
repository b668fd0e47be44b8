/* Reads a perf.data file (perf record, perf mem record) and trusts nothing in it: no input makes it crash, hang, or
 * allocate more than a bound. The layout is that of the kernel's tools/perf/Documentation/perf.data-file-format.txt and
 * of perf_event.h; files of a seekable perf and of a pipe, zstd-compressed or not. */
#ifndef LWP_IMPORT_PERF_FILE_H
#define LWP_IMPORT_PERF_FILE_H

#include "base/error.h"
#include "collector/perf/sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One event that was recorded: what the kernel was asked to count, and its name when the file has it. */
struct lwp_perf_event {
    struct perf_event_attr attr; /* fields of a newer or older kernel are 0 or left out */
    const char *name;            /* NULL: not said */
};

struct lwp_perf_mapping {
    uint32_t pid, tid;
    uint64_t time, start, bytes, file_offset;
    uint8_t build_id[20];
    uint8_t build_id_bytes; /* 0: not known */
    bool data;              /* a mapping without code */
    bool kernel;
    const char *path;
};

struct lwp_perf_task { /* comm, fork */
    uint32_t pid, parent_pid, tid;
    uint64_t time;
    const char *name; /* comm only */
    bool exec;        /* comm: the process became another program */
};

/* Strings and arrays are valid during the call only. */
struct lwp_perf_visitor {
    void (*mapping)(void *to, const struct lwp_perf_mapping *mapping);
    void (*comm)(void *to, const struct lwp_perf_task *task);
    void (*fork)(void *to, const struct lwp_perf_task *task);
    void (*sample)(void *to, const struct lwp_perf_event *event, const struct lwp_perf_sample *sample);
    void (*lost)(void *to, uint64_t records);
    void (*throttled)(void *to);
};

/* What the file says of the machine and the run; "" or 0: not said. Filled before the first callback, except in a file
 * of a pipe, where it comes in between. */
struct lwp_perf_about {
    char host[256], cpu[256];
    char command[4096]; /* of perf itself, arguments ended by NUL */
    size_t command_bytes;
    /* what is wrong with the file */
    uint64_t bad_records;
    bool torn; /* it ends in the middle */
};

int lwp_perf_read(const char *path, const struct lwp_perf_visitor *visitor, void *to, struct lwp_perf_about *about,
                  struct lwp_error *err);
int lwp_perf_read_memory(const char *name, const uint8_t *bytes, size_t size, const struct lwp_perf_visitor *visitor,
                         void *to, struct lwp_perf_about *about, struct lwp_error *err);

#endif
