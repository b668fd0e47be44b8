/* Why an access to memory is redundant, told from the two instructions, their functions and loops, the object, and
 * whether the pair came back to one address or went on to others. Causes and what was gained by removing them are those
 * of Wen's thesis, table 4.3 (Witch), and of its chapter on RedSpy (Caffe, backprop, NWChem). */
#include "analysis/advice/redundancy/redundancy_cause.h"

const struct lwp_cause_text lwp_cause_memory_texts[] = {
    {LWP_WATCHPOINT_DEAD_STORE, UNKNOWN,
     "What the first line stores is overwritten by the second before anything reads it; why is unknown.",
     "Look whether the first store is needed at all, or only in some cases."},
    {LWP_WATCHPOINT_DEAD_STORE, USELESS_INITIALISATION,
     "Useless initialisation: what is initialised first is written again before anything reads it.",
     "Leave the initialisation out, or initialise only what is not written anyway; NWChem became 1.43x faster "
     "without one."},
    {LWP_WATCHPOINT_DEAD_STORE, REPEATED_FILL,
     "Memory is filled again although hardly anything has read it since it was filled before.",
     "Fill only the part that is used, or use a smaller structure: gcc became 1.33x faster with one in place of a "
     "large table that was cleared for few entries."},
    {LWP_WATCHPOINT_DEAD_STORE, UNREAD_COPY, "A copy is made that is overwritten before anything reads it.",
     "Do not copy what is written anyway, or copy only the part that is kept."},
    {LWP_WATCHPOINT_DEAD_STORE, OVERWRITTEN_WHOLE,
     "The loop goes through the same memory again and overwrites results that nothing has read since they were "
     "stored.",
     "Compute only the results that are used: leave out the passes whose results are not read, or store only in "
     "the last one."},
    {LWP_WATCHPOINT_DEAD_STORE, KEPT_IN_MEMORY,
     "The loop stores to one place again and again, and nothing reads it in between.",
     "Keep the value in a local variable and store it once after the loop; if the compiler has to assume that a "
     "pointer may lead to it, restrict helps. hmmer became 1.28x faster."},
    {LWP_WATCHPOINT_DEAD_STORE, STORED_TWICE,
     "Each pass of the loop stores twice to the same place, and nothing reads the first value.",
     "Store once, at the end: keep the value in a local variable until it is final."},
    {LWP_WATCHPOINT_DEAD_STORE, SPILL,
     "The compiler saves a value to the stack and saves it again before it was needed: more values are in use "
     "than there are registers, or a call takes them.",
     "Split the loop, or make fewer values live across it; look whether profile-guided optimisation keeps this "
     "one in a register. bzip2 became 1.07x faster without such code."},
    {LWP_WATCHPOINT_DEAD_STORE, MISSED_INLINING,
     "What is stored for a function on the stack is stored again before anything reads it: the function is not "
     "inlined.",
     "Let the compiler inline it (in the header, static, or -flto), or pass less; povray became 1.08x faster."},

    {LWP_WATCHPOINT_SILENT_STORE, UNKNOWN, "The store writes the value that is there already; why is unknown.",
     "Look whether the value can change here at all; if not, store it once."},
    {LWP_WATCHPOINT_SILENT_STORE, REPEATED_FILL, "Memory is filled with what it already holds.",
     "Clear only what was changed since the last time."},
    {LWP_WATCHPOINT_SILENT_STORE, KEPT_IN_MEMORY, "The loop stores the same value to the same place again and again.",
     "Move the store out of the loop."},
    {LWP_WATCHPOINT_SILENT_STORE, SPILL, "The compiler saves a value to the stack that is there already.",
     "Split the loop, or make fewer values live across it."},
    {LWP_WATCHPOINT_SILENT_STORE, MISSED_INLINING,
     "The same value is put on the stack for each call of a function that is not inlined.",
     "Let the compiler inline it (in the header, static, or -flto); povray became 1.08x faster."},
    {LWP_WATCHPOINT_SILENT_STORE, REDUNDANT_COMPUTATION,
     "The value is computed anew and comes out as it was: often something is added that is zero, or the inputs "
     "have not changed.",
     "Test the inputs first and skip the computation with the store; backprop became 1.20x faster, Caffe 1.06x."},
    {LWP_WATCHPOINT_SILENT_STORE, CONVERGED,
     "The new number is within 1 % (or what --approx said) of the one it replaces: the result hardly changes any more.",
     "If the algorithm allows it, stop or skip where nothing changes; Caffe's pooling layer became 1.16x faster."},

    {LWP_WATCHPOINT_SILENT_LOAD, UNKNOWN,
     "The second line loads what the first has loaded, and nothing has changed it; why is unknown.",
     "Pass the value on instead of loading it again, or keep the result computed from it (vacation became 1.31x "
     "faster)."},
    {LWP_WATCHPOINT_SILENT_LOAD, KEPT_IN_MEMORY,
     "The loop loads the same unchanged value again instead of keeping it in a register.",
     "Load it into a local variable before the loop; if the compiler has to assume that a store changes it, "
     "restrict or a copy helps. lavaMD became 1.66x faster."},
    {LWP_WATCHPOINT_SILENT_LOAD, SPILL,
     "The compiler loads an unchanged value from the stack again: more values are in use than there are "
     "registers, or a call takes them.",
     "Split the loop, or make fewer values live across it."},
    {LWP_WATCHPOINT_SILENT_LOAD, MISSED_INLINING,
     "A function that is not inlined loads the same unchanged value each time it is called in a loop.",
     "Inline it, so that the value can stay in a register (h264ref became 1.27x faster), or pass the value in a "
     "register."},
    {LWP_WATCHPOINT_SILENT_LOAD, LINEAR_SEARCH,
     "A loop that changes nothing and can end early goes through the same unchanged data again and again: usually "
     "a linear search.",
     "Look things up by hashing or bisection, or keep what was found: without a linear search objdump became 10x "
     "faster, with a better hash table Kallisto 4.1x."},
    {LWP_WATCHPOINT_SILENT_LOAD, REPEATED_WALK, "A loop goes through the same data again and finds it unchanged.",
     "Keep the results that cannot have changed, do more in one pass while the data is in the cache, or skip data "
     "that does nothing, such as zeroes: imagick became 1.6x faster."},
};

const size_t lwp_cause_memory_text_count = sizeof lwp_cause_memory_texts / sizeof *lwp_cause_memory_texts;

static bool memory_is_argument(const struct lwp_evidence *e)
{
    return lwp_access_is_argument(&e->first, e->object) || lwp_access_is_argument(&e->second, e->object);
}

static bool memory_is_slot(const struct lwp_evidence *e)
{
    return lwp_access_is_slot(&e->first, e->object) && lwp_access_is_slot(&e->second, e->object);
}

static enum lwp_cause memory_dead(struct lwp_profile *profile, const struct lwp_evidence *e)
{
    const struct lwp_loop_shape *shape = &e->first.shape;
    if (lwp_access_copies(&e->first))
        return UNREAD_COPY;
    if (memory_is_argument(e))
        return MISSED_INLINING;
    if (memory_is_slot(e))
        return SPILL;
    if (e->same_loop && e->first.shaped && shape->stays && e->second.shape.stays)
        return e->same || !lwp_access_same_pass(profile, &e->first, &e->second) ? KEPT_IN_MEMORY : STORED_TWICE;
    if (e->same_loop && !e->same && e->first.place->address < e->second.place->address &&
        lwp_access_same_pass(profile, &e->first, &e->second))
        return STORED_TWICE;
    if (lwp_access_initialises(&e->first))
        return lwp_access_initialises(&e->second) ? REPEATED_FILL : USELESS_INITIALISATION;
    if (lwp_access_same_loop(&e->first, &e->second) && ((e->first.shaped && shape->steps) || e->walks))
        return OVERWRITTEN_WHOLE;
    return e->same_loop && e->same && e->stays ? KEPT_IN_MEMORY : UNKNOWN;
}

static enum lwp_cause memory_silent_store(const struct lwp_evidence *e, double close)
{
    const struct lwp_access_site *second = &e->second;
    if (close > 0.5)
        return CONVERGED;
    if (memory_is_argument(e))
        return MISSED_INLINING;
    if (memory_is_slot(e))
        return SPILL;
    if (e->same_loop && e->same && second->shaped && second->shape.stays && second->shape.repeats_value)
        return KEPT_IN_MEMORY;
    if (lwp_access_initialises(second))
        return REPEATED_FILL;
    return second->operand.load || (second->shaped && !second->shape.repeats_value) ? REDUNDANT_COMPUTATION : UNKNOWN;
}

static enum lwp_cause memory_silent_load(struct lwp_profile *profile, const struct lwp_redundancy *item,
                                      const struct lwp_evidence *e)
{
    const struct lwp_loop_shape *shape = &e->first.shape;
    if (memory_is_argument(e))
        return MISSED_INLINING;
    if (memory_is_slot(e))
        return SPILL;
    if (e->same_loop && e->first.shaped && shape->stays && e->second.shape.stays)
        return KEPT_IN_MEMORY;
    if (e->same && e->first.shaped && e->walks)
        return shape->stores == 0 && shape->exits > 1 ? LINEAR_SEARCH : REPEATED_WALK;
    if (e->same_loop && !e->same && lwp_access_same_pass(profile, &e->first, &e->second))
        return KEPT_IN_MEMORY;
    if (e->same && e->first.loop == LWP_NONE && lwp_access_called_in_loop(profile, item->pair->first)) {
        if (lwp_access_compares(&e->first) && e->walks)
            return LINEAR_SEARCH;
        if (e->stays)
            return MISSED_INLINING;
    }
    return UNKNOWN;
}

enum lwp_cause lwp_cause_of_memory(struct lwp_profile *profile, const struct lwp_redundancy *item, const struct lwp_evidence *e)
{
    if (item->kind == LWP_WATCHPOINT_DEAD_STORE)
        return memory_dead(profile, e);
    return item->kind == LWP_WATCHPOINT_SILENT_STORE ? memory_silent_store(e, item->close) : memory_silent_load(profile, item, e);
}
