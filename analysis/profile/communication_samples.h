/* How much of what one thread stored another one read, estimated from the sampled stores and from the few that were watched in
 * the other thread. communication_samples.c has the model. */
#ifndef LWP_ANALYSIS_PROFILE_COMMUNICATION_SAMPLES_H
#define LWP_ANALYSIS_PROFILE_COMMUNICATION_SAMPLES_H

#include "base/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Everything is kept in so many random parts. The spread of the estimates from all parts but one shows how sure they are
 * (delete-a-group jackknife). The last of several estimates is from all parts. */
enum { LWP_COMMUNICATION_PARTS = 8, LWP_COMMUNICATION_ALL = LWP_COMMUNICATION_PARTS, LWP_COMMUNICATION_ESTIMATES };

/* The part of what was recorded for the sample at this time. */
static inline unsigned lwp_communication_samples_part(uint64_t time)
{
    return (unsigned)(lwp_hash_mix(time, 0) >> 32) % LWP_COMMUNICATION_PARTS;
}

/* Stores of an instruction of a thread to a page. */
struct lwp_communication_stores {
    uint32_t process, writer;
    uint32_t location; /* of the instruction (locations.h), LWP_NONE: not known */
    uint64_t page;
    uint64_t weight[LWP_COMMUNICATION_PARTS]; /* renumbered: a running sum over the array */
};

/* What another thread was seen to do with some of them. */
struct lwp_communication_trials {
    uint32_t process, writer, reader;
    uint32_t stored_at, read_at; /* locations; read_at: LWP_NONE where it was not read */
    uint64_t page;
    uint32_t decided[LWP_COMMUNICATION_PARTS], read[LWP_COMMUNICATION_PARTS]; /* decided: with a known end */
};

/* Start from zero. */
struct lwp_communication_samples {
    struct lwp_communication_stores *stores; /* renumbered: by process, writer, page */
    size_t store_count, store_room;
    struct lwp_communication_trials *trials; /* renumbered: by process, writer, reader, page */
    size_t trial_count, trial_room;
    struct lwp_map store_index, trial_index;
};

/* What is watched, and when. */
struct lwp_communication_store {
    uint32_t process, writer, location;
    uint64_t address, time;
};

void lwp_communication_samples_store(struct lwp_communication_samples *samples, const struct lwp_communication_store *store,
                                     uint64_t weight);
/* `read_at`: where the reader loaded it next; LWP_NONE: it did not. */
void lwp_communication_samples_trial(struct lwp_communication_samples *samples, const struct lwp_communication_store *store,
                                     uint32_t reader, bool read, uint32_t read_at);

/* Adds `from` to `into` and frees it. */
void lwp_communication_samples_merge(struct lwp_communication_samples *into, struct lwp_communication_samples *from);
/* Once all are merged; then, or without it, renumbered. Drops what is at locations that are not the program's: the words of locks and
 * barriers. Returns the part of the stores' weight that this is. */
double lwp_communication_samples_drop(struct lwp_communication_samples *samples, bool (*is_runtime)(void *context, uint32_t location),
                                      void *context);
void lwp_communication_samples_renumber(struct lwp_communication_samples *samples);
void lwp_communication_samples_free(struct lwp_communication_samples *samples);

struct lwp_communication_estimate {
    double amount[LWP_COMMUNICATION_ESTIMATES]; /* weight of the writer's stores that the reader read next */
    double stored;                              /* of all of them */
    uint64_t trials;                            /* trials that this rests on */
};

/* Once renumbered. `sampled`: the cost of all samples of the writer by their part. The CPU time it took is known exactly, so
 * only the fraction that was spent on stores varies. */
void lwp_communication_samples_estimate(const struct lwp_communication_samples *samples, uint32_t process, uint32_t writer, uint32_t reader,
                                        const uint64_t sampled[LWP_COMMUNICATION_PARTS], struct lwp_communication_estimate *estimate);

#endif
