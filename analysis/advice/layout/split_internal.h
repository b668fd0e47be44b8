/* What split.c and its neighbours ask of each other; of affinity regroup.c asks, too. */
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

/* split_candidates.c: the other layouts that a structure may get. */

struct lwp_split_fields {
    double *affinity; /* field_count * field_count */
    int *group;       /* of each field; -1: cold */
    size_t groups;    /* without the cold one */
    bool cold;
};

/* Whether loops over whole elements do not count: they do not tell fields apart, and would tie those that nobody else uses to the next
 * best ones. Where they take most of the cost they do count. */
bool lwp_split_leaves_out(const struct lwp_layout *layout);

/* The groups of the fields; `leave_out`: without loops over whole elements. */
void lwp_split_cluster(struct lwp_profile *profile, const struct lwp_layout *layout, bool leave_out, struct lwp_split_fields *found);

/* The nodes as they are, one after the other in blocks of many. False: nothing was run, so nothing is said. */
bool lwp_split_pool_alone(struct lwp_profile *profile, struct lwp_layout *layout, struct lwp_split *pool);

/* The parts as arrays or behind pointers; they are worth it. Where loops over whole elements count it may pay for the others alone. */
bool lwp_split_parts_of_any(struct lwp_profile *profile, struct lwp_layout *layout, const struct lwp_split_fields *found,
                            struct lwp_split *split, struct lwp_split_reason *reason);

/* Fields that are used together, of which an array of structures has holes: arrays of fields of one alignment have none. */
bool lwp_split_without_holes(struct lwp_profile *profile, struct lwp_layout *layout, const struct lwp_split_fields *found,
                             struct lwp_split *split, struct lwp_split_reason *reason);

/* Of a container's nodes: what loops use of them, from one memory resource. `advised`: `split` is the better one of both alone; else
 * neither is worth it: what stays of a small node takes a chunk of malloc that is hardly smaller. */
bool lwp_split_both(struct lwp_profile *profile, struct lwp_layout *layout, const struct lwp_split_fields *found, bool advised,
                    struct lwp_split *split, struct lwp_split_reason *reason);

/* split_judge.c: what stands against a layout. */

/* What notes call the structure. */
const char *lwp_split_name(struct lwp_profile *profile, const struct lwp_layout *layout);

/* "high", "medium", "low": that the structure is as it is said to be. */
const char *lwp_split_confidence(const struct lwp_profile *profile, const struct lwp_layout *layout);

/* Before another layout is tried; LWP_SPLIT_NOT_JUDGED: nothing. */
enum lwp_split_verdict lwp_split_before(const struct lwp_profile *profile, const struct lwp_layout *layout);

/* Elements that fill whole lines for nothing but to keep threads apart: without the padding they would share lines. */
bool lwp_split_padded(struct lwp_profile *profile, const struct lwp_layout *layout, const int *group);

/* Whether the gain is enough and rests on enough; `reason` keeps the best one of all. */
bool lwp_split_worth(struct lwp_profile *profile, const struct lwp_layout *layout, const struct lwp_gain *gain,
                     struct lwp_split_reason *reason);

/* Elements that belong to threads in turn: in parts smaller than a cache line, neighbours' written fields would share
 * one, and each write would take the line from the other threads. */
bool lwp_split_shares_falsely(struct lwp_profile *profile, const struct lwp_split *split);

/* Vectors as wide as elements hide which fields are used: loops that seem to use everything may not. */
bool lwp_split_is_vague(const struct lwp_layout *layout);

/* Whether what is vague is memcpy(), memcmp() and their like: another build would not show more. */
bool lwp_split_is_copied(const struct lwp_layout *layout);

/* What stands against the layouts that were tried. */
enum lwp_split_verdict lwp_split_against(const struct lwp_profile *profile, const struct lwp_layout *layout,
                                         const struct lwp_split_reason *reason);

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
