/* What DWARF says an object's elements may be, from where it is used, made and declared. */
#ifndef LWP_ANALYSIS_ELEMENTS_ELEMENT_VOTES_H
#define LWP_ANALYSIS_ELEMENTS_ELEMENT_VOTES_H

#include "analysis/profile/profile.h"

enum { LWP_ELEMENT_CANDIDATES_MAX = 48 };

struct lwp_element_candidate {
    const struct lwp_type *type;
    const char *variable;
    double score, variable_score;
    bool exact;
    bool made;       /* the allocation says so */
    bool table;      /* the allocation says so, and that a table's control bytes follow */
    bool told;       /* an allocator's function says so that may have been merged with others */
    double accessed; /* accesses through pointers to it */
};

struct lwp_element_votes {
    struct lwp_element_candidate candidates[LWP_ELEMENT_CANDIDATES_MAX];
    size_t count;
    double exact; /* accesses through pointers whose type is known */
    uint64_t table_start, table_end; /* of the elements of a table; 0: it is none */
};

/* `votes` is empty before; candidates come in no order. Asks for no more than the first streams of many. */
void lwp_element_votes_collect(struct lwp_profile *profile, uint32_t index, struct lwp_element_votes *votes);

#endif
