/* Cells that have at least a tenth of the largest one's are edges of a graph; in all they must hold 90 % of the communication. The
 * degrees of the nodes, and a walk along the edges, give the pattern its name. */
#include "analysis/advice/threads/communication_matrix.h"

#include <stdbool.h>

struct communication_graph {
    size_t threads, nodes, edges;                                           /* nodes: threads that have an edge */
    uint64_t out[LWP_COMMUNICATION_THREADS], in[LWP_COMMUNICATION_THREADS]; /* of each thread: those it has an edge to, and from */
    bool mutual;                                                            /* each edge has one the other way */
};

static size_t degree(uint64_t threads)
{
    return (size_t)__builtin_popcountll(threads);
}

static bool graph_make(struct communication_graph *graph, const uint64_t *first, size_t threads)
{
    uint64_t most = 0;
    double all = 0, held = 0;
    *graph = (struct communication_graph){.threads = threads, .mutual = true};
    for (size_t i = 0; i < threads * threads; i++) {
        most = first[i] > most ? first[i] : most;
        all += (double)first[i];
    }
    for (size_t i = 0; i < threads * threads; i++) {
        size_t from = i / threads, to = i % threads;
        if (!first[i] || from == to || (double)first[i] < 0.1 * (double)most)
            continue;
        graph->out[from] |= (uint64_t)1 << to;
        graph->in[to] |= (uint64_t)1 << from;
        graph->edges++;
        held += (double)first[i];
    }
    for (size_t i = 0; i < threads; i++) {
        graph->mutual &= graph->out[i] == graph->in[i];
        graph->nodes += (graph->out[i] | graph->in[i]) != 0;
    }
    return held >= 0.9 * all;
}

static bool graph_degrees_within(const struct communication_graph *graph, size_t most)
{
    for (size_t i = 0; i < graph->threads; i++)
        if (degree(graph->out[i]) > most || degree(graph->in[i]) > most)
            return false;
    return true;
}

/* Whether one walk, along edges that do not lead straight back, passes all nodes. It begins at an end: a node without an edge in
 * (or, mutual, with one neighbour only); where there is none, anywhere. */
static bool graph_is_line(const struct communication_graph *graph)
{
    size_t from = 0, steps = 0;
    for (size_t i = 0; i < graph->threads; i++)
        from = graph->out[i] ? i : from;
    for (size_t i = graph->threads; i-- > 0;)
        if (degree(graph->out[i]) == 1 && degree(graph->in[i]) == (graph->mutual ? 1 : 0))
            from = i;
    for (size_t at = from, before = graph->threads; steps < graph->nodes;) {
        uint64_t next = before < graph->threads ? graph->out[at] & ~((uint64_t)1 << before) : graph->out[at];
        steps++;
        if (!next || (size_t)__builtin_ctzll(next) == from)
            break;
        before = at;
        at = (size_t)__builtin_ctzll(next);
    }
    return steps == graph->nodes;
}

static const char *graph_name(const struct communication_graph *graph)
{
    size_t nodes = graph->nodes, centre = graph->threads, trees = 0;
    if (nodes < 3)
        return NULL;
    if (graph->edges * 10 >= nodes * (nodes - 1) * 9)
        return "all to all";
    if (graph_degrees_within(graph, 1) && graph_is_line(graph))
        return graph->edges == nodes ? "ring" : "pipeline";
    if (graph->mutual && nodes > 3 && graph_degrees_within(graph, 2) && graph_is_line(graph))
        return "nearest neighbour";
    for (size_t i = 0; i < graph->threads; i++) {
        if (degree(graph->out[i]) == nodes - 1 || degree(graph->in[i]) == nodes - 1)
            centre = i;
        trees += degree(graph->out[i]) == 1;
    }
    size_t to_centre = centre < graph->threads ? degree(graph->in[centre]) : 0,
           from_centre = centre < graph->threads ? degree(graph->out[centre]) : 0;
    if (to_centre + from_centre == graph->edges)
        return !from_centre ? "reduction" : !to_centre ? "one to all" : "master/worker";
    return trees == nodes - 1 && graph->edges == nodes - 1 ? "reduction (tree)" : NULL;
}

const char *lwp_communication_pattern(const uint64_t *first, size_t threads)
{
    struct communication_graph graph;
    return threads <= LWP_COMMUNICATION_THREADS && graph_make(&graph, first, threads) ? graph_name(&graph) : NULL;
}
