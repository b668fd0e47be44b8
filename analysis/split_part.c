/* Where fields come to lie in a part of a split structure: in their order, each aligned as its type wants. */
#include "analysis/split.h"

static const uint64_t pointer_bytes = 8;

static uint64_t part_align(uint64_t at, uint64_t alignment)
{
    return (at + alignment - 1) / alignment * alignment;
}

void lwp_split_part(const struct lwp_split *split, int which, struct lwp_split_part *part)
{
    const struct lwp_layout *layout = split->layout;
    *part = (struct lwp_split_part){.alignment = 1};
    for (size_t i = 0; i < layout->field_count; i++) {
        size_t field = split->order ? split->order[i] : i;
        if (split->group[field] != which)
            continue;
        uint64_t alignment = layout->fields[field].alignment ? layout->fields[field].alignment : 1;
        part->bytes = part_align(part->bytes, alignment);
        part->fields[part->count] = field;
        part->offsets[part->count++] = part->bytes;
        part->bytes += layout->fields[field].bytes;
        part->alignment = alignment > part->alignment ? alignment : part->alignment;
    }
    if (layout->single && which == 0 && split->kind == LWP_SPLIT_PARTS) {
        part->links = split->groups - 1 + split->cold;
        part->alignment = part->links && pointer_bytes > part->alignment ? pointer_bytes : part->alignment;
        part->bytes = part_align(part->bytes, part->links ? pointer_bytes : 1) + part->links * pointer_bytes;
    }
    if (split->align > part->alignment)
        part->alignment = split->align;
    part->bytes = part_align(part->bytes, part->alignment);
}
