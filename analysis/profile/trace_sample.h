/* A part of a trace, kept to be replayed with other layouts: stretches of consecutive accesses, evenly spread over the run, with
 * the object of each. */
#ifndef LWP_ANALYSIS_PROFILE_TRACE_SAMPLE_H
#define LWP_ANALYSIS_PROFILE_TRACE_SAMPLE_H

#include "base/pages.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LWP_TRACE_SAMPLE_STRETCH = 1 << 19, LWP_TRACE_SAMPLE_STRETCHES = 16 };

struct lwp_trace_sample_access {
    uint64_t address : 48, bytes : 8, thread : 8; /* thread: in the order they were met, modulo 256 */
    uint32_t object, offset;                      /* in its block or variable; UINT32_MAX: not known */
};

/* Starts from zero. When it is full, every second stretch is dropped, and half as many are kept from there on. */
struct lwp_trace_sample {
    struct lwp_trace_sample_access *accesses;
    size_t count;
    uint64_t seen;  /* all accesses of the trace */
    unsigned every; /* stretches of which one is kept; 0 as good as 1 */
    uint64_t bytes; /* of the file they are of; 0: of none */
    uint32_t file;  /* its number */
    bool passed;    /* the file that is read now is another one */
};

void lwp_trace_sample_free(struct lwp_trace_sample *kept);
void lwp_trace_sample_thin(struct lwp_trace_sample *kept);

/* Another file. Addresses of one file mean nothing in another, so only accesses of the largest one are kept (the first of equally
 * large ones). */
void lwp_trace_sample_begin(struct lwp_trace_sample *kept, uint32_t file, uint64_t bytes);
void lwp_trace_sample_merge(struct lwp_trace_sample *into, struct lwp_trace_sample *from);

/* The next access of the trace. */
static inline void lwp_trace_sample_add(struct lwp_trace_sample *kept, const struct lwp_trace_sample_access *access)
{
    unsigned every = kept->every ? kept->every : 1;
    if (kept->passed || kept->seen++ / LWP_TRACE_SAMPLE_STRETCH % every)
        return;
    if (kept->count % LWP_TRACE_SAMPLE_STRETCH == 0 && kept->count == (size_t)LWP_TRACE_SAMPLE_STRETCH * LWP_TRACE_SAMPLE_STRETCHES) {
        lwp_trace_sample_thin(kept);
        if ((kept->seen - 1) / LWP_TRACE_SAMPLE_STRETCH % kept->every)
            return;
    }
    if (!kept->accesses)
        kept->accesses = lwp_pages_alloc(sizeof *access * LWP_TRACE_SAMPLE_STRETCH * LWP_TRACE_SAMPLE_STRETCHES);
    kept->accesses[kept->count++] = *access;
}

#endif
