#include "analysis/trace_kept.h"

#include <string.h>

void lwp_kept_free(struct lwp_kept *kept)
{
    lwp_pages_free(kept->accesses, sizeof *kept->accesses * LWP_KEPT_STRETCH * LWP_KEPT_STRETCHES);
    *kept = (struct lwp_kept){0};
}

void lwp_kept_thin(struct lwp_kept *kept)
{
    for (size_t i = 1; i < LWP_KEPT_STRETCHES / 2; i++)
        memcpy(kept->accesses + i * LWP_KEPT_STRETCH, kept->accesses + 2 * i * LWP_KEPT_STRETCH, LWP_KEPT_STRETCH * sizeof *kept->accesses);
    kept->count = (size_t)LWP_KEPT_STRETCH * LWP_KEPT_STRETCHES / 2;
    kept->every = kept->every ? 2 * kept->every : 2;
}

static bool kept_is_larger(uint32_t file, uint64_t bytes, const struct lwp_kept *than)
{
    return bytes > than->bytes || (bytes == than->bytes && file < than->file);
}

void lwp_kept_begin(struct lwp_kept *kept, uint32_t file, uint64_t bytes)
{
    kept->passed = !kept_is_larger(file, bytes, kept);
    if (!kept->passed)
        *kept = (struct lwp_kept){.accesses = kept->accesses, .file = file, .bytes = bytes};
}

void lwp_kept_merge(struct lwp_kept *into, struct lwp_kept *from)
{
    struct lwp_kept less = *into;
    if (!kept_is_larger(from->file, from->bytes, into))
        return;
    *into = *from;
    *from = less;
}
