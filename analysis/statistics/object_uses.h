/* What each thread did with a data object: which part of it, and from where its data came. */
#ifndef LWP_ANALYSIS_STATISTICS_OBJECT_USES_H
#define LWP_ANALYSIS_STATISTICS_OBJECT_USES_H

#include "base/hash.h"
#include "format/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LWP_OBJECT_BINS = 32, LWP_OBJECT_LEVELS = LWPS_LEVEL_MASK + 1 };

/* Of one thread. */
struct lwp_object_use {
    uint32_t object, tid;
    uint32_t shift;                     /* bin i has offsets from i << shift on, in the block or variable */
    uint32_t bins[LWP_OBJECT_BINS];     /* accesses seen */
    uint64_t accesses, first_ns;        /* with an address; the first one */
    uint64_t at[LWP_OBJECT_LEVELS];     /* of those whose level the hardware recorded: by enum lwps_level */
    uint64_t cycles[LWP_OBJECT_LEVELS]; /* and their weight */
    uint64_t remote, modified;
    uint64_t translated, walks; /* of those whose TLB level is known: with a page walk */
};

/* Starts from zero. */
struct lwp_object_uses {
    struct lwp_object_use *items; /* once renumbered: by object, then by the first access */
    size_t count, room, last;     /* last: the one added to */
    struct lwp_map index;
};

/* What an access adds. */
struct lwp_object_access {
    uint32_t object, tid;
    uint64_t offset, time_ns, weight;
    uint8_t level; /* as in struct lwps_access */
    bool known;    /* its address, and so the offset */
};
void lwp_object_uses_add(struct lwp_object_uses *uses, const struct lwp_object_access *access);

/* Adds `from` to `into` and frees it. */
void lwp_object_uses_merge(struct lwp_object_uses *into, struct lwp_object_uses *from);
/* objects[old] is the new number; sorts. */
void lwp_object_uses_renumber(struct lwp_object_uses *uses, const uint32_t *objects);
/* Those of an object, once renumbered. */
const struct lwp_object_use *lwp_object_uses_of(const struct lwp_object_uses *uses, uint32_t object, size_t *count);
void lwp_object_uses_free(struct lwp_object_uses *uses);

#endif
