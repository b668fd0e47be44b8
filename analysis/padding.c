/* Fields of one structure that different threads use go apart: each of them, and what follows it, begins a cache line.
 * Elements of one structure, a thread each, become whole lines by their first member. Whether other code relies on where a
 * member is cannot be seen from here. */
#include "analysis/padding.h"

#include "analysis/shared.h"

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

static const struct lwp_type *padding_type(const struct lwp_profile *profile, const struct lwp_sharing *item)
{
    uint32_t object = item->uses[0].use->object;
    for (size_t i = 0; i < item->use_count; i++)
        if (item->uses[i].use->object != object)
            return NULL;
    const struct lwp_type *type = object == LWP_NONE ? NULL : profile->objects[object].type;
    bool known = type && type->kind == LWP_TYPE_STRUCT && type->field_count && !type->is_class && type->owner != LWP_TYPE_OF_SYSTEM &&
                 (type->language == LWP_LANGUAGE_C || type->language == LWP_LANGUAGE_CXX);
    return known ? type : NULL;
}

static void padding_write(FILE *to, const struct lwp_sharing *item, const struct lwp_type *type)
{
    bool elements = padding_apart(item, type) < 2, after = false;
    if (type->language == LWP_LANGUAGE_C)
        fputs("#include <stdalign.h>\n\n", to);
    fprintf(to, "%sstruct %s {\n", type->is_typedef && type->language == LWP_LANGUAGE_C ? "typedef " : "", type->tag);
    for (uint32_t i = 0; i < type->field_count; i++) {
        const struct lwp_field *field = &type->fields[i];
        bool own = elements ? i == 0 : padding_uses(item, field->name);
        if (own || after)
            fprintf(to, "    alignas(%d) %s;%s\n", LWP_SHARED_LINE, field->declaration,
                    !own ? "" : elements ? " /* each element is whole cache lines */" : " /* a thread's own */");
        else
            fprintf(to, "    %s;\n", field->declaration);
        after = own && !elements;
    }
    if (type->is_typedef && type->language == LWP_LANGUAGE_C)
        fprintf(to, "} %s;\n", type->name);
    else
        fputs("};\n", to);
    fprintf(to, "/* On the heap: aligned_alloc(%d, bytes), bytes a multiple of %d. */\n", LWP_SHARED_LINE, LWP_SHARED_LINE);
}

const char *lwp_padding_declare(struct lwp_profile *profile, const struct lwp_sharing *item)
{
    const struct lwp_type *type = item->is_false ? padding_type(profile, item) : NULL;
    char *text = NULL;
    size_t length;
    FILE *to = type && type->tag && *type->tag ? open_memstream(&text, &length) : NULL;
    if (!to)
        return NULL;
    padding_write(to, item, type);
    fclose(to);
    const char *kept = text ? lwp_arena_strdup(profile->arena, text) : NULL;
    free(text);
    return kept;
}
