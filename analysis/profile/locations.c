/* The table of places. In: (module, address). Out: numbers for the place, its function and the loop around it, in the
 * order they were first met; regions are made from them afterwards, in an order of their own. */
#include "analysis/profile/locations.h"

#include "analysis/profile/regions.h"

#include <stdlib.h>

struct lwp_locations {
    struct lwp_location **items; /* in the profile's arena: they stay where they are */
    size_t count, room;
    struct lwp_map *index, *functions, *parts;
    uint32_t function_count, part_count;
};

struct lwp_locations *lwp_locations_new(void)
{
    struct lwp_locations *spots = calloc(1, sizeof *spots);
    if (!spots)
        abort();
    spots->index = lwp_map_new();
    spots->functions = lwp_map_new();
    spots->parts = lwp_map_new();
    return spots;
}

void lwp_locations_free(struct lwp_locations *spots)
{
    free(spots->items);
    lwp_map_free(spots->index);
    lwp_map_free(spots->functions);
    lwp_map_free(spots->parts);
    free(spots);
}

static uint32_t spot_number(struct lwp_map *map, uint64_t key, uint32_t *count)
{
    uint32_t *at = lwp_map_at(map, key);
    if (*at == LWP_MAP_NONE)
        *at = (*count)++;
    return *at;
}

static void spot_look(struct lwp_profile *profile, struct lwp_location *spot)
{
    struct lwp_locations *spots = profile->spots;
    spot->function = spot->address;
    const struct lwp_symbolized *place =
        spot->module == LWP_NONE ? NULL : lwp_code_symbolize(profile->code, spot->module, spot->address);
    if (place && place->function_low < place->function_high)
        spot->function = place->function_low;
    uint64_t function = lwp_hash_mix(spot->module, spot->function);
    spot->function_id = spot_number(spots->functions, function, &spots->function_count);
    spot->is_loop = place && place->loop != LWP_NONE;
    if (place)
        spot->part = spot_number(spots->parts, spot->is_loop ? lwp_hash_mix(0x6c6f6f70u, place->loop) : function,
                                 &spots->part_count);
}

const struct lwp_location *lwp_locations_at(struct lwp_profile *profile, uint32_t module, uint64_t address)
{
    struct lwp_locations *spots = profile->spots;
    for (uint64_t key = lwp_hash_mix(module, address);; key++) {
        uint32_t *at = lwp_map_at(spots->index, key);
        if (*at == LWP_MAP_NONE) {
            *at = (uint32_t)spots->count;
            LWP_GROW(&spots->items, spots->count, &spots->room);
            struct lwp_location *spot = lwp_arena_alloc(profile->arena, 1, sizeof *spot);
            *spot =
                (struct lwp_location){.id = (uint32_t)spots->count, .module = module, .address = address, .part = LWP_NONE};
            spots->items[spots->count++] = spot;
            spot_look(profile, spot);
            return spot;
        }
        if (spots->items[*at]->module == module && spots->items[*at]->address == address)
            return spots->items[*at];
    }
}

void lwp_locations_address(const struct lwp_profile *profile, uint32_t id, uint32_t *module, uint64_t *address)
{
    const struct lwp_location *spot = profile->spots->items[id];
    *module = spot->module;
    *address = spot->address;
}

uint32_t lwp_locations_count(const struct lwp_profile *profile)
{
    return (uint32_t)profile->spots->count;
}

uint32_t lwp_locations_part_count(const struct lwp_profile *profile)
{
    return profile->spots->part_count;
}

static int spot_compare(const void *a, const void *b)
{
    const struct lwp_location *x = *(const struct lwp_location *const *)a, *y = *(const struct lwp_location *const *)b;
    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    return (x->address > y->address) - (x->address < y->address);
}

void lwp_locations_regions(struct lwp_profile *profile, const bool *wanted, uint32_t *regions)
{
    const struct lwp_locations *spots = profile->spots;
    const struct lwp_location **order = lwp_arena_alloc(profile->arena, spots->count + 1, sizeof(*order));
    for (uint32_t i = 0; i < spots->part_count; i++)
        regions[i] = LWP_NONE;
    for (size_t i = 0; i < spots->count; i++)
        order[i] = spots->items[i];
    qsort(order, spots->count, sizeof(*order), spot_compare);
    for (size_t i = 0; i < spots->count; i++) {
        bool is_loop;
        if (order[i]->part == LWP_NONE || !wanted[order[i]->part])
            continue;
        uint32_t region = lwp_regions_at(profile, order[i]->module, order[i]->address, &is_loop);
        if (regions[order[i]->part] == LWP_NONE)
            regions[order[i]->part] = region;
    }
}
