/* What load.c puts together: load_process.c reads a process of it, load_ranks.c hands it from rank to rank. */
#ifndef LWP_ANALYSIS_LOAD_LOAD_INTERNAL_H
#define LWP_ANALYSIS_LOAD_LOAD_INTERNAL_H

#include "analysis/load/load_notes.h"
#include "analysis/load/resolver.h"
#include "analysis/load/result_files.h"
#include "analysis/load/shard.h"
#include "format/record.h"

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
    size_t modules; /* process whose turn it is to number its modules */
    size_t opening, open_first;

    struct load_notes notes;
    pthread_barrier_t merging;
};

struct load_worker {
    struct load *load;
    unsigned index;
    pthread_t thread;
    bool started;
    struct lwp_shard shard;
};

/* Opens process `index`: whoever waits for its modules waits for those before it. */
void load_open(struct load *load, size_t index, struct lwp_resolver *resolver);

/* What all ranks have gathered, into the first one's first worker; nothing is left in the others. */
void load_ranks(struct load *load);

#endif
