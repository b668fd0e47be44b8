/* Where a data object's accesses found their data: as the hardware recorded it of samples, or as the model of the caches says of a
 * trace. */
#ifndef LWP_ANALYSIS_ADVICE_LOCALITY_OBJECT_MEMORY_H
#define LWP_ANALYSIS_ADVICE_LOCALITY_OBJECT_MEMORY_H

#include "analysis/profile/profile.h"

enum lwp_memory_from { LWP_MEMORY_UNKNOWN, LWP_MEMORY_HARDWARE, LWP_MEMORY_MODEL };
enum { LWP_MEMORY_PLACES = 5 }; /* first, second and last level, memory, other (I/O, uncached) */

struct lwp_object_memory {
    enum lwp_memory_from from;
    uint64_t accesses;              /* of which it is known */
    uint64_t at[LWP_MEMORY_PLACES]; /* accesses by the place that had the line; a fill buffer counts as the second level */
    uint64_t cycles;                /* that they took; of hardware: the weight of their samples */
    uint64_t translated, walks;     /* accesses whose TLB level is known: with a page walk */
    uint64_t walk_cycles;           /* of the model, in addition to cycles; 0: not known */
    bool nodes_known;               /* more than one NUMA node, or told by the hardware */
    uint64_t remote;                /* to memory of another node; of the model: by first touch */
    uint64_t modified;              /* of hardware: another core had the line modified */
};

struct lwp_object_memory lwp_object_memory(const struct lwp_profile *profile, uint32_t object);

#endif
