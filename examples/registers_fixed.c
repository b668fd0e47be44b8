/* registers, fixed: added up in variables, stored once for each column. */
#include "example.h"

enum { VALUES = 2000 };

struct totals {
    unsigned sum, odd, bits;
};

static const struct example_loop loops[] = {{"add_up", "column", "-"}};
enum { ADD_UP, LOOPS };

EXAMPLE_LOOP static void add_up(const unsigned *column, struct totals *totals)
{
    struct totals t = *totals;
    for (size_t i = 0; i < VALUES; i++) {
        t.sum += column[i];
        t.odd += column[i] & 1;
        t.bits |= column[i];
    }
    *totals = t;
}

static void *work(void *given)
{
    struct example_thread *thread = given;
    unsigned *column = example_allocate(VALUES, sizeof *column);
    for (size_t i = 0; i < VALUES; i++)
        column[i] = (unsigned)(i + thread->number) % 7;
    for (unsigned round = 0; round < thread->rounds; round++) {
        struct totals totals = {0};
        EXAMPLE_TIME(thread, ADD_UP, for (int i = 0; i < 200; i++) add_up(column, &totals));
        thread->checksum += (double)(totals.sum + totals.odd + totals.bits);
    }
    free(column);
    return NULL;
}

int main(int argc, char **argv)
{
    struct example example;
    example_arguments(&example, argc, argv, 8000);
    example_run(&example, EXAMPLE_MAX_THREADS, work);
    example_report(&example, loops, LOOPS);
    return 0;
}
