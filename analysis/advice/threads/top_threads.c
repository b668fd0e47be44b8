#include "analysis/advice/threads/top_threads.h"

#include <stdbool.h>
#include <stdlib.h>

struct ranked {
    size_t thread;
    double amount;
};

static int ranked_compare(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->amount != y->amount)
        return x->amount < y->amount ? 1 : -1;
    return (x->thread > y->thread) - (x->thread < y->thread);
}

struct lwp_top_threads lwp_top_threads(struct lwp_arena *arena, const double *amounts, size_t count, size_t most, int *rows)
{
    struct ranked *ranked = lwp_arena_alloc(arena, count + 1, sizeof *ranked);
    size_t wanted = 0;
    for (size_t i = 0; i < count; i++) {
        rows[i] = -1;
        if (amounts[i] >= 0)
            ranked[wanted++] = (struct ranked){i, amounts[i]};
    }
    bool folded = wanted > most;
    qsort(ranked, wanted, sizeof *ranked, ranked_compare);
    for (size_t i = 0; i < (folded ? most - 1 : wanted); i++)
        rows[ranked[i].thread] = 0;
    int row = 0;
    for (size_t i = 0; i < count; i++)
        if (rows[i] == 0)
            rows[i] = row++;
    for (size_t i = most - 1; folded && i < wanted; i++)
        rows[ranked[i].thread] = row;
    return (struct lwp_top_threads){folded ? most : wanted, folded ? wanted - (most - 1) : 0};
}
