/* Dead stores, silent stores, silent loads, and what only the exact engine sees: how much of what was sampled, and which pairs of
 * accesses. */
#ifndef LWP_ANALYSIS_ADVICE_REDUNDANCY_REDUNDANCY_H
#define LWP_ANALYSIS_ADVICE_REDUNDANCY_REDUNDANCY_H

#include "analysis/profile/profile.h"

/* Why a pair is redundant. */
enum lwp_cause {
    LWP_CAUSE_UNKNOWN,
    LWP_CAUSE_USELESS_INITIALISATION,
    LWP_CAUSE_REPEATED_FILL,
    LWP_CAUSE_UNREAD_COPY,
    LWP_CAUSE_OVERWRITTEN_WHOLE,
    LWP_CAUSE_KEPT_IN_MEMORY,
    LWP_CAUSE_STORED_TWICE,
    LWP_CAUSE_SPILL,
    LWP_CAUSE_MISSED_INLINING,
    LWP_CAUSE_REDUNDANT_COMPUTATION,
    LWP_CAUSE_CONVERGED,
    LWP_CAUSE_LINEAR_SEARCH,
    LWP_CAUSE_REPEATED_TRAVERSAL,
    LWP_CAUSE_SAME_ARGUMENTS,
    LWP_CAUSE_LOOP_INVARIANT,
    LWP_CAUSE_COMMON_EXPRESSION,
    LWP_CAUSE_COMPUTED_ELSEWHERE,
    LWP_CAUSE_UNIFORM_FILL,
    LWP_CAUSE_FULL_SEARCH,
    LWP_CAUSE_TREE_SEARCH,
    LWP_CAUSE_BISECTION,
    LWP_CAUSE_POINTER_CHAIN,
    LWP_CAUSE_VOLATILE,
    LWP_CAUSE_KEPT_EXTREME,
    LWP_CAUSE_COUNTED_LENGTH,
};

struct lwp_redundancy_total {
    bool measured;          /* anything was decided */
    struct lwp_share share; /* of the bytes decided: wasted, values being equal to the bit */
    struct lwp_share close; /* ... and where values are only about the same: none of these are in `share` */
    struct lwp_share time;  /* sampled: of the time around these accesses; counted: as `share` */
    double wasted, total;   /* in the weight's unit; wasted: of `share`; total: of all accesses of the kind */
    double undecided;       /* share of total of which nothing is known */
    uint64_t candidates, decided;
};

/* A pair of full call paths that an item counts in. */
struct lwp_redundancy_path {
    const struct lwp_watchpoint_pair *pair;
    double share;     /* of all decided accesses of the kind, sampled: of the time around them */
    double fraction;  /* of what was decided of its first context, */
    uint32_t stratum; /* ... the number of which this is */
    uint64_t samples;
};

struct lwp_redundancy {
    enum lwp_watchpoint_kind kind;
    bool approximate;                         /* values that are only about the same; of a pair that has both each is an item */
    const struct lwp_watchpoint_pair *pair;   /* the largest of them */
    const struct lwp_redundancy_path *others; /* those alike but for how their threads began, or for the instruction
                                                 of a line or of the C library; the largest first */
    size_t other_count;
    uint32_t first, second; /* their contexts without that */
    struct lwp_share share; /* of all bytes decided of the kind */
    struct lwp_share time;  /* sampled: of the time around them; counted: as `share` */
    double amount;          /* wasted, in the weight's unit */
    double own;             /* part of what its first contexts did of this kind: of elements RedSpy's S (3.4.2) */
    double neighbours;      /* of elements: share of those that equal the one before, or nearly do */
    uint64_t samples;       /* decided as waste */
    uint64_t again, moved;  /* of them, where the thread's last one was, and elsewhere; of elements: nearly and exactly as the one before */
    enum lwp_cause why;
    const char *cause, *meaning, *remedy;
    uint32_t line; /* in `lines` */
};

/* Less than this part of the program's time is not worth a finding, and fewer pairs decided are no evidence. */
enum { LWP_REDUNDANCY_PAIRS = 20 };
extern const double lwp_redundancy_time, lwp_redundancy_share, lwp_redundancy_neighbours;

/* All that one line of code (or, of results computed anew, one loop) wastes in one way, whatever data it is on and however it was called.
 */
struct lwp_redundant_line {
    enum lwp_watchpoint_kind kind;
    bool approximate;
    uint32_t item;          /* the largest of its items */
    uint32_t context;       /* of the wasteful access, or of the program's own call that leads to it */
    uint64_t place;         /* the same for whatever else the same line of code wastes */
    uint64_t code;          /* ... or, where that is one thing to change, the same loop */
    struct lwp_share share; /* of all bytes of the kind that were decided */
    struct lwp_share time;  /* sampled: of the time around them; counted: as `share` */
    double amount;          /* wasted, in the weight's unit */
    uint64_t samples;       /* pairs decided as waste */
    double stake;           /* the part of the program's time that there is to save at most; negative: no time was measured */
    double likely;          /* ... of that, what is no wait for what the line computes from: to see that it is the same, it is read */
    struct lwp_share saved; /* what the cure is expected to save of the program's time; high 0: not known */
    double searched;        /* of a linear search: elements looked at each time; 0: not known */
    bool searched_least;    /* ... or more */
    bool sure;              /* false: it looks like much, and too little was decided to say so */
    bool foreign;           /* inside a library, an allocator or the system's headers, and no copy or fill that the program asked for */
};

struct lwp_redundancies {
    struct lwp_redundancy_total totals[LWP_WATCHPOINT_KINDS];
    struct lwp_redundancy *items; /* the largest first */
    size_t count;
    struct lwp_redundant_line *lines; /* most time at stake first */
    size_t line_count;
};

/* Whether a share of bytes is too uncertain to say more than the share of the time: wide, or what may be nothing as well as much. */
static inline bool lwp_redundancy_by_time(const struct lwp_share *bytes)
{
    const double width_most = 0.4, nothing = 0.01;
    return bytes->high - bytes->low > width_most || (bytes->high >= lwp_redundancy_share && bytes->low < nothing);
}

/* In profile->arena. */
void lwp_redundancy_find(struct lwp_profile *profile, struct lwp_redundancies *found);

/* redundancy_texts.c: why it happens, as far as is known, and what to do about it. */
void lwp_redundancy_explain(struct lwp_profile *profile, struct lwp_redundancy *item);

/* redundancy_lines.c: fills `lines` from `items`. */
void lwp_redundancy_lines(struct lwp_profile *profile, struct lwp_redundancies *found);

/* The frame that a reader looks for an access in, and changes: innermost in a file that is not the system's, else not in a library. NULL:
 * unknown code. *at: its context. */
const struct lwp_frame *lwp_redundancy_frame(struct lwp_profile *profile, uint32_t context, uint32_t *at);

/* Whether a line is worth a finding: sure, with enough time at stake, in code that can be changed, and of a kind that people act on. */
bool lwp_redundancy_matters(const struct lwp_redundancies *found, const struct lwp_redundant_line *line);

#endif
