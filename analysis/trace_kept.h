/* A part of a trace, kept to be replayed with other layouts: stretches of accesses that follow on each other, evenly spread
 * over the run, with whose memory each went to. */
#ifndef LWP_ANALYSIS_TRACE_KEPT_H
#define LWP_ANALYSIS_TRACE_KEPT_H

#include "base/pages.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LWP_KEPT_STRETCH = 1 << 19, LWP_KEPT_STRETCHES = 16 };

struct lwp_kept_access {
    uint64_t address : 48, bytes : 8, thread : 8; /* thread: in the order they were met, modulo 256 */
    uint32_t object, offset;                      /* in its block or variable; UINT32_MAX: not known */
};

/* Starts from zero. When all room is taken, every second stretch goes, and of the rest of the trace so many less are kept. */
struct lwp_kept {
    struct lwp_kept_access *accesses;
    size_t count;
    uint64_t seen;    /* all accesses of the trace */
    unsigned every;   /* stretches of which one is kept; 0 as good as 1 */
    uint64_t bytes;   /* of the file they are of; 0: of none */
    uint32_t file;    /* its number */
    bool passed;      /* the file that is read now is another one */
};

void lwp_kept_free(struct lwp_kept *kept);
void lwp_kept_thin(struct lwp_kept *kept);

/* Another file: addresses of one mean nothing in another, so only the largest one's accesses are kept, the first of equally
 * large ones. */
void lwp_kept_begin(struct lwp_kept *kept, uint32_t file, uint64_t bytes);
void lwp_kept_merge(struct lwp_kept *into, struct lwp_kept *from);

/* The next access of the trace. */
static inline void lwp_kept_add(struct lwp_kept *kept, const struct lwp_kept_access *access)
{
    unsigned every = kept->every ? kept->every : 1;
    if (kept->passed || kept->seen++ / LWP_KEPT_STRETCH % every)
        return;
    if (kept->count % LWP_KEPT_STRETCH == 0 && kept->count == (size_t)LWP_KEPT_STRETCH * LWP_KEPT_STRETCHES) {
        lwp_kept_thin(kept);
        if ((kept->seen - 1) / LWP_KEPT_STRETCH % kept->every)
            return;
    }
    if (!kept->accesses)
        kept->accesses = lwp_pages_alloc(sizeof *access * LWP_KEPT_STRETCH * LWP_KEPT_STRETCHES);
    kept->accesses[kept->count++] = *access;
}

#endif
