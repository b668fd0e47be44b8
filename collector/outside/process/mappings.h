/* What is mapped where in another process, now, as /proc/PID/maps says. */
#ifndef LWP_COLLECTOR_OUTSIDE_PROCESS_MAPPINGS_H
#define LWP_COLLECTOR_OUTSIDE_PROCESS_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct lwp_mapping {
    uint64_t start, end, offset; /* offset: in the file */
    bool read, write, execute, shared;
    bool file;  /* of a file with a path; else anonymous, or a name in brackets */
    char *path; /* "" if anonymous */
};

/* Start from zero. Ascending addresses. */
struct lwp_mappings {
    struct lwp_mapping *items;
    size_t count, room;
};

/* Reads them again. False: the process is gone, or may not be looked at (errno). */
bool lwp_mappings_read(struct lwp_mappings *mappings, pid_t pid);
void lwp_mappings_free(struct lwp_mappings *mappings);

/* Adds one, in place of what lies there; its path is copied, and says whether it is a file. */
void lwp_mappings_put(struct lwp_mappings *mappings, const struct lwp_mapping *mapping);
void lwp_mappings_copy(struct lwp_mappings *to, const struct lwp_mappings *from);

/* The one that holds the address, or NULL. */
struct lwp_mapping *lwp_mappings_at(const struct lwp_mappings *mappings, uint64_t address);

#endif
