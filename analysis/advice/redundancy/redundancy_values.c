/* Why a value is computed, written to a register, or stored beside an equal one, once more: told from the two
 * instructions, their functions and loops, as far as these show it. What was gained by removing such causes is from
 * Wen's thesis, tables 2.1, 2.4 and 3.5 and their sections. */
#include "analysis/advice/redundancy/redundancy_cause.h"

#include <string.h>

enum { RSP = 4, RBP = 5 };

const struct lwp_cause_text lwp_cause_value_texts[] = {
    {LWP_WATCHPOINT_COMPUTATION, UNKNOWN, "The second line computes again, from the same values, what the first has computed; why is unknown.",
     "Keep the result, or move the computation out of the loop."},
    {LWP_WATCHPOINT_COMPUTATION, SAME_ARGUMENTS, "A mathematical function is called again with an argument that it was called with before.",
     "Keep the last argument and its result, and call only for another one: so bwaves became 1.07x faster (pow) and lavaMD 1.50x (exp)."},
    {LWP_WATCHPOINT_COMPUTATION, MISSED_INLINING,
     "A function that is called in a loop computes the same from the same values in many calls.",
     "Let the compiler inline it, so that what does not change moves out of the loop; or compute that part once and pass it in."},
    {LWP_WATCHPOINT_COMPUTATION, LOOP_INVARIANT,
     "The loop computes the same from the same values again and again: in each pass, or each time it is gone through.",
     "Compute it before the loop, or, where it depends on an inner loop's counter, keep the results of the first time; if the "
     "compiler has to assume that a store changes the inputs, local copies or restrict help. Without such divisions in its inner "
     "loops bwaves became 1.07x faster."},
    {LWP_WATCHPOINT_COMPUTATION, COMMON_EXPRESSION,
     "Two places of one loop or function compute the same: at once, or one of them what the other has computed in the pass before.",
     "Keep the result in a local variable for both, and carry over what the next pass needs (scalar replacement): Sweep3D became "
     "1.22x faster, a stencil 1.36x, loops of zeusmp by up to 30 %. Measure: it can keep the compiler from vectorising."},
    {LWP_WATCHPOINT_COMPUTATION, COMPUTED_ELSEWHERE, "A function computes what another one has computed from the same values.",
     "Pass the result on, or keep it with the data it is computed from."},

    {LWP_WATCHPOINT_REGISTER, UNKNOWN, "The second line writes to a register the value that the first has left there; why is unknown.",
     "Keep the result and compute it again only where its inputs have changed."},
    {LWP_WATCHPOINT_REGISTER, SAME_ARGUMENTS, "A mathematical function is called with the same argument as the time before: its registers get the values they have.",
     "Call it for new arguments only: lavaMD became 1.50x faster when exp was."},
    {LWP_WATCHPOINT_REGISTER, SPILL, "A value is loaded from the stack into the register that has it already.",
     "Split the loop, or make fewer values live across it; look whether profile-guided optimisation keeps this one in a register."},
    {LWP_WATCHPOINT_REGISTER, KEPT_IN_MEMORY, "The loop loads the same value from one place into the same register, time and again.",
     "Load it into a local variable before the loop; if the compiler has to assume that a store changes it, restrict or a copy helps."},
    {LWP_WATCHPOINT_REGISTER, MISSED_INLINING,
     "A function that is called in a loop sets its registers to what they are since the call before.",
     "Let the compiler inline it; of a function called through a pointer make a loop for each target: h264ref became 1.34x faster."},
    {LWP_WATCHPOINT_REGISTER, CONVERGED, "The new number is within 1 % (or what --approx said) of the one that is there: it hardly changes.",
     "If the algorithm allows it, reuse the old result while its inputs change little; hotspot became 2.21x faster with one value for many cells."},
    {LWP_WATCHPOINT_REGISTER, REDUNDANT_COMPUTATION, "The loop computes the value anew and it comes out as it was in the pass before.",
     "Test whether the inputs have changed, and keep the result if not: lavaMD became 1.50x faster, backprop 1.14x."},

    {LWP_WATCHPOINT_SPATIAL, UNKNOWN, "Elements beside each other hold the same value; why is unknown.",
     "Look whether one value can stand for a run of them."},
    {LWP_WATCHPOINT_SPATIAL, UNIFORM_FILL, "Elements beside each other hold the same value because a fill, or a loop, sets all of them to it.",
     "Leave it out where the elements are written anyway before they are read, or keep the value once if most of them never get another: "
     "NWChem became 1.53x faster without zeroing a buffer."},
    {LWP_WATCHPOINT_SPATIAL, CONVERGED, "Elements beside each other are within 1 % (or what --approx said) of each other.",
     "If the algorithm allows it, compute a value once for several neighbours: hotspot became 2.21x faster with one for many cells."},
    {LWP_WATCHPOINT_SPATIAL, REDUNDANT_COMPUTATION, "The same value is computed for elements beside each other.",
     "Compute it, and load what it is made of, only where it can differ from the neighbour's: particlefilter became 1.10x faster."},
};
const size_t lwp_cause_value_text_count = sizeof lwp_cause_value_texts / sizeof *lwp_cause_value_texts;

static bool value_in_libm(const struct lwp_profile *profile, const struct lwp_access_site *site)
{
    const struct lwp_module *module = site->place ? lwp_code_module_info(profile->code, site->place->module) : NULL;
    return module && module->path && (strstr(module->path, "/libm.so") || strstr(module->path, "/libm-") || strstr(module->path, "/libmvec.so"));
}

static bool value_same_function(const struct lwp_evidence *e)
{
    return e->first.place && e->second.place && e->first.place->module == e->second.place->module &&
           e->first.place->function_low == e->second.place->function_low;
}

/* One instruction on one call path, of a function with no loop around it but that of a caller. */
static bool value_of_calls(struct lwp_profile *profile, const struct lwp_redundancy *item, const struct lwp_evidence *e)
{
    return e->same && e->same_call && e->first.loop == LWP_NONE && lwp_access_called_in_loop(profile, item->pair->first);
}

static enum lwp_cause value_computed(struct lwp_profile *profile, const struct lwp_redundancy *item, const struct lwp_evidence *e)
{
    if (!e->first.place || !e->second.place)
        return UNKNOWN;
    if (value_same_function(e) && value_in_libm(profile, &e->first))
        return SAME_ARGUMENTS;
    if (e->same && e->same_loop)
        return LOOP_INVARIANT;
    if (value_of_calls(profile, item, e))
        return MISSED_INLINING;
    if (!e->same && (e->same_loop || (e->same_call && value_same_function(e))))
        return COMMON_EXPRESSION;
    return value_same_function(e) ? UNKNOWN : COMPUTED_ELSEWHERE;
}

static enum lwp_cause value_written(struct lwp_profile *profile, const struct lwp_redundancy *item, const struct lwp_evidence *e)
{
    const struct lwp_memory_operand *operand = &e->second.operand;
    if (!e->first.place || !e->second.place)
        return UNKNOWN;
    if (value_same_function(e) && value_in_libm(profile, &e->second))
        return SAME_ARGUMENTS;
    if (operand->load && (operand->base == RSP || operand->base == RBP) && operand->index < 0)
        return SPILL;
    if (e->same && e->same_loop && operand->load && e->second.shaped && e->second.shape.stays)
        return KEPT_IN_MEMORY;
    if (value_of_calls(profile, item, e))
        return MISSED_INLINING;
    if (item->close > 0.5)
        return CONVERGED;
    return e->same && e->same_loop && !operand->load ? REDUNDANT_COMPUTATION : UNKNOWN;
}

static enum lwp_cause value_beside(const struct lwp_redundancy *item, const struct lwp_evidence *e)
{
    if (!e->second.place)
        return UNKNOWN;
    if (lwp_access_initialises(&e->second))
        return UNIFORM_FILL;
    if (item->close > 0.5)
        return CONVERGED;
    return e->second.shaped && e->second.operand.store && !lwp_access_copies(&e->second) ? REDUNDANT_COMPUTATION : UNKNOWN;
}

enum lwp_cause lwp_cause_of_value(struct lwp_profile *profile, const struct lwp_redundancy *item, const struct lwp_evidence *e)
{
    return item->kind == LWP_WATCHPOINT_COMPUTATION ? value_computed(profile, item, e)
           : item->kind == LWP_WATCHPOINT_REGISTER  ? value_written(profile, item, e)
                                                 : value_beside(item, e);
}
