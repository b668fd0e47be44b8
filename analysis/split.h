/* Structure splitting: which structures to split, and how. */
#ifndef LWP_ANALYSIS_SPLIT_H
#define LWP_ANALYSIS_SPLIT_H

#include "analysis/gain.h"
#include "analysis/layout.h"

struct lwp_split {
    const struct lwp_layout *layout;
    const double *affinity; /* field_count * field_count */
    const int *group;       /* of each field; -1: cold */
    size_t groups;          /* without the cold one */
    bool cold;
    const char *confidence; /* "high", "medium", "low" */
    struct lwp_gain gain;
    const char *declaration;
};

struct lwp_splits {
    struct lwp_layout **of_object; /* by object, NULL: no structure */
    struct lwp_split *splits;      /* largest expected gain first */
    size_t count;
};

/* Makes the layouts of all objects and the splits worth advising; says in the notes when samples are too few. */
void lwp_split_advise(struct lwp_profile *profile, struct lwp_splits *splits);

/* The new declarations as C text. */
const char *lwp_declaration_write(struct lwp_profile *profile, const struct lwp_split *split);

#endif
