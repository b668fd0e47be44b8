/* Particles that act on their neighbours as in Rodinia's lavaMD: places in an array of structures, what else is known
 * of a particle in arrays of numbers, and all of it is wanted of each neighbour. Neighbours lie anywhere in memory.
 * Following the advice gives boxes_fixed.c. Usage: see example.h; rounds are the time steps. */
#include "example.h"

enum { PARTICLES = 3000000, NEIGHBOURS = 6 };

struct place {
    double x, y, z;
};

static struct place *places;
static double *charges, *masses, *radii, *spins, *heats, *depths, *forces;
static unsigned *neighbours;

static const struct example_loop loops[] = {
    {"interact", "places,charges,masses,radii,spins,heats,depths,forces", "all"}, {"settle", "forces", "all"}};
enum { INTERACT, SETTLE, LOOPS };

EXAMPLE_LOOP static void interact(size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        struct place here = places[i];
        double force = 0;
        for (size_t n = 0; n < NEIGHBOURS; n++) {
            size_t other = neighbours[i * NEIGHBOURS + n];
            double x = places[other].x - here.x, y = places[other].y - here.y, z = places[other].z - here.z;
            force += charges[other] * (x + y * 2 + z * 3) - masses[other] * radii[other];
            force += spins[other] * (heats[other] - depths[other]);
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
        places[i] = (struct place){(double)(i % 7), (double)(i % 11), (double)(i % 13)};
        charges[i] = (double)(i % 3) - 1;
        masses[i] = (double)(i % 4);
        radii[i] = (double)(i % 5) - 2;
        spins[i] = (double)(i % 2);
        heats[i] = (double)(i % 6);
        depths[i] = (double)(i % 8);
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
    places = example_allocate(PARTICLES, sizeof *places);
    charges = example_allocate(PARTICLES, sizeof *charges);
    masses = example_allocate(PARTICLES, sizeof *masses);
    radii = example_allocate(PARTICLES, sizeof *radii);
    spins = example_allocate(PARTICLES, sizeof *spins);
    heats = example_allocate(PARTICLES, sizeof *heats);
    depths = example_allocate(PARTICLES, sizeof *depths);
    forces = example_allocate(PARTICLES, sizeof *forces);
    neighbours = example_allocate((size_t)PARTICLES * NEIGHBOURS, sizeof *neighbours);
    scatter();
    example_run(&example, PARTICLES, work);
    example_report(&example, loops, LOOPS);
    free(places);
    free(charges);
    free(masses);
    free(radii);
    free(spins);
    free(heats);
    free(depths);
    free(forces);
    free(neighbours);
    return 0;
}
