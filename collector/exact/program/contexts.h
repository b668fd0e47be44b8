/* The calling-context tree: a node is a call below its caller's node; node 0 is the root. Ids are dense and
 * ascend from caller to callee. A call that is on the path already stands for both, so that recursion does
 * not grow the tree, and a path ends at LWP_CONTEXT_DEPTH. */
#ifndef LWP_COLLECTOR_EXACT_PROGRAM_CONTEXTS_H
#define LWP_COLLECTOR_EXACT_PROGRAM_CONTEXTS_H

#include "format/writer.h"

#include <stdint.h>

enum { LWP_CONTEXT_DEPTH = 120 };

/* The node of the running thread. */
extern uint32_t lwp_context_now;

void lwp_contexts_start(void);

/* The node of what was called from `node` at `ip`, an address as struct lwps_context has it. */
uint32_t lwp_context_child(uint32_t node, uint64_t ip);

/* The code there is gone: what is called from these addresses later is called from other code, and has nodes of its own. */
void lwp_contexts_forget(uint64_t start, uint64_t bytes);

/* Which nodes are in a file already, and by which id. Zeroed: none. */
struct lwp_context_map {
    uint32_t *ids;
    uint32_t capacity, count;
};

/* The id in the file of a node, which is written with its callers the first time. */
uint32_t lwp_context_in_file(struct lwp_context_map *map, struct lwps_writer *file, uint32_t node);
void lwp_context_map_clear(struct lwp_context_map *map);

#endif
