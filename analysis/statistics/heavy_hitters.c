#include "analysis/statistics/heavy_hitters.h"

void lwp_heavy_hitters_add_new(struct lwp_heavy_hitters *often, int64_t value, uint64_t times)
{
    size_t least = 0;
    for (size_t i = 0; i < LWP_HEAVY_HITTERS; i++) {
        if (often->count[i] && often->value[i] == value) {
            often->count[i] += times;
            return;
        }
        if (often->count[i] < often->count[least])
            least = i;
    }
    uint64_t gone = often->count[least] < times ? often->count[least] : times;
    for (size_t i = 0; gone && i < LWP_HEAVY_HITTERS; i++)
        often->count[i] -= gone;
    if (times == gone)
        return;
    for (least = 0; often->count[least];)
        least++;
    often->value[least] = value;
    often->count[least] = times - gone;
}
