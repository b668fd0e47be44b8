/* What copies elements into the order in which loops go to them, in C or C++. */
#include "analysis/advice/layout/split_internal.h"

#include "analysis/profile/objects.h"

#include <string.h>

#define SAY(...) lwp_arena_printf(profile->arena, __VA_ARGS__)

/* `holder`: what leads to the elements. */
static const char *order_array(struct lwp_profile *profile, const char *type, const char *holder, bool cxx)
{
    return cxx ? SAY("std::vector<%s> copy(count); // it has to live as long as %s\n", type, holder)
               : SAY("%s *copy = malloc(count * sizeof *copy);\n", type);
}

bool lwp_order_owned(const struct lwp_profile *profile, uint32_t pointers)
{
    const struct lwp_type *type = pointers == LWP_NONE ? NULL : profile->objects[pointers].type;
    return type && (strncmp(type->name, "std::unique_ptr<", 16) == 0 || strncmp(type->name, "std::shared_ptr<", 16) == 0);
}

/* What the array is called in code; of some only their type is known. */
static const char *order_called(struct lwp_profile *profile, uint32_t array)
{
    const char *name = lwp_objects_name(profile, array);
    return strpbrk(name, " <*(") ? "pointers" : name;
}

/* Pointers that own what they lead to cannot lead into an array. */
static const char *order_of_owned(struct lwp_profile *profile, const char *type, const char *pointers)
{
    return SAY("std::vector<%s> elements; // in the place of the pointers\n"
               "elements.reserve(count);\n"
               "for (auto &pointer : %s)\n"
               "    elements.push_back(std::move(*pointer));\n",
               type, pointers);
}

static const char *order_of_pointers(struct lwp_profile *profile, const char *type, const char *pointers, bool cxx)
{
    return SAY("%s"
               "for (size_t i = 0; i < count; i++) {\n"
               "    copy[i] = *%s[i];\n"
               "    %s[i] = &copy[i];\n"
               "}\n",
               order_array(profile, type, "the pointers do", cxx), pointers, pointers);
}

static const char *order_of_indices(struct lwp_profile *profile, const char *type, const struct lwp_split *split, bool cxx)
{
    const char *elements = lwp_objects_name(profile, split->layout->objects[0]);
    return SAY("%s"
               "for (size_t i = 0; i < count; i++)\n"
               "    copy[i] = %s[%s[i]];\n",
               order_array(profile, type, SAY("%s does", elements), cxx), elements, lwp_objects_name(profile, split->pointers));
}

static const char *order_of_links(struct lwp_profile *profile, const char *type, const char *link, bool cxx)
{
    return SAY("%s"
               "size_t copied = 0;\n"
               "for (%s *at = first; at; at = at->%s, copied++) {\n"
               "    copy[copied] = *at;\n"
               "    copy[copied].%s = at->%s ? &copy[copied + 1] : NULL;\n"
               "}\n"
               "first = %s;\n",
               order_array(profile, type, "the list does", cxx), type, link, link, link, cxx ? "copy.data()" : "copy");
}

/* Elements that are longer than their type, in this loop. */
static const char *order_of_tails(struct lwp_profile *profile, const char *type, const char *loop, const char *element)
{
    return SAY("char *to = (char *)malloc(bytes); /* of all elements */\n"
               "%s {\n"
               "    size_t size = size_of(%s); /* with what lies behind the structure, rounded up to 8 */\n"
               "    %s = (%s *)memcpy(to, %s, size);\n"
               "    to += size;\n"
               "}\n",
               loop, element, element, type, element);
}

const char *lwp_order_write(struct lwp_profile *profile, const struct lwp_split *split)
{
    const struct lwp_layout *layout = split->layout;
    const struct lwp_type *type = layout->type;
    if (split->array && lwp_types_is_list_node(type))
        return SAY("std::vector<%s> name; // in the place of the %s\n",
                   layout->payload ? layout->payload->name : "decltype(name)::value_type", layout->container);
    if (split->array)
        return SAY("std::vector<decltype(name)::value_type> sorted(name.begin(), name.end());\nfor (auto &element : sorted)\n");
    if (layout->container && !lwp_layout_is_counted(layout))
        return SAY("auto copy = name; // element by element, in its order\nname.swap(copy);\n");
    if (!type || (type->language != LWP_LANGUAGE_C && type->language != LWP_LANGUAGE_CXX))
        return NULL;
    const bool cxx = type->language == LWP_LANGUAGE_CXX, tails = lwp_order_has_tails(layout);
    if (split->by_index)
        return order_of_indices(profile, type->name, split, cxx);
    if (split->pointers != LWP_NONE && tails)
        return order_of_tails(profile, type->name, "for (size_t i = 0; i < count; i++)",
                              SAY("%s[i]", lwp_objects_name(profile, split->pointers)));
    if (lwp_order_owned(profile, split->pointers))
        return order_of_owned(profile, type->name, order_called(profile, split->pointers));
    if (split->pointers != LWP_NONE)
        return order_of_pointers(profile, type->name, order_called(profile, split->pointers), cxx);
    for (size_t f = 0; f < layout->field_count; f++)
        if (layout->fields[f].offset == split->link && layout->fields[f].bytes == sizeof(void *))
            return tails ? order_of_tails(profile, type->name,
                                          SAY("for (%s **at = &first; *at; at = &(*at)->%s)", type->name, layout->fields[f].name), "*at")
                         : order_of_links(profile, type->name, layout->fields[f].name, cxx);
    return NULL;
}
