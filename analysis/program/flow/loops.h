/* Loop nesting of any flow graph. Knows nothing of machine code. */
#ifndef LWP_ANALYSIS_PROGRAM_FLOW_LOOPS_H
#define LWP_ANALYSIS_PROGRAM_FLOW_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

/* Node 0 is the entry; the successors of node n are targets[first[n]] … targets[first[n + 1] - 1]. */
struct lwp_graph {
    uint32_t count;
    const uint32_t *first, *targets;
};

struct lwp_nest_node {
    uint32_t outer;   /* header of the innermost loop that holds this node other than as its header; UINT32_MAX: none */
    bool is_header;   /* of a loop, perhaps of this node alone */
    bool irreducible; /* a header whose loop can be entered elsewhere too */
};

/* Fills nodes[0 … count - 1]. Nodes that the entry does not reach are in no loop. */
void lwp_loops_find(const struct lwp_graph *graph, struct lwp_nest_node *nodes);

#endif
