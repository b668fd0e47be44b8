/* A calling-context tree that interns call paths and writes each new node once to its sample file.
 * Recursion is folded: between two frames of one function only the innermost stays, so that the tree stays as small as
 * the program's code, however deep and in whatever turns it recurses.
 * Fixed bound on nodes; past it, paths end early at the node already known. Async-signal-safe (mmap, no malloc). */
#ifndef LWPS_PATHS_H
#define LWPS_PATHS_H

#include "format/writer.h"

#include <stdint.h>

struct lwps_path_node;

struct lwps_paths {
    struct lwps_path_node *nodes; /* mmap'ed, grows */
    uint32_t *slots;                /* hash of (parent, ip) */
    uint32_t count, capacity;
    struct lwps_writer *file;
    uint64_t (*function)(uint64_t ip); /* what tells the functions of two frames apart; NULL: the ip itself */
};

/* `ips` innermost first, each in its frame's own code (struct lwps_context). Returns the node of ips[0], or 0 when `count` is 0. */
uint32_t lwps_paths_intern(struct lwps_paths *paths, const uint64_t *ips, unsigned count);
/* Writes all nodes again: the child of a fork begins a new file. */
void lwps_paths_again(struct lwps_paths *paths);
void lwps_paths_free(struct lwps_paths *paths);

#endif
