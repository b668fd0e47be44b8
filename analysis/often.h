/* The values that come most often in a long row, in little memory (Misra and Gries): what makes up more than one part in
 * LWP_OFTEN of it is among them, counted at most that much too low. What is found depends on the order of the row, so two
 * of these are never put together: several rows' values add up in a list (locality_values.h). */
#ifndef LWP_ANALYSIS_OFTEN_H
#define LWP_ANALYSIS_OFTEN_H

#include <stddef.h>
#include <stdint.h>

enum { LWP_OFTEN = 8 };

/* Starts from zero. */
struct lwp_often {
    int64_t value[LWP_OFTEN];
    uint64_t count[LWP_OFTEN]; /* 0: free */
    uint64_t all;
};

void lwp_often_add_new(struct lwp_often *often, int64_t value, uint64_t times);

static inline void lwp_often_add(struct lwp_often *often, int64_t value, uint64_t times)
{
    often->all += times;
    if (often->count[0] && often->value[0] == value)
        often->count[0] += times;
    else
        lwp_often_add_new(often, value, times);
}

#endif
