/* Whose a layout is: one that belongs to others cannot be changed for one loop's sake alone.
 *
 * Entries of hash tables, nodes of Rust's: the library declares them, and what is read of an entry of a map or a table after it was found
 * lies on the line that finding it brought. Of the nodes of std::map and std::list what the program keeps in them is its own. Members of a
 * base class, or of what C's structures begin with alike, are in all that derive from it: two splits must not move those of a base class to
 * different parts. */
#include "analysis/advice/layout/split_internal.h"
#include "analysis/profile/objects.h"
#include "analysis/profile/streams.h"

#include <string.h>

bool lwp_split_of_library(struct lwp_profile *profile, const struct lwp_layout *layout)
{
    const struct lwp_object *object = &profile->objects[layout->objects[0]];
    const struct lwp_type *type = layout->type;
    bool node = type && layout->single && !layout->container && type->owner == LWP_TYPE_OF_SYSTEM &&
                (type->language == LWP_LANGUAGE_CXX || type->language == LWP_LANGUAGE_RUST);
    bool entry = object->element_end && object->element_end < object->largest; /* of a table: its control bytes follow */
    if (object->kind == LWP_OBJECT_STATIC && lwp_objects_system_library(profile, object->module)) /* its reason says so */
        return true;
    if (type && lwp_types_is_coroutine(type->tag)) /* likewise */
        return true;
    if (!node && !entry)
        return false;
    lwp_profile_note(profile,
                     "%s is not advised to be split: its elements are the %s of a container of the language's library, whose layout is not "
                     "the program's%s.",
                     type ? type->name : lwp_objects_name(profile, layout->objects[0]), entry ? "entries" : "nodes",
                     type && lwp_types_is_list_node(type)
                         ? ""
                         : ", and what is read of an element comes with the key that the search for it has loaded");
    return true;
}

static const struct lwp_field *owners_field(const struct lwp_layout *layout, size_t field)
{
    const struct lwp_type *type = layout->type;
    for (uint32_t i = 0; type && i < type->field_count; i++)
        if (type->fields[i].offset == layout->fields[field].offset && type->fields[i].inherited)
            return &type->fields[i];
    return NULL;
}

/* The base class whose members the split puts into several parts; NULL: none. */
static const char *owners_base(const struct lwp_split *split)
{
    for (size_t i = 0; i < split->layout->field_count; i++)
        for (size_t k = 0; k < i && split->kind == LWP_SPLIT_PARTS; k++) {
            const struct lwp_field *a = owners_field(split->layout, i), *b = owners_field(split->layout, k);
            if (a && b && strcmp(a->inherited, b->inherited) == 0 && split->group[i] != split->group[k])
                return a->inherited;
        }
    return NULL;
}

/* A std::vector or a std::string is a member, whatever begins with it. */
static bool owners_is_member(const struct lwp_type *head)
{
    return head->language == LWP_LANGUAGE_CXX && head->owner == LWP_TYPE_OF_SYSTEM;
}

/* A structure that this one begins with, and through pointers to which it is used; the split moves its members: C's way to derive. */
static const struct lwp_type *owners_head(struct lwp_profile *profile, const struct lwp_split *split)
{
    const struct lwp_layout *layout = split->layout;
    struct lwp_code_place place;
    for (size_t i = 0; i < layout->object_count && layout->type; i++)
        LWP_STREAMS_OF(profile, layout->objects[i], stream) {
            if (!profile->code || stream->module == LWP_NONE || !lwp_types_place(profile->code, stream->module, stream->address, &place) ||
                place.type->kind != LWP_TYPE_STRUCT || owners_is_member(place.type) || place.type->bytes >= layout->type->bytes ||
                !lwp_types_contain(layout->type, 0, place.type))
                continue;
            for (size_t k = 0; k < layout->field_count; k++)
                if (layout->fields[k].offset < place.type->bytes && (split->kind != LWP_SPLIT_PARTS || split->group[k] != 0))
                    return place.type;
        }
    return NULL;
}

const char *lwp_split_caution(struct lwp_profile *profile, const struct lwp_split *split)
{
    const struct lwp_type *type = split->layout->type;
    const char *base = owners_base(split);
    if (type && type->owner == LWP_TYPE_OF_SYSTEM && !split->layout->container)
        return lwp_arena_printf(profile->arena,
                                "%s is declared in %s, which is not part of the program: its layout is shared with the system or a library "
                                "and not yours to change. Copy the fields your loops use into arrays of your own.",
                                type->name, type->file ? type->file : "the language's library");
    if (base)
        return lwp_arena_printf(
            profile->arena,
            "Some of the members that are moved are those of its base class %s: all classes derived from it change with "
            "them, and what uses them there was not looked at.",
            base);
    const struct lwp_type *head = split->kind == LWP_SPLIT_POOL ? NULL : owners_head(profile, split);
    if (head)
        return lwp_arena_printf(profile->arena,
                                "%s begins with the members of %s, and pointers to that lead to it, too: where these are moved, all structures "
                                "that begin so change with them, and what uses them there was not looked at.",
                                type->name, head->name);
    return NULL;
}

/* Whether two splits put the members of one base class into different parts. */
static bool owners_conflict(const struct lwp_split *x, const struct lwp_split *y, const char **base)
{
    int of_y[LWP_FIELDS_MAX]; /* the group where y puts what x has; -2: it does not have it */
    for (size_t i = 0; i < x->layout->field_count; i++) {
        const struct lwp_field *a = owners_field(x->layout, i);
        of_y[i] = -2;
        for (size_t k = 0; a && k < y->layout->field_count; k++) {
            const struct lwp_field *b = owners_field(y->layout, k);
            if (b && strcmp(a->name, b->name) == 0 && strcmp(a->inherited, b->inherited) == 0)
                of_y[i] = y->group[k];
        }
        for (size_t k = 0; k < i && of_y[i] != -2; k++)
            if (of_y[k] != -2 && (x->group[i] == x->group[k]) != (of_y[i] == of_y[k])) {
                *base = a->inherited;
                return true;
            }
        if (of_y[i] != -2 && (x->group[i] < 0) != (of_y[i] < 0)) {
            *base = a->inherited;
            return true;
        }
    }
    return false;
}

void lwp_split_drop_conflicts(struct lwp_profile *profile, struct lwp_splits *splits)
{
    size_t kept = 0;
    for (size_t i = 0; i < splits->count; i++) {
        const struct lwp_split *split = &splits->splits[i];
        const char *base = NULL;
        size_t with = 0;
        while (with < kept && !owners_conflict(&splits->splits[with], split, &base))
            with++;
        if (with == kept) {
            splits->splits[kept++] = splits->splits[i];
            continue;
        }
        lwp_profile_note(
            profile,
            "%s is not advised to be split although that would pay by itself: it shares the base class %s with %s, whose advice "
            "puts the members of %s into other parts.",
            split->layout->type->name, base, splits->splits[with].layout->type->name, base);
        for (size_t k = 0; k < split->layout->object_count; k++)
            splits->reasons[split->layout->objects[k]].verdict = LWP_SPLIT_BASE;
    }
    splits->count = kept;
}
