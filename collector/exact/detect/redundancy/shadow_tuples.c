#include "collector/exact/detect/redundancy/shadow_tuples.h"

bool lwp_shadow_tuples_init(struct lwp_shadow_tuples *tuples, const struct lwp_shadow_port *port, uint32_t max)
{
    *tuples = (struct lwp_shadow_tuples){.port = port, .max = max};
    tuples->list = port->map(max * sizeof *tuples->list);
    tuples->index = lwp_shadow_port_table(port, 2 * max * sizeof *tuples->index);
    if (tuples->list && tuples->index)
        return true;
    lwp_shadow_tuples_fini(tuples);
    return false;
}

void lwp_shadow_tuples_fini(struct lwp_shadow_tuples *tuples)
{
    if (tuples->list)
        tuples->port->unmap(tuples->list, tuples->max * sizeof *tuples->list);
    if (tuples->index)
        tuples->port->unmap(tuples->index, 2 * tuples->max * sizeof *tuples->index);
    *tuples = (struct lwp_shadow_tuples){0};
}

static uint64_t tuples_hash(const struct lwp_shadow_tuple *tuple)
{
    uint64_t hash = 0;
    for (unsigned i = 0; i < 4; i++)
        hash = (hash ^ tuple->context[i]) * 0x9e3779b97f4a7c15u;
    return hash >> 32;
}

static bool tuples_same(const struct lwp_shadow_tuple *a, const struct lwp_shadow_tuple *b)
{
    return a->context[0] == b->context[0] && a->context[1] == b->context[1] && a->context[2] == b->context[2] &&
           a->context[3] == b->context[3];
}

bool lwp_shadow_tuples_number(struct lwp_shadow_tuples *tuples, const struct lwp_shadow_tuple *tuple, uint32_t *number)
{
    uint32_t mask = 2 * tuples->max - 1, at = (uint32_t)tuples_hash(tuple) & mask;
    while (tuples->index[at] && !tuples_same(&tuples->list[tuples->index[at] - 1], tuple))
        at = (at + 1) & mask;
    if (!tuples->index[at]) {
        if (tuples->count == tuples->max)
            return false;
        tuples->list[tuples->count] = *tuple;
        tuples->index[at] = ++tuples->count;
    }
    *number = tuples->index[at] - 1;
    return true;
}
