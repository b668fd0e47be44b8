/* What to write to move the arrays, or to make rows longer. Blocks that malloc maps keep their places in a page
 * whatever their size, so what is added to the size can be added to the address. A static array moves those declared
 * after it. */
#include "analysis/advice/layout/conflicts_internal.h"

#include "analysis/advice/layout/regroup.h"
#include "analysis/profile/objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text_name(struct lwp_profile *profile, const struct lwp_conflict *conflict, size_t i)
{
    const struct lwp_object *object = &profile->objects[conflict->arrays[i].object];
    const char *name = lwp_regroup_member(object->variable);
    return name ? name : lwp_arena_printf(profile->arena, "array%zu", i + 1);
}

static const char *text_type(const struct lwp_object *object)
{
    const struct lwp_type *type = object->type;
    uint64_t bytes = object->element_bytes;
    if (type && type->name)
        return type->name;
    return bytes == 8 ? "uint64_t" : bytes == 4 ? "uint32_t" : bytes == 2 ? "uint16_t" : "unsigned char";
}

static uint64_t text_bytes(const struct lwp_object *object)
{
    return object->type && object->type->bytes ? object->type->bytes : object->element_bytes ? object->element_bytes : 1;
}

/* Blocks of one allocation, from array `i` on, each moved by as much from the one before: how many; 1: it is none of
 * several. */
static size_t text_series(const struct lwp_conflict *conflict, size_t i)
{
    const struct lwp_conflict_array *first = &conflict->arrays[i];
    size_t count = 1;
    while (i + count < conflict->count && first[count].object == first->object &&
           (first[count].move - first->move) % conflict->way_bytes == count * (first[1].move - first->move) % conflict->way_bytes)
        count++;
    return count;
}

static void text_heap(FILE *out, struct lwp_profile *profile, const struct lwp_conflict *conflict)
{
    fprintf(out, "/* free() takes the pointers without what is added */\n");
    for (size_t i = 0, blocks; i < conflict->count; i += blocks) {
        const struct lwp_conflict_array *array = &conflict->arrays[i];
        const struct lwp_object *object = &profile->objects[array->object];
        unsigned long long bytes = object->largest, move = array->move;
        blocks = text_series(conflict, i);
        if (blocks > 1) {
            unsigned long long each = (array[1].move - array->move) % conflict->way_bytes;
            const char *further =
                move ? lwp_arena_printf(profile->arena, "%llu + k * %llu", move, each) : lwp_arena_printf(profile->arena, "k * %llu", each);
            fprintf(out, "%s[k] = (%s *)((char *)malloc(%llu + %s) + %s); /* k from 0 to %llu */\n", array->name, text_type(object), bytes,
                    further, further, (unsigned long long)(object->allocations > blocks ? object->allocations : blocks) - 1);
        } else if (move) {
            fprintf(out, "%s = (%s *)((char *)malloc(%llu + %llu) + %llu);\n", array->name, text_type(object), bytes, move, move);
        } else {
            fprintf(out, "%s = (%s *)malloc(%llu);\n", array->name, text_type(object), bytes);
        }
    }
}

/* Each as much longer as the next one is to move further. Those that do not collide may lie between: then it does not
 * hold. */
static void text_static(FILE *out, struct lwp_profile *profile, const struct lwp_conflict *conflict)
{
    for (size_t i = 0; i < conflict->count; i++) {
        const struct lwp_object *object = &profile->objects[conflict->arrays[i].object];
        uint64_t of = text_bytes(object), move = conflict->arrays[i].move;
        uint64_t next = i + 1 < conflict->count ? conflict->arrays[i + 1].move : move;
        uint64_t more = (next - move) % conflict->way_bytes, elements = (more + of - 1) / of;
        if (elements)
            fprintf(out, "%s %s[%llu + %llu];\n", text_type(object), conflict->arrays[i].name, (unsigned long long)(object->largest / of),
                    (unsigned long long)elements);
        else
            fprintf(out, "%s %s[%llu];\n", text_type(object), conflict->arrays[i].name, (unsigned long long)(object->largest / of));
    }
}

static void text_rows(FILE *out, struct lwp_profile *profile, const struct lwp_conflict *conflict)
{
    const struct lwp_object *object = &profile->objects[conflict->arrays[0].object];
    uint64_t of = text_bytes(object);
    unsigned long long elements = conflict->row_bytes / of, more = (conflict->pad_bytes + of - 1) / of;
    fprintf(out, "%s %s[][%llu + %llu]; /* of a row the last %llu are not used */\n", text_type(object), conflict->arrays[0].name, elements,
            more, more);
}

void lwp_conflict_text(struct lwp_profile *profile, struct lwp_conflict *conflict)
{
    const struct lwp_object *first = &profile->objects[conflict->arrays[0].object];
    enum lwp_language language = first->type ? first->type->language : LWP_LANGUAGE_C;
    char *text = NULL;
    size_t size = 0;
    bool heap = true, fixed = true;
    for (size_t i = 0; i < conflict->count; i++) {
        conflict->arrays[i].name = text_name(profile, conflict, i);
        fixed &= profile->objects[conflict->arrays[i].object].kind == LWP_OBJECT_STATIC;
        heap &= profile->objects[conflict->arrays[i].object].kind == LWP_OBJECT_HEAP;
    }
    if (language == LWP_LANGUAGE_RUST || language == LWP_LANGUAGE_FORTRAN)
        return;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return;
    if (conflict->remedy == LWP_CONFLICT_ROWS)
        text_rows(out, profile, conflict);
    else if (fixed)
        text_static(out, profile, conflict);
    else if (heap)
        text_heap(out, profile, conflict);
    fclose(out);
    if (size)
        conflict->declaration = lwp_arena_strdup(profile->arena, text);
    free(text);
}
