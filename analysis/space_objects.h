/* Which objects a process's blocks and pools are. */
#ifndef LWP_ANALYSIS_SPACE_OBJECTS_H
#define LWP_ANALYSIS_SPACE_OBJECTS_H

#include "analysis/resolve.h"

/* After lwp_space_modules, before the first question: gives them objects, and these their numbers. Afterwards several
 * threads may ask at once. */
void lwp_space_objects(struct lwp_space *space, struct lwp_resolver *resolver);

#endif
