/* NUMA placement (MACPO 5.3): a page belongs to the node of the thread that touches it first. Threads are assumed to fill node
 * after node in the order of their first access. */
#ifndef LWP_ANALYSIS_PROFILE_FIRST_TOUCH_H
#define LWP_ANALYSIS_PROFILE_FIRST_TOUCH_H

#include "analysis/caches/hierarchy.h"
#include "base/hash.h"

enum { LWP_TOUCH_NODES = 8 };

struct lwp_touched_page {
    uint32_t object, node;          /* of the first access */
    uint32_t from[LWP_TOUCH_NODES]; /* accesses from each node */
};

/* Of one data object. */
struct lwp_touched {
    uint32_t object;
    uint64_t accesses, local;
    uint64_t best; /* local ones if each page were on the node that accesses it most */
};

/* Starts from zero. */
struct lwp_first_touch {
    unsigned nodes, threads; /* nodes: 0 or 1: nothing is counted; threads: of each node */
    struct lwp_map index;
    struct lwp_touched_page *pages;
    size_t count, room;
    uint64_t last_page; /* and where it is */
    uint32_t last;
};

/* Of the first of the machines that has several nodes. */
void lwp_first_touch_begin(struct lwp_first_touch *touch, const struct lwp_hierarchy_plan machines[LWP_MACHINES]);
void lwp_first_touch_free(struct lwp_first_touch *touch);

/* Whether the page is on the thread's node. */
bool lwp_first_touch_access(struct lwp_first_touch *touch, unsigned thread, uint64_t address, uint32_t object);

/* What page `i` adds to its object. */
struct lwp_touched lwp_first_touch_page(const struct lwp_first_touch *touch, size_t i);

#endif
