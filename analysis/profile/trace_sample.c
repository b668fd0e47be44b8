#include "analysis/profile/trace_sample.h"

#include <string.h>

void lwp_trace_sample_free(struct lwp_trace_sample *kept)
{
    lwp_pages_free(kept->accesses, sizeof *kept->accesses * LWP_TRACE_SAMPLE_STRETCH * LWP_TRACE_SAMPLE_STRETCHES);
    *kept = (struct lwp_trace_sample){0};
}

void lwp_trace_sample_thin(struct lwp_trace_sample *kept)
{
    for (size_t i = 1; i < LWP_TRACE_SAMPLE_STRETCHES / 2; i++)
        memcpy(kept->accesses + i * LWP_TRACE_SAMPLE_STRETCH, kept->accesses + 2 * i * LWP_TRACE_SAMPLE_STRETCH,
               LWP_TRACE_SAMPLE_STRETCH * sizeof *kept->accesses);
    kept->count = (size_t)LWP_TRACE_SAMPLE_STRETCH * LWP_TRACE_SAMPLE_STRETCHES / 2;
    kept->every = kept->every ? 2 * kept->every : 2;
}

static bool kept_is_larger(uint32_t file, uint64_t bytes, const struct lwp_trace_sample *than)
{
    return bytes > than->bytes || (bytes == than->bytes && file < than->file);
}

void lwp_trace_sample_begin(struct lwp_trace_sample *kept, uint32_t file, uint64_t bytes)
{
    kept->passed = !kept_is_larger(file, bytes, kept);
    if (!kept->passed)
        *kept = (struct lwp_trace_sample){.accesses = kept->accesses, .file = file, .bytes = bytes};
}

void lwp_trace_sample_merge(struct lwp_trace_sample *into, struct lwp_trace_sample *from)
{
    struct lwp_trace_sample less = *into;
    if (!kept_is_larger(from->file, from->bytes, into))
        return;
    *into = *from;
    *from = less;
}
