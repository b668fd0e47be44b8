/* boxes.c after following the advice: all of a particle in one place. Usage: see example.h. */
#include "example.h"

enum { PARTICLES = 3000000, NEIGHBOURS = 6 };

struct particle {
    double x, y, z, charge, mass, radius, spin, heat, depth;
};

static struct particle *particles;
static double *forces;
static unsigned *neighbours;

static const struct example_loop loops[] = {{"interact", "particles,forces", "all"}, {"settle", "forces", "all"}};
enum { INTERACT, SETTLE, LOOPS };

EXAMPLE_LOOP static void interact(size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        struct particle here = particles[i];
        double force = 0;
        for (size_t n = 0; n < NEIGHBOURS; n++) {
            size_t other = neighbours[i * NEIGHBOURS + n];
            const struct particle *there = &particles[other];
            double x = there->x - here.x, y = there->y - here.y, z = there->z - here.z;
            force += there->charge * (x + y * 2 + z * 3) - there->mass * there->radius;
            force += there->spin * (there->heat - there->depth);
        }
        forces[i] += force;
    }
}

EXAMPLE_LOOP static double settle(size_t first, size_t end)
{
    double sum = 0;
    for (size_t i = first; i < end; i++) {
        sum += forces[i];
        forces[i] = 0;
    }
    return sum;
}

static void *work(void *argument)
{
    struct example_thread *thread = argument;
    for (size_t i = thread->first; i < thread->end; i++)
        forces[i] = 0;
    for (unsigned round = 0; round < thread->rounds; round++) {
        EXAMPLE_TIME(thread, INTERACT, interact(thread->first, thread->end));
        EXAMPLE_TIME(thread, SETTLE, thread->checksum += settle(thread->first, thread->end));
    }
    return NULL;
}

static void scatter(void)
{
    unsigned random = 1;
    for (size_t i = 0; i < PARTICLES; i++) {
        particles[i] = (struct particle){
            .x = (double)(i % 7),
            .y = (double)(i % 11),
            .z = (double)(i % 13),
            .charge = (double)(i % 3) - 1,
            .mass = (double)(i % 4),
            .radius = (double)(i % 5) - 2,
            .spin = (double)(i % 2),
            .heat = (double)(i % 6),
            .depth = (double)(i % 8),
        };
        for (size_t n = 0; n < NEIGHBOURS; n++) {
            random = random * 1664525 + 1013904223;
            neighbours[i * NEIGHBOURS + n] = (unsigned)((unsigned long long)random * PARTICLES >> 32);
        }
    }
}

int main(int argc, char **argv)
{
    static struct example example;
    example_arguments(&example, argc, argv, 6);
    particles = example_allocate(PARTICLES, sizeof *particles);
    forces = example_allocate(PARTICLES, sizeof *forces);
    neighbours = example_allocate((size_t)PARTICLES * NEIGHBOURS, sizeof *neighbours);
    scatter();
    example_run(&example, PARTICLES, work);
    example_report(&example, loops, LOOPS);
    free(particles);
    free(forces);
    free(neighbours);
    return 0;
}
