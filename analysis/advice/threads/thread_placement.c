#include "analysis/advice/threads/thread_placement.h"

static const size_t nowhere = SIZE_MAX;

static uint64_t between(const uint64_t *first, size_t threads, size_t a, size_t b)
{
    return first[a * threads + b] + first[b * threads + a];
}

/* What a thread without a group communicates with those of one; of a new group, with all others without one. */
static uint64_t pull(const uint64_t *first, size_t threads, const size_t *group, size_t thread, size_t wanted)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < threads; i++)
        if (i != thread && group[i] == wanted)
            sum += between(first, threads, thread, i);
    return sum;
}

static size_t strongest(const uint64_t *first, size_t threads, const size_t *group, size_t wanted)
{
    size_t best = nowhere;
    uint64_t most = 0;
    for (size_t i = 0; i < threads; i++) {
        uint64_t sum = group[i] == nowhere ? pull(first, threads, group, i, wanted) : 0;
        if (group[i] == nowhere && (best == nowhere || sum > most)) {
            best = i;
            most = sum;
        }
    }
    return best;
}

void lwp_thread_placement_group(const uint64_t *first, size_t threads, size_t size, size_t *group)
{
    for (size_t i = 0; i < threads; i++)
        group[i] = nowhere;
    for (size_t made = 0, left = threads; left; made++) {
        size_t thread = strongest(first, threads, group, nowhere);
        for (size_t count = 0; count < size && left; count++, left--) {
            group[thread] = made;
            thread = left > 1 ? strongest(first, threads, group, made) : nowhere;
        }
    }
}

double lwp_thread_placement_within(const uint64_t *first, size_t threads, const size_t *group)
{
    double within = 0, all = 0;
    for (size_t i = 0; i < threads * threads; i++) {
        all += (double)first[i];
        within += group[i / threads] == group[i % threads] ? (double)first[i] : 0;
    }
    return all > 0 ? within / all : 0;
}
