/* layer.c with its two loops exchanged: the inner one goes along the rows of the weights. Each unit keeps a sum of its own, which no
 * pointer leads to. */
#include "example.h"

enum { INPUTS = 1024, UNITS = 512 };

static double *weights, *inputs, *units;

static const struct example_loop loops[] = {{"forward", "weights,inputs,units", "all"}};
enum { FORWARD, LOOPS };

EXAMPLE_LOOP static void forward(size_t first, size_t end)
{
    double sums[UNITS] = {0};
    for (size_t input = 0; input < INPUTS; input++)
        for (size_t unit = first; unit < end; unit++)
            sums[unit] += weights[input * UNITS + unit] *
                          inputs[input];
    for (size_t unit = first; unit < end; unit++)
        units[unit] += sums[unit];
}

static void *work(void *argument)
{
    struct example_thread *thread = argument;
    for (unsigned round = 0; round < thread->rounds; round++)
        EXAMPLE_TIME(thread, FORWARD, forward(thread->first, thread->end));
    for (size_t unit = thread->first; unit < thread->end; unit++)
        thread->checksum += units[unit];
    return NULL;
}

int main(int argc, char **argv)
{
    static struct example example;
    example_arguments(&example, argc, argv, 40);
    weights = example_allocate((size_t)INPUTS * UNITS, sizeof *weights);
    inputs = example_allocate(INPUTS, sizeof *inputs);
    units = example_allocate(UNITS, sizeof *units);
    for (size_t i = 0; i < (size_t)INPUTS * UNITS; i++)
        weights[i] = (double)(i % 7);
    for (size_t i = 0; i < INPUTS; i++)
        inputs[i] = (double)(i % 3);
    for (size_t i = 0; i < UNITS; i++)
        units[i] = 0;
    example_run(&example, UNITS, work);
    example_report(&example, loops, LOOPS);
    free(weights);
    free(inputs);
    free(units);
    return 0;
}
