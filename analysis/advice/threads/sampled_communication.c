/* A cell of the matrix is the cost of the writer's stores that the reader read, as communication_samples.c estimates it from the
 * stores that were watched. Stores are sampled by CPU time: cells are costs, and only their shares are reported. An interval comes
 * from estimates without an eighth of the records each (delete-a-group jackknife, 7 degrees of freedom). It is never narrower
 * than so few trials allow even if all ended alike, as a pair that was hardly tried may be anything; nor narrower than the
 * spread of what a store costs in threads that do the same. */
#include "analysis/advice/threads/sampled_communication.h"

#include "base/arena.h"
#include "format/detect.h"
#include "format/record.h"

#include <math.h>
#include <stdlib.h>

static const double t_quantile = 2.365; /* Student, 7 degrees of freedom, 95 % */

/* Standard deviation of what a store costs between threads that do the same: by where they run, which changes from run to run,
 * and since kernels account more or less CPU time than was used to threads that are switched very often
 * (tests/rounds/sharing.sh: cells are off by so much more than their samples allow). */
static const double store_cost_spread = 0.06;

static bool communication_asked(const struct lwp_profile *profile)
{
    unsigned detect = lwp_detect_parse(json_string_value(json_object_get(json_object_get(profile->run, "options"), "detect")));
    return detect & (LWP_DETECT_SHARING | LWP_DETECT_COMMUNICATION) && profile->engine == 1;
}

/* Whether threads were watched, or there was nothing to watch: one thread, and it was asked for. */
static bool communication_measured(const struct lwp_profile *profile)
{
    const struct lwp_thread_interaction *shared = &profile->interaction;
    bool alone = shared->thread_count == profile->process_count && profile->process_count > 0;
    return shared->records || (communication_asked(profile) && (alone || shared->candidates));
}

static int thread_compare(const void *a, const void *b)
{
    const struct lwp_interaction_thread *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return (x->tid > y->tid) - (x->tid < y->tid);
}

/* Index of a thread, -1: it is not known. */
static int thread_find(const struct lwp_thread_interaction *shared, uint32_t process, uint32_t tid)
{
    const struct lwp_interaction_thread key = {.process = process, .tid = tid};
    const struct lwp_interaction_thread *found =
        shared->thread_count ? bsearch(&key, shared->threads, shared->thread_count, sizeof key, thread_compare) : NULL;
    return found ? (int)(found - shared->threads) : -1;
}

/* What one thread, or a row of them, stored and another one read. */
struct sampled_flow {
    int writer, reader; /* index among the threads, -1: not known there */
    struct lwp_communication_estimate estimate;
    uint64_t reads;
};

static struct sampled_flow flow_between(const struct lwp_thread_interaction *shared, uint32_t process, uint32_t writer, uint32_t reader)
{
    static const uint64_t none[LWP_COMMUNICATION_PARTS];
    struct sampled_flow flow = {.writer = thread_find(shared, process, writer), .reader = thread_find(shared, process, reader)};
    lwp_communication_samples_estimate(&shared->samples, process, writer, reader,
                                       flow.writer < 0 ? none : shared->threads[flow.writer].sampled, &flow.estimate);
    return flow;
}

static void flow_add(struct sampled_flow *to, const struct sampled_flow *from)
{
    for (unsigned k = 0; k < LWP_COMMUNICATION_ESTIMATES; k++)
        to->estimate.amount[k] += from->estimate.amount[k];
    to->estimate.stored += from->estimate.stored;
    to->estimate.trials += from->estimate.trials;
    to->reads += from->reads;
}

/* Its part of all. */
static struct lwp_share flow_share(const struct sampled_flow *flow, const struct sampled_flow *all)
{
    const double *amount = flow->estimate.amount, *total = all->estimate.amount;
    struct lwp_share share = {0, 0, 1};
    if (total[LWP_COMMUNICATION_ALL] <= 0)
        return share;
    share.value = amount[LWP_COMMUNICATION_ALL] / total[LWP_COMMUNICATION_ALL];
    double variance = 0;
    for (unsigned k = 0; k < LWP_COMMUNICATION_PARTS; k++) {
        double apart = (total[k] > 0 ? amount[k] / total[k] : 0) - share.value;
        variance += apart * apart * (LWP_COMMUNICATION_PARTS - 1) / LWP_COMMUNICATION_PARTS;
    }
    double alike = flow->estimate.stored / total[LWP_COMMUNICATION_ALL] / (double)(flow->estimate.trials + 2);
    double unlike = store_cost_spread * share.value * (1 - share.value);
    double half = t_quantile * sqrt(variance + alike * alike + unlike * unlike);
    share.low = fmax(0, share.value - half);
    share.high = fmin(1, share.value + half);
    return share;
}

/* The row of each thread: the top ones have one of their own. */
static struct lwp_communication_rows communication_rows(struct lwp_profile *profile, struct lwp_sampled_communication *found,
                                                        const struct sampled_flow *flows)
{
    const struct lwp_thread_interaction *shared = &profile->interaction;
    double *amounts = lwp_arena_alloc(profile->arena, shared->thread_count + 1, sizeof *amounts);
    for (size_t i = 0; i < shared->thread_count; i++)
        amounts[i] = -1; /* in no flow */
    for (size_t i = 0; i < shared->cell_count; i++) {
        int from = flows[i].writer, to = flows[i].reader;
        double amount = flows[i].estimate.amount[LWP_COMMUNICATION_ALL];
        if (from < 0 || to < 0)
            continue;
        amounts[from] = fmax(0, amounts[from]) + amount;
        amounts[to] = fmax(0, amounts[to]) + amount;
    }
    struct lwp_communication_rows rows = lwp_communication_rows(profile->arena, amounts, shared->thread_count);
    found->count = rows.count;
    found->others = rows.others;
    found->threads = lwp_arena_alloc(profile->arena, found->count + 1, sizeof *found->threads);
    for (size_t i = 0; i < shared->thread_count; i++)
        if (lwp_communication_has_row(&rows, i))
            found->threads[rows.of[i]] = &shared->threads[i];
    return rows;
}

static struct sampled_flow *communication_flows(struct lwp_profile *profile, struct lwp_sampled_communication *found)
{
    const struct lwp_thread_interaction *shared = &profile->interaction;
    struct sampled_flow *flows = lwp_arena_alloc(profile->arena, shared->cell_count + 1, sizeof *flows);
    for (size_t i = 0; i < shared->cell_count; i++) {
        const struct lwp_interaction_cell *cell = &shared->cells[i];
        flows[i] = flow_between(shared, cell->process, cell->writer, cell->reader);
        flows[i].reads = cell->read;
        found->trials += cell->read + cell->unread + cell->lost;
        found->decided += cell->read + cell->unread;
    }
    return flows;
}

/* Two threads of one process that were never tried with each other: as much as the writer stored may have been read.
 * (Of threads that share a row only those that were tried count.) */
static void cells_untried(const struct lwp_thread_interaction *shared, const struct lwp_sampled_communication *found,
                          struct sampled_flow *cells)
{
    for (size_t i = 0; i < found->count * found->count && !found->others; i++) {
        const struct lwp_interaction_thread *writer = found->threads[i / found->count], *reader = found->threads[i % found->count];
        if (writer != reader && writer->process == reader->process && cells[i].estimate.trials == 0)
            cells[i].estimate.stored = flow_between(shared, writer->process, writer->tid, reader->tid).estimate.stored;
    }
}

/* Cost of the stores of all threads in the matrix. */
static double communication_stored(const struct lwp_thread_interaction *shared, const struct lwp_communication_rows *rows)
{
    double stored = 0;
    for (size_t i = 0; i < shared->thread_count; i++)
        if (rows->of[i] >= 0)
            stored += flow_between(shared, shared->threads[i].process, shared->threads[i].tid, 0).estimate.stored;
    return stored;
}

/* Threads with others beside them that never tried one of the others' stores. */
static void communication_note_unwatched(struct lwp_profile *profile, struct lwp_sampled_communication *found)
{
    const struct lwp_thread_interaction *shared = &profile->interaction;
    bool *watched = lwp_arena_alloc(profile->arena, shared->thread_count + 1, sizeof *watched);
    size_t accompanied = 0, unsampled = 0, unwatched = 0;
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
        accompanied++;
        unsampled += sampled == 0;
        unwatched += sampled && !watched[i];
    }
    found->unwatched = unwatched + unsampled;
    if (unwatched && !lwp_profile_is_noted(profile, LWPS_NOTE_NO_BREAKPOINTS))
        lwp_profile_note(profile,
                         "%zu of %zu threads had no watchpoint for what they read of others: they ended or waited, no other thread stored "
                         "anything to set one on, or no debug register was free.",
                         unwatched, accompanied);
    if (unsampled)
        lwp_profile_note(profile, "%zu of %zu threads used too little CPU time to be sampled at all.", unsampled, accompanied);
}

void lwp_sampled_communication_find(struct lwp_profile *profile, struct lwp_sampled_communication *found)
{
    const struct lwp_thread_interaction *shared = &profile->interaction;
    *found = (struct lwp_sampled_communication){.measured = communication_measured(profile)};
    if (shared->foreign_samples)
        lwp_profile_note(
            profile,
            "%llu sampled accesses were to memory that others may use unseen: other processes (mmap MAP_SHARED, shmat), or threads that "
            "were not sampled. Communication with these and false sharing are not measured.",
            (unsigned long long)shared->foreign_samples);
    if (profile->communication.measured)
        return;
    if (!found->measured) {
        lwp_profile_note(profile, "Communication and false sharing between threads were not measured: %s.",
                         communication_asked(profile) ? "no access could be chosen for a watchpoint"
                                                      : "not asked for (lwp collect --detect), or not possible with this engine");
        return;
    }
    communication_note_unwatched(profile, found);
    const struct sampled_flow *flows = communication_flows(profile, found);
    const struct lwp_communication_rows rows = communication_rows(profile, found, flows);
    found->cells = lwp_arena_alloc(profile->arena, found->count * found->count + 1, sizeof *found->cells);
    struct sampled_flow *cells = lwp_arena_alloc(profile->arena, found->count * found->count + 1, sizeof *cells), all = {0};
    for (size_t i = 0; i < shared->cell_count; i++) {
        if (flows[i].writer < 0 || flows[i].reader < 0)
            continue;
        flow_add(&cells[(size_t)rows.of[flows[i].writer] * found->count + (size_t)rows.of[flows[i].reader]], &flows[i]);
        flow_add(&all, &flows[i]);
    }
    cells_untried(shared, found, cells);
    for (size_t i = 0; i < found->count * found->count; i++) {
        found->cells[i].samples = cells[i].reads;
        found->cells[i].share = flow_share(&cells[i], &all);
    }
    double stored = communication_stored(shared, &rows);
    found->read = stored > 0 ? fmin(1, all.estimate.amount[LWP_COMMUNICATION_ALL] / stored) : 0;
    if (shared->runtime >= 0.005)
        lwp_profile_note(profile,
                         "%.0f %% of the time of stores that other threads may read is of words that the C library and threading libraries "
                         "keep for themselves (locks, barriers, threads' starts): they are not in the communication matrix.",
                         100 * shared->runtime);
    if (found->trials)
        lwp_profile_note(
            profile,
            "Communication is scaled up from %llu watchpoint%s on stores, set in other threads, a few at a time; %llu of them %s "
            "decided.",
            (unsigned long long)found->trials, found->trials == 1 ? "" : "s", (unsigned long long)found->decided,
            found->decided == 1 ? "was" : "were");
}
