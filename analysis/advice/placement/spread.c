/* How far apart the blocks of nodes really lie: what else is allocated between them, and what was freed there, separates them.
 *
 * In: addresses of blocks that samples saw. Of n blocks taken at random of all that are there, neighbours lie as far apart as all / n
 * blocks, on average; that distance is exponential, and its median, unlike its mean, does not mind that some lie in other arenas. */
#include "analysis/advice/placement/spread.h"

#include "base/arena.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>

enum { BLOCKS_LEAST = 64 };

double lwp_placement_spread(const struct lwp_profile *profile, const uint32_t *objects, size_t object_count, double *error)
{
    double blocks = 0, spread = 0;
    size_t count = 0, distinct = 0;
    uint64_t *starts = lwp_zeroed(object_count * LWP_BLOCKS_KEPT + 1, sizeof *starts);
    for (size_t k = 0; k < object_count; k++) {
        const struct lwp_object *object = &profile->objects[objects[k]];
        const struct lwp_seen_blocks *seen = lwp_moves_blocks(&profile->moves, objects[k]);
        blocks += object->largest ? (double)object->bytes / (double)object->largest : 0;
        for (size_t i = 0; seen && i < seen->count; i++)
            starts[count++] = seen->starts[i];
    }
    qsort(starts, count, sizeof *starts, lwp_by_first);
    for (size_t i = 0; i < count; i++)
        if (distinct == 0 || starts[i] != starts[distinct - 1])
            starts[distinct++] = starts[i];
    if (distinct >= BLOCKS_LEAST && blocks > (double)distinct) {
        for (size_t i = 0; i + 1 < distinct; i++)
            starts[i] = starts[i + 1] - starts[i];
        qsort(starts, distinct - 1, sizeof *starts, lwp_by_first);
        const size_t middle = (distinct - 1) / 2;
        spread = (double)starts[middle] / M_LN2 * (double)distinct / blocks;
    }
    *error = spread > 0 ? spread / (M_LN2 * sqrt((double)distinct)) : 0; /* the median of so many exponential distances */
    free(starts);
    return spread;
}
