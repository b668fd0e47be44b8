/* The source that analysis.json beside it speaks of; never compiled. */
#include <stddef.h>

struct particle {
    double x, y, z;
    int id;
    double mass;
    char name[40];
};

double total_mass(const struct particle *all, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += all[i].mass;
    return sum;
}

void move(struct particle *all, size_t count, double step)
{
    for (size_t i = 0; i < count; i++) {
        all[i].x += step;
        all[i].y += step;
        all[i].z += step; /* <b>not bold</b> */
    }
}

struct node {
    long key;
    struct node *next;
    char payload[112];
};

long find(const struct node *first, long key)
{
    long steps = 0;
    for (const struct node *n = first; n; n = n->next)
        if (n->key == key)
            steps++;
    return steps;
}
