/* Cells that have at least a tenth of the largest one's are edges of a graph; together they must hold 90 % of all. A
 * pattern is what the degrees of its nodes, and a walk along it, say. */
#include "analysis/advice/threads/communication_pattern.h"

#include <stdbool.h>
#include <stdlib.h>

struct graph {
    size_t nodes, edges;   /* nodes: that have an edge */
    bool *edge;            /* threads * threads */
    size_t *out, *in;      /* of each thread */
    size_t threads;
    bool mutual;           /* each edge has one the other way */
};

static bool graph_make(struct graph *graph, const uint64_t *first, size_t threads)
{
    uint64_t most = 0;
    double all = 0, held = 0;
    *graph = (struct graph){.threads = threads, .mutual = true};
    graph->edge = calloc(threads * threads + 1, sizeof *graph->edge);
    graph->out = calloc(threads + 1, sizeof *graph->out);
    graph->in = calloc(threads + 1, sizeof *graph->in);
    if (!graph->edge || !graph->out || !graph->in)
        abort();
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

/* Nodes on the way from one, along edges out that do not lead back to where one comes from. */
static size_t graph_walk(const struct graph *graph, size_t from)
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

static bool graph_degrees(const struct graph *graph, size_t most_out, size_t most_in)
{
    for (size_t i = 0; i < graph->threads; i++)
        if (graph->out[i] > most_out || graph->in[i] > most_in)
            return false;
    return true;
}

/* One that has no edge in (or, mutual, only one neighbour), else any. */
static size_t graph_start(const struct graph *graph)
{
    size_t any = 0;
    for (size_t i = 0; i < graph->threads; i++) {
        if (graph->out[i] == 1 && graph->in[i] == (graph->mutual ? 1 : 0))
            return i;
        any = graph->out[i] ? i : any;
    }
    return any;
}

static const char *graph_name(const struct graph *graph)
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
    struct graph graph;
    const char *name = graph_make(&graph, first, threads) ? graph_name(&graph) : NULL;
    free(graph.edge);
    free(graph.out);
    free(graph.in);
    return name;
}
