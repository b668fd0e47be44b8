/* The data caches of several cores: the first levels are each core's own, the last one is all cores'. The model of each is
 * base/cache.h; a line that another core writes to is taken out of a core's own levels. */
#ifndef LWP_ANALYSIS_CACHES_HIERARCHY_H
#define LWP_ANALYSIS_CACHES_HIERARCHY_H

#include "base/cache.h"
#include "base/error.h"

#include <jansson.h>

enum { LWP_HIERARCHY_CORES = 64 };

/* What a machine has. */
struct lwp_hierarchy_plan {
    struct lwp_cache caches; /* without tags; levels 0: not known */
    unsigned own;            /* levels that each core has by itself */
    unsigned cores;          /* 0: as many as threads */
    unsigned nodes;          /* of memory (NUMA); 0: not known */
    char text[96];           /* "L1 48 KiB, L2 2 MiB, L3 260 MiB" */
};

/* The machine of the profile, and that of --machine. */
enum lwp_machine_of { LWP_MACHINE_HERE, LWP_MACHINE_ELSEWHERE, LWP_MACHINES };

/* Starts from its plan alone. */
struct lwp_hierarchy {
    struct lwp_hierarchy_plan plan;
    struct lwp_cache *core[LWP_HIERARCHY_CORES]; /* NULL: accessed nothing yet */
    uint32_t *shared[LWP_CACHE_LEVELS];
};

/* The data cache of a level (1 to 3), of "machine" of a run.json; borrowed, NULL: not known. */
const json_t *lwp_machine_cache(const json_t *machine, unsigned level);

/* Of "machine" of a run.json, or of the same by itself: line_bytes, caches (level, bytes, ways, shared_by). False: no
 * cache's size and ways are known. */
bool lwp_hierarchy_plan_of(struct lwp_hierarchy_plan *plan, const json_t *machine);

/* The same of a file: such JSON, or run.json or analysis.json of a result. */
int lwp_hierarchy_plan_read(struct lwp_hierarchy_plan *plan, const char *path, struct lwp_error *err);

void lwp_hierarchy_free(struct lwp_hierarchy *hierarchy);

/* Cycles of a thread's access; where it was found to `where`, as lwp_cache_access. */
unsigned lwp_hierarchy_access(struct lwp_hierarchy *hierarchy, unsigned thread, uint64_t address, unsigned bytes, uint8_t *where);

/* A thread wrote to the line (address / line bytes), which others (a bit each) had. */
void lwp_hierarchy_take(struct lwp_hierarchy *hierarchy, unsigned thread, uint64_t line, uint64_t others);

#endif
