/* The state of load.c: load_process.c reads a process, load_ranks.c moves it from rank to rank. */
#ifndef LWP_ANALYSIS_LOAD_LOAD_INTERNAL_H
#define LWP_ANALYSIS_LOAD_LOAD_INTERNAL_H

#include "analysis/load/resolver.h"
#include "analysis/load/result_files.h"
#include "analysis/load/shard.h"
#include "format/reader.h"
#include "format/record.h"

#include <pthread.h>

/* Notes of and about files, in an order that does not depend on which thread read them when (load_notes.c). */
enum { LOAD_NOTES_KEPT = 1 << 12 }; /* notes of one file; notes about the file have numbers from there on */

struct load_note {
    uint32_t number, sequence; /* of the file, and in it */
    char *text;
};

struct load_notes {
    pthread_mutex_t lock;
    struct load_note *items;
    size_t count, room;
};

/* Thread safe. */
void load_note(struct load_notes *notes, uint32_t number, uint32_t sequence, const char *format, ...) __attribute__((format(printf, 4, 5)));

void load_note_damage(struct load_notes *notes, uint32_t number, const struct lwp_input *input, const char *path,
                      const struct lwps_damage *damage);

/* To the profile, sorted. */
void load_notes_finish(struct load_notes *notes, struct lwp_profile *profile);

void load_notes_free(struct load_notes *notes);

enum { LOAD_PATH_TEXT = 600 }; /* as much of a path as a note shows */

/* A process, or what is read of it. */
struct load_process {
    const struct lwp_input *input;
    struct lwp_process_summary *summary;
    struct lwp_address_map *map;
    struct lwps_totals totals;
    bool has_totals, left_out, ready;
    uint64_t lost;
    size_t next, left; /* files not yet taken, not yet read */
};

struct load {
    struct lwp_profile *profile;
    struct lwp_inputs inputs;
    struct load_process *processes;
    struct load_worker *workers;
    unsigned jobs;
    size_t first, last; /* processes that are read here */

    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    size_t next;    /* process to open */
    size_t modules; /* the next process to number its modules */
    size_t opening, open_first;

    struct load_notes notes;
    bool mismatch; /* a rank sent what this one does not understand */
    pthread_barrier_t merging;
};

struct load_worker {
    struct load *load;
    unsigned index;
    pthread_t thread;
    struct lwp_shard shard;
};

/* Opens process `index`; numbers its modules after those of the processes before it. */
void load_open(struct load *load, size_t index, struct lwp_resolver *resolver);

/* Moves what all ranks have gathered into the first worker of the first rank. */
int load_ranks(struct load *load, struct lwp_error *err);

/* ---- one thread's file: every access gets its object, loop and stream (thread_file.c) ---- */

/* One reading thread's own state. */
struct lwp_thread_reader;

/* `machines`: what traces are replayed on (trace_replay.h). Files whose weights are in another unit are not read. */
struct lwp_thread_reader *lwp_thread_reader_new(struct lwp_resolver *resolver, struct lwp_shard *shard, uint8_t weight_unit,
                                                const struct lwp_hierarchy_plan *machines);
void lwp_thread_reader_free(struct lwp_thread_reader *attribution);

/* What the caller needs to know of a file. */
struct lwp_thread_file {
    uint64_t lost_records;
    uint8_t other_unit; /* 0, or what its weights are in */
};

/* Reads t<TID>.lwps of the process in `map`. `number`: of the file among all, deterministic. */
int lwp_thread_reader_read(struct lwp_thread_reader *attribution, struct lwp_address_map *map, uint32_t number, const char *path,
                           struct lwp_thread_file *file, struct lwps_damage *damage, struct lwp_error *err);

#endif
