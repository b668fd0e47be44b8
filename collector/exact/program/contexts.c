#include "collector/exact/program/contexts.h"

#include "collector/exact/valgrind/tool.h"

enum { NODES_FIRST = 1 << 12 };

struct context_node {
    uint64_t ip;
    uint32_t parent, depth;
};

/* A step in the tree: from a node by a call. Many lead to one node when recursion is folded. */
struct step {
    uint64_t ip;
    uint32_t from, to; /* to 0: free */
};

uint32_t lwp_context_now;

static struct context_node *nodes;
static struct step *steps;
static uint32_t node_count, node_room, step_count, step_room;

static struct step *contexts_step(struct step *table, uint32_t room, uint32_t from, uint64_t ip)
{
    uint64_t hash = (ip ^ (uint64_t)from << 40) * 0x9e3779b97f4a7c15u;
    uint32_t mask = room - 1, at = (uint32_t)(hash >> 36) & mask;
    while (table[at].to && (table[at].from != from || table[at].ip != ip))
        at = (at + 1) & mask;
    return &table[at];
}

/* Into a table of its own; steps to where `except` bytes from `start` on are called from are left out. */
static void contexts_copy_steps(uint32_t room, uint64_t start, uint64_t except)
{
    struct step *table = VG_(calloc)("lwp.steps", room, sizeof *table);
    step_count = 0;
    for (uint32_t i = 0; i < step_room; i++)
        if (steps[i].to && steps[i].ip - start >= except) {
            *contexts_step(table, room, steps[i].from, steps[i].ip) = steps[i];
            step_count++;
        }
    VG_(free)(steps);
    steps = table;
    step_room = room;
}

void lwp_contexts_forget(uint64_t start, uint64_t bytes)
{
    contexts_copy_steps(step_room, start, bytes);
}

void lwp_contexts_start(void)
{
    node_room = NODES_FIRST;
    step_room = 2 * NODES_FIRST;
    nodes = VG_(calloc)("lwp.nodes", node_room, sizeof *nodes);
    steps = VG_(calloc)("lwp.steps", step_room, sizeof *steps);
    node_count = 1;
}

static uint32_t contexts_new(uint32_t parent, uint64_t ip)
{
    for (uint32_t above = parent; above; above = nodes[above].parent)
        if (nodes[above].ip == ip)
            return above;
    if (nodes[parent].depth >= LWP_CONTEXT_DEPTH)
        return parent;
    if (node_count == node_room) {
        node_room *= 2;
        nodes = VG_(realloc)("lwp.nodes", nodes, node_room * sizeof *nodes);
    }
    nodes[node_count] = (struct context_node){ip, parent, nodes[parent].depth + 1};
    return node_count++;
}

uint32_t lwp_context_child(uint32_t node, uint64_t ip)
{
    struct step *step = contexts_step(steps, step_room, node, ip);
    if (step->to)
        return step->to;
    if (2 * step_count >= step_room) {
        contexts_copy_steps(2 * step_room, 0, 0);
        step = contexts_step(steps, step_room, node, ip);
    }
    step_count++;
    uint32_t to = contexts_new(node, ip);
    *step = (struct step){ip, node, to};
    return to;
}

uint32_t lwp_context_in_file(struct lwp_context_map *map, struct lwps_writer *file, uint32_t node)
{
    if (!node)
        return 0;
    if (node >= map->capacity) {
        uint32_t capacity = node_room;
        map->ids = VG_(realloc)("lwp.ids", map->ids, capacity * sizeof *map->ids);
        VG_(memset)(map->ids + map->capacity, 0, (capacity - map->capacity) * sizeof *map->ids);
        map->capacity = capacity;
    }
    if (!map->ids[node]) {
        uint32_t parent = lwp_context_in_file(map, file, nodes[node].parent);
        map->ids[node] = ++map->count;
        lwps_put_context(file, &(struct lwps_context){.id = map->count, .parent = parent, .ip = nodes[node].ip});
    }
    return map->ids[node];
}

void lwp_context_map_clear(struct lwp_context_map *map)
{
    VG_(free)(map->ids);
    *map = (struct lwp_context_map){0};
}
