/* One of two units for tests/unit/test_debug_info.c; lines matter there. */
#include "debug_info.h"

struct particle particles[PARTICLES];

ALONE double one_weight(const struct particle *list, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += list[i].mass * list[i].charge;
    return sum;
}

list one_list;
typedef struct {
    int count, size;
    double *items;
} other;
other one_other;
