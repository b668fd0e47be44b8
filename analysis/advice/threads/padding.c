/* Fields of one structure that different threads use are separated: each of them, and what follows it, begins a cache line.
 * Elements of one structure, a thread each, become whole lines by an aligned first member.
 * Limits: whether other code relies on where a member is is not known. */
#include "analysis/advice/threads/sharing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool padding_uses(const struct lwp_sharing *item, const char *member)
{
    for (size_t i = 0; i < item->use_count; i++)
        if (item->uses[i].field && strcmp(item->uses[i].field, member) == 0)
            return true;
    return false;
}

/* How many members of the type threads of their own use. */
static uint32_t padding_apart(const struct lwp_sharing *item, const struct lwp_type *type)
{
    uint32_t apart = 0;
    for (uint32_t i = 0; i < type->field_count; i++)
        apart += padding_uses(item, type->fields[i].name);
    return apart;
}

/* Whether no two threads use the same element: then whole elements are separated. */
static bool padding_own_elements(const struct lwp_sharing *item, const struct lwp_type *type)
{
    int64_t first[LWP_SHARING_THREADS], last[LWP_SHARING_THREADS], bytes = (int64_t)type->bytes;
    for (size_t i = 0; i < item->use_count; i++) {
        const struct lwp_interaction_use *use = item->uses[i].use;
        uint64_t used = use->loaded | use->stored;
        first[i] = used ? (use->offset + __builtin_ctzll(used)) / bytes : 0;
        last[i] = used ? (use->offset + 63 - __builtin_clzll(used)) / bytes : 0;
        for (size_t k = 0; k < i; k++)
            if (first[i] <= last[k] && first[k] <= last[i])
                return false;
    }
    return true;
}

static const struct lwp_type *padding_type(const struct lwp_profile *profile, const struct lwp_sharing *item)
{
    uint32_t object = item->uses[0].use->object;
    for (size_t i = 0; i < item->use_count; i++)
        if (item->uses[i].use->object != object)
            return NULL;
    const struct lwp_type *type = object == LWP_NONE ? NULL : profile->objects[object].type;
    bool known = type && type->kind == LWP_TYPE_STRUCT && type->bytes && type->field_count && !type->is_class &&
                 type->owner != LWP_TYPE_OF_SYSTEM && (type->language == LWP_LANGUAGE_C || type->language == LWP_LANGUAGE_CXX);
    return known ? type : NULL;
}

/* The comment of a member that begins a cache line; NULL: it begins none. */
static const char *padding_begins(bool elements, bool uses, bool first, bool after)
{
    if (elements)
        return first ? " /* each element is whole cache lines */" : NULL;
    return uses ? " /* a thread's own */" : after ? "" : NULL;
}

/* False where a bit field would have to begin a line. */
static bool padding_write(FILE *to, const struct lwp_sharing *item, const struct lwp_type *type)
{
    bool elements = padding_apart(item, type) < 2, after = false;
    if (type->language == LWP_LANGUAGE_C)
        fputs("#include <stdalign.h>\n\n", to);
    fprintf(to, "%sstruct %s {\n", type->is_typedef && type->language == LWP_LANGUAGE_C ? "typedef " : "", type->tag);
    for (uint32_t i = 0; i < type->field_count; i++) {
        const struct lwp_field *field = &type->fields[i];
        bool uses = padding_uses(item, field->name);
        const char *begins = padding_begins(elements, uses, i == 0, after);
        if (begins && strstr(field->declaration, " : ")) /* alignas cannot be said of a bit field */
            return false;
        if (begins)
            fprintf(to, "    alignas(%d) %s;%s\n", LWP_INTERACTION_LINE, field->declaration, begins);
        else
            fprintf(to, "    %s;\n", field->declaration);
        after = uses;
    }
    if (type->is_typedef && type->language == LWP_LANGUAGE_C)
        fprintf(to, "} %s;\n", type->name);
    else
        fputs("};\n", to);
    fprintf(to, "/* On the heap: aligned_alloc(%d, bytes), bytes a multiple of %d. */\n", LWP_INTERACTION_LINE, LWP_INTERACTION_LINE);
    return true;
}

const char *lwp_padding_declare(struct lwp_profile *profile, const struct lwp_sharing *item)
{
    const struct lwp_type *type = item->is_false ? padding_type(profile, item) : NULL;
    char *text = NULL;
    size_t length;
    bool apart = type && (padding_apart(item, type) > 1 || padding_own_elements(item, type));
    FILE *to = apart && type->tag && *type->tag ? open_memstream(&text, &length) : NULL;
    if (!to)
        return NULL;
    bool written = padding_write(to, item, type);
    fclose(to);
    const char *kept = written && text ? lwp_arena_strdup(profile->arena, text) : NULL;
    free(text);
    return kept;
}
