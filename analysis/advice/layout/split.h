/* Structure splitting, AoS to SoA or hot and cold: which structures to split, and how. */
#ifndef LWP_ANALYSIS_ADVICE_LAYOUT_SPLIT_H
#define LWP_ANALYSIS_ADVICE_LAYOUT_SPLIT_H

#include "analysis/advice/gain/gain.h"

enum lwp_split_kind {
    LWP_SPLIT_PARTS,    /* into several structures */
    LWP_SPLIT_REORDER,  /* the same structure with its fields in another order */
    LWP_SPLIT_POOL,     /* the same structure, nodes taken one after the other from large blocks */
    LWP_SPLIT_ORDER,    /* the same structure, elements in the order in which a loop goes to them */
    LWP_SPLIT_IN_PLACE, /* the same structure, elements in the array that has pointers to them today */
};

struct lwp_split {
    enum lwp_split_kind kind;
    const struct lwp_layout *layout;
    const double *affinity; /* field_count * field_count */
    const int *group;       /* of each field; -1: cold */
    size_t groups;          /* without the cold one */
    bool cold;
    bool pooled;            /* single blocks: it pays when they come from arrays, not from malloc one by one */
    double pool;            /* the speed-up of taking the nodes as they are from a pool alone; 0: not tried, or not known */
    uint32_t pointers;      /* in the order, or in the place, of an array of pointers: that; LWP_NONE: of their links */
    bool by_index;          /* ... which are the numbers of the elements */
    uint64_t link;          /* ... which are at this place of the elements */
    bool array;             /* in order: what a container keeps, in an array without its nodes */
    const size_t *order;    /* of the fields in their parts; NULL: as they were */
    uint64_t align;         /* the new structure is to begin on multiples of it; 0: as its fields need */
    const char *caution;    /* a sentence on what stands against it (whose type it is); NULL: nothing known */
    const char *confidence; /* "high", "medium", "low" */
    struct lwp_gain gain;
    const char *declaration;
};

/* What was found of a structure: the first that stands against another layout. */
enum lwp_split_verdict {
    LWP_SPLIT_NOT_JUDGED, /* no structure is known */
    LWP_SPLIT_ADVISED,    /* or its type is, for another object */
    LWP_SPLIT_LITTLE_TIME,
    LWP_SPLIT_LIBRARY, /* nodes or entries of a container of the language's library */
    LWP_SPLIT_BASE,    /* would move a base class's members in another way than the advice for another class */
    LWP_SPLIT_VIRTUAL, /* its virtual bases are where the compiler puts them */
    LWP_SPLIT_FITS_CACHE,
    LWP_SPLIT_UNSURE_SIZE,
    LWP_SPLIT_USED_TOGETHER, /* all fields that are used at all, and none is cold */
    LWP_SPLIT_PADDED,
    LWP_SPLIT_SHARES_FALSELY, /* would */
    LWP_SPLIT_VAGUE,          /* vectors hide which fields are used */
    LWP_SPLIT_FEW_SAMPLES,
    LWP_SPLIT_UNKNOWN_GAIN, /* it is not known what another layout saves */
    LWP_SPLIT_LITTLE_GAIN,
};

struct lwp_split_reason {
    enum lwp_split_verdict verdict;
    uint64_t samples; /* of all objects judged with this one */
    double speedup, low, high; /* the speed-up of the best layout tried; 0: none was */
    bool unknown;     /* which parts of a tree's elements are used is not known */
    bool few;         /* it might gain, but there are too few samples */
    bool copied;      /* vague: most of that is the C library's */
    struct lwp_split_pool {
        double speedup, low, high; /* of its nodes as they are, from a pool: an estimate that no run here agrees with; 0: none */
        uint64_t spacing;          /* bytes from one node to the next today, on average */
    } pool;
    struct lwp_split_order {
        uint64_t bytes; /* of an element whose fields stand in an order without holes; 0: it does not shrink */
        double speedup, low, high;
    } order;
};

/* What a layout needs for being advised: share of the time, samples, speed-up. */
struct lwp_split_needs {
    double share, gain;
};
extern const struct lwp_split_needs lwp_split_needs;

struct lwp_splits {
    struct lwp_layout **of_object;    /* by object, NULL: no structure */
    struct lwp_split_reason *reasons; /* by object */
    struct lwp_split *splits;         /* largest expected gain first */
    size_t count;
};

/* Makes the layouts of all objects and the splits worth advising; says in the notes when samples are too few. */
void lwp_split_advise(struct lwp_profile *profile, struct lwp_splits *splits);

/* Whether the array's pointers are those of the C++ library that delete what they lead to. */
bool lwp_order_owned(const struct lwp_profile *profile, uint32_t pointers);

/* A new structure: its fields in their new order, where each begins, and its size. */
struct lwp_split_part {
    size_t count, fields[LWP_FIELDS_MAX];
    uint64_t offsets[LWP_FIELDS_MAX];
    uint64_t bytes;
    size_t links; /* pointers to the other parts, at the end but for a flexible array */
};

/* Whether pointers lead from the first part to the others, not an index: so it is in a container's nodes, wherever these come from. */
bool lwp_split_points(const struct lwp_split *split);

/* `which` is a group, or -1: the cold part. */
void lwp_split_part(const struct lwp_split *split, int which, struct lwp_split_part *part);

#endif
