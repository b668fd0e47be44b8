/* In: which processors share each cache, the matrix of communication. A group is what the outermost cache holds together that is not
 * shared by all processors: of two processors with a third level in common, threads on one of them share its second level. Threads get
 * a core each while there are some, then its other threads (SMT), then they take turns. */
#include "analysis/advice/threads/thread_placement.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { CPUS_MOST = 8192, PAIR = 2 };

struct cache_groups {
    unsigned group[CPUS_MOST]; /* of each processor, from 1 on; 0: none */
    size_t count, processors;
};

/* "0-3,8" adds to group `count`; false: it is something else. */
static bool groups_add(struct cache_groups *groups, const char *list)
{
    groups->count++;
    while (*list >= '0' && *list <= '9') {
        char *end;
        unsigned long first = strtoul(list, &end, 10), last = *end == '-' ? strtoul(end + 1, &end, 10) : first;
        if (first > last || last >= CPUS_MOST)
            return false;
        for (; first <= last; first++) {
            groups->processors += !groups->group[first];
            groups->group[first] = (unsigned)groups->count;
        }
        list = *end == ',' ? end + 1 : end;
    }
    return !*list;
}

static bool groups_of(struct cache_groups *groups, const json_t *cache)
{
    const json_t *list;
    size_t i;
    memset(groups, 0, sizeof *groups);
    json_array_foreach(json_object_get(cache, "groups"), i, list)
        if (!json_is_string(list) || !groups_add(groups, json_string_value(list)))
            return false;
    return groups->count > 0;
}

/* Processors of a group, the first one of each core, then the second ones, and so on; a core is a group of the innermost cache. Returns how
 * many cores it has. */
static size_t group_processors(const struct cache_groups *groups, const struct cache_groups *cores, size_t group,
                               unsigned processors[CPUS_MOST], size_t *count)
{
    unsigned taken[CPUS_MOST + 1], own = 0;
    bool more = true;
    *count = 0;
    for (unsigned turn = 0; more; turn++) {
        more = false;
        memset(taken, 0, sizeof taken);
        for (unsigned cpu = 0; cpu < CPUS_MOST; cpu++) {
            if (groups->group[cpu] != group)
                continue;
            const unsigned before = taken[cores->group[cpu]]++;
            more |= before > turn;
            if (before == turn)
                processors[(*count)++] = cpu;
        }
        own = turn == 0 ? (unsigned)*count : own;
    }
    return own;
}

/* How many threads a group is to have; 0: threads have a cache of this level each, or all share one. */
static size_t level_size(const struct cache_groups *groups, const struct cache_groups *cores, size_t threads)
{
    unsigned processors[CPUS_MOST];
    size_t least = SIZE_MAX, count;
    for (size_t group = 1; group <= groups->count; group++) {
        size_t own = group_processors(groups, cores, group, processors, &count);
        least = own < least ? own : least;
    }
    if (groups->count < 2 || !least)
        return 0;
    if (threads <= least)
        return threads;
    if (threads <= least * groups->count)
        return least > 1 ? least : 0;
    return (threads + groups->count - 1) / groups->count;
}

/* Where it is not known which processors share a cache: how many do, or those of a NUMA node; else pairs. */
static size_t size_unknown(const json_t *machine)
{
    const size_t processors = (size_t)json_integer_value(json_object_get(machine, "cores"));
    const json_int_t nodes = json_integer_value(json_object_get(machine, "numa_nodes"));
    const json_t *cache;
    size_t i, sharing = 0;
    json_array_foreach(json_object_get(machine, "caches"), i, cache) {
        size_t shared_by = (size_t)json_integer_value(json_object_get(cache, "shared_by"));
        if (shared_by > sharing && shared_by > 1 && shared_by < processors)
            sharing = shared_by;
    }
    sharing = sharing ? sharing : nodes > 1 ? processors / (size_t)nodes : 0;
    return sharing > 1 ? sharing : PAIR;
}

static void threads_place(struct lwp_arena *arena, const struct cache_groups *groups, const struct cache_groups *cores, size_t threads,
                          struct lwp_thread_placement *placement)
{
    unsigned processors[CPUS_MOST];
    size_t count;
    placement->processors = lwp_arena_alloc(arena, threads + 1, sizeof *placement->processors);
    for (size_t group = 0; group < threads; group++) {
        size_t member = 0;
        group_processors(groups, cores, 1 + group % groups->count, processors, &count);
        for (size_t i = 0; i < threads && count; i++)
            if (placement->group[i] == group)
                placement->processors[i] = processors[member++ % count];
    }
}

struct lwp_thread_placement lwp_thread_placement(struct lwp_arena *arena, const json_t *machine, const uint64_t *first, size_t threads)
{
    struct lwp_thread_placement placement = {.group = lwp_arena_alloc(arena, threads + 1, sizeof *placement.group)};
    const json_t *caches = json_object_get(machine, "caches");
    size_t *plain = lwp_arena_alloc(arena, threads + 1, sizeof *plain), level = json_array_size(caches);
    static struct cache_groups groups, cores;
    bool known = level && groups_of(&cores, json_array_get(caches, 0));
    while (known && level > 0 && !placement.size) {
        const json_t *cache = json_array_get(caches, --level);
        placement.size = groups_of(&groups, cache) ? level_size(&groups, &cores, threads) : 0;
        placement.level = placement.size ? (unsigned)json_integer_value(json_object_get(cache, "level")) : 0;
    }
    known = placement.size > 0;
    placement.size = known ? placement.size : size_unknown(machine);
    lwp_communication_group(first, threads, placement.size, placement.group);
    for (size_t i = 0; i < threads; i++)
        plain[i] = i / placement.size;
    placement.within = lwp_communication_within(first, threads, placement.group);
    placement.before = lwp_communication_within(first, threads, plain);
    if (known)
        threads_place(arena, &groups, &cores, threads, &placement);
    return placement;
}

const char *lwp_thread_placement_groups(struct lwp_arena *arena, const struct lwp_thread_placement *placement, size_t threads)
{
    const char *text = "", *before = "";
    for (size_t wanted = 0; wanted < threads; wanted++, before = ", ")
        for (size_t i = 0; i < threads; i++)
            if (placement->group[i] == wanted) {
                text = lwp_arena_printf(arena, "%s%s%zu", text, before, i);
                before = " ";
            }
    return text;
}

const char *lwp_thread_placement_places(struct lwp_arena *arena, const struct lwp_thread_placement *placement, size_t threads)
{
    const char *text = "";
    if (!placement->processors)
        return NULL;
    for (size_t i = 0; i < threads; i++)
        text = lwp_arena_printf(arena, "%s%s{%u}", text, i ? "," : "", placement->processors[i]);
    return text;
}
