/* How far an instruction moves on from one execution to a later one, as samples show that saw it twice. */
#ifndef LWP_ANALYSIS_PROFILE_MOVES_H
#define LWP_ANALYSIS_PROFILE_MOVES_H

#include "analysis/profile/traversals.h"
#include "base/hash.h"

struct lwp_profile;
struct lwp_stream;

enum { LWP_MOVES_KEPT = 32, LWP_BLOCKS_KEPT = 1024, LWP_PAIR_KEPT = 16 };

/* Two executions in one sample, at most some dozens of iterations apart. */
struct lwp_move {
    int64_t bytes;  /* from address to address, forward in time */
    int64_t within; /* ... of the offsets in their blocks: 0 at the same place of another block */
    bool next;      /* the second is the very next execution */
};

/* Of one instruction on one object. */
struct lwp_code_moves {
    uint32_t object, region;
    uint64_t code, seen;
    uint32_t stays, leaves; /* executions in a loop after which it was executed again, or code around the loop was first */
    uint32_t passes, ends;  /* ... likewise, where nothing that is not known ran between them */
    uint32_t backs;         /* of these passes: to a lower address */
    uint32_t lost;          /* looks of samples that ended with it, and too early: whether the loop ends there is not known */
    size_t count, room;
    struct lwp_move *kept; /* a uniform sample of those seen, at most LWP_MOVES_KEPT */
};

/* From one instruction to another one a few instructions later, on one object. */
struct lwp_code_pair {
    uint32_t object, region;
    uint64_t from, code, seen;
    size_t count;
    int64_t bytes[LWP_PAIR_KEPT]; /* from address to address: a uniform sample of those seen */
};

/* An access, and the one that came next. */
struct lwp_next_access {
    uint32_t region; /* of the former */
    uint64_t from, code, seen;
};

/* Of one object: where the block begins that a sample saw first. */
struct lwp_seen_blocks {
    uint32_t object;
    uint64_t seen;
    size_t count, room;
    uint64_t *starts; /* a uniform sample of those seen, at most LWP_BLOCKS_KEPT */
};

/* Starts from zero. */
struct lwp_moves {
    struct lwp_code_moves *items;
    size_t count, room;
    struct lwp_map index;
    struct lwp_code_pair *pairs;
    size_t pair_count, pair_room;
    struct lwp_map pair_index;
    struct lwp_next_access *nexts;
    size_t next_count, next_room;
    struct lwp_map next_index;
    struct lwp_seen_blocks *blocks;
    size_t block_count, block_room;
    struct lwp_map block_index;
    uint64_t random;
};

void lwp_moves_fini(struct lwp_moves *moves);

/* The accesses of one sample in their order. */
void lwp_moves_sample(struct lwp_moves *moves, const struct lwp_profile *profile, const struct lwp_traversal_access *accesses, int count);

/* Whether they are those of the stream's instruction in its loop, on its object. */
bool lwp_moves_is_of(const struct lwp_profile *profile, const struct lwp_code_moves *moves, const struct lwp_stream *stream);

/* The stream becomes another object's, with what is known of its instruction's moves. Once all samples are in. */
void lwp_moves_give(struct lwp_profile *profile, const struct lwp_stream *stream, uint32_t to);

/* How often a loop that searches goes round before it ends, in the mean, at least (with a probability of 95 %). 1: nothing is known. */
double lwp_moves_length_least(const struct lwp_profile *profile, uint32_t region);

/* ... of so many passes seen, and of ends or what may have been ends. */
double lwp_moves_length_of(double passes, double ends);

/* Of the region's accesses behind which one of those from `low` to before `high` was seen next, but for these themselves: the part behind
 * which it was. Negative: too few were seen. */
double lwp_moves_part(const struct lwp_profile *profile, uint32_t region, uint64_t low, uint64_t high);

/* NULL: none were seen. */
const struct lwp_seen_blocks *lwp_moves_blocks(const struct lwp_moves *moves, uint32_t object);

#endif
