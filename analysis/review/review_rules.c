#include "analysis/review/review.h"

#include <string.h>

const struct lwp_review_rule lwp_review_rules[] = {
    {"split", "SplitStructure", "splits", "Loops use few of a structure's fields, and fetch the others with them.",
     "A cache line that is fetched for one field brings its neighbours along. Where loops use few fields of a large array's elements, "
     "put the fields that are used together into a structure of their own and the others into another. The same index leads to all "
     "parts.",
     NULL},
    {"reorder", "ReorderFields", "splits", "Another order of a structure's fields takes fewer cache lines a visit.",
     "Holes between fields, and fields of one visit that lie on two cache lines, cost memory traffic. Declare the fields in the order "
     "given; check initialisers without names, and files and messages that hold the structure as bytes.",
     NULL},
    {"pool", "PoolNodes", "splits", "Nodes that are visited together lie far apart in memory.",
     "Nodes that are allocated one by one have malloc's headers and the blocks of other allocations between them. Taken one after the "
     "other "
     "from blocks of many nodes, several of them share a cache line and a page. What was freed goes to a list of free nodes.",
     NULL},
    {"order", "OrderElements", "splits", "Elements lie in another order than that in which a loop goes to them.",
     "A list, or an array of pointers, leads the loop from each element to one far away, and each visit is a memory stall. Copied into one "
     "array in that order, elements are read from front to back, and several share a cache line.",
     NULL},
    {"in-place", "ElementsInPlace", "splits", "An array has pointers to elements, each of which is allocated by itself.",
     "Where a loop comes to any of them, a visit is a memory stall for the pointer and then another one for the element. With the elements "
     "themselves in the array the first goes.",
     NULL},
    {"regroup", "RegroupArrays", "regroups", "Arrays that are used at the same index lie apart.",
     "Each of several arrays that a loop reads at the same index costs a cache line of its own when the index is random. One array of a "
     "structure brings all of them with one line.",
     NULL},
    {"set-conflict", "SetConflict", "conflicts", "A loop traverses more lines that fall into one set of a cache than the set holds.",
     "Arrays whose starts are a multiple of a few kibibytes apart, or rows of such a length, put all lines of one iteration into one set. "
     "Each is thrown out before the rest of it is used. Move each array by another number of cache lines, or make rows longer.",
     NULL},
    {"dead-store", "DeadStore", "redundancies", "Stores are overwritten before anything reads them.",
     "The store, and often the computation before it, is work for nothing. Typical causes: initialisation of what is filled right after, "
     "a total kept in memory instead of a local variable, a buffer cleared whole but used in part.",
     NULL},
    {"overwritten", "OverwrittenByThread", "redundancies", "Stores are overwritten by another thread before anything reads them.",
     "Only the last of them counts. Let each thread store to data of its own, or only the last one to this.", NULL},
    {"silent-store", "SilentStore", "redundancies", "Stores leave the value in memory as it was.",
     "The value is computed and written although it is there already. Test the inputs first, or skip what has converged.", NULL},
    {"silent-load", "SilentLoad", "redundancies", "Loads fetch again what has not changed.",
     "Keep the value, use a better data structure for the search, or do not traverse the data again.", NULL},
    {"computation", "RedundantComputation", "redundancies", "The same is computed again from the same values.",
     "Move it out of the loop, keep the result, or let the compiler see that it does not change.", NULL},
    {"register", "RedundantRegisterWrite", "redundancies", "Registers are written with the value they hold.",
     "Often loads of what is known already, or computations whose inputs have not changed.", NULL},
    {"spatial", "EqualNeighbours", "redundancies", "Elements of an array equal their neighbours.",
     "Store a run once with its length, use a smaller type, or skip the work for equal elements.", NULL},
    {"false-sharing", "FalseSharing", "sharing", "Threads use different bytes of one cache line, which then moves between cores.",
     "Give what each thread writes a cache line of its own: alignas(64), or pad the structure, or keep a local copy and store it "
     "once.",
     NULL},
    {"communication-distance", "CommunicationReuseDistance", "communication", "Threads read each other's data again too late for a cache.",
     "Block the arrays so that a block is used up before the next, or fuse the loops that go over the same data.", "distance-"},
    {"communication-pieces", "CommunicationPieces", "communication", "What threads read of each other lies in small pieces.",
     "Make what one thread hands to another contiguous.", "pieces-"},
    {"communication-mapping", "ThreadMapping", "communication", "Threads that communicate most do not run next to each other.",
     "Place them where they share a cache: OMP_PROC_BIND and OMP_PLACES, or taskset.", "mapping-"},
    {"loop-interchange", "LoopInterchange", "locality", "An inner loop traverses an array with a large stride.",
     "Exchange the loops, so that the inner one goes from each element to the next.", "interchange-"},
    {"loop-fission", "LoopFission", "locality", "A loop has more concurrent streams than the hardware follows.",
     "Split it into loops over fewer arrays each.", "fission-"},
    {"loop-blocking", "LoopBlocking", "locality", "Data is used again too late: a cache has lost it.",
     "Work through the data in blocks that fit a cache.", "blocking-"},
    {"loop-fusion", "LoopFusion", "locality", "Two loops go over the same data, one after the other.",
     "Make one loop of the two, so that data is used while it is in the cache.", "fusion-"},
    {"huge-pages", "HugePages", "locality", "Accesses are spread over more pages than the TLB covers.",
     "Ask for huge pages: madvise(MADV_HUGEPAGE), or transparent huge pages.", "pages-"},
    {"padding", "ArrayPadding", "locality", "Elements of an array fall into few sets of a cache.",
     "Pad the rows so that they do not start a power of two apart.", "padding-"},
    {"first-touch", "FirstTouch", "locality", "Memory lies on another NUMA node than the threads that use it.",
     "Let each thread initialise what it will use.", "touch-"},
    {"other", "Finding", "findings", "Something else worth changing.", "See the message.", NULL},
};
const size_t lwp_review_rule_count = sizeof lwp_review_rules / sizeof *lwp_review_rules;

const struct lwp_review_rule *lwp_review_rule(const char *id)
{
    size_t i = 0;
    while (i + 1 < lwp_review_rule_count && strcmp(lwp_review_rules[i].id, id) != 0)
        i++;
    return &lwp_review_rules[i];
}
