/* Where fields come to lie in a part of a split structure: in their order, each aligned as its type wants. Bit fields
 * take what is left of a storage unit, as compilers for Unix do. */
#include "analysis/split.h"

static const uint64_t pointer_bytes = 8;

static uint64_t part_align(uint64_t at, uint64_t alignment)
{
    return (at + alignment - 1) / alignment * alignment;
}

static void part_add(const struct lwp_split *split, size_t index, struct lwp_split_part *part)
{
    const struct lwp_layout_field *field = &split->layout->fields[index];
    uint64_t alignment = field->alignment ? field->alignment : 1;
    if (!field->bits || part->bytes % alignment + field->bytes > alignment)
        part->bytes = part_align(part->bytes, alignment);
    part->fields[part->count] = index;
    part->offsets[part->count++] = part->bytes;
    part->bytes += field->bytes;
    part->alignment = alignment > part->alignment ? alignment : part->alignment;
}

void lwp_split_part(const struct lwp_split *split, int which, struct lwp_split_part *part)
{
    const struct lwp_layout *layout = split->layout;
    bool pointers =
        split->kind == LWP_SPLIT_PARTS && (layout->single || layout->linked) && !split->pooled && which == 0;
    *part = (struct lwp_split_part){.alignment = 1};
    for (int flexible = 0; flexible < 2; flexible++) {
        for (size_t i = 0; i < layout->field_count; i++) {
            size_t field = split->order ? split->order[i] : i;
            if (split->group[field] == which && layout->fields[field].flexible == flexible)
                part_add(split, field, part);
        }
        if (flexible || !pointers)
            continue;
        part->links = split->groups - 1 + split->cold;
        part->alignment = part->links && pointer_bytes > part->alignment ? pointer_bytes : part->alignment;
        part->bytes = part_align(part->bytes, part->links ? pointer_bytes : 1) + part->links * pointer_bytes;
    }
    if (split->align > part->alignment)
        part->alignment = split->align;
    part->bytes = part_align(part->bytes, part->alignment);
}
