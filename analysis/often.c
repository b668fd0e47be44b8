#include "analysis/often.h"

void lwp_often_add_new(struct lwp_often *often, int64_t value, uint64_t times)
{
    size_t least = 0;
    for (size_t i = 0; i < LWP_OFTEN; i++) {
        if (often->count[i] && often->value[i] == value) {
            often->count[i] += times;
            return;
        }
        if (often->count[i] < often->count[least])
            least = i;
    }
    uint64_t gone = often->count[least] < times ? often->count[least] : times;
    for (size_t i = 0; gone && i < LWP_OFTEN; i++)
        often->count[i] -= gone;
    if (times == gone)
        return;
    for (least = 0; often->count[least];)
        least++;
    often->value[least] = value;
    often->count[least] = times - gone;
}

void lwp_often_merge(struct lwp_often *into, const struct lwp_often *from)
{
    into->all += from->all;
    for (size_t i = 0; i < LWP_OFTEN; i++)
        if (from->count[i])
            lwp_often_add_new(into, from->value[i], from->count[i]);
}

double lwp_often_most(const struct lwp_often *often, int64_t *value)
{
    size_t most = 0;
    for (size_t i = 1; i < LWP_OFTEN; i++)
        if (often->count[i] > often->count[most] ||
            (often->count[i] == often->count[most] && often->value[i] < often->value[most]))
            most = i;
    *value = often->count[most] ? often->value[most] : 0;
    return often->count[most] ? (double)often->count[most] / (double)often->all : 0;
}
