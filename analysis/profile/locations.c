/* The table of code locations. In: (module, address). Out: ids of the location, its function and the loop around it, in the order
 * of first use. Regions are made from them afterwards, in an order of their own. */
#include "analysis/profile/locations.h"

#include "analysis/profile/regions.h"
#include "base/order.h"

#include <stdlib.h>

struct lwp_locations {
    struct lwp_location **items; /* in the profile's arena: they stay where they are */
    size_t count, room;
    struct lwp_map *index, *functions, *parts;
    uint32_t function_count, part_count;
};

struct lwp_locations *lwp_locations_new(void)
{
    struct lwp_locations *locations = lwp_zeroed(1, sizeof *locations);
    locations->index = lwp_map_new();
    locations->functions = lwp_map_new();
    locations->parts = lwp_map_new();
    return locations;
}

void lwp_locations_free(struct lwp_locations *locations)
{
    free(locations->items);
    lwp_map_free(locations->index);
    lwp_map_free(locations->functions);
    lwp_map_free(locations->parts);
    free(locations);
}

static uint32_t location_number(struct lwp_map *map, uint64_t key, uint32_t *count)
{
    uint32_t *at = lwp_map_at(map, key);
    if (*at == LWP_MAP_NONE)
        *at = (*count)++;
    return *at;
}

static uint32_t location_part(struct lwp_locations *locations, uint32_t loop, uint64_t function)
{
    return location_number(locations->parts, loop == LWP_NONE ? function : lwp_hash_mix(0x6c6f6f70u, loop), &locations->part_count);
}

static void location_look(struct lwp_profile *profile, struct lwp_location *location)
{
    struct lwp_locations *locations = profile->locations;
    location->function = location->address;
    const struct lwp_symbolized *place =
        location->module == LWP_NONE ? NULL : lwp_code_symbolize(profile->code, location->module, location->address);
    if (place && place->function_low < place->function_high)
        location->function = place->function_low;
    location->starts = place && place->function_low < place->function_high && location->address == place->function_low;
    uint64_t function = lwp_hash_mix(location->module, location->function);
    location->function_id = location_number(locations->functions, function, &locations->function_count);
    location->is_loop = place && place->loop != LWP_NONE;
    if (!place)
        return;
    location->unread = place->unread;
    location->part = location_part(locations, place->loop, function);
    if (location->is_loop)
        location->around = location_part(locations, lwp_code_loop(profile->code, place->loop)->parent, function);
}

const struct lwp_location *lwp_locations_at(struct lwp_profile *profile, uint32_t module, uint64_t address)
{
    struct lwp_locations *locations = profile->locations;
    for (uint64_t key = lwp_hash_mix(module, address);; key++) {
        uint32_t *at = lwp_map_at(locations->index, key);
        if (*at == LWP_MAP_NONE) {
            *at = (uint32_t)locations->count;
            LWP_GROW(&locations->items, locations->count, &locations->room);
            struct lwp_location *location = lwp_arena_alloc(profile->arena, 1, sizeof *location);
            *location = (struct lwp_location){
                .id = (uint32_t)locations->count, .module = module, .address = address, .part = LWP_NONE, .around = LWP_NONE};
            locations->items[locations->count++] = location;
            location_look(profile, location);
            return location;
        }
        if (locations->items[*at]->module == module && locations->items[*at]->address == address)
            return locations->items[*at];
    }
}

void lwp_locations_address(const struct lwp_profile *profile, uint32_t id, uint32_t *module, uint64_t *address)
{
    const struct lwp_location *location = profile->locations->items[id];
    *module = location->module;
    *address = location->address;
}

uint64_t lwp_locations_samples(const struct lwp_profile *profile, uint32_t module, uint64_t low, uint64_t high)
{
    uint64_t samples = 0;
    for (size_t i = 0; i < profile->interrupts.count; i++) {
        const struct lwp_location *location = profile->interrupts.samples[i] ? profile->locations->items[i] : NULL;
        if (location && location->module == module && location->address >= low && location->address < high)
            samples += profile->interrupts.samples[i];
    }
    return samples;
}

uint32_t lwp_locations_count(const struct lwp_profile *profile)
{
    return (uint32_t)profile->locations->count;
}

uint32_t lwp_locations_part_count(const struct lwp_profile *profile)
{
    return profile->locations->part_count;
}

static int location_compare(const void *a, const void *b)
{
    const struct lwp_location *x = *(const struct lwp_location *const *)a, *y = *(const struct lwp_location *const *)b;
    return LWP_COMPARE(x->module, y->module) ?: LWP_COMPARE(x->address, y->address);
}

void lwp_locations_regions(struct lwp_profile *profile, const bool *wanted, uint32_t *regions)
{
    const struct lwp_locations *locations = profile->locations;
    const struct lwp_location **order = lwp_arena_alloc(profile->arena, locations->count + 1, sizeof(*order));
    for (uint32_t i = 0; i < locations->part_count; i++)
        regions[i] = LWP_NONE;
    for (size_t i = 0; i < locations->count; i++)
        order[i] = locations->items[i];
    qsort(order, locations->count, sizeof(*order), location_compare);
    for (size_t i = 0; i < locations->count; i++) {
        if (order[i]->part == LWP_NONE || !wanted[order[i]->part])
            continue;
        uint32_t region = lwp_regions_at(profile, order[i]->module, order[i]->address);
        if (regions[order[i]->part] == LWP_NONE)
            regions[order[i]->part] = region;
    }
}
