/* Communication between threads as the exact engine has counted it, gathered while records are read: by reading instruction,
 * writer and reader; and the reuse distances of reads by instruction. */
#ifndef LWP_ANALYSIS_PROFILE_COMMUNICATION_COUNTS_H
#define LWP_ANALYSIS_PROFILE_COMMUNICATION_COUNTS_H

#include "format/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lwp_profile;

enum { LWP_COMMUNICATION_PARTIES = 1 << 14 }; /* of a process */

struct lwp_communication_party {
    uint32_t process, number, tid;
    char name[32];
};

/* Where something was read. */
struct lwp_communication_site {
    uint32_t location; /* locations.h; LWP_NONE: not known */
    uint32_t region;   /* innermost loop or function, once lwp_communication_counts_locate was called; LWP_NONE: not known */
    uint32_t module;
    uint64_t function; /* its first address */
    bool runtime;      /* of the C library or a threading library, for itself */
};

struct lwp_communication_flow {
    uint32_t process, writer, reader; /* numbers of parties */
    uint32_t bytes;
    uint64_t first, again; /* true communication, reuse */
    struct lwp_communication_site site;
};

struct lwp_communication_reuse {
    uint64_t up_to, count;
    struct lwp_communication_site site, before; /* before: of the read before */
};

/* The fragments in which the first reads of an instruction lie (format/record.h). */
struct lwp_communication_fragments {
    uint64_t count, lines, bytes, even;
    int64_t step;
    struct lwp_communication_site site;
};

/* Start from zero. */
struct lwp_communication_counts {
    bool measured;
    struct lwps_flows how; /* the largest of each, the sum of accesses */
    struct lwp_communication_party *parties;
    size_t party_count, party_room;
    struct lwp_communication_flow *flows;
    size_t flow_count, flow_room;
    struct lwp_communication_reuse *reuses;
    size_t reuse_count, reuse_room;
    struct lwp_communication_fragments *pieces;
    size_t piece_count, piece_room;
    uint64_t refused; /* records: damaged, or too many */
};

void lwp_communication_counts_how(struct lwp_communication_counts *counts, const struct lwps_flows *record);
void lwp_communication_counts_party(struct lwp_communication_counts *counts, uint32_t process, const struct lwps_party *record);
/* `location`: of the record's instruction. */
void lwp_communication_counts_flow(struct lwp_communication_counts *counts, uint32_t process, uint32_t location,
                                   const struct lwps_flow *record);
void lwp_communication_counts_distance(struct lwp_communication_counts *counts, uint32_t location, uint32_t before,
                                       const struct lwps_flow_distance *record);
void lwp_communication_counts_pieces(struct lwp_communication_counts *counts, uint32_t location, const struct lwps_flow_pieces *record);

/* Adds `from` to `into` and frees it. */
void lwp_communication_counts_merge(struct lwp_communication_counts *into, struct lwp_communication_counts *from);
void lwp_communication_counts_free(struct lwp_communication_counts *counts);

/* Finds the function and loop of each site, which makes regions: before lwp_regions_merge. */
void lwp_communication_counts_locate(struct lwp_profile *profile);

/* Whether the location is in the C library or a threading library, which work for themselves there. */
bool lwp_communication_is_runtime(struct lwp_profile *profile, uint32_t location);

#endif
