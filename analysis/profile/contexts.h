/* Calling contexts of all processes and threads in one tree: the same path is the same node everywhere. */
#ifndef LWP_ANALYSIS_PROFILE_CONTEXTS_H
#define LWP_ANALYSIS_PROFILE_CONTEXTS_H

#include "analysis/profile/profile.h"

/* The child of `parent` for a call at `address` (or for the function that starts there). */
uint32_t lwp_contexts_child(struct lwp_profile *profile, uint32_t parent, uint32_t module, uint64_t address, bool is_function);

/* What stands for callers that are not the same for all that has the path, or that are not known: outermost, if anywhere. */
uint32_t lwp_contexts_various(struct lwp_profile *profile);
bool lwp_contexts_is_various(const struct lwp_profile *profile, uint32_t context);

/* Their lowest common ancestor. */
uint32_t lwp_contexts_common(const struct lwp_profile *profile, uint32_t a, uint32_t b);

/* The same where LWP_NONE stands for none yet. */
uint32_t lwp_contexts_shared(const struct lwp_profile *profile, uint32_t a, uint32_t b);

/* Numbers the nodes by depth, module and address, so that numbers do not depend on the order in which they were made; numbers[old]
 * is the new one. The caller renumbers objects and streams. No child can be looked up until lwp_contexts_index. */
void lwp_contexts_sort(struct lwp_profile *profile, uint32_t *numbers);
void lwp_contexts_index(struct lwp_profile *profile);

/* The start of the function that holds the address, or the address itself when that is not known. */
uint64_t lwp_contexts_function(struct lwp_profile *profile, uint32_t module, uint64_t address);

/* The same path with recursion taken out: between two frames of one function only the innermost stays. Trees built by
 * recursion would otherwise be one object for each depth. */
uint32_t lwp_contexts_unrecursed(struct lwp_profile *profile, uint32_t context);

/* Of a path to an allocation the call whose code says what the block is, from the allocator outwards, as long as each function hands the
 * block to its caller; 0: none does. */
uint32_t lwp_contexts_block(const struct lwp_profile *profile, uint32_t node, struct lwp_candidate *candidate);

#endif
