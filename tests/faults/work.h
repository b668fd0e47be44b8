/* What the programs of the fault table have in common: work for the sampler to see, and the choice of a situation by name. */
#ifndef LWP_FAULTS_WORK_H
#define LWP_FAULTS_WORK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { WORK_WORDS = 4096 };

static volatile long work_words[WORK_WORDS];

/* The kernel's clock, whatever the program calls clock_gettime. */
static inline long work_clock_ms(clockid_t clock)
{
    struct timespec now;
    syscall(SYS_clock_gettime, clock, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Of CPU time of this thread. */
static inline void work(int milliseconds)
{
    long end = work_clock_ms(CLOCK_THREAD_CPUTIME_ID) + milliseconds;
    do {
        for (int i = 0; i < WORK_WORDS; i++)
            work_words[i] = work_words[WORK_WORDS - 1 - i] + 1;
        free((void *)memset(malloc(200), 1, 200));
    } while (work_clock_ms(CLOCK_THREAD_CPUTIME_ID) < end);
}

struct situation {
    const char *name;
    int (*run)(void);
};

static inline int situation_run(const struct situation *situations, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (name && strcmp(situations[i].name, name) == 0) {
            setvbuf(stdout, NULL, _IOLBF, 0);
            work(60);
            int status = situations[i].run();
            work(60);
            return status;
        }
    fprintf(stderr, "no situation of that name\n");
    return 99;
}

#endif
