/* A cell of the matrix is the weight of the writer's stores that the reader read, as communication_samples.c estimates it from what
 * was watched. Stores are sampled by CPU time: cells are weights, and only their shares are told. Their intervals come
 * from estimates without an eighth of the records each (delete-a-group jackknife, 7 degrees of freedom), and are never
 * narrower than so many trials allow that all ended alike: a pair that was hardly tried may be anything. Nor are they
 * narrower than what stores of the same kind differ by in weight. */
#include "analysis/advice/threads/sampled_communication.h"

#include "analysis/advice/threads/top_threads.h"
#include "base/arena.h"
#include "format/detect.h"

#include <math.h>
#include <stdlib.h>

static const double t_quantile = 2.365; /* Student, 7 degrees of freedom, 95 % */

/* How much the weight of a store differs between threads that do the same, as standard deviation: by where they run, which
 * is another place in each run, and as kernels tell threads that are switched very often more or less CPU time than they
 * used (tests/rounds/sharing.sh: cells are off by so much more than their samples allow). */
static const double store_weight = 0.06;

static bool communication_asked(const struct lwp_profile *profile)
{
    unsigned detect = lwp_detect_parse(json_string_value(json_object_get(json_object_get(profile->run, "options"), "detect")));
    return detect & (LWP_DETECT_SHARING | LWP_DETECT_COMMUNICATION) && profile->engine == 1;
}

bool lwp_communication_measured(const struct lwp_profile *profile)
{
    const struct lwp_thread_interaction *shared = &profile->interaction;
    bool alone = shared->thread_count == profile->process_count && profile->process_count > 0;
    return shared->records || (communication_asked(profile) && (alone || shared->candidates));
}

static int thread_find(const struct lwp_thread_interaction *shared, uint32_t process, uint32_t tid)
{
    size_t low = 0, high = shared->thread_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct lwp_interaction_thread *thread = &shared->threads[middle];
        if (thread->process < process || (thread->process == process && thread->tid < tid))
            low = middle + 1;
        else
            high = middle;
    }
    return low < shared->thread_count && shared->threads[low].process == process && shared->threads[low].tid == tid
               ? (int)low
               : -1;
}

/* A pair of threads, or of a row's and a column's threads together. */
struct pair {
    int writer, reader; /* index among the threads, -1: not known there */
    struct lwp_communication_estimate estimate;
    uint64_t reads;
};

static struct pair pair_of(const struct lwp_thread_interaction *shared, uint32_t process, uint32_t writer, uint32_t reader)
{
    static const uint64_t none[LWP_COMMUNICATION_PARTS];
    struct pair pair = {.writer = thread_find(shared, process, writer), .reader = thread_find(shared, process, reader)};
    lwp_communication_samples_estimate(&shared->samples, process, writer, reader,
                           pair.writer < 0 ? none : shared->threads[pair.writer].sampled, &pair.estimate);
    return pair;
}

static void pair_add(struct pair *to, const struct pair *from)
{
    for (unsigned k = 0; k < LWP_COMMUNICATION_ESTIMATES; k++)
        to->estimate.amount[k] += from->estimate.amount[k];
    to->estimate.stored += from->estimate.stored;
    to->estimate.trials += from->estimate.trials;
    to->reads += from->reads;
}

/* Its part of all. */
static struct lwp_share pair_share(const struct pair *pair, const struct pair *all)
{
    const double *amount = pair->estimate.amount, *total = all->estimate.amount;
    struct lwp_share share = {0, 0, 1};
    if (total[LWP_COMMUNICATION_ALL] <= 0)
        return share;
    share.value = amount[LWP_COMMUNICATION_ALL] / total[LWP_COMMUNICATION_ALL];
    double variance = 0;
    for (unsigned k = 0; k < LWP_COMMUNICATION_PARTS; k++) {
        double apart = (total[k] > 0 ? amount[k] / total[k] : 0) - share.value;
        variance += apart * apart * (LWP_COMMUNICATION_PARTS - 1) / LWP_COMMUNICATION_PARTS;
    }
    double alike = pair->estimate.stored / total[LWP_COMMUNICATION_ALL] / (double)(pair->estimate.trials + 2);
    double unlike = store_weight * share.value * (1 - share.value);
    double half = t_quantile * sqrt(variance + alike * alike + unlike * unlike);
    share.low = fmax(0, share.value - half);
    share.high = fmin(1, share.value + half);
    return share;
}

/* The row of each thread: the busiest have one of their own. */
static int *communication_rows(struct lwp_profile *profile, struct lwp_sampled_communication *found, const struct pair *pairs)
{
    const struct lwp_thread_interaction *shared = &profile->interaction;
    double *amounts = lwp_arena_alloc(profile->arena, shared->thread_count + 1, sizeof *amounts);
    int *rows = lwp_arena_alloc(profile->arena, shared->thread_count + 1, sizeof *rows);
    for (size_t i = 0; i < shared->thread_count; i++)
        amounts[i] = -1; /* in no pair */
    for (size_t i = 0; i < shared->cell_count; i++) {
        int from = pairs[i].writer, to = pairs[i].reader;
        double amount = pairs[i].estimate.amount[LWP_COMMUNICATION_ALL];
        if (from < 0 || to < 0)
            continue;
        amounts[from] = fmax(0, amounts[from]) + amount;
        amounts[to] = fmax(0, amounts[to]) + amount;
    }
    struct lwp_top_threads busiest =
        lwp_top_threads(profile->arena, amounts, shared->thread_count, LWP_COMMUNICATION_THREADS, rows);
    found->count = busiest.rows;
    found->others = busiest.others;
    found->threads = lwp_arena_alloc(profile->arena, found->count + 1, sizeof *found->threads);
    for (size_t i = 0; i < shared->thread_count; i++)
        if (rows[i] >= 0 && (!busiest.others || rows[i] < (int)busiest.rows - 1))
            found->threads[rows[i]] = &shared->threads[i];
    return rows;
}

static struct pair *communication_pairs(struct lwp_profile *profile, struct lwp_sampled_communication *found)
{
    const struct lwp_thread_interaction *shared = &profile->interaction;
    struct pair *pairs = lwp_arena_alloc(profile->arena, shared->cell_count + 1, sizeof *pairs);
    for (size_t i = 0; i < shared->cell_count; i++) {
        const struct lwp_interaction_cell *cell = &shared->cells[i];
        pairs[i] = pair_of(shared, cell->process, cell->writer, cell->reader);
        pairs[i].reads = cell->read;
        found->trials += cell->read + cell->unread + cell->lost;
        found->decided += cell->read + cell->unread;
    }
    return pairs;
}

/* Two threads of one process that were never tried with each other: as much as the writer stored may have been read.
 * (Of threads that are told together, only pairs that were tried count.) */
static void cells_untried(const struct lwp_thread_interaction *shared, const struct lwp_sampled_communication *found, struct pair *cells)
{
    for (size_t i = 0; i < found->count * found->count && !found->others; i++) {
        const struct lwp_interaction_thread *writer = found->threads[i / found->count],
                                       *reader = found->threads[i % found->count];
        if (writer != reader && writer->process == reader->process && cells[i].estimate.trials == 0)
            cells[i].estimate.stored = pair_of(shared, writer->process, writer->tid, reader->tid).estimate.stored;
    }
}

/* Weight of the stores of all threads in the matrix. */
static double communication_stored(const struct lwp_thread_interaction *shared, const int *rows)
{
    double stored = 0;
    for (size_t i = 0; i < shared->thread_count; i++)
        if (rows[i] >= 0)
            stored += pair_of(shared, shared->threads[i].process, shared->threads[i].tid, 0).estimate.stored;
    return stored;
}

/* Threads with others beside them that never tried one of the others' stores. */
static void communication_note_unwatched(struct lwp_profile *profile, struct lwp_sampled_communication *found)
{
    const struct lwp_thread_interaction *shared = &profile->interaction;
    bool *watched = lwp_arena_alloc(profile->arena, shared->thread_count + 1, sizeof *watched);
    size_t together = 0, unsampled = 0, unwatched = 0;
    for (size_t i = 0; i < shared->cell_count; i++) {
        int reader = thread_find(shared, shared->cells[i].process, shared->cells[i].reader);
        if (reader >= 0)
            watched[reader] = true;
    }
    for (size_t i = 0; i < shared->thread_count; i++) {
        const struct lwp_interaction_thread *thread = &shared->threads[i];
        uint64_t sampled = 0;
        for (unsigned k = 0; k < LWP_COMMUNICATION_PARTS; k++)
            sampled += thread->sampled[k];
        if (!((i && shared->threads[i - 1].process == thread->process) ||
              (i + 1 < shared->thread_count && shared->threads[i + 1].process == thread->process)))
            continue;
        together++;
        unsampled += sampled == 0;
        unwatched += sampled && !watched[i];
    }
    found->unwatched = unwatched + unsampled;
    if (unwatched)
        lwp_profile_note(profile,
                         "%zu of %zu threads were never watched for what they read of others: they ended or waited, no "
                         "other thread stored anything that could be watched, or no debug register was free.",
                         unwatched, together);
    if (unsampled)
        lwp_profile_note(profile, "%zu of %zu threads used too little CPU time to be sampled at all.", unsampled,
                         together);
}

static void communication_note_processes(struct lwp_profile *profile)
{
    const struct lwp_thread_interaction *shared = &profile->interaction;
    if (shared->foreign_samples)
        lwp_profile_note(profile,
                         "%llu sampled accesses were to memory that other processes see, too (mmap MAP_SHARED, shmat): "
                         "communication and false sharing between processes are not measured.",
                         (unsigned long long)shared->foreign_samples);
}

void lwp_sampled_communication_find(struct lwp_profile *profile, struct lwp_sampled_communication *found)
{
    const struct lwp_thread_interaction *shared = &profile->interaction;
    *found = (struct lwp_sampled_communication){.measured = lwp_communication_measured(profile)};
    communication_note_processes(profile);
    if (profile->communication.measured)
        return;
    if (!found->measured) {
        lwp_profile_note(profile, "Communication and false sharing between threads were not looked for: %s.",
                         communication_asked(profile) ? "no access could be chosen to be watched"
                                                      : "not asked for (lwp collect --detect), or not possible with "
                                                        "this engine");
        return;
    }
    communication_note_unwatched(profile, found);
    const struct pair *pairs = communication_pairs(profile, found);
    const int *rows = communication_rows(profile, found, pairs);
    found->cells = lwp_arena_alloc(profile->arena, found->count * found->count + 1, sizeof *found->cells);
    struct pair *cells = lwp_arena_alloc(profile->arena, found->count * found->count + 1, sizeof *cells), all = {0};
    for (size_t i = 0; i < shared->cell_count; i++) {
        if (pairs[i].writer < 0 || pairs[i].reader < 0)
            continue;
        pair_add(&cells[(size_t)rows[pairs[i].writer] * found->count + (size_t)rows[pairs[i].reader]], &pairs[i]);
        pair_add(&all, &pairs[i]);
    }
    cells_untried(shared, found, cells);
    for (size_t i = 0; i < found->count * found->count; i++) {
        found->cells[i].samples = cells[i].reads;
        found->cells[i].share = pair_share(&cells[i], &all);
    }
    double stored = communication_stored(shared, rows);
    found->read = stored > 0 ? fmin(1, all.estimate.amount[LWP_COMMUNICATION_ALL] / stored) : 0;
    if (found->trials)
        lwp_profile_note(profile,
                         "Communication is scaled up from %llu stores that were watched in other threads, a few at a "
                         "time; of %llu it is known what became of them.",
                         (unsigned long long)found->trials, (unsigned long long)found->decided);
}
