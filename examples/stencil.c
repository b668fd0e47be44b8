/* The matrix-vector product of Sequoia's IRSmk: a 27-point stencil on a block of cells, whose coefficients lie in 27
 * arrays that are all walked together: more streams than the caches have ways where the arrays lie alike.
 * Following the advice gives stencil_fixed.c. Usage: see example.h; rounds are the products. */
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
    x = example_allocate(CELLS, sizeof *x);
    b = example_allocate(CELLS, sizeof *b);
    for (size_t at = 0; at < CELLS; at++) {
        x[at] = (double)(at % 5);
        b[at] = 0;
    }
    dbl = example_allocate(CELLS, sizeof *dbl);
    dbc = example_allocate(CELLS, sizeof *dbc);
    dbr = example_allocate(CELLS, sizeof *dbr);
    dcl = example_allocate(CELLS, sizeof *dcl);
    dcc = example_allocate(CELLS, sizeof *dcc);
    dcr = example_allocate(CELLS, sizeof *dcr);
    dfl = example_allocate(CELLS, sizeof *dfl);
    dfc = example_allocate(CELLS, sizeof *dfc);
    dfr = example_allocate(CELLS, sizeof *dfr);
    cbl = example_allocate(CELLS, sizeof *cbl);
    cbc = example_allocate(CELLS, sizeof *cbc);
    cbr = example_allocate(CELLS, sizeof *cbr);
    ccl = example_allocate(CELLS, sizeof *ccl);
    ccc = example_allocate(CELLS, sizeof *ccc);
    ccr = example_allocate(CELLS, sizeof *ccr);
    cfl = example_allocate(CELLS, sizeof *cfl);
    cfc = example_allocate(CELLS, sizeof *cfc);
    cfr = example_allocate(CELLS, sizeof *cfr);
    ubl = example_allocate(CELLS, sizeof *ubl);
    ubc = example_allocate(CELLS, sizeof *ubc);
    ubr = example_allocate(CELLS, sizeof *ubr);
    ucl = example_allocate(CELLS, sizeof *ucl);
    ucc = example_allocate(CELLS, sizeof *ucc);
    ucr = example_allocate(CELLS, sizeof *ucr);
    ufl = example_allocate(CELLS, sizeof *ufl);
    ufc = example_allocate(CELLS, sizeof *ufc);
    ufr = example_allocate(CELLS, sizeof *ufr);
    for (size_t k = 0; k < 27; k++)
        for (size_t at = 0; at < CELLS; at++)
            (*arrays[k])[at] = (double)((at + k) % 3);
    example_run(&example, SIDE, work);
    example_report(&example, loops, LOOPS);
    for (size_t k = 0; k < 27; k++)
        free(*arrays[k]);
    free(x);
    free(b);
    return 0;
}
