/* Havlak's loop nesting (P. Havlak, Nesting of Reducible and Irreducible Loops, TOPLAS 19(4), 1997), without recursion.
 * The loop of header h is what can reach h without leaving the nodes below h in the depth-first tree. Edges that
 * enter a loop elsewhere than at its header are kept with that header for the loops around it; in hostile graphs they
 * could grow with the square of the size, so past a bound they are dropped (a loop around an irreducible one may
 * then miss some nodes).
 *
 * Nodes go by their depth-first number: then what is below h is h itself up to last[h]. Headers are taken from the
 * highest number down, so inner loops come before those around them. When a loop is found it collapses into its header
 * (union-find), so that the loop around it meets one node instead of all its members. */
#include "analysis/program/flow/loops.h"

#include "base/arena.h"

#include <stdlib.h>

#define NONE UINT32_MAX
enum { ENTRIES_PER_EDGE = 16 };

struct link {
    uint32_t node, next;
};

struct nesting {
    const struct lwp_graph *graph;
    uint32_t *number, *last; /* depth-first number of a node, and of its last descendant */
    uint32_t *order;         /* node of each number */
    uint32_t *set;           /* union-find: towards the header of the outermost loop so far */
    uint32_t *entries;       /* per node: list of further predecessors that enter its loop sideways */
    uint32_t *preds_first, *preds;
    uint32_t *mark, *body; /* of the loop at work */
    struct link *links;
    size_t link_count, link_limit, link_capacity;
    uint32_t reached;
};

/* All arrays of numbers are cut out of one piece of memory. */
static uint32_t *nesting_alloc(struct nesting *nesting)
{
    size_t count = nesting->graph->count, edges = nesting->graph->first[count];
    uint32_t **arrays[] = {&nesting->number,  &nesting->last, &nesting->order, &nesting->set,
                           &nesting->entries, &nesting->mark, &nesting->body,  &nesting->preds_first};
    size_t lists = sizeof arrays / sizeof *arrays;
    uint32_t *memory = lwp_zeroed(lists * (count + 2) + edges, sizeof *memory);
    for (size_t i = 0; i < lists; i++)
        *arrays[i] = memory + i * (count + 2);
    nesting->preds = memory + lists * (count + 2);
    nesting->link_limit = edges * ENTRIES_PER_EDGE + 64;
    if (edges >= UINT32_MAX / ENTRIES_PER_EDGE / 2)
        nesting->link_limit = edges;
    return memory;
}

static void nesting_number(struct nesting *nesting)
{
    const struct lwp_graph *graph = nesting->graph;
    uint32_t *stack = nesting->body, *next = nesting->mark, depth = 0; /* free until the loops are looked for */
    for (uint32_t i = 0; i < graph->count; i++) {
        nesting->number[i] = NONE;
        next[i] = graph->first[i];
    }
    nesting->number[0] = 0;
    nesting->order[0] = 0;
    nesting->reached = 1;
    stack[depth++] = 0;
    while (depth) {
        uint32_t node = stack[depth - 1];
        if (next[node] == graph->first[node + 1]) {
            nesting->last[nesting->number[node]] = nesting->reached - 1;
            depth--;
            continue;
        }
        uint32_t target = graph->targets[next[node]++];
        if (nesting->number[target] != NONE)
            continue;
        nesting->number[target] = nesting->reached;
        nesting->order[nesting->reached++] = target;
        stack[depth++] = target;
    }
}

/* Predecessors of each reached node, all as depth-first numbers. */
static void nesting_predecessors(struct nesting *nesting)
{
    const struct lwp_graph *graph = nesting->graph;
    for (int fill = 0; fill < 2; fill++) {
        for (uint32_t n = 0; n < nesting->reached; n++) {
            uint32_t node = nesting->order[n];
            for (uint32_t e = graph->first[node]; e < graph->first[node + 1]; e++) {
                uint32_t to = nesting->number[graph->targets[e]];
                if (fill)
                    nesting->preds[nesting->preds_first[to + 1]++] = n;
                else
                    nesting->preds_first[to + 2]++;
            }
        }
        if (!fill)
            for (uint32_t n = 0; n < nesting->reached; n++)
                nesting->preds_first[n + 2] += nesting->preds_first[n + 1];
    }
}

static uint32_t nesting_find(struct nesting *nesting, uint32_t n)
{
    uint32_t root = n;
    while (nesting->set[root] != root)
        root = nesting->set[root];
    while (nesting->set[n] != root) {
        uint32_t up = nesting->set[n];
        nesting->set[n] = root;
        n = up;
    }
    return root;
}

static bool nesting_below(const struct nesting *nesting, uint32_t ancestor, uint32_t n)
{
    return ancestor <= n && n <= nesting->last[ancestor];
}

/* One way into a member of the loop of `header`: part of the loop, or an entry beside the header. */
static void nesting_reach(struct nesting *nesting, uint32_t header, uint32_t from, uint32_t *count, bool *irreducible)
{
    uint32_t root = nesting_find(nesting, from);
    if (!nesting_below(nesting, header, root)) {
        *irreducible = true;
        if (nesting->link_count >= nesting->link_limit)
            return;
        LWP_GROW(&nesting->links, nesting->link_count, &nesting->link_capacity);
        nesting->links[nesting->link_count] = (struct link){from, nesting->entries[header]};
        nesting->entries[header] = (uint32_t)nesting->link_count++;
    } else if (root != header && nesting->mark[root] != header) {
        nesting->mark[root] = header;
        nesting->body[(*count)++] = root;
    }
}

void lwp_loops_find(const struct lwp_graph *graph, struct lwp_nest_node *nodes)
{
    struct nesting nesting = {.graph = graph};
    for (uint32_t i = 0; i < graph->count; i++)
        nodes[i] = (struct lwp_nest_node){.outer = NONE};
    if (!graph->count)
        return;
    uint32_t *memory = nesting_alloc(&nesting);
    nesting_number(&nesting);
    nesting_predecessors(&nesting);
    for (uint32_t n = 0; n < graph->count; n++) {
        nesting.set[n] = n;
        nesting.mark[n] = nesting.entries[n] = NONE;
    }
    for (uint32_t header = nesting.reached; header-- > 0;) {
        struct lwp_nest_node *result = &nodes[nesting.order[header]];
        uint32_t count = 0;
        for (uint32_t e = nesting.preds_first[header]; e < nesting.preds_first[header + 1]; e++) {
            uint32_t from = nesting.preds[e];
            if (!nesting_below(&nesting, header, from))
                continue;
            result->is_header = true;
            nesting_reach(&nesting, header, from, &count, &result->irreducible);
        }
        for (uint32_t i = 0; i < count; i++) {
            uint32_t member = nesting.body[i];
            for (uint32_t e = nesting.preds_first[member]; e < nesting.preds_first[member + 1]; e++) {
                uint32_t from = nesting.preds[e];
                if (!nesting_below(&nesting, member, from)) /* its own back edges are inside it already */
                    nesting_reach(&nesting, header, from, &count, &result->irreducible);
            }
            for (uint32_t l = nesting.entries[member]; l != NONE; l = nesting.links[l].next)
                nesting_reach(&nesting, header, nesting.links[l].node, &count, &result->irreducible);
        }
        for (uint32_t i = 0; i < count; i++) {
            nodes[nesting.order[nesting.body[i]]].outer = nesting.order[header];
            nesting.set[nesting.body[i]] = header;
        }
    }
    free(nesting.links);
    free(memory);
}
