/* readings.c with the doubles first and the chars together behind them: 48 bytes instead of 72. Usage: see example.h.
 */
#include "example.h"

enum { READINGS = 1500000, CHECKS = 400000 };

struct reading {
    double value, error, low, high, weight;
    char kind, unit, state, site;
};

static struct reading *readings;

static const struct example_loop loops[] = {
    {"summary", "readings", "kind,value,unit,error,state,low,site,high,weight"},
    {"check", "readings", "kind,value,unit,error,state,low,site,high,weight"},
};
enum { SUMMARY, CHECK, LOOPS };

static double judge(const struct reading *r)
{
    double sum = r->weight * (r->value + r->error) + (r->kind ^ r->unit ^ r->state ^ r->site);
    return sum + r->low + r->high;
}

EXAMPLE_LOOP static double summary(size_t first, size_t end)
{
    double sum = 0;
    for (size_t i = first; i < end; i++)
        sum += judge(&readings[i]);
    return sum;
}

/* Here and there, in no order that hardware could foresee. */
EXAMPLE_LOOP static double check(size_t first, size_t end, size_t count)
{
    double sum = 0;
    unsigned state = 1;
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        sum += judge(&readings[first + ((size_t)state * (end - first) >> 32)]);
    }
    return sum;
}

static void *work(void *argument)
{
    struct example_thread *thread = argument;
    size_t first = thread->first, end = thread->end;
    for (size_t i = first; i < end; i++) {
        struct reading *r = &readings[i];
        r->kind = (char)(i % 3);
        r->unit = (char)(i % 5);
        r->state = (char)(i % 7);
        r->site = (char)(i % 11);
        r->value = (double)(i % 13);
        r->error = (double)(i % 2);
        r->low = (double)(i % 17);
        r->high = (double)(i % 19);
        r->weight = (double)(i % 4);
    }
    for (unsigned round = 0; round < thread->rounds; round++) {
        EXAMPLE_TIME(thread, SUMMARY, thread->checksum += summary(first, end));
        EXAMPLE_TIME(thread, CHECK, thread->checksum += check(first, end, (size_t)CHECKS * (end - first) / READINGS));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static struct example example;
    example_arguments(&example, argc, argv, 150);
    readings = example_allocate(READINGS, sizeof *readings);
    example_run(&example, READINGS, work);
    example_report(&example, loops, LOOPS);
    free(readings);
    return 0;
}
