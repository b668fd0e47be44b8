/* Sharing and communication between threads, added up while their records are read. */
#ifndef LWP_ANALYSIS_PROFILE_THREAD_INTERACTION_H
#define LWP_ANALYSIS_PROFILE_THREAD_INTERACTION_H

#include "analysis/profile/communication_samples.h"
#include "analysis/statistics/share.h"
#include "base/hash.h"
#include "format/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LWP_INTERACTION_LINE = 64 };

struct lwp_interaction_thread {
    uint32_t process, tid;
    char name[32];
    uint64_t stack_low, stack_high;
    uint64_t sampled[LWP_COMMUNICATION_PARTS]; /* weight of its samples */
};

/* A cell of the communication matrix: what a thread did with the stores of another one that it watched. */
struct lwp_interaction_cell {
    uint32_t process, writer, reader;
    uint64_t read;   /* it loaded them next */
    uint64_t unread; /* it stored there itself, or did not use them for a while */
    uint64_t lost;   /* not known */
};

/* What one thread did on a cache line that others were using at the time. */
struct lwp_interaction_use {
    uint32_t process, tid;
    uint64_t line; /* address / LWP_INTERACTION_LINE */
    uint32_t object;
    int64_t offset;          /* of the line's start in the object */
    uint64_t loaded, stored; /* bytes of the line, a bit each */
    struct lwp_sum hits;
    uint64_t overlaps;      /* hits where another thread's access was to the same bytes */
    uint64_t spells, spell; /* so many separate times; the last one */
    uint32_t context;       /* of most hits, innermost node the access itself */
    uint64_t lead;          /* by so many */
};

/* Start from zero. */
struct lwp_thread_interaction {
    struct lwp_interaction_thread *threads;
    size_t thread_count, thread_room;
    struct lwp_interaction_cell *cells;
    size_t cell_count, cell_room;
    struct lwp_interaction_use *uses;
    size_t use_count, use_room;
    struct lwp_map cell_index, use_index;
    struct lwp_communication_samples samples;
    uint32_t process, tid; /* whose file is being read */
    uint64_t records, refused;
    double runtime;                           /* part of the stores' weight that was of the runtime's own words */
    uint64_t candidates;                      /* accesses chosen to be watched for anything */
    uint64_t foreign_samples, foreign_weight; /* of them, those of memory that other processes see */
};

/* What is added from now on was recorded by this thread. */
void lwp_interaction_begin(struct lwp_thread_interaction *interaction, uint32_t process, const struct lwps_thread *thread);

/* One of its samples. */
static inline void lwp_interaction_sample(struct lwp_thread_interaction *interaction, uint64_t time, uint64_t weight)
{
    if (interaction->thread_count)
        interaction->threads[interaction->thread_count - 1].sampled[lwp_communication_samples_part(time)] += weight;
}

/* An access that one of its samples chose, watched or not. `location`: of it. */
void lwp_interaction_candidate(struct lwp_thread_interaction *interaction, const struct lwps_watch *record, uint32_t location);

/* Whether the record is of a trial; else it is a use of a line. */
static inline bool lwp_interaction_is_trial(const struct lwps_watch *record)
{
    return record->end != LWPS_WATCH_DECIDED || record->second.source == LWPS_SOURCE_BREAKPOINT;
}

/* `stored_at`, `read_at`: locations of both accesses. */
void lwp_interaction_trial(struct lwp_thread_interaction *interaction, const struct lwps_watch *record, uint32_t stored_at,
                           uint32_t read_at);

/* `object`, `offset`: of the record's second access; `context`: where it is. */
void lwp_interaction_use(struct lwp_thread_interaction *interaction, const struct lwps_watch *record, uint32_t object, uint64_t offset,
                         uint32_t context);

/* Counted in a trace: `hits` more of the thread on a line, of which others use other bytes at the same time. */
void lwp_interaction_counted(struct lwp_thread_interaction *interaction, const struct lwp_interaction_use *more, uint64_t hits,
                             uint64_t cycles);

/* Adds `from` to `into` and frees it. */
void lwp_interaction_merge(struct lwp_thread_interaction *into, struct lwp_thread_interaction *from);

/* contexts[old] and objects[old] are the new numbers; sorts. */
void lwp_interaction_renumber(struct lwp_thread_interaction *interaction, const uint32_t *contexts, const uint32_t *objects);
/* Once renumbered: leaves only the program's own communication. Words that the C library and threading libraries keep for themselves
 * (locks, barriers, threads' starts) are no data; they are kept apart, as in exact counts. */
struct lwp_profile;
void lwp_interaction_locate(struct lwp_profile *profile);
void lwp_interaction_free(struct lwp_thread_interaction *interaction);

#endif
