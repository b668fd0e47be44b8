/* What the files about set conflicts know of each other, in the order in which they work. */
#ifndef LWP_ANALYSIS_ADVICE_LAYOUT_CONFLICTS_INTERNAL_H
#define LWP_ANALYSIS_ADVICE_LAYOUT_CONFLICTS_INTERNAL_H

#include "analysis/advice/gain/visit.h"
#include "analysis/advice/layout/conflicts.h"

enum { LWP_CONFLICT_STREAMS_MAX = 256 };

/* One instruction of a loop on one block. */
struct lwp_conflict_stream {
    uint32_t object;
    uint64_t start; /* of the block; 0 where the loop is not `absolute` */
    uint64_t code;  /* of the instruction, in its module's file */
    bool known;     /* where it is */
    uint32_t part;  /* only streams of one part were seen together: a loop may go over other arrays each time */
    int64_t at;     /* bytes from the part's first stream in one iteration; modulo a way where the loop is not `absolute` */
    int64_t step;   /* bytes from one iteration to the next, of all in its part; 0: not known */
    uint32_t pairs, agree;
    double weight; /* of stalls that were kept (concurrent.h) */
    double first;  /* ... on the first bytes of a line */
    uint64_t stalls;
};

/* The streams of one loop, and how they lie relative to each other while it runs. */
struct lwp_conflict_loop {
    uint32_t region;
    uint64_t way, line; /* bytes */
    bool absolute;      /* the same blocks all the time; else only places in a way are the same */
    struct lwp_conflict_stream streams[LWP_CONFLICT_STREAMS_MAX];
    size_t count;
    double weight; /* of all stalls in it that were kept */
};

/* conflict_streams.c: false when its streams have no places relative to each other that the samples agree on. */
bool lwp_conflict_streams(struct lwp_profile *profile, uint32_t region, struct lwp_conflict_loop *loop);

/* Bytes between two places in a way, the shorter way round. */
static inline uint64_t lwp_conflict_apart(int64_t a, int64_t b, uint64_t way)
{
    uint64_t apart = (uint64_t)(a - b) % way;
    return apart < way - apart ? apart : way - apart;
}

/* conflict_measured.c: runs the loop's streams, sorted by block, as they are, and with `moved` bytes added to each one's place. False: it
 * was not, or what was run is not the loop. */
bool lwp_conflict_measure(struct lwp_profile *profile, const struct lwp_conflict_loop *loop, const struct lwp_loop_shape *shape,
                          const int64_t *moved, struct lwp_gain_measured *measured);

/* ... as they come to lie: blocks that malloc maps lie one below the other, in the order in which they were allocated, and what one of them
 * needs a page more for moves it and all that follow. Which sets of a TLB their pages fall into goes by that. */
void lwp_conflict_grown(const struct lwp_profile *profile, const struct lwp_conflict_loop *loop, const int64_t *moved, int64_t *placed);

/* conflict_text.c: fills in names and declaration. */
void lwp_conflict_text(struct lwp_profile *profile, struct lwp_conflict *conflict);

#endif
