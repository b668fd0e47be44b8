/* The elements of objects: size, type, variable name. */
#ifndef LWP_ANALYSIS_ELEMENTS_ELEMENTS_H
#define LWP_ANALYSIS_ELEMENTS_ELEMENTS_H

#include "analysis/profile/profile.h"

/* Fills stride of each stream and type, variable, element_bytes, single of each object worth the work. */
void lwp_elements_find(struct lwp_profile *profile);

/* Notes why elements and fields of hot objects are unknown. After the objects have names. */
void lwp_elements_notes(struct lwp_profile *profile);

/* How much of the cost of data accesses has a name. */
struct lwp_field_coverage {
    double weight; /* of accesses to heap, mapped and static data */
    double type;   /* the part of it on objects whose type is known */
    double field;  /* the part of it whose field is known too; of plain numbers and pointers the type is all */
    struct lwp_agreement agreement; /* of all these accesses */
};

struct lwp_field_coverage lwp_field_coverage_weigh(const struct lwp_profile *profile);

#endif
