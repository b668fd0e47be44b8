/* An element's bytes go to parts; elements of one part follow each other as densely as elements did. Where the parts lie in memory does
 * not matter to the model but for sets that they share by chance, as in any run. The new places are in a range of addresses that no
 * program under Valgrind has. Not modelled: pointers from one part to another that are read in addition, and coherence misses (both
 * as in gain_model.c's low and high ends). */
#include "analysis/advice/layout/regroup.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t anew = (uint64_t)3 << 36;
enum { ELEMENT_MOST = 1 << 16, PARTS_MOST = 64, MAPS_MOST = 64 };

/* Where the data of one object goes. */
struct replay_map {
    uint32_t object;
    uint64_t start, element;                      /* bytes before the first element of a block; of an element */
    uint64_t spacing;                             /* from one to the next in memory; 0: only where they are in their block counts */
    uint64_t lowest, highest;                     /* element seen: address / spacing */
    const uint32_t *part, *place;                 /* of each byte of an element: where it goes */
    uint64_t base[PARTS_MOST], bytes[PARTS_MOST]; /* of each part: its first element, from one to the next */
};

struct layout_replay {
    const struct lwp_trace_sample *kept;
    struct replay_map maps[MAPS_MOST];
    size_t count;
    const struct lwp_conflict *conflict; /* instead: data stays where it is, but is moved a little */
};

static struct replay_map *replay_of(struct layout_replay *replay, uint32_t object)
{
    for (size_t i = 0; i < replay->count; i++)
        if (replay->maps[i].object == object)
            return &replay->maps[i];
    return NULL;
}

static bool replay_is_in(const struct replay_map *map, const struct lwp_trace_sample_access *access)
{
    return map && access->offset != UINT32_MAX && access->offset >= map->start;
}

/* An element's number, in the order of addresses: blocks of one element each lie `spacing` apart, more or less. In arrays that are
 * regrouped those with one index get one number. */
static uint64_t replay_number(const struct replay_map *map, const struct lwp_trace_sample_access *access)
{
    if (!map->spacing)
        return (access->offset - map->start) / map->element;
    uint64_t within = (access->offset - map->start) % map->element;
    return (access->address - within) / map->spacing;
}

static uint64_t replay_moved(const struct lwp_conflict *conflict, const struct lwp_trace_sample_access *access)
{
    for (size_t i = 0; i < conflict->count; i++) {
        const struct lwp_conflict_array *array = &conflict->arrays[i];
        if (array->object != access->object || access->offset == UINT32_MAX ||
            (array->block && array->block != access->address - access->offset))
            continue;
        return access->address + array->move + (conflict->row_bytes ? access->offset / conflict->row_bytes * conflict->pad_bytes : 0);
    }
    return access->address;
}

static uint64_t replay_address(struct layout_replay *replay, const struct lwp_trace_sample_access *access)
{
    if (replay->conflict)
        return replay_moved(replay->conflict, access);
    const struct replay_map *map = replay->count ? replay_of(replay, access->object) : NULL;
    if (!replay_is_in(map, access))
        return access->address;
    uint64_t within = (access->offset - map->start) % map->element;
    uint32_t part = map->part[within];
    return map->base[part] + (replay_number(map, access) - map->lowest) * map->bytes[part] + map->place[within];
}

/* Which elements there are, of which follows where parts begin. */
static void replay_range(struct layout_replay *replay)
{
    for (size_t i = 0; i < replay->count; i++)
        replay->maps[i].lowest = UINT64_MAX;
    for (size_t i = 0; i < replay->kept->count; i++) {
        const struct lwp_trace_sample_access *access = &replay->kept->accesses[i];
        struct replay_map *map = replay_of(replay, access->object);
        if (!replay_is_in(map, access))
            continue;
        uint64_t number = replay_number(map, access);
        map->lowest = number < map->lowest ? number : map->lowest;
        map->highest = number > map->highest ? number : map->highest;
    }
}

static void replay_run(struct layout_replay *replay, const struct lwp_hierarchy_plan *machine, struct lwp_locality_found *found)
{
    static struct lwp_hierarchy caches;
    caches = (struct lwp_hierarchy){.plan = *machine};
    for (size_t i = 0; i < replay->kept->count; i++) {
        const struct lwp_trace_sample_access *access = &replay->kept->accesses[i];
        uint8_t where;
        found->cycles += lwp_hierarchy_access(&caches, access->thread, replay_address(replay, access), access->bytes, &where);
        found->at[where]++;
    }
    lwp_hierarchy_free(&caches);
}

static void replay_split(struct lwp_profile *profile, struct layout_replay *replay, const struct lwp_split *split)
{
    const struct lwp_layout *layout = split->layout;
    size_t parts = split->groups + split->cold, element = layout->element_bytes;
    bool blocks = layout->single && !split->pooled;
    uint64_t bytes[PARTS_MOST], at = anew;
    replay->count = 0;
    if (parts > PARTS_MOST || element > ELEMENT_MOST || !element)
        return;
    uint32_t *part = lwp_arena_alloc(profile->arena, element, sizeof *part),
             *place = lwp_arena_alloc(profile->arena, element, sizeof *place);
    for (size_t g = 0; g < parts; g++) {
        struct lwp_split_part made;
        lwp_split_part(split, g < split->groups ? (int)g : -1, &made);
        uint64_t kept = made.bytes + (g ? 0 : layout->around);
        bytes[g] = blocks ? lwp_placement_chunk(kept) : kept;
        for (size_t f = 0; f < made.count; f++) {
            const struct lwp_layout_field *field = &layout->fields[made.fields[f]];
            for (uint64_t b = 0; b < field->bytes && field->offset + b < element; b++) {
                part[field->offset + b] = (uint32_t)g;
                place[field->offset + b] = (uint32_t)(made.offsets[f] + b);
            }
        }
    }
    for (size_t i = 0; i < layout->object_count && replay->count < MAPS_MOST; i++)
        replay->maps[replay->count++] =
            (struct replay_map){.object = layout->objects[i],
                                .start = profile->objects[layout->objects[i]].element_start,
                                .element = element,
                                .spacing = layout->single ? lwp_placement_chunk(element + layout->around) : element,
                                .part = part,
                                .place = place};
    replay_range(replay);
    for (size_t i = 0; i < replay->count; i++)
        for (size_t g = 0; g < parts && replay->maps[i].lowest <= replay->maps[i].highest; g++) {
            replay->maps[i].base[g] = at;
            replay->maps[i].bytes[g] = bytes[g];
            at = (at + (replay->maps[i].highest - replay->maps[i].lowest + 1) * bytes[g] + 127) & ~(uint64_t)63;
        }
}

static void replay_regroup(struct lwp_profile *profile, struct layout_replay *replay, const struct lwp_regroups *regroups,
                           const struct lwp_regroup *regroup)
{
    struct lwp_member_packing packing = {0};
    replay->count = 0;
    for (size_t i = 0; i < regroup->count && i < MAPS_MOST; i++) {
        const struct lwp_regroup_array *array = &regroups->candidates.arrays[regroup->members[i]];
        uint64_t element = array->element_bytes, at = lwp_member_packing_add(&packing, element, array->alignment);
        if (!element || element > ELEMENT_MOST) {
            replay->count = 0;
            return;
        }
        uint32_t *part = lwp_arena_alloc(profile->arena, element, sizeof *part),
                 *place = lwp_arena_alloc(profile->arena, element, sizeof *place);
        for (uint64_t b = 0; b < element; b++)
            place[b] = (uint32_t)(at + b);
        replay->maps[replay->count++] = (struct replay_map){.object = array->object,
                                                            .start = array->start,
                                                            .element = element,
                                                            .part = part,
                                                            .place = place,
                                                            .base = {anew},
                                                            .bytes = {regroup->bytes}};
    }
}

/* `changes`: there is something that lies elsewhere then. */
static void replay_after(struct layout_replay *replay, const struct lwp_hierarchy_plan *machine, const struct lwp_locality_found *before,
                         bool changes, struct lwp_gain_replay *result)
{
    result->accesses = changes ? replay->kept->count : 0;
    result->before = *before;
    replay_run(replay, machine, &result->after);
}

/* Accesses that miss the first level. */
static uint64_t replay_misses(const struct lwp_gain_replay *result, bool after)
{
    return result->accesses - (after ? &result->after : &result->before)->at[LWP_CACHE_L1];
}

/* What gets worse by the model is not advised, whatever else speaks for it. */
static bool replay_worse(struct lwp_profile *profile, const struct lwp_gain_replay *result, const char *what)
{
    uint64_t before = replay_misses(result, false), after = replay_misses(result, true);
    if (!result->accesses || (after <= before && result->after.cycles <= result->before.cycles))
        return false;
    lwp_profile_note(profile,
                     "%s is not advised: replayed that way, %llu of the %llu accesses traced miss the first-level cache, now %llu.", what,
                     (unsigned long long)after, (unsigned long long)result->accesses, (unsigned long long)before);
    return true;
}

static void replay_drop(struct lwp_profile *profile, struct lwp_regroups *regroups, struct lwp_conflicts *conflicts)
{
    size_t kept = 0;
    for (size_t i = 0; regroups && i < regroups->count; i++) {
        const char *list = lwp_regroup_list(profile, &regroups->candidates, &regroups->regroups[i]);
        if (!replay_worse(profile, &regroups->regroups[i].gain.replay, lwp_arena_printf(profile->arena, "To join %s", list)))
            regroups->regroups[kept++] = regroups->regroups[i];
    }
    if (regroups)
        regroups->count = kept;
    kept = 0;
    for (size_t i = 0; conflicts && i < conflicts->count; i++) {
        const struct lwp_conflict *conflict = &conflicts->conflicts[i];
        if (!replay_worse(profile, &conflict->gain.replay,
                          lwp_arena_printf(profile->arena, "To move %s and the arrays that collide with it", conflict->arrays[0].name)))
            conflicts->conflicts[kept++] = *conflict;
    }
    if (conflicts)
        conflicts->count = kept;
}

void lwp_layout_replay(struct lwp_profile *profile, struct lwp_splits *splits, struct lwp_regroups *regroups,
                       struct lwp_conflicts *conflicts)
{
    const struct lwp_hierarchy_plan *machine = &profile->machines[LWP_MACHINE_HERE];
    struct layout_replay replay = {.kept = &profile->locality.kept};
    struct lwp_locality_found before = {0};
    size_t joined = regroups ? regroups->count : 0, moved = conflicts ? conflicts->count : 0;
    if (!replay.kept->count || !machine->caches.levels || splits->count + joined + moved == 0)
        return;
    replay_run(&replay, machine, &before);
    for (size_t i = 0; i < splits->count; i++) {
        replay_split(profile, &replay, &splits->splits[i]);
        replay_after(&replay, machine, &before, replay.count > 0, &splits->splits[i].gain.replay);
    }
    for (size_t i = 0; i < joined; i++) {
        replay_regroup(profile, &replay, regroups, &regroups->regroups[i]);
        replay_after(&replay, machine, &before, replay.count > 0, &regroups->regroups[i].gain.replay);
    }
    for (size_t i = 0; i < moved; i++) {
        replay.conflict = &conflicts->conflicts[i];
        replay_after(&replay, machine, &before, true, &conflicts->conflicts[i].gain.replay);
    }
    replay_drop(profile, regroups, conflicts);
}
