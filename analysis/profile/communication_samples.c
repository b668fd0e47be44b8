/* Few stores can be watched in other threads, but each sample of a thread shows one of its stores. Who reads a store
 * depends above all on where it goes: a mailbox, a task, a part of an array is for one reader. So a store is taken to
 * be read as often as those that were watched near it. Pages are the leaves of a tree by their address: of a node, the
 * part that was read is that of its own trials and, as if from a tenth of a trial more, its parent's; what was never
 * tried has its parent's. A parent's own is the mean of its children's by the weight of their stores: some places are
 * tried more often. The weight of the stores in each leaf times its part adds up to what was handed over.
 *
 * Limits: what was seen of a page is taken to hold for all the time. Where one page has data for several readers, or is
 * read only sometimes, this is the plain proportion of reads among trials and as good as their number. */
#include "analysis/profile/communication_samples.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

enum { PARTS = LWP_COMMUNICATION_PARTS, ALL = LWP_COMMUNICATION_ALL, ESTIMATES = LWP_COMMUNICATION_ESTIMATES };
enum { PAGE_BITS = 12, STORES_MOST = 1 << 18, TRIALS_MOST = 1 << 18, ELSEWHERE = 0 };

/* By how many bits a page's number is shifted on each level of the tree: everything, ... 64 KiB, 16 KiB, one page. */
static const uint8_t shifts[] = {63, 20, 12, 8, 6, 4, 2, 0};
enum { LEVELS = sizeof shifts };

/* Little: most pages are for one reader, and pulled towards others they would all be wrong in one direction. */
static const double parent_trials = 0.1;

static struct lwp_communication_stores *samples_stores(struct lwp_communication_samples *samples, uint32_t process, uint32_t writer,
                                                   uint64_t page)
{
    if (samples->store_count >= STORES_MOST)
        page = ELSEWHERE;
    uint64_t key = lwp_hash_mix(lwp_hash_mix(process, writer), page) >> 1;
    uint32_t *at = lwp_table_at(&samples->store_index, key);
    if (*at == LWP_TABLE_NONE) {
        *at = (uint32_t)samples->store_count;
        LWP_GROW(&samples->stores, samples->store_count, &samples->store_room);
        samples->stores[samples->store_count++] =
            (struct lwp_communication_stores){.process = process, .writer = writer, .page = page};
    }
    return &samples->stores[*at];
}

static struct lwp_communication_trials *samples_trials(struct lwp_communication_samples *samples, uint32_t process, uint32_t writer,
                                                   uint32_t reader, uint64_t page)
{
    if (samples->trial_count >= TRIALS_MOST)
        page = ELSEWHERE;
    uint64_t key = lwp_hash_mix(lwp_hash_mix(lwp_hash_mix(process, writer), reader), page) >> 1;
    uint32_t *at = lwp_table_at(&samples->trial_index, key);
    if (*at == LWP_TABLE_NONE) {
        *at = (uint32_t)samples->trial_count;
        LWP_GROW(&samples->trials, samples->trial_count, &samples->trial_room);
        samples->trials[samples->trial_count++] =
            (struct lwp_communication_trials){.process = process, .writer = writer, .reader = reader, .page = page};
    }
    return &samples->trials[*at];
}

void lwp_communication_samples_store(struct lwp_communication_samples *samples, uint32_t process, uint32_t writer, uint64_t address,
                         uint64_t time, uint64_t weight)
{
    samples_stores(samples, process, writer, address >> PAGE_BITS)->weight[lwp_communication_samples_part(time)] += weight;
}

void lwp_communication_samples_trial(struct lwp_communication_samples *samples, uint32_t process, uint32_t writer, uint32_t reader,
                         uint64_t address, uint64_t time, bool read)
{
    struct lwp_communication_trials *trials = samples_trials(samples, process, writer, reader, address >> PAGE_BITS);
    unsigned part = lwp_communication_samples_part(time);
    trials->decided[part]++;
    trials->read[part] += read;
}

void lwp_communication_samples_merge(struct lwp_communication_samples *into, struct lwp_communication_samples *from)
{
    for (size_t i = 0; i < from->store_count; i++) {
        const struct lwp_communication_stores *stores = &from->stores[i];
        struct lwp_communication_stores *to = samples_stores(into, stores->process, stores->writer, stores->page);
        for (unsigned k = 0; k < PARTS; k++)
            to->weight[k] += stores->weight[k];
    }
    for (size_t i = 0; i < from->trial_count; i++) {
        const struct lwp_communication_trials *trials = &from->trials[i];
        struct lwp_communication_trials *to =
            samples_trials(into, trials->process, trials->writer, trials->reader, trials->page);
        for (unsigned k = 0; k < PARTS; k++) {
            to->decided[k] += trials->decided[k];
            to->read[k] += trials->read[k];
        }
    }
    lwp_communication_samples_free(from);
}

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int stores_compare(const void *a, const void *b)
{
    const struct lwp_communication_stores *x = a, *y = b;
    if (x->process != y->process)
        return compare(x->process, y->process);
    return x->writer != y->writer ? compare(x->writer, y->writer) : compare(x->page, y->page);
}

static int trials_compare(const void *a, const void *b)
{
    const struct lwp_communication_trials *x = a, *y = b;
    if (x->process != y->process)
        return compare(x->process, y->process);
    if (x->writer != y->writer)
        return compare(x->writer, y->writer);
    return x->reader != y->reader ? compare(x->reader, y->reader) : compare(x->page, y->page);
}

void lwp_communication_samples_renumber(struct lwp_communication_samples *samples)
{
    if (samples->store_count)
        qsort(samples->stores, samples->store_count, sizeof *samples->stores, stores_compare);
    if (samples->trial_count)
        qsort(samples->trials, samples->trial_count, sizeof *samples->trials, trials_compare);
    for (size_t i = 1; i < samples->store_count; i++)
        for (unsigned k = 0; k < PARTS; k++)
            samples->stores[i].weight[k] += samples->stores[i - 1].weight[k];
}

void lwp_communication_samples_free(struct lwp_communication_samples *samples)
{
    lwp_table_free(&samples->store_index);
    lwp_table_free(&samples->trial_index);
    free(samples->stores);
    free(samples->trials);
    *samples = (struct lwp_communication_samples){0};
}

/* ---- the estimate ---- */

struct descent {
    const struct lwp_communication_samples *samples;
    double amount[ESTIMATES];
};

struct range {
    size_t first, last;
};

/* The first of them whose page is not below `page`. */
static size_t stores_from(const struct lwp_communication_samples *samples, struct range in, uint64_t page)
{
    while (in.first < in.last) {
        size_t middle = (in.first + in.last) / 2;
        if (samples->stores[middle].page < page)
            in.first = middle + 1;
        else
            in.last = middle;
    }
    return in.first;
}

/* Of the stores in a range, all but those of one part each. */
static void range_weight(const struct lwp_communication_samples *samples, struct range range, double weight[ESTIMATES])
{
    weight[ALL] = 0;
    for (unsigned k = 0; k < PARTS; k++) {
        uint64_t part = 0;
        if (range.first < range.last)
            part = samples->stores[range.last - 1].weight[k] -
                   (range.first ? samples->stores[range.first - 1].weight[k] : 0);
        weight[k] = -(double)part;
        weight[ALL] += (double)part;
    }
    for (unsigned k = 0; k < PARTS; k++)
        weight[k] += weight[ALL];
}

static void descent_count(struct descent *descent, struct range stores, const double part[ESTIMATES])
{
    double weight[ESTIMATES];
    range_weight(descent->samples, stores, weight);
    for (unsigned k = 0; k < ESTIMATES; k++)
        descent->amount[k] += weight[k] * part[k];
}

/* Trials of a node, all but those of one part each, and how many of them were read. */
static void node_trials(const struct lwp_communication_samples *samples, struct range trials, double decided[ESTIMATES],
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

struct node {
    unsigned level;
    struct range stores, trials;
};

/* The first child of a node that has trials, taken off the node: what is left in front of it has none. */
static struct node node_child(const struct lwp_communication_samples *samples, struct node *node, struct range *untried)
{
    unsigned shift = shifts[node->level + 1];
    uint64_t page = samples->trials[node->trials.first].page >> shift;
    struct node child = {.level = node->level + 1, .trials = {node->trials.first, node->trials.first}};
    while (child.trials.last < node->trials.last && samples->trials[child.trials.last].page >> shift == page)
        child.trials.last++;
    child.stores.first = stores_from(samples, node->stores, page << shift);
    child.stores.last =
        stores_from(samples, (struct range){child.stores.first, node->stores.last}, (page + 1) << shift);
    *untried = (struct range){node->stores.first, child.stores.first};
    node->stores.first = child.stores.last;
    node->trials.first = child.trials.last;
    return child;
}

/* The part that its trials say was read of a node's stores, and how many trials say so. Some places are tried more
 * often than others: a node's part is the mean of its children's by the weight of their stores. */
static void node_part(const struct lwp_communication_samples *samples, struct node node, double part[ESTIMATES],
                      double decided[ESTIMATES])
{
    double read[ESTIMATES], sum[ESTIMATES] = {0}, of[ESTIMATES] = {0};
    node_trials(samples, node.trials, decided, read);
    while (node.level + 1 < LEVELS && node.trials.first < node.trials.last) {
        struct range untried;
        struct node child = node_child(samples, &node, &untried);
        double child_part[ESTIMATES], child_decided[ESTIMATES], weight[ESTIMATES];
        node_part(samples, child, child_part, child_decided);
        range_weight(samples, child.stores, weight);
        for (unsigned k = 0; k < ESTIMATES; k++)
            if (child_decided[k] > 0) {
                sum[k] += weight[k] * child_part[k];
                of[k] += weight[k];
            }
    }
    for (unsigned k = 0; k < ESTIMATES; k++)
        part[k] = of[k] > 0 ? sum[k] / of[k] : decided[k] > 0 ? read[k] / decided[k] : 0;
}

static void descend(struct descent *descent, struct node node, const double parent[ESTIMATES])
{
    double part[ESTIMATES], decided[ESTIMATES], as_trials = node.level ? parent_trials : 0;
    node_part(descent->samples, node, part, decided);
    for (unsigned k = 0; k < ESTIMATES; k++)
        part[k] = decided[k] > 0 ? (decided[k] * part[k] + as_trials * parent[k]) / (decided[k] + as_trials) : parent[k];
    while (node.level + 1 < LEVELS && node.trials.first < node.trials.last) {
        struct range untried;
        struct node child = node_child(descent->samples, &node, &untried);
        descent_count(descent, untried, part);
        descend(descent, child, part);
    }
    descent_count(descent, node.stores, part);
}

static struct range stores_of(const struct lwp_communication_samples *samples, uint32_t process, uint32_t writer)
{
    struct range range = {0, samples->store_count};
    struct lwp_communication_stores key = {.process = process, .writer = writer};
    while (range.first < range.last) {
        size_t middle = (range.first + range.last) / 2;
        if (stores_compare(&samples->stores[middle], &key) < 0)
            range.first = middle + 1;
        else
            range.last = middle;
    }
    while (range.last < samples->store_count && samples->stores[range.last].process == process &&
           samples->stores[range.last].writer == writer)
        range.last++;
    return range;
}

static struct range trials_of(const struct lwp_communication_samples *samples, uint32_t process, uint32_t writer, uint32_t reader)
{
    struct range range = {0, samples->trial_count};
    struct lwp_communication_trials key = {.process = process, .writer = writer, .reader = reader};
    while (range.first < range.last) {
        size_t middle = (range.first + range.last) / 2;
        if (trials_compare(&samples->trials[middle], &key) < 0)
            range.first = middle + 1;
        else
            range.last = middle;
    }
    while (range.last < samples->trial_count && samples->trials[range.last].process == process &&
           samples->trials[range.last].writer == writer && samples->trials[range.last].reader == reader)
        range.last++;
    return range;
}

void lwp_communication_samples_estimate(const struct lwp_communication_samples *samples, uint32_t process, uint32_t writer, uint32_t reader,
                            const uint64_t sampled[LWP_COMMUNICATION_PARTS], struct lwp_communication_estimate *estimate)
{
    static const double nothing[ESTIMATES];
    struct descent descent = {.samples = samples};
    struct range stores = stores_of(samples, process, writer), trials = trials_of(samples, process, writer, reader);
    *estimate = (struct lwp_communication_estimate){0};
    for (size_t i = trials.first; i < trials.last; i++)
        for (unsigned k = 0; k < PARTS; k++)
            estimate->trials += samples->trials[i].decided[k];
    double weight[ESTIMATES], all = 0;
    range_weight(samples, stores, weight);
    estimate->stored = weight[ALL];
    descend(&descent, (struct node){.stores = stores, .trials = trials}, nothing);
    for (unsigned k = 0; k < PARTS; k++)
        all += (double)sampled[k];
    for (unsigned k = 0; k < ESTIMATES; k++) {
        double left = k == ALL ? all : all - (double)sampled[k];
        estimate->amount[k] = left > 0 ? descent.amount[k] * all / left : descent.amount[k];
    }
}
