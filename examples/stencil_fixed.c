/* stencil.c with each array moved by a cache line more than the one before: the lines that one product needs no longer
 * fall into one set of the cache. */
#include "example.h"

enum { SIDE = 96, ROW = SIDE + 2, PLANE = ROW * ROW, CELLS = PLANE * ROW };

static double *dbl, *dbc, *dbr, *dcl, *dcc, *dcr, *dfl, *dfc, *dfr, *cbl, *cbc, *cbr, *ccl, *ccc, *ccr, *cfl, *cfc,
    *cfr, *ubl, *ubc, *ubr, *ucl, *ucc, *ucr, *ufl, *ufc, *ufr;
static double *x, *b;

static double **const arrays[] = {
    &dbl, &dbc, &dbr, &dcl, &dcc, &dcr, &dfl, &dfc, &dfr, &cbl, &cbc, &cbr, &ccl, &ccc,
    &ccr, &cfl, &cfc, &cfr, &ubl, &ubc, &ubr, &ucl, &ucc, &ucr, &ufl, &ufc, &ufr,
};

static const struct example_loop loops[] = {{"multiply", "dbl..ufr", "all"}, {"feed_back", "x,b", "all"}};
enum { MULTIPLY, FEED_BACK, LOOPS };

enum { ARRAYS = 29, LINE = 64 };

static char *blocks[ARRAYS];

static double *allocate_apart(size_t k)
{
    blocks[k] = example_allocate(CELLS * sizeof(double) + ARRAYS * LINE, 1);
    return (double *)(void *)(blocks[k] + k * LINE);
}

EXAMPLE_LOOP static void multiply(size_t first, size_t end)
{
    for (size_t plane = first; plane < end; plane++)
        for (size_t row = 1; row <= SIDE; row++)
            for (size_t at = (plane + 1) * PLANE + row * ROW + 1, stop = at + SIDE; at < stop; at++)
                b[at] = dbl[at] * x[at - PLANE - ROW - 1] + dbc[at] * x[at - PLANE - ROW] +
                        dbr[at] * x[at - PLANE - ROW + 1] + dcl[at] * x[at - PLANE - 1] + dcc[at] * x[at - PLANE] +
                        dcr[at] * x[at - PLANE + 1] + dfl[at] * x[at - PLANE + ROW - 1] +
                        dfc[at] * x[at - PLANE + ROW] + dfr[at] * x[at - PLANE + ROW + 1] + cbl[at] * x[at - ROW - 1] +
                        cbc[at] * x[at - ROW] + cbr[at] * x[at - ROW + 1] + ccl[at] * x[at - 1] + ccc[at] * x[at] +
                        ccr[at] * x[at + 1] + cfl[at] * x[at + ROW - 1] + cfc[at] * x[at + ROW] +
                        cfr[at] * x[at + ROW + 1] + ubl[at] * x[at + PLANE - ROW - 1] + ubc[at] * x[at + PLANE - ROW] +
                        ubr[at] * x[at + PLANE - ROW + 1] + ucl[at] * x[at + PLANE - 1] + ucc[at] * x[at + PLANE] +
                        ucr[at] * x[at + PLANE + 1] + ufl[at] * x[at + PLANE + ROW - 1] +
                        ufc[at] * x[at + PLANE + ROW] + ufr[at] * x[at + PLANE + ROW + 1];
}

EXAMPLE_LOOP static double feed_back(size_t first, size_t end)
{
    double sum = 0;
    for (size_t at = (first + 1) * PLANE; at < (end + 1) * PLANE; at++) {
        sum += b[at];
        b[at] = 0;
    }
    return sum;
}

static void *work(void *argument)
{
    struct example_thread *thread = argument;
    for (unsigned round = 0; round < thread->rounds; round++) {
        EXAMPLE_TIME(thread, MULTIPLY, multiply(thread->first, thread->end));
        EXAMPLE_TIME(thread, FEED_BACK, thread->checksum += feed_back(thread->first, thread->end));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static struct example example;
    example_arguments(&example, argc, argv, 150);
    x = allocate_apart(0);
    b = allocate_apart(1);
    for (size_t at = 0; at < CELLS; at++) {
        x[at] = (double)(at % 5);
        b[at] = 0;
    }
    dbl = allocate_apart(2);
    dbc = allocate_apart(3);
    dbr = allocate_apart(4);
    dcl = allocate_apart(5);
    dcc = allocate_apart(6);
    dcr = allocate_apart(7);
    dfl = allocate_apart(8);
    dfc = allocate_apart(9);
    dfr = allocate_apart(10);
    cbl = allocate_apart(11);
    cbc = allocate_apart(12);
    cbr = allocate_apart(13);
    ccl = allocate_apart(14);
    ccc = allocate_apart(15);
    ccr = allocate_apart(16);
    cfl = allocate_apart(17);
    cfc = allocate_apart(18);
    cfr = allocate_apart(19);
    ubl = allocate_apart(20);
    ubc = allocate_apart(21);
    ubr = allocate_apart(22);
    ucl = allocate_apart(23);
    ucc = allocate_apart(24);
    ucr = allocate_apart(25);
    ufl = allocate_apart(26);
    ufc = allocate_apart(27);
    ufr = allocate_apart(28);
    for (size_t k = 0; k < 27; k++)
        for (size_t at = 0; at < CELLS; at++)
            (*arrays[k])[at] = (double)((at + k) % 3);
    example_run(&example, SIDE, work);
    example_report(&example, loops, LOOPS);
    for (size_t k = 0; k < ARRAYS; k++)
        free(blocks[k]);
    return 0;
}
