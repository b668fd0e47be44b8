/* How much of the weight on data has a name. */
#ifndef LWP_ANALYSIS_ELEMENTS_FIELD_COVERAGE_H
#define LWP_ANALYSIS_ELEMENTS_FIELD_COVERAGE_H

#include "analysis/profile/profile.h"

struct lwp_field_coverage {
    double weight; /* of accesses to heap and static data */
    double type;   /* the part of it on objects whose type is known */
    double field;  /* the part of it whose field is known too; of plain numbers and pointers the type is all */
};

struct lwp_field_coverage lwp_field_coverage_weigh(const struct lwp_profile *profile);

#endif
