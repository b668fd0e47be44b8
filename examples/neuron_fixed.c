/* neuron.c after following the advice: the fields of a neuron in six arrays, together only where loops use them
 * together. Usage: see example.h. */
#include "example.h"

struct neuron_p {
    double P;
};
struct neuron_xq {
    double X;
    double Q;
};
struct neuron_iu {
    double *I; /* the pixel this neuron looks at */
    double U;
};
struct neuron_v {
    double V;
};
struct neuron_w {
    double W;
};
struct neuron_r {
    double R;
};

enum { NEURONS = 3000000, PIXELS = 4096, BUS = 5000000 };

static struct neuron_p *layer_p;
static struct neuron_xq *layer_xq;
static struct neuron_iu *layer_iu;
static struct neuron_v *layer_v;
static struct neuron_w *layer_w;
static struct neuron_r *layer_r;
static double *bus;
static double image[PIXELS];

static const struct example_loop loops[] = {
    {"learn", "layer_iu,layer_p", "U,P"}, {"excite", "layer_iu,layer_w", "I,W,U"},
    {"norm_w", "layer_w", "W"},           {"feed_back", "layer_xq", "X,Q"},
    {"norm_v", "layer_v", "V"},           {"mismatch", "layer_iu,layer_p", "U,P"},
    {"norm_p", "layer_p", "P"},           {"match", "layer_p", "P"},
    {"watching", "layer_iu", "I"},        {"load_of_bus", "bus", "-"},
};
enum { LEARN, EXCITE, NORM_W, FEED_BACK, NORM_V, MISMATCH, NORM_P, MATCH, WATCHING, LOAD_OF_BUS, LOOPS };

EXAMPLE_LOOP static void learn(size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        layer_iu[i].U = layer_p[i].P;
}

EXAMPLE_LOOP static void excite(size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        layer_w[i].W = *layer_iu[i].I + layer_iu[i].U;
}

EXAMPLE_LOOP static double norm_w(size_t first, size_t end)
{
    double norm = 0;
    for (size_t i = first; i < end; i++)
        norm += layer_w[i].W * layer_w[i].W;
    return norm;
}

EXAMPLE_LOOP static void feed_back(size_t first, size_t end, double gain)
{
    for (size_t i = first; i < end; i++)
        layer_xq[i].Q = layer_xq[i].X * gain;
}

EXAMPLE_LOOP static double norm_v(size_t first, size_t end)
{
    double norm = 0;
    for (size_t i = first; i < end; i++)
        norm += layer_v[i].V * layer_v[i].V;
    return norm;
}

EXAMPLE_LOOP static double mismatch(size_t first, size_t end)
{
    double sum = 0;
    for (size_t i = first; i < end; i++)
        sum += layer_p[i].P - layer_iu[i].U;
    return sum;
}

EXAMPLE_LOOP static double norm_p(size_t first, size_t end)
{
    double norm = 0;
    for (size_t i = first; i < end; i++)
        norm += layer_p[i].P * layer_p[i].P;
    return norm;
}

EXAMPLE_LOOP static double match(size_t first, size_t end, double weight)
{
    double sum = 0;
    for (size_t i = first; i < end; i++)
        sum += layer_p[i].P * weight;
    return sum;
}

EXAMPLE_LOOP static double watching(size_t first, size_t end, const double *pixel)
{
    size_t count = 0;
    for (size_t i = first; i < end; i++)
        count += layer_iu[i].I == pixel;
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
        layer_iu[i].I = &image[i % PIXELS];
        layer_w[i].W = 0;
        layer_xq[i].X = (double)(i % 7);
        layer_v[i].V = (double)(i % 5);
        layer_iu[i].U = 0;
        layer_p[i].P = (double)(i % 11);
        layer_xq[i].Q = 0;
        layer_r[i].R = 1;
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
    layer_p = example_allocate(NEURONS, sizeof *layer_p);
    layer_xq = example_allocate(NEURONS, sizeof *layer_xq);
    layer_iu = example_allocate(NEURONS, sizeof *layer_iu);
    layer_v = example_allocate(NEURONS, sizeof *layer_v);
    layer_w = example_allocate(NEURONS, sizeof *layer_w);
    layer_r = example_allocate(NEURONS, sizeof *layer_r);
    bus = example_allocate(BUS, sizeof *bus);
    for (size_t i = 0; i < PIXELS; i++)
        image[i] = (double)(i % 13);
    example_run(&example, NEURONS, work);
    example_report(&example, loops, LOOPS);
    free(bus);
    free(layer_r);
    free(layer_w);
    free(layer_v);
    free(layer_iu);
    free(layer_xq);
    free(layer_p);
    return 0;
}
