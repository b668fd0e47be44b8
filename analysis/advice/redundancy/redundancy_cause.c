/* Why a pair is redundant: a cause that the two instructions, their functions and loops, the object, and whether the pair came back to one
 * address or went on to others, all point to. Each rule claims no more than it has seen; where none fits the cause is unknown and
 * the pair is only described. Causes are those of Wen's thesis (redundancy_texts.c). */
#include "analysis/advice/redundancy/access_site.h"
#include "analysis/advice/redundancy/redundancy_cause.h"

#include <string.h>

enum { PLACES_LEAST = 3 };

struct evidence {
    struct lwp_access_site first, second;
    const struct lwp_object *object; /* NULL: unknown */
    bool same_call;                  /* both in the same calling context */
    bool same, same_loop;            /* instruction; loop */
    bool stays, moves;               /* time and again at one address; at many */
};

static struct evidence cause_evidence(struct lwp_profile *profile, const struct lwp_redundancy *item)
{
    const struct lwp_watchpoint_pair *pair = item->pair;
    struct evidence e = {.first = lwp_access_site(profile, pair->first),
                         .second = lwp_access_site(profile, pair->second),
                         .object = pair->object == LWP_NONE ? NULL : &profile->objects[pair->object],
                         .same_call = profile->contexts[pair->first].parent == profile->contexts[pair->second].parent};
    e.same = lwp_access_same(&e.first, &e.second);
    e.same_loop = e.same_call && lwp_access_same_loop(&e.first, &e.second);
    e.stays = item->again >= PLACES_LEAST && item->again > 10 * item->moved;
    e.moves = item->moved >= PLACES_LEAST && item->moved > item->again;
    return e;
}

/* ---- accesses to memory ---- */

static bool memory_is_argument(const struct evidence *e)
{
    return lwp_access_is_argument(&e->first, e->object) || lwp_access_is_argument(&e->second, e->object);
}

static bool memory_is_slot(const struct evidence *e)
{
    return lwp_access_is_slot(&e->first, e->object) && lwp_access_is_slot(&e->second, e->object);
}

static enum lwp_cause memory_dead(struct lwp_profile *profile, const struct evidence *e)
{
    const struct lwp_loop_shape *shape = &e->first.shape;
    if (lwp_access_copies(&e->first))
        return LWP_CAUSE_UNREAD_COPY;
    if (memory_is_argument(e))
        return LWP_CAUSE_MISSED_INLINING;
    if (memory_is_slot(e))
        return LWP_CAUSE_SPILL;
    if (e->same_loop && e->first.shaped && shape->stays && e->second.shape.stays)
        return e->same || !lwp_access_same_pass(profile, &e->first, &e->second) ? LWP_CAUSE_KEPT_IN_MEMORY : LWP_CAUSE_STORED_TWICE;
    if (e->same_loop && !e->same && e->first.place->address < e->second.place->address &&
        lwp_access_same_pass(profile, &e->first, &e->second))
        return LWP_CAUSE_STORED_TWICE;
    if (lwp_access_initialises(&e->first))
        return lwp_access_initialises(&e->second) ? LWP_CAUSE_REPEATED_FILL : LWP_CAUSE_USELESS_INITIALISATION;
    if (lwp_access_same_loop(&e->first, &e->second) && ((e->first.shaped && shape->steps) || e->moves))
        return LWP_CAUSE_OVERWRITTEN_WHOLE;
    return e->same_loop && e->same && e->stays ? LWP_CAUSE_KEPT_IN_MEMORY : LWP_CAUSE_UNKNOWN;
}

static enum lwp_cause memory_silent_store(const struct evidence *e, double close)
{
    const struct lwp_access_site *second = &e->second;
    if (close > 0.5)
        return LWP_CAUSE_CONVERGED;
    if (memory_is_argument(e))
        return LWP_CAUSE_MISSED_INLINING;
    if (memory_is_slot(e))
        return LWP_CAUSE_SPILL;
    if (e->same_loop && e->same && second->shaped && second->shape.stays && second->shape.repeats_value)
        return LWP_CAUSE_KEPT_IN_MEMORY;
    if (lwp_access_initialises(second))
        return LWP_CAUSE_REPEATED_FILL;
    return second->operand.load || (second->shaped && !second->shape.repeats_value) ? LWP_CAUSE_REDUNDANT_COMPUTATION : LWP_CAUSE_UNKNOWN;
}

static enum lwp_cause memory_silent_load(struct lwp_profile *profile, const struct lwp_redundancy *item, const struct evidence *e)
{
    const struct lwp_loop_shape *shape = &e->first.shape;
    if (memory_is_argument(e))
        return LWP_CAUSE_MISSED_INLINING;
    if (memory_is_slot(e))
        return LWP_CAUSE_SPILL;
    if (e->same_loop && e->first.shaped && shape->stays && e->second.shape.stays)
        return LWP_CAUSE_KEPT_IN_MEMORY;
    if (e->same && e->first.shaped && e->moves)
        return shape->stores == 0 && shape->exits > 1 ? LWP_CAUSE_LINEAR_SEARCH : LWP_CAUSE_REPEATED_TRAVERSAL;
    if (e->same_loop && !e->same && lwp_access_same_pass(profile, &e->first, &e->second))
        return LWP_CAUSE_KEPT_IN_MEMORY;
    if (e->same && e->first.loop == LWP_NONE && lwp_access_called_in_loop(profile, item->pair->first)) {
        if (lwp_access_compares(&e->first) && e->moves)
            return LWP_CAUSE_LINEAR_SEARCH;
        if (e->stays)
            return LWP_CAUSE_MISSED_INLINING;
    }
    return LWP_CAUSE_UNKNOWN;
}

/* ---- values computed, in registers, and beside each other ---- */

static bool value_in_libm(const struct lwp_profile *profile, const struct lwp_access_site *site)
{
    const struct lwp_module *module = site->place ? lwp_code_module_info(profile->code, site->place->module) : NULL;
    return module && module->path &&
           (strstr(module->path, "/libm.so") || strstr(module->path, "/libm-") || strstr(module->path, "/libmvec.so"));
}

static bool value_same_function(const struct evidence *e)
{
    return e->first.place && e->second.place && e->first.place->module == e->second.place->module &&
           e->first.place->function_low == e->second.place->function_low;
}

/* One instruction on one call path, of a function with no loop around it but that of a caller. */
static bool value_of_calls(struct lwp_profile *profile, const struct lwp_redundancy *item, const struct evidence *e)
{
    return e->same && e->same_call && e->first.loop == LWP_NONE && lwp_access_called_in_loop(profile, item->pair->first);
}

static enum lwp_cause value_computation(struct lwp_profile *profile, const struct lwp_redundancy *item, const struct evidence *e)
{
    if (!e->first.place || !e->second.place)
        return LWP_CAUSE_UNKNOWN;
    if (value_same_function(e) && value_in_libm(profile, &e->first))
        return LWP_CAUSE_SAME_ARGUMENTS;
    if (e->same && e->same_loop)
        return LWP_CAUSE_LOOP_INVARIANT;
    if (value_of_calls(profile, item, e))
        return LWP_CAUSE_MISSED_INLINING;
    if (!e->same && (e->same_loop || (e->same_call && value_same_function(e))))
        return LWP_CAUSE_COMMON_EXPRESSION;
    return value_same_function(e) ? LWP_CAUSE_UNKNOWN : LWP_CAUSE_COMPUTED_ELSEWHERE;
}

static enum lwp_cause value_register(struct lwp_profile *profile, const struct lwp_redundancy *item, const struct evidence *e)
{
    const struct lwp_memory_operand *operand = &e->second.operand;
    if (!e->first.place || !e->second.place)
        return LWP_CAUSE_UNKNOWN;
    if (value_same_function(e) && value_in_libm(profile, &e->second))
        return LWP_CAUSE_SAME_ARGUMENTS;
    if (operand->load && lwp_access_by_stack(&e->second))
        return LWP_CAUSE_SPILL;
    if (e->same && e->same_loop && operand->load && e->second.shaped && e->second.shape.stays)
        return LWP_CAUSE_KEPT_IN_MEMORY;
    if (value_of_calls(profile, item, e))
        return LWP_CAUSE_MISSED_INLINING;
    if (item->close > 0.5)
        return LWP_CAUSE_CONVERGED;
    return e->same && e->same_loop && !operand->load ? LWP_CAUSE_REDUNDANT_COMPUTATION : LWP_CAUSE_UNKNOWN;
}

static enum lwp_cause value_spatial(const struct lwp_redundancy *item, const struct evidence *e)
{
    if (!e->second.place)
        return LWP_CAUSE_UNKNOWN;
    if (lwp_access_initialises(&e->second))
        return LWP_CAUSE_UNIFORM_FILL;
    if (item->close > 0.5)
        return LWP_CAUSE_CONVERGED;
    return e->second.shaped && e->second.operand.store && !lwp_access_copies(&e->second) ? LWP_CAUSE_REDUNDANT_COMPUTATION
                                                                                         : LWP_CAUSE_UNKNOWN;
}

enum lwp_cause lwp_redundancy_cause(struct lwp_profile *profile, const struct lwp_redundancy *item)
{
    const struct evidence e = cause_evidence(profile, item);
    switch (item->kind) {
    case LWP_WATCHPOINT_DEAD_STORE:
        return memory_dead(profile, &e);
    case LWP_WATCHPOINT_SILENT_STORE:
        return memory_silent_store(&e, item->close);
    case LWP_WATCHPOINT_SILENT_LOAD:
        return memory_silent_load(profile, item, &e);
    case LWP_WATCHPOINT_COMPUTATION:
        return value_computation(profile, item, &e);
    case LWP_WATCHPOINT_REGISTER:
        return value_register(profile, item, &e);
    default:
        return value_spatial(item, &e);
    }
}
