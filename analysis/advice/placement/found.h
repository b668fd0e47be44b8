/* Fields that are used of the element that a search has found. */
#ifndef LWP_ANALYSIS_ADVICE_PLACEMENT_FOUND_H
#define LWP_ANALYSIS_ADVICE_PLACEMENT_FOUND_H

#include "analysis/advice/placement/layout.h"

/* Of one of the layout's loops: sets uses[f] of the fields that are accessed behind it through the pointer or index that it goes
 * on with, unless samples show that it goes over many elements for one that it finds. Loops that use what it finds, and no other
 * elements, have it as their search. */
void lwp_layout_found(struct lwp_profile *profile, struct lwp_layout *layout, struct lwp_layout_loop *search);

/* Whether the loop searches by halves, or goes from a node of a tree to one of two below it, whose addresses are one behind the other. */
bool lwp_layout_descends(struct lwp_profile *profile, const struct lwp_layout *layout, const struct lwp_layout_loop *loop);

/* Of fields in use the place of the first of the two addresses; false: there are none. */
bool lwp_layout_tree_links(const uint64_t *offsets, const uint64_t *bytes, const bool *uses, size_t count, uint64_t *link);

#endif
