/* Samples on their way from a file into a shard, some hundred accesses at a time. */
#ifndef LWP_ANALYSIS_BATCH_H
#define LWP_ANALYSIS_BATCH_H

#include "analysis/owners.h"
#include "analysis/shard.h"

enum { LWP_BATCH_ACCESSES = 128, LWP_BATCH_SAMPLES = 64 };

struct lwp_batch_sample {
    uint64_t time, since_start, weight;
    uint32_t first, count; /* in accesses[] */
    uint32_t known;        /* accesses with an address */
};

struct lwp_batch_access {
    struct lwps_access raw;
    struct lwp_stream_key key;
    struct lwp_stream_access access;
    const struct lwp_spot *spot;
    uint64_t distance;   /* to the sample's first access */
    uint32_t functions;  /* context of its function */
    uint32_t hint;       /* which of the batch's addresses is its own, or LWP_NONE */
    uint32_t stream;
    uint16_t sample;
    bool weighted;
    bool close; /* follows the access before without a gap in the program */
    bool apart; /* its distance is one within the object */
};

/* Start from zero but for the pointers. */
struct lwp_batch {
    struct lwp_places *places;
    struct lwp_owners *owners;
    struct lwp_shard *shard;
    bool code_reused; /* an address may be another instruction from sample to sample */
    uint64_t seed, counter;
    uint64_t page; /* of the last address */
    struct lwp_batch_sample samples[LWP_BATCH_SAMPLES];
    struct lwp_batch_access accesses[LWP_BATCH_ACCESSES];
    uint64_t addresses[LWP_BATCH_ACCESSES]; /* to ask the space for: one of each page, in turn */
    uint32_t sample_count, access_count, address_count;
};

/* Another file; `seed`: no other file has it. */
void lwp_batch_begin(struct lwp_batch *batch, uint64_t seed);

void lwp_batch_add(struct lwp_batch *batch, const struct lwps_sample *sample);

/* Counts what is still on its way. */
void lwp_batch_flush(struct lwp_batch *batch);

#endif
