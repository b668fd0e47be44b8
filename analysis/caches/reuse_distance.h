/* Reuse distance: the number of other lines that were accessed since the last access to a line (LRU stack distance). Exact, in
 * O(log n) for n lines. */
#ifndef LWP_ANALYSIS_CACHES_REUSE_DISTANCE_H
#define LWP_ANALYSIS_CACHES_REUSE_DISTANCE_H

#include <stdbool.h>
#include <stdint.h>

/* The line was not accessed before. */
#define LWP_REUSE_FIRST UINT32_MAX

enum { LWP_REUSE_LEVELS = 8, LWP_REUSE_AHEAD = 16 };

/* What is known of a line; `cores` is the caller's, 0 at first. */
struct lwp_reuse_line {
    uint64_t line, cores;
    uint32_t time; /* of its last access; 0: a free place */
};

/* Each line is a bit at the time of its last access; its distance is the number of bits above. When times run out, they are
 * renumbered, and the table grows. */
struct lwp_reuse {
    struct lwp_reuse_line *lines; /* open addressing */
    uint32_t line_room, live;     /* live: lines known */
    uint32_t now, times;          /* the last time given, and how many there is room for */
    uint64_t *bits;
    uint32_t *sums; /* bits of the words before in the same 16, without the last word; then of the 16s before in the same 256; ... */
    uint32_t levels[LWP_REUSE_LEVELS], sum_count; /* where each of these begins in `sums`, and all of it */
    unsigned level_count;
    uint32_t *whose; /* line at each time */
    uint32_t last;   /* index of the line of the last access */
};

void lwp_reuse_init(struct lwp_reuse *reuse);
void lwp_reuse_free(struct lwp_reuse *reuse);

/* Prefetches, before an access, for the access LWP_REUSE_AHEAD later and the one half as many later: the tables are larger than
 * the machine's caches. */
void lwp_reuse_expect(const struct lwp_reuse *reuse, uint64_t later, uint64_t sooner);

/* The distance of this access, LWP_REUSE_FIRST at the first one. `*known`: the line, valid until the next call. */
uint32_t lwp_reuse_access(struct lwp_reuse *reuse, uint64_t line, struct lwp_reuse_line **known);

/* Multicore reuse distances (MACPO 5.1): the accesses of a core between two of its accesses to a line, as long as no other core wrote
 * to it; else the line comes from the shared cache, and the accesses of all cores count. */
enum { LWP_REUSE_CORES = 64 }; /* more share these */

/* Starts from zero. */
struct lwp_reuse_cores {
    struct lwp_reuse all;
    struct lwp_reuse core[LWP_REUSE_CORES]; /* of none while only one core has accessed anything */
    bool used, several;
    unsigned first;
};

struct lwp_reused {
    uint32_t distance; /* LWP_REUSE_FIRST: nobody accessed the line before */
    bool restarted;    /* another core had it, or wrote to it since */
    uint64_t others;   /* of a store: cores that had the line, a bit each */
};

/* Nothing was accessed yet, again. */
void lwp_reuse_cores_free(struct lwp_reuse_cores *cores);
/* Before an access, as lwp_reuse_expect. */
void lwp_reuse_cores_expect(const struct lwp_reuse_cores *cores, unsigned core, uint64_t later, uint64_t sooner);
struct lwp_reused lwp_reuse_cores_access(struct lwp_reuse_cores *cores, unsigned core, uint64_t line, bool store);

#endif
