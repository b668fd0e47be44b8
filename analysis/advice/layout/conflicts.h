/* Set conflicts: of the cache lines that one iteration of a loop walks over, more fall into one set of the first-level
 * cache than it has ways. Each is thrown out before the next iteration uses the rest of it, although the cache has
 * room. */
#ifndef LWP_ANALYSIS_ADVICE_LAYOUT_CONFLICTS_H
#define LWP_ANALYSIS_ADVICE_LAYOUT_CONFLICTS_H

#include "analysis/advice/gain/gain.h"

enum { LWP_CONFLICT_ARRAYS_MAX = 64 };

enum lwp_conflict_remedy {
    LWP_CONFLICT_APART, /* arrays are moved, each by another number of lines */
    LWP_CONFLICT_ROWS   /* rows (or planes) of one array are made longer */
};

struct lwp_conflict_array {
    uint32_t object;
    const char *name;
    uint64_t block; /* its address; 0: all blocks of the object */
    unsigned lines; /* that one iteration walks over */
    uint64_t move;  /* bytes */
};

struct lwp_conflict {
    uint32_t region; /* the loop; of several that go over the same arrays the heaviest */
    enum lwp_conflict_remedy remedy;
    struct lwp_conflict_array *arrays; /* of which lines collide; of one row is too long or short */
    size_t count;
    double lines; /* the most in one set: those that share it for a part of the iterations count in part */
    unsigned ways;
    uint64_t way_bytes, line_bytes;
    uint64_t row_bytes, pad_bytes; /* LWP_CONFLICT_ROWS */
    int64_t step;                  /* bytes, from one iteration to the next */
    struct lwp_tally weight;       /* stalls on the lines that collide, in all these loops */
    double saved, most;            /* of all time: what is saved, and at most */
    double below, above;           /* ... how much less or more it may be */
    const char *confidence;
    struct lwp_gain gain; /* cache lines per iteration */
    const char *declaration;
};

struct lwp_conflicts {
    bool looked;                    /* the machine's first-level cache is known, and a layout can save time of what was measured */
    struct lwp_conflict *conflicts; /* largest expected gain first */
    size_t count;
    struct lwp_conflict *unsaid; /* that gain too little, or not surely enough; without name, text and confidence */
    size_t unsaid_count;
};

/* Speed-up whose low end must be reached. */
extern const double lwp_conflict_needs;

/* In profile->arena. After lwp_elements_find. */
void lwp_conflicts_find(struct lwp_profile *profile, struct lwp_conflicts *conflicts);

/* Whether moving arrays is advised for one that uses the object. */
bool lwp_conflicts_about(const struct lwp_conflicts *conflicts, uint32_t object);

/* The conflict between lines of the object and others that is not worth a change; NULL: none. */
const struct lwp_conflict *lwp_conflicts_unsaid(const struct lwp_conflicts *conflicts, uint32_t object);

#endif
