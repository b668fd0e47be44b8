/* In: the types of all objects that were seen. Elements that are pointed to cannot simply become an index: the pointers have to lead
 * to one of the parts, and from there to the others.
 * Limits: pointers in objects without type, and those in local variables only, are not known. */
#include "analysis/advice/layout/split_internal.h"
#include "analysis/profile/objects.h"

#include <ctype.h>
#include <string.h>

static bool pointer_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == ':';
}

/* "struct node *", "const struct node *[2]", "type(node), pointer", "Option<Box<node>>"; not "void (*)(struct node)".
 */
static bool pointer_text(const char *text, const char *name)
{
    static const char *const marks[] = {"pointer", "Box<", "*mut ", "*const ", "&", "Rc<", "NonNull<"};
    size_t length = strlen(name);
    for (const char *at = length ? strstr(text, name) : NULL; at; at = strstr(at + 1, name)) {
        const char *after = at + length;
        if ((at > text && pointer_letter(at[-1])) || pointer_letter(*after))
            continue;
        if (strncmp(after, " *", 2) == 0 && !memchr(text, '(', (size_t)(at - text)))
            return true;
        for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
            const char *mark = strstr(text, marks[i]);
            if (mark && (i == 0 || mark < at))
                return true;
        }
    }
    return false;
}

static const char *pointer_in(struct lwp_profile *profile, const struct lwp_type *holder, const struct lwp_type *type)
{
    for (uint32_t f = 0; f < holder->field_count; f++) {
        const struct lwp_field *field = &holder->fields[f];
        if (!field->type || !field->name ||
            (!pointer_text(field->type, type->name) && !(type->tag && pointer_text(field->type, type->tag))))
            continue;
        return lwp_arena_printf(profile->arena, "%s in %s", *field->name ? field->name : "a member", holder->name);
    }
    return NULL;
}

const char *lwp_element_pointers_by(struct lwp_profile *profile, const struct lwp_layout *layout)
{
    const struct lwp_type *type = layout->type;
    const char *found = type ? pointer_in(profile, type, type) : NULL;
    for (size_t i = 0; type && !found && i < profile->object_count; i++) {
        const struct lwp_object *object = &profile->objects[i];
        if (!object->accessed || !object->type || object->type == type)
            continue;
        if (object->type->kind == LWP_TYPE_STRUCT || object->type->kind == LWP_TYPE_UNION)
            found = pointer_in(profile, object->type, type);
        else if (object->type->name && pointer_text(object->type->name, type->name))
            found = lwp_objects_name(profile, (uint32_t)i);
    }
    return found;
}

bool lwp_element_pointers_scattered(const struct lwp_profile *profile, const struct lwp_layout *layout)
{
    size_t arrays = 0;
    for (size_t k = 0; k < layout->object_count; k++) {
        const struct lwp_object *object = &profile->objects[layout->objects[k]];
        arrays += !object->largest || object->bytes <= object->largest ? 1 : 2;
    }
    return arrays > 1;
}
