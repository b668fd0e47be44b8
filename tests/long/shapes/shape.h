/* What all shapes share. walk() of each is what the rows of truth speak of; nearly all time is spent there. */
#ifndef SHAPE_H
#define SHAPE_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __clang__
#define NI __attribute__((noinline))
#else
#define NI __attribute__((noipa))
#endif
#define BAR __asm__ volatile("" ::: "memory")

/* Visits each of N numbers (a power of two) once, in an order that caches and prefetchers do not foresee. */
#define EACH(i, n) for (size_t i = 1, i##_left = (n); i##_left--; i = (i * 1664525 + 1013904223) & ((n)-1))
/* The place in a table for element I of N, so that a pass over the table jumps in memory. */
#define PLACE(i, n) (((i)*7919) & ((n)-1))

#ifdef THREADS
#define IN_THREADS _Pragma("omp parallel num_threads(2)")
#else
#define IN_THREADS
#endif

/* Repeats CALL, in two threads with THREADS, until the program's argument, seconds of CPU time, is used up. */
#define REPEAT(call)                                                                                                   \
    IN_THREADS                                                                                                         \
    do {                                                                                                               \
        clock_t shape_end = clock() + (clock_t)((argc > 1 ? atof(argv[1]) : 1) * CLOCKS_PER_SEC);                      \
        double shape_total = 0;                                                                                        \
        do {                                                                                                           \
            shape_total += (double)(call);                                                                             \
            BAR;                                                                                                       \
        } while (clock() < shape_end);                                                                                 \
        printf("%g\n", shape_total);                                                                                   \
    } while (0)
#endif
