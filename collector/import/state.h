/* What the files behind collector/import/import.h share: a result that is being written from a perf.data. */
#ifndef LWP_COLLECTOR_IMPORT_STATE_H
#define LWP_COLLECTOR_IMPORT_STATE_H

#include "base/hash.h"
#include "collector/import/import.h"
#include "collector/import/perf_file.h"
#include "collector/outside/process/interpreter.h"
#include "collector/outside/thread_files.h"
#include "format/paths.h"
#include "format/writer.h"

#include <stdbool.h>
#include <stdint.h>

struct import_mapping {
    uint64_t start, end, bias;
    uint64_t time, end_time;
    bool module; /* else a block */
    bool elf;    /* its file is here, and of the same build */
    uint64_t unwind_table;
    uint8_t build_id[20], build_id_bytes;
    char *path;
};

/* One process image. Written at the end, when its samples are known, so that a whole machine's processes need no files.
 */
struct import_process {
    uint32_t pid;
    char *folder; /* NULL until its first sample */
    char comm[64];
    struct import_mapping *mappings;
    size_t mapping_count, mapping_room;
    uint64_t samples;
    struct lwp_interpreter *interpreter; /* made for the first sample with registers */
    size_t interpreted;                  /* of the mappings, it knows */
    uint64_t interpreted_turn;           /* of its last sample with registers */
};

struct import {
    const char *dir;
    struct lwp_imported *imported;
    struct lwp_perf_about about;
    uint8_t unit, engine;
    struct import_process *processes;
    size_t process_count, process_room;
    struct lwp_thread_files threads; /* by process and tid */
    struct lwp_map process_of;       /* pid -> index of the latest */
    unsigned interpreters;
    uint64_t turn, first_time, throttled, stores_without_latency;
    struct lwp_error *err;
    int status;
};

/* The process image that a pid stands for now, made when there is none; NULL: there are too many. */
struct import_process *import_process(struct import *import, uint32_t pid);

/* perf's records of mappings, names and forks: callbacks of struct lwp_perf_visitor. */
void import_on_mapping(void *to, const struct lwp_perf_mapping *from);
void import_on_comm(void *to, const struct lwp_perf_task *task);
void import_on_fork(void *to, const struct lwp_perf_task *task);

/* What its samples mean, with all modules that it has by now; NULL: no memory. Few are kept at a time. */
struct lwp_interpreter *import_interpreter(struct import *import, struct import_process *process);

/* Writes what process.lwps holds of the process and its mappings. */
void import_put_process(struct lwps_writer *file, const struct import_process *process);

void import_process_free(struct import_process *process);

#endif
