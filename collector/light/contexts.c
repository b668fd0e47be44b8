#define _GNU_SOURCE
#include "collector/light/contexts.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

enum { CONTEXTS_FIRST = 1024, CONTEXTS_MOST = 1 << 18 };

struct lwp_context_node {
    uint32_t parent;
    uint64_t ip;
};

static void *contexts_map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static size_t contexts_node_bytes(uint32_t capacity)
{
    return capacity * sizeof(struct lwp_context_node);
}

static size_t contexts_slot_bytes(uint32_t capacity)
{
    return 2 * capacity * sizeof(uint32_t);
}

static uint32_t *contexts_slot(uint32_t *slots, uint32_t capacity, const struct lwp_context_node *nodes,
                               uint32_t parent, uint64_t ip)
{
    uint32_t mask = 2 * capacity - 1;
    uint64_t hash = (ip ^ (uint64_t)parent << 40) * 0x9e3779b97f4a7c15u;
    for (uint32_t i = (uint32_t)(hash >> 40) & mask;; i = (i + 1) & mask)
        if (!slots[i] || (nodes[slots[i]].ip == ip && nodes[slots[i]].parent == parent))
            return &slots[i];
}

static bool contexts_grow(struct lwp_contexts *contexts)
{
    uint32_t capacity = contexts->capacity ? contexts->capacity * 2 : CONTEXTS_FIRST;
    if (capacity > CONTEXTS_MOST)
        return false;
    struct lwp_context_node *nodes = contexts_map(contexts_node_bytes(capacity));
    uint32_t *slots = contexts_map(contexts_slot_bytes(capacity));
    if (!nodes || !slots) {
        if (nodes)
            munmap(nodes, contexts_node_bytes(capacity));
        if (slots)
            munmap(slots, contexts_slot_bytes(capacity));
        return false;
    }
    if (contexts->capacity)
        memcpy(nodes, contexts->nodes, contexts_node_bytes(contexts->capacity));
    uint32_t count = contexts->count ? contexts->count : 1; /* node 0 is the root */
    for (uint32_t id = 1; id < count; id++)
        *contexts_slot(slots, capacity, nodes, nodes[id].parent, nodes[id].ip) = id;
    lwp_contexts_free(contexts);
    contexts->nodes = nodes;
    contexts->slots = slots;
    contexts->capacity = capacity;
    contexts->count = count;
    return true;
}

uint32_t lwp_contexts_intern(struct lwp_contexts *contexts, const uint64_t *ips, unsigned count)
{
    uint32_t node = 0;
    while (count--) {
        if (contexts->count + 1 >= contexts->capacity && !contexts_grow(contexts))
            return node;
        uint32_t *slot = contexts_slot(contexts->slots, contexts->capacity, contexts->nodes, node, ips[count]);
        if (!*slot) {
            uint32_t id = contexts->count;
            if (lwps_put_context(contexts->file, &(struct lwps_context){.id = id, .parent = node, .ip = ips[count]}))
                return node;
            contexts->nodes[id] = (struct lwp_context_node){.parent = node, .ip = ips[count]};
            contexts->count++;
            *slot = id;
        }
        node = *slot;
    }
    return node;
}

void lwp_contexts_free(struct lwp_contexts *contexts)
{
    if (!contexts->capacity)
        return;
    munmap(contexts->nodes, contexts_node_bytes(contexts->capacity));
    munmap(contexts->slots, contexts_slot_bytes(contexts->capacity));
    contexts->nodes = NULL;
    contexts->slots = NULL;
    contexts->capacity = contexts->count = 0;
}

void lwp_contexts_again(struct lwp_contexts *contexts)
{
    for (uint32_t id = 1; id < contexts->count; id++)
        lwps_put_context(contexts->file, &(struct lwps_context){.id = id, .parent = contexts->nodes[id].parent,
                                                                .ip = contexts->nodes[id].ip});
}
