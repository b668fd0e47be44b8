#include "collector/launch/load_cost.h"

#include "base/arena.h"
#include "base/order.h"
#include "collector/env.h"
#include "collector/machine/costs.h"

#include <stdlib.h>
#include <string.h>

double lwp_load_cost(char *const *environment, unsigned pairs)
{
    double with[pairs + 1], without[pairs + 1];
    char *nothing[] = {NULL};
    size_t count = 0;
    unsigned done = 0;
    while (environment[count])
        count++;
    char **later = lwp_zeroed(count + 2, sizeof *later);
    memcpy(later, environment, count * sizeof *later);
    later[count] = (char *)LWP_ENV_COSTS "=" LWP_NO_COSTS; /* as if another process had been first */
    for (; done < pairs; done++) {
        without[done] = lwp_costs_start(nothing, NULL);
        with[done] = lwp_costs_start(later, NULL);
        if (without[done] < 0 || with[done] < 0)
            break;
    }
    free(later);
    LWP_SORT(with, done, lwp_compare_double);
    LWP_SORT(without, done, lwp_compare_double);
    double more = done ? with[done / 2] - without[done / 2] : 0;
    return more > 0 ? more : 0;
}
