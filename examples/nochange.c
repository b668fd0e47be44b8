/* Nothing to advise: particles whose fields are all used together, and an array read from end to end. There is no
 * fixed version. Usage: see example.h. */
#include "example.h"

enum { PARTICLES = 2000000, SAMPLES = 6000000 };

struct particle {
    double x, y, z;
    double vx, vy, vz;
    double mass, charge;
};

static struct particle *particles;
static double *signal_samples;

static const struct example_loop loops[] = {
    {"move", "particles", "x,y,z,vx,vy,vz,mass,charge"},
    {"energy", "particles", "x,y,z,vx,vy,vz,mass,charge"},
    {"mean", "signal_samples", "-"},
};
enum { MOVE, ENERGY, MEAN, LOOPS };

EXAMPLE_LOOP static void move(size_t first, size_t end, double step)
{
    for (size_t i = first; i < end; i++) {
        struct particle *p = &particles[i];
        double push = p->mass * p->charge * step;
        p->x += p->vx * push;
        p->y += p->vy * push;
        p->z += p->vz * push;
    }
}

EXAMPLE_LOOP static double energy(size_t first, size_t end)
{
    double sum = 0;
    for (size_t i = first; i < end; i++) {
        const struct particle *p = &particles[i];
        sum += p->mass * (p->vx * p->vx + p->vy * p->vy + p->vz * p->vz) + p->charge * (p->x + p->y + p->z);
    }
    return sum;
}

EXAMPLE_LOOP static double mean(size_t first, size_t end)
{
    double sum = 0;
    for (size_t i = first; i < end; i++)
        sum += signal_samples[i];
    return sum;
}

EXAMPLE_LOOP static void set_up(size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        struct particle *p = &particles[i];
        p->x = p->y = p->z = (double)(i % 5);
        p->vx = (double)(1 + i % 3); /* nothing stands still: a store of the same value would be redundant */
        p->vy = (double)(1 + i % 7);
        p->vz = -1;
        p->mass = (double)(1 + i % 2);
        p->charge = 1;
    }
    for (size_t i = first * SAMPLES / PARTICLES; i < end * SAMPLES / PARTICLES; i++)
        signal_samples[i] = (double)(i % 17);
}

static void *work(void *argument)
{
    struct example_thread *thread = argument;
    size_t first = thread->first, end = thread->end;
    double sum = 0;
    set_up(first, end);
    for (unsigned round = 0; round < thread->rounds; round++) {
        EXAMPLE_TIME(thread, MOVE, move(first, end, 1));
        EXAMPLE_TIME(thread, ENERGY, sum += energy(first, end));
        EXAMPLE_TIME(thread, MEAN, sum += mean(first * SAMPLES / PARTICLES, end * SAMPLES / PARTICLES));
    }
    thread->checksum = sum;
    return NULL;
}

int main(int argc, char **argv)
{
    static struct example example;
    example_arguments(&example, argc, argv, 120);
    particles = example_allocate(PARTICLES, sizeof *particles);
    signal_samples = example_allocate(SAMPLES, sizeof *signal_samples);
    example_run(&example, PARTICLES, work);
    example_report(&example, loops, LOOPS);
    free(signal_samples);
    free(particles);
    return 0;
}
