/* An element's bytes go to parts; elements of one part follow each other as densely as elements did. What lies where the
 * parts lie in memory does not matter to the model but for sets that they share by chance, as in any run. The new places are
 * in a range of addresses that no program under Valgrind has. Not modelled: pointers from one part to another that are read
 * in addition, and lines taken by other cores (both as in gain_model.c's low and high ends). */
#include "analysis/advice/layout/layout_replay.h"

#include "analysis/advice/gain/member_packing.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t anew = (uint64_t)3 << 36;
enum { ELEMENT_MOST = 1 << 16, PARTS_MOST = 64, MAPS_MOST = 64 };

/* Where the data of one object goes. */
struct whatif_map {
    uint32_t object;
    uint64_t start, element;        /* bytes before the first element of a block; of an element */
    uint64_t spacing;               /* from one to the next in memory; 0: only where they are in their block counts */
    uint64_t lowest, highest;       /* element seen: address / spacing */
    const uint32_t *part, *place;   /* of each byte of an element: where it goes */
    uint64_t base[PARTS_MOST], bytes[PARTS_MOST]; /* of each part: its first element, from one to the next */
};

struct whatif {
    const struct lwp_trace_sample *kept;
    struct whatif_map maps[MAPS_MOST];
    size_t count;
};

static struct whatif_map *whatif_of(struct whatif *whatif, uint32_t object)
{
    for (size_t i = 0; i < whatif->count; i++)
        if (whatif->maps[i].object == object)
            return &whatif->maps[i];
    return NULL;
}

static bool whatif_is_in(const struct whatif_map *map, const struct lwp_trace_sample_access *access)
{
    return map && access->offset != UINT32_MAX && access->offset >= map->start;
}

/* An element's number, in the order of addresses: blocks of one element each lie `spacing` apart, more or less. In arrays that
 * are joined those with one index get one number. */
static uint64_t whatif_number(const struct whatif_map *map, const struct lwp_trace_sample_access *access)
{
    if (!map->spacing)
        return (access->offset - map->start) / map->element;
    uint64_t within = (access->offset - map->start) % map->element;
    return (access->address - within) / map->spacing;
}

static uint64_t whatif_address(struct whatif *whatif, const struct lwp_trace_sample_access *access)
{
    const struct whatif_map *map = whatif->count ? whatif_of(whatif, access->object) : NULL;
    if (!whatif_is_in(map, access))
        return access->address;
    uint64_t within = (access->offset - map->start) % map->element;
    uint32_t part = map->part[within];
    return map->base[part] + (whatif_number(map, access) - map->lowest) * map->bytes[part] + map->place[within];
}

/* Which elements there are, of which follows where parts begin. */
static void whatif_range(struct whatif *whatif)
{
    for (size_t i = 0; i < whatif->count; i++)
        whatif->maps[i].lowest = UINT64_MAX;
    for (size_t i = 0; i < whatif->kept->count; i++) {
        const struct lwp_trace_sample_access *access = &whatif->kept->accesses[i];
        struct whatif_map *map = whatif_of(whatif, access->object);
        if (!whatif_is_in(map, access))
            continue;
        uint64_t number = whatif_number(map, access);
        map->lowest = number < map->lowest ? number : map->lowest;
        map->highest = number > map->highest ? number : map->highest;
    }
}

static void whatif_run(struct whatif *whatif, const struct lwp_hierarchy_plan *machine, struct lwp_locality_found *found)
{
    static struct lwp_hierarchy caches;
    caches = (struct lwp_hierarchy){.plan = *machine};
    for (size_t i = 0; i < whatif->kept->count; i++) {
        const struct lwp_trace_sample_access *access = &whatif->kept->accesses[i];
        uint8_t where;
        found->cycles += lwp_hierarchy_access(&caches, access->thread, whatif_address(whatif, access), access->bytes, &where);
        found->at[where]++;
    }
    lwp_hierarchy_free(&caches);
}

static void whatif_split(struct lwp_profile *profile, struct whatif *whatif, const struct lwp_split *split)
{
    const struct lwp_layout *layout = split->layout;
    size_t parts = split->groups + split->cold, element = layout->element_bytes;
    bool blocks = layout->single && !split->pooled;
    uint64_t bytes[PARTS_MOST], at = anew;
    whatif->count = 0;
    if (parts > PARTS_MOST || element > ELEMENT_MOST || !element)
        return;
    uint32_t *part = lwp_arena_alloc(profile->arena, element, sizeof *part), *place = lwp_arena_alloc(profile->arena, element, sizeof *place);
    for (size_t g = 0; g < parts; g++) {
        struct lwp_split_part made;
        lwp_split_part(split, g < split->groups ? (int)g : -1, &made);
        bytes[g] = blocks ? lwp_gain_chunk(made.bytes) : made.bytes;
        for (size_t f = 0; f < made.count; f++) {
            const struct lwp_layout_field *field = &layout->fields[made.fields[f]];
            for (uint64_t b = 0; b < field->bytes && field->offset + b < element; b++) {
                part[field->offset + b] = (uint32_t)g;
                place[field->offset + b] = (uint32_t)(made.offsets[f] + b);
            }
        }
    }
    for (size_t i = 0; i < layout->object_count && whatif->count < MAPS_MOST; i++)
        whatif->maps[whatif->count++] = (struct whatif_map){
            .object = layout->objects[i], .start = profile->objects[layout->objects[i]].element_start, .element = element,
            .spacing = layout->single ? lwp_gain_chunk(element) : element, .part = part, .place = place};
    whatif_range(whatif);
    for (size_t i = 0; i < whatif->count; i++)
        for (size_t g = 0; g < parts && whatif->maps[i].lowest <= whatif->maps[i].highest; g++) {
            whatif->maps[i].base[g] = at;
            whatif->maps[i].bytes[g] = bytes[g];
            at = (at + (whatif->maps[i].highest - whatif->maps[i].lowest + 1) * bytes[g] + 127) & ~(uint64_t)63;
        }
}

static void whatif_regroup(struct lwp_profile *profile, struct whatif *whatif, const struct lwp_regroups *regroups, const struct lwp_regroup *regroup)
{
    struct lwp_member_packing packing = {0};
    whatif->count = 0;
    for (size_t i = 0; i < regroup->count && i < MAPS_MOST; i++) {
        const struct lwp_regroup_array *array = &regroups->candidates.arrays[regroup->members[i]];
        uint64_t element = array->element_bytes, at = lwp_member_packing_add(&packing, element, array->alignment);
        if (!element || element > ELEMENT_MOST) {
            whatif->count = 0;
            return;
        }
        uint32_t *part = lwp_arena_alloc(profile->arena, element, sizeof *part), *place = lwp_arena_alloc(profile->arena, element, sizeof *place);
        for (uint64_t b = 0; b < element; b++)
            place[b] = (uint32_t)(at + b);
        whatif->maps[whatif->count++] =
            (struct whatif_map){.object = array->object, .start = array->start, .element = element, .part = part, .place = place,
                                .base = {anew}, .bytes = {regroup->bytes}};
    }
}

void lwp_layout_replay(struct lwp_profile *profile, struct lwp_splits *splits, struct lwp_regroups *regroups)
{
    const struct lwp_hierarchy_plan *machine = &profile->machines[LWP_MACHINE_HERE];
    struct whatif whatif = {.kept = &profile->locality.kept};
    struct lwp_locality_found before = {0};
    bool any = splits->count || (regroups && regroups->count);
    if (!whatif.kept->count || !machine->caches.levels || !any)
        return;
    whatif_run(&whatif, machine, &before);
    for (size_t i = 0; i < splits->count; i++) {
        struct lwp_gain *gain = &splits->splits[i].gain;
        whatif_split(profile, &whatif, &splits->splits[i]);
        gain->replay.accesses = whatif.count ? whatif.kept->count : 0;
        gain->replay.before = before;
        whatif_run(&whatif, machine, &gain->replay.after);
    }
    for (size_t i = 0; regroups && i < regroups->count; i++) {
        struct lwp_gain *gain = &regroups->regroups[i].gain;
        whatif_regroup(profile, &whatif, regroups, &regroups->regroups[i]);
        gain->replay.accesses = whatif.count ? whatif.kept->count : 0;
        gain->replay.before = before;
        whatif_run(&whatif, machine, &gain->replay.after);
    }
}
