/* Times malloc in a process of its own, where the blocks follow each other at the end of the heap, as in a program that builds its data.
 * What lwp has freed before is used up first. The pages that come next are made before the time is taken. */
#include "analysis/measure/blocks.h"

#include "base/clock.h"
#include "base/order.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SERIES = 9 };

struct blocks_answer {
    double ns[SERIES];
};

#ifdef __GLIBC__
#include <malloc.h>

enum { BLOCKS = 2048, ALIKE = 64, TRIED_MOST = 1 << 20, BYTES_MOST = 1024, PAGE = 4096, TOP = 32 << 20 };

/* The heap's last block, where blocks follow each other; NULL: they do not. */
static char *blocks_end(uint64_t bytes)
{
    char *last = NULL;
    int64_t apart = 0;
    for (int tried = 0, alike = 0; tried < TRIED_MOST; tried++) {
        char *block = malloc(bytes);
        if (!block)
            return NULL;
        alike = last && block - last == apart && apart > 0 ? alike + 1 : 0;
        apart = last ? block - last : 0;
        last = block;
        if (alike == ALIKE)
            return last;
    }
    return NULL;
}

/* Makes the pages up to the heap's end. False: they are too few for a series. */
static bool blocks_room(const char *last, uint64_t bytes)
{
    char *const end = sbrk(0);
    const size_t needed = BLOCKS * (bytes + 2 * sizeof(max_align_t)) + PAGE;
    if (last >= end || (size_t)(end - last) < needed)
        return false;
    for (size_t at = 0; at < needed; at += PAGE) {
        volatile char *page = (char *)last + at;
        *page = *page; /* it may hold something of malloc's */
    }
    return true;
}

/* In the process that ends with it. */
static bool blocks_take(uint64_t bytes, struct blocks_answer *answer)
{
    mallopt(M_TOP_PAD, TOP);
    char *last = blocks_end(bytes);
    for (int i = 0; i < SERIES; i++) {
        for (int tried = 0; last && tried < 2 * BLOCKS && !blocks_room(last, bytes); tried++)
            last = malloc(bytes); /* until the heap grows */
        if (!last || !blocks_room(last, bytes))
            return false;
        const uint64_t begin = lwp_clock(CLOCK_THREAD_CPUTIME_ID);
        for (int k = 0; k < BLOCKS; k++) {
            char *volatile block = malloc(bytes);
            last = block;
        }
        answer->ns[i] = (double)(lwp_clock(CLOCK_THREAD_CPUTIME_ID) - begin) / BLOCKS;
    }
    return true;
}
#else
enum { BYTES_MOST = 0 };

static bool blocks_take(uint64_t bytes, struct blocks_answer *answer)
{
    (void)bytes;
    (void)answer;
    return false;
}
#endif

static struct lwp_share blocks_time(uint64_t bytes)
{
    struct blocks_answer answer;
    int ends[2];
    bool known = false;
    if (pipe2(ends, O_CLOEXEC))
        return (struct lwp_share){0};
    const pid_t child = fork();
    if (child == 0) {
        const bool taken = blocks_take(bytes, &answer);
        _exit(!taken || write(ends[1], &answer, sizeof answer) != sizeof answer);
    }
    close(ends[1]);
    if (child > 0) {
        known = read(ends[0], &answer, sizeof answer) == sizeof answer;
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    close(ends[0]);
    if (!known)
        return (struct lwp_share){0};
    qsort(answer.ns, SERIES, sizeof *answer.ns, lwp_compare_double);
    return (struct lwp_share){answer.ns[SERIES / 2], answer.ns[SERIES / 4], answer.ns[SERIES - 1 - SERIES / 4]};
}

struct lwp_share lwp_measure_block_ns(uint64_t bytes)
{
    static struct lwp_share kept[BYTES_MOST + 1];
    static bool timed[BYTES_MOST + 1];
    if (bytes == 0 || bytes > BYTES_MOST)
        return (struct lwp_share){0};
    if (!timed[bytes])
        kept[bytes] = blocks_time(bytes);
    timed[bytes] = true;
    return kept[bytes];
}
