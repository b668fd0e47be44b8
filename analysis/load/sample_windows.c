/* Windows of WINDOW_SAMPLES consecutive samples of a thread. Each has a rank, a hash of where it was recorded, and the WINDOWS_MAX
 * lowest ranks are kept (bottom-k sampling): a uniform sample that does not depend on the order in which files are read and shards
 * merged, and costs next to nothing for windows that are not kept. Runs of less than some hundred thousand samples are kept
 * whole. */
#include "analysis/load/sample_windows.h"

#include "analysis/load/pack.h"
#include "analysis/profile/objects.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

enum { WINDOW_SAMPLES = 16, WINDOW_ACCESSES = 8, WINDOWS_MAX = 1 << 13 };

struct lwp_sample_window {
    uint64_t rank;
    uint32_t thread, number;
    uint32_t samples, accesses;
    uint64_t times[WINDOW_SAMPLES];
    uint8_t counts[WINDOW_SAMPLES];
    struct lwp_traversal_access access[];
};

enum { WINDOW_BYTES_MOST = sizeof(struct lwp_sample_window) + WINDOW_SAMPLES * WINDOW_ACCESSES * sizeof(struct lwp_traversal_access) };

void lwp_sample_windows_free(struct lwp_sample_windows *windows)
{
    for (size_t i = 0; i < windows->count; i++)
        free(windows->items[i]);
    free(windows->items);
    free(windows->current);
    *windows = (struct lwp_sample_windows){0};
}

static int window_rank_compare(const void *a, const void *b)
{
    const struct lwp_sample_window *x = *(struct lwp_sample_window *const *)a, *y = *(struct lwp_sample_window *const *)b;
    return LWP_COMPARE(x->rank, y->rank) ?: LWP_COMPARE(x->thread, y->thread) ?: LWP_COMPARE(x->number, y->number);
}

static int window_time_compare(const void *a, const void *b)
{
    const struct lwp_sample_window *x = *(struct lwp_sample_window *const *)a, *y = *(struct lwp_sample_window *const *)b;
    return LWP_COMPARE(x->thread, y->thread) ?: LWP_COMPARE(x->number, y->number);
}

/* Down to the windows of the lowest ranks. */
static void windows_prune(struct lwp_sample_windows *windows)
{
    if (windows->count <= WINDOWS_MAX)
        return;
    qsort(windows->items, windows->count, sizeof(*windows->items), window_rank_compare);
    while (windows->count > WINDOWS_MAX)
        free(windows->items[--windows->count]);
    windows->limit = windows->items[WINDOWS_MAX - 1]->rank;
}

static void windows_close(struct lwp_sample_windows *windows)
{
    struct lwp_sample_window *current = windows->current;
    if (!windows->chosen || !current->samples)
        return;
    size_t bytes = sizeof *current + current->accesses * sizeof *current->access;
    struct lwp_sample_window *kept = malloc(bytes);
    if (kept)
        LWP_APPEND(&windows->items, &windows->count, &windows->room, memcpy(kept, current, bytes));
    if (windows->count >= 2 * WINDOWS_MAX)
        windows_prune(windows);
}

static void windows_open(struct lwp_sample_windows *windows)
{
    uint64_t rank = lwp_hash_mix(windows->seed, windows->number) | 1;
    windows->chosen = windows->limit == 0 || rank <= windows->limit;
    windows->left = WINDOW_SAMPLES;
    *windows->current = (struct lwp_sample_window){.rank = rank, .thread = windows->thread, .number = windows->number};
    windows->number++;
}

void lwp_sample_windows_begin(struct lwp_sample_windows *windows, uint32_t thread, uint64_t seed)
{
    if (!windows->current)
        windows->current = lwp_zeroed(WINDOW_BYTES_MOST, 1);
    windows->thread = thread;
    windows->seed = seed;
    windows->number = 0;
    windows_open(windows);
}

void lwp_sample_windows_sample(struct lwp_sample_windows *windows, const struct lwp_traversal_access *accesses, int count, uint64_t time)
{
    if (count <= 0)
        return;
    if (windows->chosen) {
        struct lwp_sample_window *current = windows->current;
        if (count > WINDOW_ACCESSES)
            count = WINDOW_ACCESSES;
        current->times[current->samples] = time;
        current->counts[current->samples++] = (uint8_t)count;
        for (int i = 0; i < count; i++)
            current->access[current->accesses++] = accesses[i];
    }
    if (--windows->left == 0) {
        windows_close(windows);
        windows_open(windows);
    }
}

void lwp_sample_windows_end(struct lwp_sample_windows *windows)
{
    windows_close(windows);
    windows->chosen = false;
}

void lwp_sample_windows_merge(struct lwp_sample_windows *into, struct lwp_sample_windows *from)
{
    LWP_APPEND_ALL(&into->items, &into->count, &into->room, from->items, from->count);
    from->count = 0;
    lwp_sample_windows_free(from);
    windows_prune(into);
}

static void windows_saw(struct lwp_region *region, uint64_t time)
{
    if (!region->first_ns || time < region->first_ns)
        region->first_ns = time;
    LWP_RAISE(region->last_ns, time);
}

void lwp_sample_windows_replay(struct lwp_sample_windows *windows, struct lwp_profile *profile, const uint32_t *objects,
                               const uint32_t *regions)
{
    const struct lwp_sample_window *before = NULL;
    struct lwp_traversal_thread thread = {0};
    windows_prune(windows);
    LWP_SORT(windows->items, windows->count, window_time_compare);
    for (size_t i = 0; i < windows->count; i++) {
        const struct lwp_sample_window *window = windows->items[i];
        if (!before || before->thread != window->thread || before->number + 1 != window->number)
            thread = (struct lwp_traversal_thread){.thread = window->thread};
        before = window;
        const struct lwp_traversal_access *access = window->access;
        for (uint32_t k = 0; k < window->samples; access += window->counts[k], k++) {
            struct lwp_traversal_access arrays[WINDOW_ACCESSES], all[WINDOW_ACCESSES];
            int count = 0, known = 0;
            for (uint32_t a = 0; a < window->counts[k]; a++) {
                uint32_t region = access[a].region == LWP_NONE ? LWP_NONE : regions[access[a].region];
                uint32_t object = objects[access[a].object];
                if (region == LWP_NONE)
                    continue;
                windows_saw(&profile->regions[region], window->times[k]);
                all[known] = access[a];
                all[known].object = object;
                all[known].region = region;
                if (lwp_objects_is_array(profile, object) && !access[a].links)
                    arrays[count++] = all[known];
                known++;
            }
            lwp_moves_sample(&profile->moves, profile, all, known);
            lwp_traversals_sample(&profile->traversals, &thread, arrays, count, window->times[k]);
            lwp_concurrents_sample(&profile->concurrents, arrays, count);
        }
    }
}

void lwp_sample_windows_pack(struct lwp_sample_windows *windows, struct lwp_pack *pack)
{
    struct lwp_sample_window head;
    windows_prune(windows);
    size_t count = windows->count;
    LWP_PACK(pack, count);
    for (size_t i = 0; i < count && !pack->bad; i++) {
        if (!pack->unpacking)
            head = *windows->items[i];
        LWP_PACK(pack, head);
        pack->bad |= head.samples > WINDOW_SAMPLES || head.accesses > WINDOW_SAMPLES * WINDOW_ACCESSES;
        if (pack->unpacking)
            **LWP_APPEND(&windows->items, &windows->count, &windows->room, lwp_zeroed(WINDOW_BYTES_MOST, 1)) = head;
        struct lwp_sample_window *window = windows->items[i];
        for (uint32_t k = 0; k < head.accesses && !pack->bad; k++) {
            LWP_PACK(pack, window->access[k]);
            lwp_pack_number(pack, LWP_PACK_OBJECT, &window->access[k].object);
            lwp_pack_number(pack, LWP_PACK_PART, &window->access[k].region);
        }
    }
}
