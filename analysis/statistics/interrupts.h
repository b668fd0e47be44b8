/* How many samples fell on each instruction: those that a processor was about to run when it was interrupted. */
#ifndef LWP_ANALYSIS_STATISTICS_INTERRUPTS_H
#define LWP_ANALYSIS_STATISTICS_INTERRUPTS_H

#include <stddef.h>
#include <stdint.h>

/* Starts from zero. */
struct lwp_interrupts {
    uint64_t *samples; /* by location (locations.h) */
    size_t count;
};

void lwp_interrupts_add(struct lwp_interrupts *interrupts, uint32_t location, uint64_t samples);

/* Adds `from` to `into` and frees it. */
void lwp_interrupts_merge(struct lwp_interrupts *into, struct lwp_interrupts *from);

void lwp_interrupts_free(struct lwp_interrupts *interrupts);

#endif
