/* A trial watches, in one thread, bytes that another thread stored, and stands for all stores of that thread since the
 * pair's last trial. So a cell of the matrix is the sum of the trials that ended with a load, scaled up by those of the
 * pair whose end is not known. Stores are sampled by CPU time: cells are weights, and only their shares are told. */
#include "analysis/communication.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

bool lwp_communication_measured(const struct lwp_profile *profile)
{
    if (profile->shared.records)
        return true;
    const char *detect = json_string_value(json_object_get(json_object_get(profile->run, "options"), "detect"));
    return detect && (strstr(detect, "sharing") || strstr(detect, "communication")) && profile->engine == 1 &&
           profile->shared.thread_count == profile->process_count && profile->process_count > 0;
}

static double cell_amount(const struct lwp_shared_cell *cell)
{
    double told = (double)cell->read.weight + (double)cell->unread.weight;
    return told > 0 ? (double)cell->read.weight * (told + (double)cell->lost.weight) / told : 0;
}

static int thread_find(const struct lwp_shared *shared, uint32_t process, uint32_t tid)
{
    size_t low = 0, high = shared->thread_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct lwp_shared_thread *thread = &shared->threads[middle];
        if (thread->process < process || (thread->process == process && thread->tid < tid))
            low = middle + 1;
        else
            high = middle;
    }
    return low < shared->thread_count && shared->threads[low].process == process && shared->threads[low].tid == tid
               ? (int)low
               : -1;
}

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

/* The row of each thread: the busiest have one of their own. */
static int *communication_rows(struct lwp_profile *profile, struct lwp_communication *found)
{
    const struct lwp_shared *shared = &profile->shared;
    struct ranked *ranked = lwp_arena_alloc(profile->arena, shared->thread_count + 1, sizeof *ranked);
    bool *seen = lwp_arena_alloc(profile->arena, shared->thread_count + 1, sizeof *seen);
    int *rows = lwp_arena_alloc(profile->arena, shared->thread_count + 1, sizeof *rows);
    for (size_t i = 0; i < shared->thread_count; i++) {
        ranked[i].thread = i;
        rows[i] = -1;
    }
    for (size_t i = 0; i < shared->cell_count; i++) {
        const struct lwp_shared_cell *cell = &shared->cells[i];
        int from = thread_find(shared, cell->process, cell->writer),
            to = thread_find(shared, cell->process, cell->reader);
        if (from < 0 || to < 0)
            continue;
        seen[from] = seen[to] = true;
        ranked[from].amount += cell_amount(cell);
        ranked[to].amount += cell_amount(cell);
    }
    size_t wanted = 0;
    for (size_t i = 0; i < shared->thread_count; i++)
        wanted += seen[i];
    bool folded = wanted > LWP_COMMUNICATION_THREADS;
    found->others = folded ? wanted - (LWP_COMMUNICATION_THREADS - 1) : 0;
    found->count = folded ? LWP_COMMUNICATION_THREADS : wanted;
    for (size_t i = 0; i < shared->thread_count; i++)
        ranked[i].amount = seen[i] ? ranked[i].amount : -1;
    if (folded) {
        qsort(ranked, shared->thread_count, sizeof *ranked, ranked_compare);
        for (size_t i = LWP_COMMUNICATION_THREADS - 1; i < wanted; i++)
            rows[ranked[i].thread] = LWP_COMMUNICATION_THREADS - 1;
        for (size_t i = LWP_COMMUNICATION_THREADS - 1; i < wanted; i++)
            seen[ranked[i].thread] = false;
    }
    found->threads = lwp_arena_alloc(profile->arena, found->count + 1, sizeof *found->threads);
    for (size_t i = 0, row = 0; i < shared->thread_count; i++)
        if (seen[i]) {
            rows[i] = (int)row;
            found->threads[row++] = &shared->threads[i];
        }
    return rows;
}

void lwp_communication_find(struct lwp_profile *profile, struct lwp_communication *found)
{
    const struct lwp_shared *shared = &profile->shared;
    *found = (struct lwp_communication){.measured = lwp_communication_measured(profile)};
    if (!found->measured) {
        lwp_profile_note(profile,
                         "Communication and false sharing between threads were not looked for: not asked for (lwp "
                         "collect --detect), or not possible with this engine.");
        return;
    }
    const int *rows = communication_rows(profile, found);
    found->cells = lwp_arena_alloc(profile->arena, found->count * found->count + 1, sizeof *found->cells);
    struct lwp_tally *tallies = lwp_arena_alloc(profile->arena, found->count * found->count + 1, sizeof *tallies),
                     all = {0};
    double watched = 0;
    for (size_t i = 0; i < shared->cell_count; i++) {
        const struct lwp_shared_cell *cell = &shared->cells[i];
        int from = thread_find(shared, cell->process, cell->writer),
            to = thread_find(shared, cell->process, cell->reader);
        found->trials += cell->read.samples + cell->unread.samples + cell->lost.samples;
        found->decided += cell->read.samples + cell->unread.samples;
        watched += (double)cell->read.weight + (double)cell->unread.weight + (double)cell->lost.weight;
        if (from < 0 || to < 0)
            continue;
        double amount = cell_amount(cell), scale = cell->read.weight ? amount / (double)cell->read.weight : 0;
        struct lwp_tally tally = {
            .weight = amount, .squares = (double)cell->read.squares * scale * scale, .samples = cell->read.samples};
        lwp_tally_merge(&tallies[(size_t)rows[from] * found->count + (size_t)rows[to]], &tally);
        lwp_tally_merge(&all, &tally);
    }
    for (size_t i = 0; i < found->count * found->count; i++) {
        found->cells[i].samples = tallies[i].samples;
        if (all.weight > 0)
            found->cells[i].share = lwp_share_of(&tallies[i], &all);
    }
    found->read = watched > 0 ? all.weight / watched : 0;
    if (found->trials)
        lwp_profile_note(profile,
                         "Communication is scaled up from %llu stores that were watched in other threads, one at a "
                         "time; of %llu it is known what became of them.",
                         (unsigned long long)found->trials, (unsigned long long)found->decided);
}
