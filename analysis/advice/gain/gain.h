/* What a new layout saves: cache lines per element visit, and from it the program's speed-up. */
#ifndef LWP_ANALYSIS_ADVICE_GAIN_GAIN_H
#define LWP_ANALYSIS_ADVICE_GAIN_GAIN_H

#include "analysis/advice/gain/gain_model.h"
#include "analysis/advice/gain/layout.h"

/* Fields anywhere: the layout as it is, split, reordered, padded, or arrays side by side (each a group of one field).
 */
struct lwp_gain_placement {
    size_t field_count;
    const uint64_t *offsets, *bytes; /* of each field, in its group's element */
    const int *group;                /* of each field, 0 to groups - 1; -1: it does not count. NULL: all in group 0 */
    size_t groups;
    const uint64_t *spacing;   /* by group: from one element to the next */
    const uint64_t *alignment; /* by group: the first element lies on a multiple of it; NULL or 0: of a whole line */
    const uint64_t *start;     /* by group: ... or this many bytes past one (glibc: 16 past a page for large blocks) */
    bool linked;               /* each visit goes through group 0: that is where the pointers to the others are */
};

/* The mean count of cache lines of `line` bytes fetched for a visit of one element that touches the fields in `uses`,
 * once the walk is under way.
 * Visits go from each element to the next and share lines with it, or, `jumping`, anywhere and share nothing. Of a
 * field longer than two lines two are counted. */
double lwp_gain_lines(const struct lwp_gain_placement *placement, const bool *uses, uint64_t line, bool jumping);

/* What glibc's malloc takes for a block: the spacing of elements that are allocated one by one. */
uint64_t lwp_gain_chunk(uint64_t bytes);

struct lwp_gain_loop {
    uint32_t region;
    double before, after; /* cache lines for each element visited */
};

/* The same by replaying what was traced (layout_replay.h). */
struct lwp_gain_replay {
    uint64_t accesses; /* replayed; 0: nothing was traced */
    struct lwp_locality_found before, after;
};

struct lwp_gain {
    double before, after; /* the mean over loops by weight */
    double bytes_before, bytes_after; /* of all lines that the elements' used fields lie on, the mean over loops too */
    double low, high;     /* expected speed-up of the whole program */
    struct lwp_gain_loop *loops;
    size_t loop_count;
    struct lwp_gain_replay replay;
};

/* `group` of each field as lwp_affinity_cluster left it (-1: cold), `groups` of them. */
void lwp_gain_estimate(struct lwp_profile *profile, const struct lwp_layout *layout, const int *group, size_t groups,
                       struct lwp_gain *gain);

/* The same for any new layout of the same elements: as many fields as the layout has, in its order. */
void lwp_gain_of_placement(struct lwp_profile *profile, const struct lwp_layout *layout,
                           const struct lwp_gain_placement *after, struct lwp_gain *gain);

/* Where each field goes in its group: offsets[field], and the size of the group's structure. Pointers from the first
 * group to the others are counted when `linked`. */
uint64_t lwp_gain_pack(const struct lwp_layout *layout, const int *group, int which, size_t links, uint64_t *offsets);

#endif
