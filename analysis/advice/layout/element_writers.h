/* Which threads write which elements. */
#ifndef LWP_ANALYSIS_ADVICE_LAYOUT_ELEMENT_WRITERS_H
#define LWP_ANALYSIS_ADVICE_LAYOUT_ELEMENT_WRITERS_H

#include "analysis/advice/gain/layout.h"

/* Fields that are stored to, by field: stored[field_count]. */
void lwp_element_writers_fields(const struct lwp_profile *profile, const struct lwp_layout *layout, bool *stored);

/* n when threads own elements in turn (the owner of element i depends on i mod n), so that neighbours belong to
 * different threads; 0 when they do not, or it cannot be told. Only loops that store are asked. */
unsigned lwp_element_writers_turns(const struct lwp_profile *profile, const struct lwp_layout *layout);

/* Whether the elements that threads store to lie among those of other threads, not in slices. */
bool lwp_element_writers_mingle(const struct lwp_profile *profile, const struct lwp_layout *layout);

#endif
