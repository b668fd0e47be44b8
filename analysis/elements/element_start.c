/* Where elements begin when no type is known: then there is one witness only, and a header before them cannot be told from a field.
 *
 * In: an object's element size, its block's size, and the displacements of the instructions. A block of whole elements has no header.
 * What it has more may come before the elements or after them, unless accesses would span two elements one way. A block of one element
 * begins with it where the pointers that the code uses lead to the block's start; if they lead elsewhere, that may be behind a header, or
 * a member in the middle. */
#include "analysis/elements/element_evidence.h"

#include "analysis/elements/element_place.h"
#include "analysis/profile/objects.h"
#include "analysis/profile/streams.h"

static const double crossing_most = 0.1, pointing_least = 0.9;

/* Whether accesses would span two elements if they began there. */
static bool start_crosses(const struct lwp_profile *profile, uint32_t index, uint64_t start)
{
    uint64_t size = profile->objects[index].element_bytes;
    double crosses = 0, all = 0;
    LWP_STREAMS_OF(profile, index, stream) {
        uint64_t residue;
        if (stream->vector || stream->bytes == 0 || lwp_element_copies(profile, stream) ||
            lwp_element_residue(stream, size, &residue) < LWP_ELEMENT_KEEPS_TO)
            continue;
        all += (double)stream->accesses;
        if ((residue + size - start % size) % size + stream->bytes > size)
            crosses += (double)stream->accesses;
    }
    return crosses > crossing_most * all;
}

void lwp_element_start_of_array(struct lwp_profile *profile, uint32_t index)
{
    enum { PLAIN = 8 }; /* bytes of a number or pointer: it has no fields */
    struct lwp_object *object = &profile->objects[index];
    bool block = object->kind == LWP_OBJECT_HEAP || object->kind == LWP_OBJECT_MMAP;
    uint64_t size = object->element_bytes, more = block ? object->largest % size : 0;
    if (!more || size <= PLAIN)
        return;
    bool at_start = !start_crosses(profile, index, 0), behind = !start_crosses(profile, index, more);
    object->element_start = behind ? more : 0;
    if (!at_start && behind && object->allocations == 1)
        return;
    object->start_open = true;
    object->fields_unknown =
        lwp_arena_printf(profile->arena,
                         "a block has %llu bytes more than whole elements of %llu, and without their type nothing says whether they are a "
                         "header before the elements or come after them",
                         (unsigned long long)more, (unsigned long long)size);
}

void lwp_element_start_of_single(struct lwp_profile *profile, uint32_t index)
{
    struct lwp_object *object = &profile->objects[index];
    double all = 0, at_start = 0;
    LWP_STREAMS_OF(profile, index, stream) {
        uint64_t offsets[LWP_RESERVOIR];
        size_t count = lwp_streams_offsets(stream, offsets, LWP_RESERVOIR);
        if (stream->module == LWP_NONE || !count || lwp_element_copies(profile, stream))
            continue;
        struct lwp_memory_operand memory = lwp_code_operand(profile->code, stream->module, stream->address);
        if (!memory.exists || memory.base < 0 || memory.index >= 0 || memory.gather)
            continue;
        for (size_t i = 0; i < count; i++) {
            all += (double)stream->accesses / (double)count;
            at_start += offsets[i] == (uint64_t)(int64_t)memory.displacement ? (double)stream->accesses / (double)count : 0;
        }
    }
    if (at_start >= pointing_least * all)
        return;
    object->start_open = true;
    object->fields_unknown =
        "the pointers that the code uses lead into the middle of its blocks, and without their type nothing says whether "
        "a header comes before the elements";
}
