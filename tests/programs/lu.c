/* LU factorisation by blocks that threads own in turn: a block's rows lie as far apart as the matrix is wide, or
 * (-DCONTIGUOUS) a block lies in one piece. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, BLOCK = 12, BLOCKS = 10, N = BLOCK * BLOCKS };

static double matrix[N * N] __attribute__((aligned(64)));
static pthread_barrier_t all;

#ifdef CONTIGUOUS
enum { STRIDE = BLOCK };
static double *block(int i, int k) { return matrix + (i * BLOCKS + k) * BLOCK * BLOCK; }
#else
enum { STRIDE = N };
static double *block(int i, int k) { return matrix + i * BLOCK * N + k * BLOCK; }
#endif

static int owner(int i, int k) { return (i % 2) * 2 + k % 2; }

static __attribute__((noinline)) void lu0(double *a)
{
    for (int k = 0; k < BLOCK; k++)
        for (int i = k + 1; i < BLOCK; i++) {
            a[i * STRIDE + k] /= a[k * STRIDE + k];
            for (int j = k + 1; j < BLOCK; j++)
                a[i * STRIDE + j] -= a[i * STRIDE + k] * a[k * STRIDE + j];
        }
}

static __attribute__((noinline)) void bdiv(double *a, const double *diagonal)
{
    for (int i = 0; i < BLOCK; i++)
        for (int k = 0; k < BLOCK; k++) {
            a[i * STRIDE + k] /= diagonal[k * STRIDE + k];
            for (int j = k + 1; j < BLOCK; j++)
                a[i * STRIDE + j] -= a[i * STRIDE + k] * diagonal[k * STRIDE + j];
        }
}

static __attribute__((noinline)) void bmodd(double *a, const double *diagonal)
{
    for (int k = 0; k < BLOCK; k++)
        for (int i = k + 1; i < BLOCK; i++)
            for (int j = 0; j < BLOCK; j++)
                a[i * STRIDE + j] -= diagonal[i * STRIDE + k] * a[k * STRIDE + j];
}

static __attribute__((noinline)) void bmod(double *a, const double *left, const double *above)
{
    for (int i = 0; i < BLOCK; i++)
        for (int k = 0; k < BLOCK; k++)
            for (int j = 0; j < BLOCK; j++)
                a[i * STRIDE + j] -= left[i * STRIDE + k] * above[k * STRIDE + j];
}

static void *work(void *given)
{
    int self = (int)(long)given;
    for (int k = 0; k < BLOCKS; k++) {
        if (owner(k, k) == self)
            lu0(block(k, k));
        pthread_barrier_wait(&all);
        for (int i = k + 1; i < BLOCKS; i++) {
            if (owner(i, k) == self)
                bdiv(block(i, k), block(k, k));
            if (owner(k, i) == self)
                bmodd(block(k, i), block(k, k));
        }
        pthread_barrier_wait(&all);
        for (int i = k + 1; i < BLOCKS; i++)
            for (int j = k + 1; j < BLOCKS; j++)
                if (owner(i, j) == self)
                    bmod(block(i, j), block(i, k), block(k, j));
        pthread_barrier_wait(&all);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    pthread_barrier_init(&all, NULL, THREADS);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++)
            block(i / BLOCK, k / BLOCK)[i % BLOCK * STRIDE + k % BLOCK] = i == k ? N : 1.0 / (1 + i + k);
    for (long i = 1; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    work((void *)0L);
    for (int i = 1; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%.6g\n", block(BLOCKS - 1, BLOCKS - 1)[(BLOCK - 1) * (STRIDE + 1)]);
    return 0;
}
