/* Which objects a process's blocks and pools are. */
#ifndef LWP_ANALYSIS_LOAD_ADDRESS_MAP_OBJECTS_H
#define LWP_ANALYSIS_LOAD_ADDRESS_MAP_OBJECTS_H

#include "analysis/load/resolver.h"

/* After lwp_address_map_modules, before the first question: gives them objects, and these their numbers. Afterwards several
 * threads may ask at once. */
void lwp_address_map_objects(struct lwp_address_map *space, struct lwp_resolver *resolver);

#endif
