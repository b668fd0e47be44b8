/* What is reported of each cause of a redundancy: what it means and what to do about it. The causes are those of Wen's thesis, tables 2.1,
 * 2.4, 3.5 and 4.3; what other programs gained by removing them says nothing of this one. */
#include "analysis/advice/redundancy/redundancy_cause.h"

static const char *const cause_names[] = {
    "unknown",           "useless_initialisation", "repeated_fill", "unread_copy",     "overwritten_whole",
    "kept_in_memory",    "stored_twice",           "spill",         "missed_inlining", "redundant_computation",
    "converged",         "linear_search",          "repeated_walk", "same_arguments",  "loop_invariant",
    "common_expression", "computed_elsewhere",     "uniform_fill",  "full_search",     "tree_search",
    "bisection",         "pointer_chain",          "volatile",      "kept_extreme",    "counted_length"};

static const struct {
    enum lwp_watchpoint_kind kind;
    enum lwp_cause cause;
    const char *meaning, *remedy;
} texts[] = {
    /* the first of each kind also stands for causes that it has no text for */
    {LWP_WATCHPOINT_DEAD_STORE, LWP_CAUSE_UNKNOWN,
     "What the first line stores is overwritten by the second before anything reads it; why is unknown.",
     "Look whether the first store is needed at all, or only in some cases."},
    {LWP_WATCHPOINT_DEAD_STORE, LWP_CAUSE_USELESS_INITIALISATION,
     "Useless initialisation: what is initialised first is written again before anything reads it.",
     "Leave the initialisation out, or initialise only what is not written anyway."},
    {LWP_WATCHPOINT_DEAD_STORE, LWP_CAUSE_REPEATED_FILL,
     "Memory is filled again although hardly anything has read it since it was filled before.",
     "Fill only the part that is used, or use a smaller structure in place of a large one that is cleared for few entries."},
    {LWP_WATCHPOINT_DEAD_STORE, LWP_CAUSE_UNREAD_COPY, "A copy is made that is overwritten before anything reads it.",
     "Do not copy what is written anyway, or copy only the part that is kept."},
    {LWP_WATCHPOINT_DEAD_STORE, LWP_CAUSE_OVERWRITTEN_WHOLE,
     "The loop goes through the same memory again and overwrites results that nothing has read since they were stored.",
     "Compute only the results that are used: leave out the passes whose results are not read, or store only in the last one."},
    {LWP_WATCHPOINT_DEAD_STORE, LWP_CAUSE_KEPT_IN_MEMORY, "The loop stores to one place again and again, and nothing reads it in between.",
     "Keep the value in a local variable and store it once after the loop: the compiler does not where another pointer may lead to it."},
    {LWP_WATCHPOINT_DEAD_STORE, LWP_CAUSE_STORED_TWICE,
     "Each pass of the loop stores twice to the same place, and nothing reads the first value.",
     "Store once, at the end: keep the value in a local variable until it is final."},
    {LWP_WATCHPOINT_DEAD_STORE, LWP_CAUSE_SPILL,
     "The compiler saves a value to the stack and saves it again before it was needed: more values are in use than there are registers, or "
     "a call takes them.",
     "Split the loop, or make fewer values live across it; look whether profile-guided optimisation keeps this one in a register."},
    {LWP_WATCHPOINT_DEAD_STORE, LWP_CAUSE_MISSED_INLINING,
     "What is stored for a function on the stack is stored again before anything reads it: the function is not inlined.",
     "Let the compiler inline it (in the header, static, or -flto), or pass less."},

    {LWP_WATCHPOINT_DEAD_STORE, LWP_CAUSE_VOLATILE, "The variable is volatile, or atomic: the program asks for each store.",
     "If nothing but this thread looks at it, let it be a plain variable."},

    {LWP_WATCHPOINT_SILENT_STORE, LWP_CAUSE_UNKNOWN, "The store writes the value that is there already; why is unknown.",
     "Look whether the value can change here at all; if not, store it once."},
    {LWP_WATCHPOINT_SILENT_STORE, LWP_CAUSE_REPEATED_FILL, "Memory is filled with what it already holds.",
     "Clear only what was changed since the last time."},
    {LWP_WATCHPOINT_SILENT_STORE, LWP_CAUSE_KEPT_IN_MEMORY, "The loop stores the same value to the same place again and again.",
     "Move the store out of the loop."},
    {LWP_WATCHPOINT_SILENT_STORE, LWP_CAUSE_SPILL, "The compiler saves a value to the stack that is there already.",
     "Split the loop, or make fewer values live across it."},
    {LWP_WATCHPOINT_SILENT_STORE, LWP_CAUSE_MISSED_INLINING,
     "The same value is put on the stack for each call of a function that is not inlined.",
     "Let the compiler inline it (in the header, static, or -flto)."},
    {LWP_WATCHPOINT_SILENT_STORE, LWP_CAUSE_REDUNDANT_COMPUTATION,
     "The value is computed anew and comes out as it was: often something is added that is zero, or the inputs have not changed.",
     "Test the inputs first and skip the computation with the store."},
    {LWP_WATCHPOINT_SILENT_STORE, LWP_CAUSE_CONVERGED,
     "The new number is not the one it replaces, but within 1 % of it (or what --approx said). A sum that grows does that, too.",
     "Only if the result hardly changes any more, and the algorithm allows it: stop or skip where that is so."},

    {LWP_WATCHPOINT_SILENT_STORE, LWP_CAUSE_VOLATILE, "The variable is volatile, or atomic: the program asks for each store.",
     "If nothing but this thread looks at it, let it be a plain variable."},

    {LWP_WATCHPOINT_SILENT_STORE, LWP_CAUSE_KEPT_EXTREME,
     "The store keeps the smaller or the larger of a new value and of what is there, and that is what is there already.",
     "Nothing is computed in vain. To store only what changes takes a branch in place of a conditional move, and is often slower."},

    {LWP_WATCHPOINT_SILENT_LOAD, LWP_CAUSE_UNKNOWN,
     "The second line loads what the first has loaded, and nothing has changed it; why is unknown.",
     "Pass the value on instead of loading it again, or keep the result computed from it."},
    {LWP_WATCHPOINT_SILENT_LOAD, LWP_CAUSE_KEPT_IN_MEMORY,
     "The loop loads the same unchanged value again instead of keeping it in a register.",
     "Load it into a local variable before the loop: the compiler does not where it has to assume that a store of the loop changes it."},
    {LWP_WATCHPOINT_SILENT_LOAD, LWP_CAUSE_SPILL,
     "The compiler loads an unchanged value from the stack again: more values are in use than there are registers, or a call takes them.",
     "Split the loop, or make fewer values live across it."},
    {LWP_WATCHPOINT_SILENT_LOAD, LWP_CAUSE_MISSED_INLINING,
     "A function that is not inlined loads the same unchanged value each time it is called in a loop.",
     "Inline it, so that the value can stay in a register, or pass the value in a register."},
    {LWP_WATCHPOINT_SILENT_LOAD, LWP_CAUSE_LINEAR_SEARCH,
     "A linear search: the loop goes through the same unchanged data, one element after the other, until it finds what it looks for.",
     "If the data is sorted, or can be kept so, look things up by bisection (bsearch, std::lower_bound); else in a hash table. Or begin "
     "where the last search ended, if the key only grows."},
    {LWP_WATCHPOINT_SILENT_LOAD, LWP_CAUSE_FULL_SEARCH,
     "A search that goes on to the end of the unchanged data, whether or not it has found what it looks for.",
     "Stop when it is found, if the first match will do; better look things up by bisection or in a hash table."},
    {LWP_WATCHPOINT_SILENT_LOAD, LWP_CAUSE_COUNTED_LENGTH,
     "The length of a text is counted again, through characters that have not changed.",
     "Keep the length: in a variable before the loop, or with the text. What is appended adds to it."},
    {LWP_WATCHPOINT_SILENT_LOAD, LWP_CAUSE_TREE_SEARCH, "A search in a tree that has not changed: its upper nodes are loaded each time.",
     "It takes few steps already. A hash table takes fewer; nodes that lie together in memory make each cheaper."},
    {LWP_WATCHPOINT_SILENT_LOAD, LWP_CAUSE_BISECTION, "A search by halves in data that has not changed: its middle is loaded each time.",
     "It takes few steps already. Keep the result for what is looked up often."},
    {LWP_WATCHPOINT_SILENT_LOAD, LWP_CAUSE_POINTER_CHAIN, "A loop follows the same chain of pointers again and finds it unchanged.",
     "Keep the nodes in an array, in the order of the chain, so that loads need not wait for each other."},
    {LWP_WATCHPOINT_SILENT_LOAD, LWP_CAUSE_REPEATED_TRAVERSAL, "A loop goes through the same data again and finds it unchanged.",
     "Keep the results that cannot have changed, do more in one pass while the data is in the cache, or skip data that does nothing, such "
     "as zeroes."},

    {LWP_WATCHPOINT_SILENT_LOAD, LWP_CAUSE_VOLATILE, "The variable is volatile, or atomic: the program asks for each load.",
     "If nothing but this thread stores to it, let it be a plain variable."},

    {LWP_WATCHPOINT_OVERWRITTEN, LWP_CAUSE_UNKNOWN, "What one thread stores is overwritten by another one before anything reads it.",
     "Let each thread store to data of its own, or only the last one to this; that also spares the line's way between cores."},

    {LWP_WATCHPOINT_COMPUTATION, LWP_CAUSE_UNKNOWN,
     "The second line computes again, from the same values, what the first has computed; why is unknown.",
     "Keep the result, or move the computation out of the loop."},
    {LWP_WATCHPOINT_COMPUTATION, LWP_CAUSE_SAME_ARGUMENTS,
     "A mathematical function is called again with an argument that it was called with before.",
     "Keep the last argument and its result, and call only for another one. A table of many results pays only where looking one up is "
     "cheaper than the function: exp() and the like take some 20 cycles."},
    {LWP_WATCHPOINT_COMPUTATION, LWP_CAUSE_MISSED_INLINING,
     "A function that is called in a loop computes the same from the same values in many calls.",
     "Let the compiler inline it, so that what does not change moves out of the loop; or compute that part once and pass it in."},
    {LWP_WATCHPOINT_COMPUTATION, LWP_CAUSE_LOOP_INVARIANT,
     "The loop computes the same from the same values again and again: in each pass, or each time it runs.",
     "Compute it before the loop, or, where it depends on an inner loop's counter, keep the results of the first time; if the compiler has "
     "to assume that a store changes the inputs, local copies of them help."},
    {LWP_WATCHPOINT_COMPUTATION, LWP_CAUSE_COMMON_EXPRESSION,
     "Two places of one loop or function compute the same: at once, or one of them what the other has computed in the pass before.",
     "Keep the result in a local variable for both, and carry over what the next pass needs (scalar replacement). Measure: "
     "it can keep the compiler from vectorising."},
    {LWP_WATCHPOINT_COMPUTATION, LWP_CAUSE_COMPUTED_ELSEWHERE, "A function computes what another one has computed from the same values.",
     "Pass the result on, or keep it with the data it is computed from."},

    {LWP_WATCHPOINT_REGISTER, LWP_CAUSE_UNKNOWN,
     "The second line writes to a register the value that the first has left there; why is unknown.",
     "Keep the result and compute it again only where its inputs have changed."},
    {LWP_WATCHPOINT_REGISTER, LWP_CAUSE_SAME_ARGUMENTS,
     "A mathematical function is called with the same argument as the time before: its registers get the values they have.",
     "Call it for new arguments only."},
    {LWP_WATCHPOINT_REGISTER, LWP_CAUSE_SPILL, "A value is loaded from the stack into the register that has it already.",
     "Split the loop, or make fewer values live across it; look whether profile-guided optimisation keeps this one in a register."},
    {LWP_WATCHPOINT_REGISTER, LWP_CAUSE_KEPT_IN_MEMORY,
     "The loop loads the same value from one place into the same register, time and again.",
     "Load it into a local variable before the loop: the compiler does not where it has to assume that a store of the loop changes it."},
    {LWP_WATCHPOINT_REGISTER, LWP_CAUSE_MISSED_INLINING,
     "A function that is called in a loop sets its registers to what they are since the call before.",
     "Let the compiler inline it; of a function called through a pointer make a loop for each target."},
    {LWP_WATCHPOINT_REGISTER, LWP_CAUSE_CONVERGED,
     "The new number is not the one that is there, but within 1 % of it (or what --approx said).",
     "If the algorithm allows it, reuse the old result while its inputs change little."},
    {LWP_WATCHPOINT_REGISTER, LWP_CAUSE_REDUNDANT_COMPUTATION,
     "The loop computes the value anew and it comes out as it was in the pass before.",
     "Test whether the inputs have changed, and keep the result if not."},

    {LWP_WATCHPOINT_SPATIAL, LWP_CAUSE_UNKNOWN, "Elements of the array hold the same values; why is unknown.",
     "Look whether a value can be computed once for all elements that have it, or stored once for a run of them."},
    {LWP_WATCHPOINT_SPATIAL, LWP_CAUSE_UNIFORM_FILL,
     "Elements beside each other hold the same value because a fill, or a loop, sets all of them to it.",
     "Leave it out where the elements are written anyway before they are read, or keep the value once if most of them never get another."},
    {LWP_WATCHPOINT_SPATIAL, LWP_CAUSE_CONVERGED,
     "Elements beside each other are not equal, but within 1 % of each other (or what --approx said).",
     "If the algorithm allows it, compute a value once for several neighbours."},
    {LWP_WATCHPOINT_SPATIAL, LWP_CAUSE_REDUNDANT_COMPUTATION, "The same value is computed for elements beside each other.",
     "Compute it, and load what it is made of, only where it can differ from the neighbour's."},
};

void lwp_redundancy_explain(struct lwp_profile *profile, struct lwp_redundancy *item)
{
    enum lwp_cause cause = lwp_redundancy_cause(profile, item);
    item->why = cause;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].kind == item->kind && (texts[i].cause == cause || texts[i].cause == LWP_CAUSE_UNKNOWN)) {
            item->cause = cause_names[texts[i].cause];
            item->meaning = texts[i].meaning;
            item->remedy = texts[i].remedy;
        }
    if (cause == LWP_CAUSE_KEPT_IN_MEMORY && item->kind == LWP_WATCHPOINT_DEAD_STORE && lwp_redundancy_is_own_variable(profile, item))
        item->remedy =
            "It is a variable of this function, and in memory as its address is used, for a reference to it, perhaps (or as the "
            "compiler does not optimise). Compute in another variable, and copy that to this one only where its address is used.";
}
