/* What split.c asks of its neighbours; of affinity regroup.c asks, too. */
#ifndef LWP_ANALYSIS_ADVICE_LAYOUT_SPLIT_INTERNAL_H
#define LWP_ANALYSIS_ADVICE_LAYOUT_SPLIT_INTERNAL_H

#include "analysis/advice/layout/split.h"

/* affinity.c: which fields are used together, and the groups that makes (LWPTool 5.2.3). */

/* One loop: its weight and which of the fields it uses. */
struct lwp_affinity_loop {
    double weight;
    const bool *uses;
};

/* Eq. 7 for every pair, into affinity[i * fields + j]. A loop's weight counts in even parts for the fields it uses. */
void lwp_affinity_compute(const struct lwp_affinity_loop *loops, size_t loop_count, size_t fields, double *affinity);

/* group[i]: the group of field i, numbered from 0 by their weight, heaviest first; fields whose weight is below
 * `cold` of the whole are left out with -1. Returns the number of groups. */
size_t lwp_affinity_cluster(const double *affinity, const double *weights, size_t fields, double threshold, double cold, int *group);

/* reorder.c: the same structure with its fields in another order. `group` is that of lwp_affinity_cluster. Fills `reordered` (its
 * gain, its order; no declaration yet) and returns true when an order was found that fetches fewer cache lines. */
bool lwp_reorder_try(struct lwp_profile *profile, const struct lwp_layout *layout, const double *affinity, const int *group,
                     struct lwp_split *reordered);

/* order.c: the same elements in the order in which the loop that waits for them longest goes to them. Fills `ordered` (its gain; no
 * declaration yet) and returns true when the order lasts, and what it gains was measured. */
bool lwp_order_try(struct lwp_profile *profile, const struct lwp_layout *layout, const double *affinity, struct lwp_split *ordered);

/* Whether elements end in bytes that are not of their type, as many as each needs: a flexible array, a key. */
bool lwp_order_has_tails(const struct lwp_layout *layout);

static const uint64_t lwp_order_anywhere = UINT64_MAX;

/* Whether no stores to the object, in its elements to this place, were seen while the loop ran. */
bool lwp_order_stays(const struct lwp_profile *profile, uint32_t object, uint64_t place, uint32_t loop);

/* Counts what one copy takes of the gain of loops that take `weight`. False: not known. */
bool lwp_order_copied(struct lwp_profile *profile, const struct lwp_layout *layout, double weight, struct lwp_gain *gain);

/* in_place.c: the same elements in the array by whose pointers loops come to them. As above. */
bool lwp_in_place_try(struct lwp_profile *profile, const struct lwp_layout *layout, const double *affinity, struct lwp_split *placed);

/* ... what declares it. */
const char *lwp_in_place_write(struct lwp_profile *profile, const struct lwp_split *split);

/* walked.c: what a std::map or a std::set holds in a sorted array, where the program only goes through it from element to element. */
bool lwp_walked_try(struct lwp_profile *profile, const struct lwp_layout *layout, const double *affinity, struct lwp_split *walked);

/* ... `ordered`, a list's nodes in its order: becomes what they hold in an array, if that gains more. */
void lwp_walked_list(struct lwp_profile *profile, struct lwp_split *ordered);

/* order_text.c: what brings the elements into that order, in C or C++; NULL: in another language, or the link has no name. */
const char *lwp_order_write(struct lwp_profile *profile, const struct lwp_split *split);

/* split_owners.c: whose the layout is. */

/* Whether elements are entries of a container of the language's library, which nobody can split: a note says so. */
bool lwp_split_of_library(struct lwp_profile *profile, const struct lwp_layout *layout);

/* A sentence on what stands against the split: the type is the system's, or its members are a base class's; NULL: nothing known. */
const char *lwp_split_caution(struct lwp_profile *profile, const struct lwp_split *split);

/* Of splits that would put the members of one base class into different parts the best one stays. `splits` are in order of gain. */
void lwp_split_drop_conflicts(struct lwp_profile *profile, struct lwp_splits *splits);

/* element_pointers.c: who holds pointers to elements of the type: "next in struct node", "all", the first member or array that is
 * found; NULL: none known. */
const char *lwp_element_pointers_by(struct lwp_profile *profile, const struct lwp_layout *layout);

/* Whether the elements live in several blocks at one time, so that no index leads from one array to another. */
bool lwp_element_pointers_scattered(const struct lwp_profile *profile, const struct lwp_layout *layout);

/* element_writers.c: fields that are stored to, by field: stored[field_count]. */
void lwp_element_writers_fields(const struct lwp_profile *profile, const struct lwp_layout *layout, bool *stored);

/* n when threads own elements in turn (the owner of element i depends on i mod n), so that neighbours belong to different
 * threads; 0 when they do not, or it is not known. Only loops that store are looked at. */
unsigned lwp_element_writers_turns(const struct lwp_profile *profile, const struct lwp_layout *layout);

/* Whether the elements that threads store to lie among those of other threads, not in slices. */
bool lwp_element_writers_mingle(const struct lwp_profile *profile, const struct lwp_layout *layout);

/* declaration.c: the new declarations, in the language of the type. */
const char *lwp_declaration_write(struct lwp_profile *profile, const struct lwp_split *split);

#endif
