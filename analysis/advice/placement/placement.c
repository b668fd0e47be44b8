/* Where fields lie: single blocks (tree nodes) malloc's chunk spacing apart today, or as far as samples saw, and side by side in the blocks
 * that the advice asks for. */
#include "analysis/advice/placement/placement.h"

#include "analysis/advice/placement/spread.h"

enum { SPREAD_MOST = 1 << 16 }; /* bytes */

static const uint64_t pointer_bytes = 8;

uint64_t lwp_placement_chunk(uint64_t bytes)
{
    uint64_t chunk = (bytes + 8 + 15) / 16 * 16;
    return chunk < 32 ? 32 : chunk;
}

void lwp_placement_today(const struct lwp_profile *profile, const struct lwp_layout *layout, struct lwp_placement *placement)
{
    bool heap = profile->objects[layout->objects[0]].kind == LWP_OBJECT_HEAP && !(layout->type && layout->type->aligned);
    *placement = (struct lwp_placement){.field_count = layout->field_count, .groups = 1};
    for (size_t f = 0; f < layout->field_count; f++) {
        placement->offsets[f] = layout->fields[f].offset;
        placement->bytes[f] = layout->fields[f].bytes;
    }
    placement->of[0].spacing = layout->spacing;
    if (layout->single) {
        double error, spread = lwp_placement_spread(profile, layout->objects, layout->object_count, &error);
        uint64_t chunk = lwp_placement_chunk(layout->spacing + layout->around), real = lwp_round_up((uint64_t)spread, LWP_PLACEMENT_MALLOC);
        /* Only what is surely further apart than chunks that follow each other: else a pool would get credit for chance. */
        bool further = spread - 2 * error > (double)chunk;
        if (error > 0) /* nodes at distances that differ lie in all sets of a cache, which those of a round number of bytes would not */
            real |= LWP_PLACEMENT_MALLOC;
        placement->of[0].spacing = spread < SPREAD_MOST && further ? real : chunk;
    }
    placement->of[0].alignment = layout->single ? LWP_PLACEMENT_MALLOC : 0;
    placement->of[0].start = heap ? LWP_PLACEMENT_MALLOC : 0;
}

void lwp_placement_begin_payload(const struct lwp_layout *layout, size_t field, struct lwp_member_packing *packing, bool *began)
{
    if (*began || !layout->payload || lwp_layout_is_fixed(layout, &layout->fields[field]))
        return;
    lwp_member_packing_add(packing, 0, pointer_bytes);
    *began = true;
}

/* A container's nodes go on to come from malloc, one by one, and what lies between them stays there. */
static struct lwp_placement_group placement_of_node(const struct lwp_layout *layout, const struct lwp_placement_group *today,
                                                    uint64_t bytes)
{
    const uint64_t chunk = lwp_placement_chunk(layout->spacing + layout->around), left = lwp_placement_chunk(bytes + layout->around);
    struct lwp_placement_group group = *today;
    group.spacing = left < chunk ? today->spacing - (chunk - left) : today->spacing;
    return group;
}

/* Split. The parts of nodes lie in blocks of their own: from malloc one by one, parts that are used and parts that are not would
 * alternate, no closer to each other than the nodes are today. Pointers from the first group to the others count. */
void lwp_placement_split(const struct lwp_profile *profile, const struct lwp_layout *layout, const int *group, size_t groups,
                         struct lwp_placement *placement)
{
    bool cold = false;
    lwp_placement_today(profile, layout, placement);
    for (size_t f = 0; f < layout->field_count; f++) {
        cold |= group[f] < 0;
        placement->group[f] = group[f] < 0 ? (int)groups : group[f];
    }
    placement->groups = groups + cold;
    placement->linked = layout->single || layout->linked;
    placement->pooled = layout->single && !layout->container;
    const struct lwp_placement_group today = placement->of[0];
    for (size_t g = 0; g < placement->groups; g++) {
        struct lwp_member_packing packing = {0};
        bool began = false;
        for (size_t f = 0; f < layout->field_count; f++) {
            if (placement->group[f] != (int)g)
                continue;
            lwp_placement_begin_payload(layout, f, &packing, &began);
            placement->offsets[f] = lwp_member_packing_add(&packing, layout->fields[f].bytes, layout->fields[f].alignment);
        }
        if (placement->linked && g == 0 && placement->groups > 1)
            lwp_member_packing_add(&packing, (placement->groups - 1) * pointer_bytes, pointer_bytes);
        uint64_t size = lwp_member_packing_size(&packing);
        placement->of[g] = today;
        placement->of[g].spacing = size + (g ? 0 : lwp_layout_stays(layout));
        placement->of[g].alignment = 0;
        if (layout->container && layout->single && !g)
            placement->of[g] = placement_of_node(layout, &today, size);
    }
}
