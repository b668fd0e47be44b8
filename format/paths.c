#include "format/paths.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

enum { PATHS_FIRST = 1024, PATHS_MOST = 1 << 18 };

struct lwps_path_node {
    uint32_t parent;
    uint64_t ip, function;
};

/* Nodes and twice as many slots behind them. */
static size_t paths_bytes(uint32_t capacity)
{
    return capacity * (sizeof(struct lwps_path_node) + 2 * sizeof(uint32_t));
}

static uint32_t *paths_slot(uint32_t *slots, uint32_t capacity, const struct lwps_path_node *nodes,
                               uint32_t parent, uint64_t ip)
{
    uint32_t mask = 2 * capacity - 1;
    uint64_t hash = (ip ^ (uint64_t)parent << 40) * 0x9e3779b97f4a7c15u;
    for (uint32_t i = (uint32_t)(hash >> 40) & mask;; i = (i + 1) & mask)
        if (!slots[i] || (nodes[slots[i]].ip == ip && nodes[slots[i]].parent == parent))
            return &slots[i];
}

static bool paths_grow(struct lwps_paths *paths)
{
    uint32_t capacity = paths->capacity ? paths->capacity * 2 : PATHS_FIRST;
    if (capacity > PATHS_MOST)
        return false;
    struct lwps_path_node *nodes = mmap(NULL, paths_bytes(capacity), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (nodes == MAP_FAILED)
        return false;
    uint32_t *slots = (uint32_t *)(nodes + capacity);
    if (paths->capacity)
        memcpy(nodes, paths->nodes, paths->capacity * sizeof *nodes);
    uint32_t count = paths->count ? paths->count : 1; /* node 0 is the root */
    for (uint32_t id = 1; id < count; id++)
        *paths_slot(slots, capacity, nodes, nodes[id].parent, nodes[id].ip) = id;
    lwps_paths_free(paths);
    paths->nodes = nodes;
    paths->slots = slots;
    paths->capacity = capacity;
    paths->count = count;
    return true;
}

static uint32_t *paths_child(const struct lwps_paths *paths, uint32_t parent, uint64_t ip)
{
    return paths_slot(paths->slots, paths->capacity, paths->nodes, parent, ip);
}

/* The path that ends with `node` without its frame of this function and all within it; all of it when there is none. */
static uint32_t paths_without(const struct lwps_paths *paths, uint32_t node, uint64_t function)
{
    for (uint32_t at = node; at; at = paths->nodes[at].parent)
        if (paths->nodes[at].function == function)
            return paths->nodes[at].parent;
    return node;
}

uint32_t lwps_paths_intern(struct lwps_paths *paths, const uint64_t *ips, unsigned count)
{
    uint32_t node = 0;
    while (count--) {
        if (paths->count + 1 >= paths->capacity && !paths_grow(paths))
            return node;
        uint64_t ip = ips[count], function = 0;
        uint32_t *slot = paths_child(paths, node, ip);
        if (!*slot) {
            function = paths->function ? paths->function(ip) : ip;
            node = paths_without(paths, node, function);
            slot = paths_child(paths, node, ip);
        }
        if (!*slot) {
            uint32_t id = paths->count;
            if (lwps_put_context(paths->file, &(struct lwps_context){.id = id, .parent = node, .ip = ip}))
                return node;
            paths->nodes[id] = (struct lwps_path_node){.parent = node, .ip = ip, .function = function};
            paths->count++;
            *slot = id;
        }
        node = *slot;
    }
    return node;
}

void lwps_paths_free(struct lwps_paths *paths)
{
    if (!paths->capacity)
        return;
    munmap(paths->nodes, paths_bytes(paths->capacity));
    paths->nodes = NULL;
    paths->slots = NULL;
    paths->capacity = paths->count = 0;
}

void lwps_paths_again(struct lwps_paths *paths)
{
    for (uint32_t id = 1; id < paths->count; id++)
        lwps_put_context(paths->file, &(struct lwps_context){.id = id, .parent = paths->nodes[id].parent,
                                                                .ip = paths->nodes[id].ip});
}
