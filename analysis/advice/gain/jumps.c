#include "analysis/advice/gain/jumps.h"

#include <stdlib.h>

enum { JUMPS_LEAST = 4 /* by chance hardly two are alike */, JUMPS_MOST = 4 * LWP_MOVES_KEPT };

static const double few = 0.1;

static size_t jumps_of(const struct lwp_profile *profile, const struct lwp_stream *stream, int64_t *jumps)
{
    size_t count = 0;
    for (size_t i = 0; i < profile->moves.count; i++) {
        const struct lwp_code_moves *of = &profile->moves.items[i];
        if (!lwp_moves_is_of(profile, of, stream))
            continue;
        for (size_t k = 0; k < of->count && count < JUMPS_MOST; k++)
            if (of->kept[k].next && (uint64_t)llabs(of->kept[k].bytes) > profile->machine.line_bytes)
                jumps[count++] = of->kept[k].bytes;
    }
    return count;
}

/* The most common of them; those that equal it are taken out. */
static int64_t jumps_take(int64_t *jumps, size_t *count)
{
    size_t most = 0, kept = 0;
    int64_t common = 0;
    for (size_t i = 0; i < *count; i++) {
        size_t same = 0;
        for (size_t k = 0; k < *count; k++)
            same += jumps[k] == jumps[i];
        if (same > most)
            most = same, common = jumps[i];
    }
    for (size_t i = 0; i < *count; i++)
        if (jumps[i] != common)
            jumps[kept++] = jumps[i];
    *count = kept;
    return common;
}

int64_t lwp_gain_jump(const struct lwp_profile *profile, const struct lwp_stream *stream)
{
    int64_t jumps[JUMPS_MOST];
    const size_t count = jumps_of(profile, stream, jumps);
    size_t others = count;
    const int64_t jump = jumps_take(jumps, &others);
    jumps_take(jumps, &others); /* back, by the rest of the way round */
    return count >= JUMPS_LEAST && (double)others <= few * (double)count ? jump : 0;
}
