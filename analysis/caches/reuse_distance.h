/* Reuse distances: how many other lines were accessed since the last access to a line (LRU stack distance), exact, in
 * O(log n) for n lines. The lines of one core's accesses, or of all, in the order they come. */
#ifndef LWP_ANALYSIS_CACHES_REUSE_DISTANCE_H
#define LWP_ANALYSIS_CACHES_REUSE_DISTANCE_H

#include <stdint.h>

/* The line was not accessed before. */
#define LWP_REUSE_FIRST UINT32_MAX

enum { LWP_REUSE_LEVELS = 8, LWP_REUSE_AHEAD = 16 };

/* What is known of a line; `cores` is the caller's, 0 at first. */
struct lwp_reuse_line {
    uint64_t line, cores;
    uint32_t time; /* of its last access; 0: a free place */
};

/* A line is a bit at the time of its last access: what was accessed since is the number of bits above. Times are
 * numbered anew, and the table grows, when they run out. */
struct lwp_reuse {
    struct lwp_reuse_line *lines; /* open addressing */
    uint32_t line_room, live;     /* live: lines known */
    uint32_t now, times;          /* the last time given, and how many there is room for */
    uint64_t *bits;
    uint32_t *sums;  /* bits of the words before within 16 of them, but for the last word; then of 16 words within 16; ... */
    uint32_t levels[LWP_REUSE_LEVELS], sum_count; /* where each of these begins in `sums`, and all of it */
    unsigned level_count;
    uint32_t *whose; /* line at each time */
    uint32_t last;   /* index of the line of the last access */
};

void lwp_reuse_init(struct lwp_reuse *reuse);
void lwp_reuse_free(struct lwp_reuse *reuse);

/* `to` is not initialised yet. */
void lwp_reuse_copy(struct lwp_reuse *to, const struct lwp_reuse *from);

/* To be called before an access, with the lines of that LWP_REUSE_AHEAD accesses later and of that half as many later: they are
 * looked for meanwhile, as large tables are not in the machine's caches. */
void lwp_reuse_expect(const struct lwp_reuse *reuse, uint64_t later, uint64_t sooner);

/* The distance of this access, LWP_REUSE_FIRST at the first one. `*known`: the line, valid until the next call. */
uint32_t lwp_reuse_access(struct lwp_reuse *reuse, uint64_t line, struct lwp_reuse_line **known);

#endif
