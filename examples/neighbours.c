/* The k nearest neighbours as in Rodinia's NN: records read from a file, of which the search wants the distance only.
 * Following the advice gives neighbours_fixed.c. Usage: see example.h; rounds are the neighbours looked for. */
#include "example.h"

enum { RECORDS = 2000000, ENTRY = 72 };

struct neighbour {
    char entry[ENTRY];
    double distance;
};

static struct neighbour *neighbours;

static const struct example_loop loops[] = {{"nearest", "neighbours", "distance"},
                                            {"print_length", "neighbours", "entry"}};
enum { NEAREST, PRINT_LENGTH, LOOPS };

/* The index of the nearest record that is farther than `beyond`; `end` when there is none. */
EXAMPLE_LOOP static size_t nearest(size_t first, size_t end, double beyond)
{
    size_t found = end;
    double best = 1e300;
    for (size_t i = first; i < end; i++) {
        double distance = neighbours[i].distance;
        if (distance < best && distance > beyond) {
            best = distance;
            found = i;
        }
    }
    return found;
}

EXAMPLE_LOOP static size_t print_length(size_t record)
{
    size_t length = 0;
    while (length < ENTRY && neighbours[record].entry[length])
        length++;
    return length;
}

EXAMPLE_LOOP static void read_records(size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        memset(neighbours[i].entry, 'a' + (int)(i % 26), 1 + i % (ENTRY - 1));
        neighbours[i].entry[1 + i % (ENTRY - 1)] = '\0';
        neighbours[i].distance = (double)(i * 2654435761u % 1000003);
    }
}

static void *work(void *argument)
{
    struct example_thread *thread = argument;
    double beyond = -1;
    read_records(thread->first, thread->end);
    for (unsigned round = 0; round < thread->rounds; round++) {
        size_t found = thread->end, length = 0;
        EXAMPLE_TIME(thread, NEAREST, found = nearest(thread->first, thread->end, beyond));
        if (found == thread->end)
            break;
        EXAMPLE_TIME(thread, PRINT_LENGTH, length = print_length(found));
        beyond = neighbours[found].distance;
        thread->checksum += beyond * 100 + (double)length;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static struct example example;
    example_arguments(&example, argc, argv, 450);
    neighbours = example_allocate(RECORDS, sizeof *neighbours);
    example_run(&example, RECORDS, work);
    example_report(&example, loops, LOOPS);
    free(neighbours);
    return 0;
}
