/* Samples on their way from a file into a shard, some hundred accesses at a time. */
#ifndef LWP_ANALYSIS_LOAD_SAMPLE_BATCH_H
#define LWP_ANALYSIS_LOAD_SAMPLE_BATCH_H

#include "analysis/load/data_attribution.h"
#include "analysis/load/shard.h"

enum { LWP_BATCH_ACCESSES = 128, LWP_BATCH_SAMPLES = 64 };

struct lwp_batch_sample {
    uint64_t time, since_start, weight;
    uint32_t first, count; /* in accesses[] */
    uint32_t known;        /* accesses with an address */
    uint64_t ran_ns;       /* since the last sample with such an access */
};

struct lwp_batch_access {
    uint64_t address, offset;
    const struct lwp_location *location;
    uint32_t object, part;
    uint32_t functions; /* context of its function */
    uint32_t hint;      /* when object is LWP_NONE: index of its address in the batch, or LWP_NONE */
    uint32_t rank;      /* lwp_stream_rank */
    uint32_t stream;
    uint16_t bytes;
    uint8_t flags, level; /* as in struct lwps_access */
    uint8_t sample;
    uint8_t back; /* distance to its sample's first access; 0: it is the first, or there is none */
    bool weighted;
    bool close;                 /* directly follows the access before in the program */
    bool links;                 /* LWPS_SOURCE_LINKS */
} __attribute__((aligned(64))); /* one cache line each */

/* Start from zero but for the pointers. */
struct lwp_batch {
    struct lwp_file_locations *locations;
    struct lwp_data_attribution *attribution;
    struct lwp_shard *shard;
    bool code_reused; /* the code at an address may change from sample to sample */
    uint64_t seed, counter;
    uint64_t ran_ns; /* since the last sample with a known address */
    uint64_t page; /* of the last address */
    struct lwp_batch_sample samples[LWP_BATCH_SAMPLES];
    struct lwp_batch_access accesses[LWP_BATCH_ACCESSES];
    uint64_t addresses[LWP_BATCH_ACCESSES]; /* to look up: one for each run of accesses to a page */
    uint32_t sample_count, access_count, address_count;
};

/* Another file; `seed`: no other file has it. */
void lwp_batch_begin(struct lwp_batch *batch, uint64_t seed);

void lwp_batch_add(struct lwp_batch *batch, const struct lwps_sample *sample);

/* Counts what is still on its way. */
void lwp_batch_flush(struct lwp_batch *batch);

#endif
