/* Cells that have at least a tenth of the largest one's are edges of a graph; in all they must hold 90 % of the communication. The
 * degrees of the nodes, and a walk along the edges, give the pattern its name. */
#include "analysis/advice/threads/communication_matrix.h"

#include <stdbool.h>
#include <stdlib.h>

struct communication_graph {
    size_t nodes, edges; /* nodes: that have an edge */
    bool *edge;          /* threads * threads */
    size_t *out, *in;    /* of each thread */
    size_t threads;
    bool mutual; /* each edge has one the other way */
};

static bool graph_make(struct communication_graph *graph, const uint64_t *first, size_t threads)
{
    uint64_t most = 0;
    double all = 0, held = 0;
    *graph = (struct communication_graph){.threads = threads, .mutual = true};
    graph->edge = lwp_zeroed(threads * threads, sizeof *graph->edge);
    graph->out = lwp_zeroed(threads, sizeof *graph->out);
    graph->in = lwp_zeroed(threads, sizeof *graph->in);
    for (size_t i = 0; i < threads * threads; i++) {
        most = first[i] > most ? first[i] : most;
        all += (double)first[i];
    }
    for (size_t i = 0; i < threads * threads; i++) {
        size_t from = i / threads, to = i % threads;
        if (!first[i] || from == to || (double)first[i] < 0.1 * (double)most)
            continue;
        graph->edge[i] = true;
        graph->edges++;
        graph->out[from]++;
        graph->in[to]++;
        held += (double)first[i];
    }
    for (size_t i = 0; i < threads * threads; i++)
        graph->mutual &= !graph->edge[i] || graph->edge[i % threads * threads + i / threads];
    for (size_t i = 0; i < threads; i++)
        graph->nodes += graph->out[i] + graph->in[i] > 0;
    return held >= 0.9 * all;
}

/* Nodes passed on the way from one, along edges that do not lead straight back. */
static size_t graph_walk(const struct communication_graph *graph, size_t from)
{
    size_t at = from, before = graph->threads, steps = 0;
    do {
        size_t next = graph->threads;
        for (size_t to = 0; to < graph->threads && next == graph->threads; to++)
            if (graph->edge[at * graph->threads + to] && to != before)
                next = to;
        steps++;
        before = at;
        at = next;
    } while (at != graph->threads && at != from && steps < graph->nodes);
    return steps;
}

static bool graph_degrees(const struct communication_graph *graph, size_t most_out, size_t most_in)
{
    for (size_t i = 0; i < graph->threads; i++)
        if (graph->out[i] > most_out || graph->in[i] > most_in)
            return false;
    return true;
}

/* One that has no edge in (or, mutual, only one neighbour), else any. */
static size_t graph_start(const struct communication_graph *graph)
{
    size_t any = 0;
    for (size_t i = 0; i < graph->threads; i++) {
        if (graph->out[i] == 1 && graph->in[i] == (graph->mutual ? 1 : 0))
            return i;
        any = graph->out[i] ? i : any;
    }
    return any;
}

static const char *graph_name(const struct communication_graph *graph)
{
    size_t nodes = graph->nodes, centre = graph->threads, leaves_out = 0, leaves_in = 0, trees = 0;
    if (nodes < 3)
        return NULL;
    if (graph->edges * 10 >= nodes * (nodes - 1) * 9)
        return "all to all";
    if (graph_degrees(graph, 1, 1) && graph_walk(graph, graph_start(graph)) == nodes)
        return graph->edges == nodes ? "ring" : "pipeline";
    if (graph->mutual && nodes > 3 && graph_degrees(graph, 2, 2) && graph_walk(graph, graph_start(graph)) == nodes)
        return "nearest neighbour";
    for (size_t i = 0; i < graph->threads; i++)
        if (graph->out[i] + graph->in[i] >= nodes - 1 && (graph->out[i] == nodes - 1 || graph->in[i] == nodes - 1))
            centre = i;
    for (size_t i = 0; i < graph->threads && centre < graph->threads; i++) {
        leaves_out += i != centre && graph->edge[i * graph->threads + centre];
        leaves_in += i != centre && graph->edge[centre * graph->threads + i];
    }
    if (leaves_out + leaves_in == graph->edges && leaves_out + leaves_in)
        return !leaves_in ? "reduction" : !leaves_out ? "one to all" : "master/worker";
    for (size_t i = 0; i < graph->threads; i++)
        trees += graph->out[i] == 1;
    if (trees == nodes - 1 && graph->edges == nodes - 1)
        return "reduction (tree)";
    return NULL;
}

const char *lwp_communication_pattern(const uint64_t *first, size_t threads)
{
    struct communication_graph graph;
    const char *name = graph_make(&graph, first, threads) ? graph_name(&graph) : NULL;
    free(graph.edge);
    free(graph.out);
    free(graph.in);
    return name;
}
