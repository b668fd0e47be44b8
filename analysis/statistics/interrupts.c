#include "analysis/statistics/interrupts.h"

#include "analysis/statistics/numbered.h"

#include <stdlib.h>

void lwp_interrupts_add(struct lwp_interrupts *interrupts, uint32_t location, uint64_t samples)
{
    LWP_NUMBERED(&interrupts->samples, location, &interrupts->count);
    interrupts->samples[location] += samples;
}

void lwp_interrupts_merge(struct lwp_interrupts *into, struct lwp_interrupts *from)
{
    for (size_t i = 0; i < from->count; i++)
        if (from->samples[i])
            lwp_interrupts_add(into, (uint32_t)i, from->samples[i]);
    lwp_interrupts_free(from);
}

void lwp_interrupts_free(struct lwp_interrupts *interrupts)
{
    free(interrupts->samples);
    *interrupts = (struct lwp_interrupts){0};
}
