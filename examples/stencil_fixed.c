/* stencil.c after following the advice: the 27 coefficients of a cell lie together. Usage: see example.h. */
#include "example.h"

enum { SIDE = 96, ROW = SIDE + 2, PLANE = ROW * ROW, CELLS = PLANE * ROW };

struct coefficients {
    double dbl, dbc, dbr, dcl, dcc, dcr, dfl, dfc, dfr, cbl, cbc, cbr, ccl, ccc, ccr, cfl, cfc, cfr, ubl, ubc, ubr, ucl,
        ucc, ucr, ufl, ufc, ufr;
};

static struct coefficients *coefficients;
static double *x, *b;

static const struct example_loop loops[] = {{"multiply", "coefficients", "all"}, {"feed_back", "x,b", "all"}};
enum { MULTIPLY, FEED_BACK, LOOPS };

EXAMPLE_LOOP static void multiply(size_t first, size_t end)
{
    for (size_t plane = first; plane < end; plane++)
        for (size_t row = 1; row <= SIDE; row++)
            for (size_t at = (plane + 1) * PLANE + row * ROW + 1, stop = at + SIDE; at < stop; at++) {
                const struct coefficients *c = &coefficients[at];
                b[at] = c->dbl * x[at - PLANE - ROW - 1] + c->dbc * x[at - PLANE - ROW] +
                        c->dbr * x[at - PLANE - ROW + 1] + c->dcl * x[at - PLANE - 1] + c->dcc * x[at - PLANE] +
                        c->dcr * x[at - PLANE + 1] + c->dfl * x[at - PLANE + ROW - 1] + c->dfc * x[at - PLANE + ROW] +
                        c->dfr * x[at - PLANE + ROW + 1] + c->cbl * x[at - ROW - 1] + c->cbc * x[at - ROW] +
                        c->cbr * x[at - ROW + 1] + c->ccl * x[at - 1] + c->ccc * x[at] + c->ccr * x[at + 1] +
                        c->cfl * x[at + ROW - 1] + c->cfc * x[at + ROW] + c->cfr * x[at + ROW + 1] +
                        c->ubl * x[at + PLANE - ROW - 1] + c->ubc * x[at + PLANE - ROW] +
                        c->ubr * x[at + PLANE - ROW + 1] + c->ucl * x[at + PLANE - 1] + c->ucc * x[at + PLANE] +
                        c->ucr * x[at + PLANE + 1] + c->ufl * x[at + PLANE + ROW - 1] + c->ufc * x[at + PLANE + ROW] +
                        c->ufr * x[at + PLANE + ROW + 1];
            }
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
    coefficients = example_allocate(CELLS, sizeof *coefficients);
    for (size_t at = 0; at < CELLS; at++) {
        double *all = &coefficients[at].dbl;
        for (size_t k = 0; k < 27; k++)
            all[k] = (double)((at + k) % 3);
    }
    example_run(&example, SIDE, work);
    example_report(&example, loops, LOOPS);
    free(coefficients);
    free(x);
    free(b);
    return 0;
}
