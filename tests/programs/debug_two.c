/* The other unit. */
#include "debug_info.h"

struct cell {
    long key;
    struct particle *owner;
    double value;
};

static struct cell cells[30];

ALONE long two_keys(const struct cell *list, int n)
{
    long sum = 0;
    for (int i = 0; i < n; i++) {
        sum += list[i].key;
    }
    return sum;
}

int main(int argc, char **argv)
{
    for (int i = 0; i < 30; i++)
        cells[i].key = argc + i;
    for (int i = 0; i < PARTICLES; i++)
        particles[i].mass = argc;
    return two_keys(cells, 30) > 0 && one_weight(particles, PARTICLES) > 0 && argv[0] ? 0 : 1;
}

struct shelf {
    long key;
    list all;
} two_shelf;
