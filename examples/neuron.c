/* A neural network layer as in SPEC's ART: one structure for each neuron, though most loops want one of its fields.
 * Following the advice gives neuron_fixed.c. Usage: see example.h. */
#include "example.h"

struct neuron {
    double *I; /* the pixel this neuron looks at */
    double W;
    double X;
    double V;
    double U;
    double P;
    double Q;
    double R;
};

enum { NEURONS = 3000000, PIXELS = 4096, BUS = 5000000 };

static struct neuron *layer;
static double *bus;
static double image[PIXELS];

static const struct example_loop loops[] = {
    {"learn", "layer", "U,P"},  {"excite", "layer", "I,W,U"}, {"norm_w", "layer", "W"}, {"feed_back", "layer", "X,Q"},
    {"norm_v", "layer", "V"},   {"mismatch", "layer", "U,P"}, {"norm_p", "layer", "P"}, {"match", "layer", "P"},
    {"watching", "layer", "I"}, {"load_of_bus", "bus", "-"},
};
enum { LEARN, EXCITE, NORM_W, FEED_BACK, NORM_V, MISMATCH, NORM_P, MATCH, WATCHING, LOAD_OF_BUS, LOOPS };

EXAMPLE_LOOP static void learn(size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        layer[i].U = layer[i].P;
}

EXAMPLE_LOOP static void excite(size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        layer[i].W = *layer[i].I + layer[i].U;
}

EXAMPLE_LOOP static double norm_w(size_t first, size_t end)
{
    double norm = 0;
    for (size_t i = first; i < end; i++)
        norm += layer[i].W * layer[i].W;
    return norm;
}

EXAMPLE_LOOP static void feed_back(size_t first, size_t end, double gain)
{
    for (size_t i = first; i < end; i++)
        layer[i].Q = layer[i].X * gain;
}

EXAMPLE_LOOP static double norm_v(size_t first, size_t end)
{
    double norm = 0;
    for (size_t i = first; i < end; i++)
        norm += layer[i].V * layer[i].V;
    return norm;
}

EXAMPLE_LOOP static double mismatch(size_t first, size_t end)
{
    double sum = 0;
    for (size_t i = first; i < end; i++)
        sum += layer[i].P - layer[i].U;
    return sum;
}

EXAMPLE_LOOP static double norm_p(size_t first, size_t end)
{
    double norm = 0;
    for (size_t i = first; i < end; i++)
        norm += layer[i].P * layer[i].P;
    return norm;
}

EXAMPLE_LOOP static double match(size_t first, size_t end, double weight)
{
    double sum = 0;
    for (size_t i = first; i < end; i++)
        sum += layer[i].P * weight;
    return sum;
}

EXAMPLE_LOOP static double watching(size_t first, size_t end, const double *pixel)
{
    size_t count = 0;
    for (size_t i = first; i < end; i++)
        count += layer[i].I == pixel;
    return (double)count;
}

EXAMPLE_LOOP static double load_of_bus(size_t first, size_t end)
{
    double sum = 0;
    for (size_t i = first; i < end; i++)
        sum += bus[i];
    return sum;
}

EXAMPLE_LOOP static void set_up(size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        layer[i].I = &image[i % PIXELS];
        layer[i].W = 0;
        layer[i].X = (double)(i % 7);
        layer[i].V = (double)(i % 5);
        layer[i].U = 0;
        layer[i].P = (double)(i % 11);
        layer[i].Q = 0;
        layer[i].R = 1;
    }
    for (size_t i = first * BUS / NEURONS; i < end * BUS / NEURONS; i++)
        bus[i] = (double)(i % 3);
}

static void *work(void *argument)
{
    struct example_thread *thread = argument;
    size_t first = thread->first, end = thread->end, part = (end - first) / 100;
    double sum = 0;
    set_up(first, end);
    for (unsigned round = 0; round < thread->rounds; round++) {
        double gain = (double)(round % 4);
        EXAMPLE_TIME(thread, LEARN, learn(first, first + 6 * part));
        EXAMPLE_TIME(thread, EXCITE, excite(first, first + 60 * part));
        EXAMPLE_TIME(thread, NORM_W, sum += norm_w(first, end));
        EXAMPLE_TIME(thread, FEED_BACK, feed_back(first, first + 50 * part, gain));
        EXAMPLE_TIME(thread, NORM_V, sum += norm_v(first, end));
        EXAMPLE_TIME(thread, MISMATCH, sum += mismatch(first, first + 5 * part));
        EXAMPLE_TIME(thread, NORM_P, sum += norm_p(first, end));
        for (unsigned category = 0; category < 5; category++)
            EXAMPLE_TIME(thread, MATCH, sum += match(first, end, category + gain));
        EXAMPLE_TIME(thread, WATCHING, sum += watching(first, first + 2 * part, &image[round % PIXELS]));
        for (unsigned category = 0; category < 3; category++)
            EXAMPLE_TIME(thread, LOAD_OF_BUS, sum += load_of_bus(first * BUS / NEURONS, end * BUS / NEURONS));
    }
    thread->checksum = sum;
    return NULL;
}

int main(int argc, char **argv)
{
    static struct example example;
    example_arguments(&example, argc, argv, 40);
    layer = example_allocate(NEURONS, sizeof *layer);
    bus = example_allocate(BUS, sizeof *bus);
    for (size_t i = 0; i < PIXELS; i++)
        image[i] = (double)(i % 13);
    example_run(&example, NEURONS, work);
    example_report(&example, loops, LOOPS);
    free(bus);
    free(layer);
    return 0;
}
