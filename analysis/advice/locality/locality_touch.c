/* First touch: pages on another node than that which uses them most. */
#include "analysis/advice/locality/locality_kinds.h"

static const double local_least = 0.7, local_better = 0.2; /* of the accesses */

/* The heaviest row of an object whose accesses mostly go to another node, as its pages are where somebody else touched them. */
bool lwp_advise_touch(const struct lwp_advice *advice, const struct lwp_touched *touched, struct lwp_locality_tip *tip)
{
    struct lwp_profile *profile = advice->profile;
    const struct lwp_locality *locality = advice->locality;
    double all = (double)touched->accesses, now = (double)touched->local / all, best = (double)touched->best / all, share = 0;
    size_t index = locality->count;
    for (size_t i = 0; i < locality->count; i++)
        if (locality->rows[i].object == touched->object) {
            index = i < index ? i : index;
            share += locality->rows[i].share;
        }
    if (index == locality->count || share < lwp_advice_share || now > local_least || best < now + local_better)
        return false;
    const char *name = lwp_objects_name(profile, touched->object);
    *tip = (struct lwp_locality_tip){.kind = "touch", .row = index, .share = share};
    tip->title = lwp_arena_printf(profile->arena, "%.0f %% of the accesses to %s are to memory of another NUMA node: it lies where it was touched first", 100 * (1 - now), name);
    tip->next_step = lwp_arena_printf(profile->arena,
                                      "First-touch initialisation: let each thread initialise the part of %s that it works on later (the same loop, the same schedule), with threads that "
                                      "stay where they are (OMP_PROC_BIND=true, taskset): up to %.0f %% of the accesses would be to the own node. Otherwise numactl --interleave=all spreads it.",
                                      name, 100 * best);
    return true;
}
