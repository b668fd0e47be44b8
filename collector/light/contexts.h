/* A calling-context tree that interns call paths and writes each new node once to its sample file.
 * Fixed bound on nodes; past it, paths end early at the node already known. Async-signal-safe (mmap, no malloc). */
#ifndef LWP_LIGHT_CONTEXTS_H
#define LWP_LIGHT_CONTEXTS_H

#include "format/writer.h"

#include <stdint.h>

struct lwp_context_node;

struct lwp_contexts {
    struct lwp_context_node *nodes; /* mmap'ed, grows */
    uint32_t *slots;                /* hash of (parent, ip) */
    uint32_t count, capacity;
    struct lwps_writer *file;
};

/* `ips` innermost first, as an unwinder gives them. Returns the node of ips[0], or 0 when `count` is 0. */
uint32_t lwp_contexts_intern(struct lwp_contexts *contexts, const uint64_t *ips, unsigned count);
/* Writes all nodes again: the child of a fork begins a new file. */
void lwp_contexts_again(struct lwp_contexts *contexts);
void lwp_contexts_free(struct lwp_contexts *contexts);

#endif
