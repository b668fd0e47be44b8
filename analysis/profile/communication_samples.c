/* Few stores can be watched in other threads, but each sample of a thread shows one of its stores. Who reads a store depends
 * above all on where it goes: a mailbox, a task, a part of an array is for one reader. So a store is taken to be read as often
 * as those that were watched near it (stratified sampling, with partial pooling over a tree of addresses).
 *
 * Pages are the leaves of the tree. The read share of a node is that of its own trials and, as if from a tenth of a trial more,
 * its parent's; a node without trials has its parent's. A parent's own share is the mean of its children's, weighted by their
 * stores, since some places are tried more often. The stores of each leaf times its share add up to what was communicated.
 *
 * Limits: what was seen of a page is taken to hold for all the time. Where one page has data for several readers, or is
 * read only sometimes, this is the plain proportion of reads among trials and as good as their number. */
#include "analysis/profile/communication_samples.h"

#include "base/arena.h"

#include "base/order.h"

#include <stdlib.h>
#include <string.h>

enum { PARTS = LWP_COMMUNICATION_PARTS, ALL = LWP_COMMUNICATION_ALL, ESTIMATES = LWP_COMMUNICATION_ESTIMATES };
enum { PAGE_BITS = 12, STORES_MOST = 1 << 18, TRIALS_MOST = 1 << 18, ELSEWHERE = 0 };

/* By how many bits a page's number is shifted on each level of the tree: everything, ... 64 KiB, 16 KiB, one page. */
static const uint8_t shifts[] = {63, 20, 12, 8, 6, 4, 2, 0};
enum { LEVELS = sizeof shifts };

/* Little: most pages are for one reader, and pulled towards others they would all be wrong in one direction. */
static const double parent_trials = 0.1;

/* That with the key of `like`. */
static struct lwp_communication_stores *samples_stores(struct lwp_communication_samples *samples,
                                                       const struct lwp_communication_stores *like)
{
    struct lwp_communication_stores made = {
        .process = like->process, .writer = like->writer, .location = like->location, .page = like->page};
    if (samples->store_count >= STORES_MOST)
        made.page = ELSEWHERE;
    uint64_t key = lwp_hash_mix(lwp_hash_mix(lwp_hash_mix(made.process, made.writer), made.location), made.page) >> 1;
    uint32_t *at = lwp_map_at(&samples->store_index, key);
    if (lwp_number_new(at, samples->store_count))
        LWP_PUSH(samples->store, made);
    return &samples->stores[*at];
}

static struct lwp_communication_trials *samples_trials(struct lwp_communication_samples *samples,
                                                       const struct lwp_communication_trials *like)
{
    struct lwp_communication_trials made = {.process = like->process,
                                            .writer = like->writer,
                                            .reader = like->reader,
                                            .stored_at = like->stored_at,
                                            .read_at = like->read_at,
                                            .page = like->page};
    if (samples->trial_count >= TRIALS_MOST)
        made.page = ELSEWHERE;
    uint64_t key = lwp_hash_mix(lwp_hash_mix(lwp_hash_mix(made.process, made.writer), made.reader), made.page);
    key = lwp_hash_mix(lwp_hash_mix(key, made.stored_at), made.read_at) >> 1;
    uint32_t *at = lwp_map_at(&samples->trial_index, key);
    if (lwp_number_new(at, samples->trial_count))
        LWP_PUSH(samples->trial, made);
    return &samples->trials[*at];
}

void lwp_communication_samples_store(struct lwp_communication_samples *samples, const struct lwp_communication_store *store,
                                     uint64_t weight)
{
    const struct lwp_communication_stores like = {
        .process = store->process, .writer = store->writer, .location = store->location, .page = store->address >> PAGE_BITS};
    samples_stores(samples, &like)->weight[lwp_communication_samples_part(store->time)] += weight;
}

void lwp_communication_samples_trial(struct lwp_communication_samples *samples, const struct lwp_communication_store *store,
                                     uint32_t reader, bool read, uint32_t read_at)
{
    struct lwp_communication_trials *trials =
        samples_trials(samples, &(struct lwp_communication_trials){.process = store->process,
                                                                   .writer = store->writer,
                                                                   .reader = reader,
                                                                   .stored_at = store->location,
                                                                   .read_at = read_at,
                                                                   .page = store->address >> PAGE_BITS});
    unsigned part = lwp_communication_samples_part(store->time);
    trials->decided[part]++;
    trials->read[part] += read;
}

void lwp_communication_samples_merge(struct lwp_communication_samples *into, struct lwp_communication_samples *from)
{
    for (size_t i = 0; i < from->store_count; i++) {
        const struct lwp_communication_stores *stores = &from->stores[i];
        struct lwp_communication_stores *to = samples_stores(into, stores);
        for (unsigned k = 0; k < PARTS; k++)
            to->weight[k] += stores->weight[k];
    }
    for (size_t i = 0; i < from->trial_count; i++) {
        const struct lwp_communication_trials *trials = &from->trials[i];
        struct lwp_communication_trials *to = samples_trials(into, trials);
        for (unsigned k = 0; k < PARTS; k++) {
            to->decided[k] += trials->decided[k];
            to->read[k] += trials->read[k];
        }
    }
    lwp_communication_samples_free(from);
}

static int samples_stores_compare(const void *a, const void *b)
{
    const struct lwp_communication_stores *x = a, *y = b;
    return LWP_COMPARE(x->process, y->process) ?: LWP_COMPARE(x->writer, y->writer) ?: LWP_COMPARE(x->page, y->page);
}

static int samples_trials_compare(const void *a, const void *b)
{
    const struct lwp_communication_trials *x = a, *y = b;
    return LWP_COMPARE(x->process, y->process) ?: LWP_COMPARE(x->writer, y->writer)
           ?: LWP_COMPARE(x->reader, y->reader) ?: LWP_COMPARE(x->page, y->page);
}

double lwp_communication_samples_drop(struct lwp_communication_samples *samples, bool (*is_runtime)(void *context, uint32_t location),
                                      void *context)
{
    double all = 0, dropped = 0;
    size_t kept = 0;
    for (size_t i = 0; i < samples->store_count; i++) {
        const struct lwp_communication_stores *stores = &samples->stores[i];
        const bool drop = is_runtime(context, stores->location);
        for (unsigned k = 0; k < PARTS; k++) {
            all += (double)stores->weight[k];
            dropped += drop ? (double)stores->weight[k] : 0;
        }
        if (!drop)
            samples->stores[kept++] = *stores;
    }
    samples->store_count = kept;
    kept = 0;
    for (size_t i = 0; i < samples->trial_count; i++) {
        const struct lwp_communication_trials *trials = &samples->trials[i];
        if (!is_runtime(context, trials->stored_at) && !is_runtime(context, trials->read_at))
            samples->trials[kept++] = *trials;
    }
    samples->trial_count = kept;
    return all > 0 ? dropped / all : 0;
}

void lwp_communication_samples_renumber(struct lwp_communication_samples *samples)
{
    LWP_SORT(samples->stores, samples->store_count, samples_stores_compare);
    LWP_SORT(samples->trials, samples->trial_count, samples_trials_compare);
    for (size_t i = 1; i < samples->store_count; i++)
        for (unsigned k = 0; k < PARTS; k++)
            samples->stores[i].weight[k] += samples->stores[i - 1].weight[k];
}

void lwp_communication_samples_free(struct lwp_communication_samples *samples)
{
    lwp_map_fini(&samples->store_index);
    lwp_map_fini(&samples->trial_index);
    free(samples->stores);
    free(samples->trials);
    *samples = (struct lwp_communication_samples){0};
}

/* ---- the estimate ---- */

struct samples_range {
    size_t first, last;
};

struct samples_node {
    unsigned level;
    struct samples_range stores, trials;
};

struct samples_descent {
    const struct lwp_communication_samples *samples;
    double amount[ESTIMATES];
};

/* The first of a range of stores whose page is not below `page`. */
static size_t samples_stores_from(const struct lwp_communication_samples *samples, struct samples_range in, uint64_t page)
{
    return LWP_PARTITION_POINT(i, in.first, in.last, samples->stores[i].page < page);
}

/* Of the stores in a range, all but those of one part each. */
static void samples_weight(const struct lwp_communication_samples *samples, struct samples_range range, double weight[ESTIMATES])
{
    weight[ALL] = 0;
    for (unsigned k = 0; k < PARTS; k++) {
        uint64_t part = 0;
        if (range.first < range.last)
            part = samples->stores[range.last - 1].weight[k] - (range.first ? samples->stores[range.first - 1].weight[k] : 0);
        weight[k] = -(double)part;
        weight[ALL] += (double)part;
    }
    for (unsigned k = 0; k < PARTS; k++)
        weight[k] += weight[ALL];
}

static void samples_count(struct samples_descent *descent, struct samples_range stores, const double share[ESTIMATES])
{
    double weight[ESTIMATES];
    samples_weight(descent->samples, stores, weight);
    for (unsigned k = 0; k < ESTIMATES; k++)
        descent->amount[k] += weight[k] * share[k];
}

/* Trials of a node, all but those of one part each, and how many of them were read. */
static void samples_node_trials(const struct lwp_communication_samples *samples, struct samples_range trials, double decided[ESTIMATES],
                                double read[ESTIMATES])
{
    for (unsigned k = 0; k < ESTIMATES; k++) {
        decided[k] = read[k] = 0;
        for (size_t i = trials.first; i < trials.last; i++)
            for (unsigned part = 0; part < PARTS; part++)
                if (part != k) {
                    decided[k] += samples->trials[i].decided[part];
                    read[k] += samples->trials[i].read[part];
                }
    }
}

/* The first child of a node that has trials, taken off the node: what is left in front of it has none. */
static struct samples_node samples_node_child(const struct lwp_communication_samples *samples, struct samples_node *node,
                                              struct samples_range *untried)
{
    unsigned shift = shifts[node->level + 1];
    uint64_t page = samples->trials[node->trials.first].page >> shift;
    struct samples_node child = {.level = node->level + 1, .trials = {node->trials.first, node->trials.first}};
    while (child.trials.last < node->trials.last && samples->trials[child.trials.last].page >> shift == page)
        child.trials.last++;
    child.stores.first = samples_stores_from(samples, node->stores, page << shift);
    child.stores.last = samples_stores_from(samples, (struct samples_range){child.stores.first, node->stores.last}, (page + 1) << shift);
    *untried = (struct samples_range){node->stores.first, child.stores.first};
    node->stores.first = child.stores.last;
    node->trials.first = child.trials.last;
    return child;
}

/* The share of a node's stores that was read, by its trials, and their number. */
static void samples_node_share(const struct lwp_communication_samples *samples, struct samples_node node, double share[ESTIMATES],
                               double decided[ESTIMATES])
{
    double read[ESTIMATES], sum[ESTIMATES] = {0}, of[ESTIMATES] = {0};
    samples_node_trials(samples, node.trials, decided, read);
    while (node.level + 1 < LEVELS && node.trials.first < node.trials.last) {
        struct samples_range untried;
        struct samples_node child = samples_node_child(samples, &node, &untried);
        double child_share[ESTIMATES], child_decided[ESTIMATES], weight[ESTIMATES];
        samples_node_share(samples, child, child_share, child_decided);
        samples_weight(samples, child.stores, weight);
        for (unsigned k = 0; k < ESTIMATES; k++)
            if (child_decided[k] > 0) {
                sum[k] += weight[k] * child_share[k];
                of[k] += weight[k];
            }
    }
    for (unsigned k = 0; k < ESTIMATES; k++)
        share[k] = of[k] > 0 ? sum[k] / of[k] : decided[k] > 0 ? read[k] / decided[k] : 0;
}

static void samples_descend(struct samples_descent *descent, struct samples_node node, const double parent[ESTIMATES])
{
    double share[ESTIMATES], decided[ESTIMATES], as_trials = node.level ? parent_trials : 0;
    samples_node_share(descent->samples, node, share, decided);
    for (unsigned k = 0; k < ESTIMATES; k++)
        share[k] = decided[k] > 0 ? (decided[k] * share[k] + as_trials * parent[k]) / (decided[k] + as_trials) : parent[k];
    while (node.level + 1 < LEVELS && node.trials.first < node.trials.last) {
        struct samples_range untried;
        struct samples_node child = samples_node_child(descent->samples, &node, &untried);
        samples_count(descent, untried, share);
        samples_descend(descent, child, share);
    }
    samples_count(descent, node.stores, share);
}

static struct samples_range samples_stores_of(const struct lwp_communication_samples *samples, uint32_t process, uint32_t writer)
{
    const struct lwp_communication_stores first = {.process = process, .writer = writer};
    const struct lwp_communication_stores last = {.process = process, .writer = writer, .page = UINT64_MAX};
    return (struct samples_range){LWP_PARTITION_POINT(i, 0, samples->store_count, samples_stores_compare(&samples->stores[i], &first) < 0),
                                  LWP_PARTITION_POINT(i, 0, samples->store_count, samples_stores_compare(&samples->stores[i], &last) < 0)};
}

static struct samples_range samples_trials_of(const struct lwp_communication_samples *samples, uint32_t process, uint32_t writer,
                                              uint32_t reader)
{
    const struct lwp_communication_trials first = {.process = process, .writer = writer, .reader = reader};
    const struct lwp_communication_trials last = {.process = process, .writer = writer, .reader = reader, .page = UINT64_MAX};
    return (struct samples_range){LWP_PARTITION_POINT(i, 0, samples->trial_count, samples_trials_compare(&samples->trials[i], &first) < 0),
                                  LWP_PARTITION_POINT(i, 0, samples->trial_count, samples_trials_compare(&samples->trials[i], &last) < 0)};
}

void lwp_communication_samples_estimate(const struct lwp_communication_samples *samples, uint32_t process, uint32_t writer, uint32_t reader,
                                        const uint64_t sampled[LWP_COMMUNICATION_PARTS], struct lwp_communication_estimate *estimate)
{
    static const double nothing[ESTIMATES];
    struct samples_descent descent = {.samples = samples};
    struct samples_range stores = samples_stores_of(samples, process, writer), trials = samples_trials_of(samples, process, writer, reader);
    *estimate = (struct lwp_communication_estimate){0};
    for (size_t i = trials.first; i < trials.last; i++)
        for (unsigned k = 0; k < PARTS; k++)
            estimate->trials += samples->trials[i].decided[k];
    double weight[ESTIMATES], all = 0;
    samples_weight(samples, stores, weight);
    estimate->stored = weight[ALL];
    samples_descend(&descent, (struct samples_node){.stores = stores, .trials = trials}, nothing);
    for (unsigned k = 0; k < PARTS; k++)
        all += (double)sampled[k];
    for (unsigned k = 0; k < ESTIMATES; k++) {
        double left = k == ALL ? all : all - (double)sampled[k];
        estimate->amount[k] = left > 0 ? descent.amount[k] * all / left : descent.amount[k];
    }
}
