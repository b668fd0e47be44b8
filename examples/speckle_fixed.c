/* speckle.c with the loops of both passes exchanged: they go along the rows. */
#include "example.h"

enum { ROWS = 400, COLUMNS = 600 };

static double *image, *rate, *change;

static const struct example_loop loops[] = {{"diffuse", "image,rate,change", "all"}, {"update", "image,change", "all"}};
enum { DIFFUSE, UPDATE, LOOPS };

#define AT(array, row, column) array[(row) * COLUMNS + (column)]

EXAMPLE_LOOP static void diffuse(size_t first, size_t end)
{
    for (size_t row = first; row < end; row++)
        for (size_t column = 1; column < COLUMNS - 1; column++)
            AT(change, row, column) = AT(rate, row, column) * (AT(image, row, column - 1) - 2 * AT(image, row, column) +
                                                               AT(image, row, column + 1));
}

EXAMPLE_LOOP static void update(size_t first, size_t end)
{
    for (size_t row = first; row < end; row++)
        for (size_t column = 1; column < COLUMNS - 1; column++)
            AT(image, row, column) += 0.25 *
                                      AT(change, row, column);
}

static void *work(void *argument)
{
    struct example_thread *thread = argument;
    for (unsigned round = 0; round < thread->rounds; round++) {
        EXAMPLE_TIME(thread, DIFFUSE, diffuse(thread->first, thread->end));
        EXAMPLE_TIME(thread, UPDATE, update(thread->first, thread->end));
    }
    for (size_t row = thread->first; row < thread->end; row++)
        thread->checksum += AT(image, row, row);
    return NULL;
}

int main(int argc, char **argv)
{
    static struct example example;
    example_arguments(&example, argc, argv, 30);
    image = example_allocate((size_t)ROWS * COLUMNS, sizeof *image);
    rate = example_allocate((size_t)ROWS * COLUMNS, sizeof *rate);
    change = example_allocate((size_t)ROWS * COLUMNS, sizeof *change);
    for (size_t i = 0; i < (size_t)ROWS * COLUMNS; i++) {
        image[i] = (double)(i % 5);
        rate[i] = (double)(i % 2);
        change[i] = 0;
    }
    example_run(&example, ROWS, work);
    example_report(&example, loops, LOOPS);
    free(image);
    free(rate);
    free(change);
    return 0;
}
