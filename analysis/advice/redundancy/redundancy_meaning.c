/* Why a pair is redundant and what to do about it: the evidence there is of the pair, and the text for the cause that
 * it points to. Each rule claims no more than it has seen; where none fits the cause is unknown and the pair is only
 * described. The rules: redundancy_memory.c for accesses to memory, redundancy_values.c for what is no pair of them. */
#include "analysis/advice/redundancy/redundancy_cause.h"

enum { PLACES_LEAST = 3 };

static const char *const cause_names[LWP_CAUSES] = {
    "unknown",           "useless_initialisation", "repeated_fill", "unread_copy",     "overwritten_whole",
    "kept_in_memory",    "stored_twice",           "spill",         "missed_inlining", "redundant_computation",
    "converged",         "linear_search",          "repeated_walk", "same_arguments",  "loop_invariant",
    "common_expression", "computed_elsewhere",     "uniform_fill"};

static struct lwp_evidence meaning_evidence(struct lwp_profile *profile, const struct lwp_redundancy *item)
{
    const struct lwp_watchpoint_pair *pair = item->pair;
    struct lwp_evidence e = {.first = lwp_access_site(profile, pair->first),
                             .second = lwp_access_site(profile, pair->second),
                             .object = pair->object == LWP_NONE ? NULL : &profile->objects[pair->object],
                             .same_call =
                                 profile->contexts[pair->first].parent == profile->contexts[pair->second].parent};
    e.same = lwp_access_same(&e.first, &e.second);
    e.same_loop = e.same_call && lwp_access_same_loop(&e.first, &e.second);
    e.stays = item->again >= PLACES_LEAST && item->again > 10 * item->moved;
    e.walks = item->moved >= PLACES_LEAST && item->moved > item->again;
    return e;
}

/* Of a cause that the list has no text for, that of unknown stays. */
static void meaning_text(struct lwp_redundancy *item, enum lwp_cause cause, const struct lwp_cause_text *list,
                         size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].kind == item->kind && (list[i].cause == cause || list[i].cause == UNKNOWN)) {
            item->cause = cause_names[list[i].cause];
            item->meaning = list[i].meaning;
            item->remedy = list[i].remedy;
            if (list[i].cause == cause)
                return;
        }
}

void lwp_redundancy_explain(struct lwp_profile *profile, struct lwp_redundancy *item)
{
    struct lwp_evidence e = meaning_evidence(profile, item);
    bool memory = item->kind == LWP_WATCHPOINT_DEAD_STORE || item->kind == LWP_WATCHPOINT_SILENT_STORE ||
                  item->kind == LWP_WATCHPOINT_SILENT_LOAD;
    if (memory)
        meaning_text(item, lwp_cause_of_memory(profile, item, &e), lwp_cause_memory_texts, lwp_cause_memory_text_count);
    else
        meaning_text(item, lwp_cause_of_value(profile, item, &e), lwp_cause_value_texts, lwp_cause_value_text_count);
}
