/* Where fields come to lie in a part of a split structure: in their order, each aligned as its type wants. Bit fields
 * take what is left of a storage unit, as compilers for Unix do. */
#include "analysis/advice/layout/split.h"

static const uint64_t pointer_bytes = 8;

static void part_add(const struct lwp_split *split, size_t index, struct lwp_split_part *part, struct lwp_member_packing *packing)
{
    const struct lwp_layout_field *field = &split->layout->fields[index];
    uint64_t alignment = field->alignment ? field->alignment : 1;
    bool fits = field->bits && packing->bytes % alignment + field->bytes <= alignment;
    part->fields[part->count] = index;
    part->offsets[part->count++] = lwp_member_packing_add(packing, field->bytes, fits ? 1 : alignment);
    if (alignment > packing->alignment)
        packing->alignment = alignment;
}

bool lwp_split_points(const struct lwp_split *split)
{
    const struct lwp_layout *layout = split->layout;
    return layout->container || ((layout->single || layout->linked) && !split->pooled);
}

void lwp_split_part(const struct lwp_split *split, int which, struct lwp_split_part *part)
{
    const struct lwp_layout *layout = split->layout;
    struct lwp_member_packing packing = {.alignment = split->align};
    bool began = false;
    bool pointers = split->kind == LWP_SPLIT_PARTS && which == 0 && lwp_split_points(split);
    *part = (struct lwp_split_part){0};
    for (int flexible = 0; flexible < 2; flexible++) {
        for (size_t i = 0; i < layout->field_count; i++) {
            size_t field = split->order ? split->order[i] : i;
            if (split->group[field] != which || layout->fields[field].flexible != flexible)
                continue;
            lwp_placement_begin_payload(layout, field, &packing, &began);
            part_add(split, field, part, &packing);
        }
        part->links = pointers ? split->groups - 1 + split->cold : 0;
        if (part->links && !flexible)
            lwp_member_packing_add(&packing, part->links * pointer_bytes, pointer_bytes);
    }
    part->bytes = lwp_member_packing_size(&packing);
}
