/* examples/diffusion.c after another advice than its twin: what belongs to one pixel lies together. */
#include "example.h"

enum { ROWS = 2000, COLUMNS = 2000 };

struct pixel {
    float value, north, south, west, east, rate;
};

static struct pixel *image;

static const struct example_loop loops[] = {{"gradient", "image", "value,north,south,west,east,rate"},
                                            {"diffuse", "image", "value,north,south,west,east,rate"}};
enum { GRADIENT, DIFFUSE, LOOPS };

EXAMPLE_LOOP static void gradient(size_t first, size_t end)
{
    for (size_t column = first; column < end; column++)
        for (size_t row = 0; row < ROWS; row++) {
            size_t at = row * COLUMNS + column;
            size_t up = row > 0 ? at - COLUMNS : at, down = row < ROWS - 1 ? at + COLUMNS : at;
            size_t left = column > first ? at - 1 : at, right = column < end - 1 ? at + 1 : at;
            float here = image[at].value;
            image[at].north = image[up].value - here;
            image[at].south = image[down].value - here;
            image[at].west = image[left].value - here;
            image[at].east = image[right].value - here;
            float steep = image[at].north * image[at].north + image[at].south * image[at].south +
                          image[at].west * image[at].west + image[at].east * image[at].east;
            image[at].rate = steep < 4 * here ? 0.5f : 0.125f;
        }
}

EXAMPLE_LOOP static void diffuse(size_t first, size_t end)
{
    for (size_t column = first; column < end; column++)
        for (size_t row = 0; row < ROWS; row++) {
            size_t at = row * COLUMNS + column;
            size_t down = row < ROWS - 1 ? at + COLUMNS : at, right = column < end - 1 ? at + 1 : at;
            float change = image[at].rate * (image[at].north + image[at].west) + image[down].rate * image[at].south +
                           image[right].rate * image[at].east;
            image[at].value += 0.25f * change;
        }
}

static double sum(size_t first, size_t end)
{
    double all = 0;
    for (size_t row = 0; row < ROWS; row++)
        for (size_t column = first; column < end; column++)
            all += image[row * COLUMNS + column].value;
    return all;
}

static void *work(void *argument)
{
    struct example_thread *thread = argument;
    for (size_t row = 0; row < ROWS; row++)
        for (size_t column = thread->first; column < thread->end; column++)
            image[row * COLUMNS + column].value = (float)((row * 7919 + column * 104729) % 251);
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
    image = example_allocate((size_t)ROWS * COLUMNS, sizeof *image);
    example_run(&example, COLUMNS, work);
    example_report(&example, loops, LOOPS);
    free(image);
    return 0;
}
