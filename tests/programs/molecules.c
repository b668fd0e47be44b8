/* Molecules that pull at each other in a box, moved by threads: forces of all pairs, or (-DCELLS) of those in cells beside
 * each other only, for which molecules are kept in the order of their cells. A thread has a part of the box. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, SIDE = 16, EACH = 4, CELLS_ALL = SIDE * SIDE, N = CELLS_ALL * EACH, STEPS = 3 };

static double x[N], y[N], fx[N], fy[N];
static pthread_barrier_t all;

static inline void pull(int i, int k)
{
    double dx = x[k] - x[i], dy = y[k] - y[i];
    if (dx * dx + dy * dy < 1) {
        fx[i] += dx;
        fy[i] += dy;
    }
}

#ifdef CELLS
static void forces(int first, int last)
{
    for (int i = first; i < last; i++) {
        int column = i / EACH % SIDE, row = i / EACH / SIDE;
        for (int r = row > 0 ? row - 1 : 0; r <= row + 1 && r < SIDE; r++)
            for (int c = column > 0 ? column - 1 : 0; c <= column + 1 && c < SIDE; c++)
                for (int k = (r * SIDE + c) * EACH; k < (r * SIDE + c + 1) * EACH; k++)
                    pull(i, k);
    }
}
#else
static void forces(int first, int last)
{
    for (int i = first; i < last; i++)
        for (int k = 0; k < N; k++)
            pull(i, k);
}
#endif

static void move(int first, int last)
{
    for (int i = first; i < last; i++) {
        x[i] += 1e-6 * fx[i];
        y[i] += 1e-6 * fy[i];
        fx[i] = fy[i] = 0;
    }
}

static void *work(void *given)
{
    int self = (int)(long)given, first = self * N / THREADS, last = (self + 1) * N / THREADS;
    for (int step = 0; step < STEPS; step++) {
        move(first, last);
        pthread_barrier_wait(&all);
        forces(first, last);
        pthread_barrier_wait(&all);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    pthread_barrier_init(&all, NULL, THREADS);
    for (int i = 0; i < N; i++) {
        x[i] = i / EACH % SIDE + 0.2 * (i % 2);
        y[i] = i / EACH / SIDE + 0.2 * (i / 2 % 2);
    }
    for (long i = 1; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    work((void *)0L);
    for (int i = 1; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += fx[i] * i;
    printf("%.6g\n", sum);
    return 0;
}
