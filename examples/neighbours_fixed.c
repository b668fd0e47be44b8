/* neighbours.c after following the advice: the distance in an array of its own. Usage: see example.h. */
#include "example.h"

enum { RECORDS = 2000000, ENTRY = 72 };

struct neighbour_distance {
    double distance;
};
struct neighbour_cold {
    char entry[ENTRY];
};

static struct neighbour_distance *distances;
static struct neighbour_cold *records;

static const struct example_loop loops[] = {{"nearest", "distances", "distance"}, {"print_length", "records", "entry"}};
enum { NEAREST, PRINT_LENGTH, LOOPS };

/* The index of the nearest record that is farther than `beyond`; `end` when there is none. */
EXAMPLE_LOOP static size_t nearest(size_t first, size_t end, double beyond)
{
    size_t found = end;
    double best = 1e300;
    for (size_t i = first; i < end; i++) {
        double distance = distances[i].distance;
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
    while (length < ENTRY && records[record].entry[length])
        length++;
    return length;
}

EXAMPLE_LOOP static void read_records(size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        memset(records[i].entry, 'a' + (int)(i % 26), 1 + i % (ENTRY - 1));
        records[i].entry[1 + i % (ENTRY - 1)] = '\0';
        distances[i].distance = (double)(i * 2654435761u % 1000003);
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
        beyond = distances[found].distance;
        thread->checksum += beyond * 100 + (double)length;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static struct example example;
    example_arguments(&example, argc, argv, 450);
    distances = example_allocate(RECORDS, sizeof *distances);
    records = example_allocate(RECORDS, sizeof *records);
    example_run(&example, RECORDS, work);
    example_report(&example, loops, LOOPS);
    free(records);
    free(distances);
    return 0;
}
