#include "analysis/caches/reuse_distance_cores.h"

void lwp_reuse_cores_free(struct lwp_reuse_cores *cores)
{
    lwp_reuse_free(&cores->all);
    for (unsigned i = 0; i < LWP_REUSE_CORES; i++)
        lwp_reuse_free(&cores->core[i]);
    cores->used = cores->several = false;
}

void lwp_reuse_cores_clear(struct lwp_reuse_cores *cores)
{
    lwp_reuse_cores_free(cores);
}

/* The accesses so far were all of one core, whose order is that of all. */
static void cores_divide(struct lwp_reuse_cores *cores)
{
    for (unsigned i = 0; i < LWP_REUSE_CORES; i++)
        if (i != cores->first)
            lwp_reuse_init(&cores->core[i]);
    lwp_reuse_copy(&cores->core[cores->first], &cores->all);
    cores->several = true;
}

void lwp_reuse_cores_expect(const struct lwp_reuse_cores *cores, unsigned core, uint64_t later, uint64_t sooner)
{
    if (cores->used)
        lwp_reuse_expect(&cores->all, later, sooner);
    if (cores->several)
        lwp_reuse_expect(&cores->core[core % LWP_REUSE_CORES], later, sooner);
}

struct lwp_reused lwp_reuse_cores_access(struct lwp_reuse_cores *cores, unsigned core, uint64_t line, bool store)
{
    struct lwp_reuse_line *known, *own;
    core %= LWP_REUSE_CORES;
    if (!cores->used) {
        lwp_reuse_init(&cores->all);
        cores->used = true;
        cores->first = core;
    }
    if (!cores->several && core != cores->first)
        cores_divide(cores);
    uint64_t me = (uint64_t)1 << core;
    struct lwp_reused reused = {.distance = lwp_reuse_access(&cores->all, line, &known)};
    if (cores->several) {
        uint32_t distance = lwp_reuse_access(&cores->core[core], line, &own);
        reused.restarted = !(known->cores & me) && reused.distance != LWP_REUSE_FIRST;
        reused.distance = known->cores & me ? distance : reused.distance;
    }
    reused.others = store ? known->cores & ~me : 0;
    known->cores = store ? me : known->cores | me;
    return reused;
}
