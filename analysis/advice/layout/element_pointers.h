/* Who holds pointers to the elements of a type. */
#ifndef LWP_ANALYSIS_ADVICE_LAYOUT_ELEMENT_POINTERS_H
#define LWP_ANALYSIS_ADVICE_LAYOUT_ELEMENT_POINTERS_H

#include "analysis/advice/gain/layout.h"

/* "next in struct node", "all": the first member or array of pointers to elements of the layout's type that is found;
 * NULL: none known. */
const char *lwp_element_pointers_by(struct lwp_profile *profile, const struct lwp_layout *layout);

/* Whether its elements live in several blocks at one time, so that no index leads from one array to another. */
bool lwp_element_pointers_scattered(const struct lwp_profile *profile, const struct lwp_layout *layout);

#endif
