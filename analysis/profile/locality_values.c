#include "analysis/profile/locality_values.h"

#include "base/arena.h"

#include <stdlib.h>

enum { JOINED_LEAST = 1024 };

void lwp_locality_values_free(struct lwp_locality_values *values)
{
    free(values->items);
    *values = (struct lwp_locality_values){0};
}

void lwp_locality_values_add(struct lwp_locality_values *values, const struct lwp_locality_value *value)
{
    if (values->count >= JOINED_LEAST && values->count >= 2 * values->joined)
        lwp_locality_values_join(values);
    LWP_GROW(&values->items, values->count, &values->room);
    values->items[values->count++] = *value;
}

static int values_owner_compare(const struct lwp_locality_value *x, const struct lwp_locality_value *y)
{
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    return (x->of > y->of) - (x->of < y->of);
}

static int values_compare(const void *a, const void *b)
{
    const struct lwp_locality_value *x = a, *y = b;
    int owner = values_owner_compare(x, y);
    return owner ? owner : (x->value > y->value) - (x->value < y->value);
}

void lwp_locality_values_join(struct lwp_locality_values *values)
{
    size_t kept = 0;
    if (values->count)
        qsort(values->items, values->count, sizeof *values->items, values_compare);
    for (size_t i = 0; i < values->count; i++)
        if (kept && values_compare(&values->items[kept - 1], &values->items[i]) == 0)
            values->items[kept - 1].count += values->items[i].count;
        else
            values->items[kept++] = values->items[i];
    values->count = values->joined = kept;
}

const struct lwp_locality_value *lwp_locality_values_of(const struct lwp_locality_values *values, uint32_t object, uint32_t part,
                                                        enum lwp_locality_value_of of, size_t *count)
{
    const struct lwp_locality_value wanted = {.object = object, .part = part, .of = of};
    size_t low = 0, high = values->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (values_owner_compare(&values->items[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (*count = 0; low + *count < values->count && values_owner_compare(&values->items[low + *count], &wanted) == 0;)
        ++*count;
    return values->items + low;
}

const struct lwp_locality_value *lwp_locality_values_most(const struct lwp_locality_value *values, size_t count)
{
    const struct lwp_locality_value *most = NULL;
    for (size_t i = 0; i < count; i++)
        if (!most || values[i].count > most->count)
            most = &values[i];
    return most;
}
