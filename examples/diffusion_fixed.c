/* diffusion.c with its loops exchanged: they go along the rows. Usage: see example.h. */
#include "example.h"

enum { ROWS = 2000, COLUMNS = 2000 };

static float *value, *north, *south, *west, *east, *rate;

static const struct example_loop loops[] = {{"gradient", "value,north,south,west,east,rate", "all"},
                                            {"diffuse", "value,north,south,west,east,rate", "all"}};
enum { GRADIENT, DIFFUSE, LOOPS };

EXAMPLE_LOOP static void gradient(size_t first, size_t end)
{
    for (size_t row = 0; row < ROWS; row++)
        for (size_t column = first; column < end; column++) {
            size_t at = row * COLUMNS + column;
            size_t up = row > 0 ? at - COLUMNS : at, down = row < ROWS - 1 ? at + COLUMNS : at;
            size_t left = column > first ? at - 1 : at, right = column < end - 1 ? at + 1 : at;
            float here = value[at];
            north[at] = value[up] - here;
            south[at] = value[down] - here;
            west[at] = value[left] - here;
            east[at] = value[right] - here;
            float steep = north[at] * north[at] + south[at] * south[at] + west[at] * west[at] + east[at] * east[at];
            rate[at] = steep < 4 * here ? 0.5f : 0.125f;
        }
}

EXAMPLE_LOOP static void diffuse(size_t first, size_t end)
{
    for (size_t row = 0; row < ROWS; row++)
        for (size_t column = first; column < end; column++) {
            size_t at = row * COLUMNS + column;
            size_t down = row < ROWS - 1 ? at + COLUMNS : at, right = column < end - 1 ? at + 1 : at;
            float change = rate[at] * (north[at] + west[at]) + rate[down] * south[at] + rate[right] * east[at];
            value[at] += 0.25f * change;
        }
}

static double sum(size_t first, size_t end)
{
    double all = 0;
    for (size_t row = 0; row < ROWS; row++)
        for (size_t column = first; column < end; column++)
            all += value[row * COLUMNS + column];
    return all;
}

static void *work(void *argument)
{
    struct example_thread *thread = argument;
    for (size_t row = 0; row < ROWS; row++)
        for (size_t column = thread->first; column < thread->end; column++)
            value[row * COLUMNS + column] = (float)((row * 7919 + column * 104729) % 251);
    for (unsigned round = 0; round < thread->rounds; round++) {
        EXAMPLE_TIME(thread, GRADIENT, gradient(thread->first, thread->end));
        EXAMPLE_TIME(thread, DIFFUSE, diffuse(thread->first, thread->end));
    }
    thread->checksum = sum(thread->first, thread->end);
    return NULL;
}

int main(int argc, char **argv)
{
    static struct example example;
    example_arguments(&example, argc, argv, 16);
    value = example_allocate((size_t)ROWS * COLUMNS, sizeof *value);
    north = example_allocate((size_t)ROWS * COLUMNS, sizeof *north);
    south = example_allocate((size_t)ROWS * COLUMNS, sizeof *south);
    west = example_allocate((size_t)ROWS * COLUMNS, sizeof *west);
    east = example_allocate((size_t)ROWS * COLUMNS, sizeof *east);
    rate = example_allocate((size_t)ROWS * COLUMNS, sizeof *rate);
    example_run(&example, COLUMNS, work);
    example_report(&example, loops, LOOPS);
    free(value);
    free(north);
    free(south);
    free(west);
    free(east);
    free(rate);
    return 0;
}
