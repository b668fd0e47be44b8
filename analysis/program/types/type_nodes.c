/* Nodes of the containers of the C++ and Rust libraries, by the names of their types. */
#include "analysis/program/binary/module.h"
#include "analysis/program/types/types.h"

#include <string.h>

/* Names that only libraries may have, so that it does not matter whether their namespaces are known: of type units they are not. */
static const struct {
    const char *node, *container, *of_pairs;
} nodes[] = {{"_List_node", "std::list", NULL},         {"_Fwd_list_node", "std::forward_list", NULL},
             {"_Rb_tree_node", "std::set", "std::map"}, {"_Hash_node", "std::unordered_set", "std::unordered_map"},
             {"__list_node", "std::list", NULL},        {"__forward_list_node", "std::forward_list", NULL},
             {"__tree_node", "std::set", "std::map"},   {"__hash_node", "std::unordered_set", "std::unordered_map"}};

/* Rust's values whose references are counted. */
static const struct {
    const char *begins, *holder;
} counted[] = {{"alloc::rc::RcInner<", "std::rc::Rc"}, {"alloc::rc::RcBox<", "std::rc::Rc"}, {"alloc::sync::ArcInner<", "std::sync::Arc"}};

const char *lwp_types_counts(const char *name)
{
    for (size_t i = 0; name && i < sizeof counted / sizeof *counted; i++)
        if (strncmp(name, counted[i].begins, strlen(counted[i].begins)) == 0)
            return counted[i].holder;
    return NULL;
}

const char *lwp_types_container(const struct lwp_type *type)
{
    if (!type || type->owner == LWP_TYPE_OF_PROJECT)
        return NULL;
    if (type->language == LWP_LANGUAGE_RUST && lwp_types_counts(type->name))
        return type->payload ? lwp_types_counts(type->name) : NULL;
    const size_t end = strcspn(type->name, "<");
    size_t start = end;
    while (start && type->name[start - 1] != ':')
        start--;
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        if (strlen(nodes[i].node) != end - start || strncmp(type->name + start, nodes[i].node, end - start) != 0)
            continue;
        const bool pairs = code_begins_with(type->name + end, "<std::pair<|<pair<|<std::__1::__value_type<|<std::__1::__hash_value_type<");
        return pairs && nodes[i].of_pairs ? nodes[i].of_pairs : nodes[i].container;
    }
    return NULL;
}

bool lwp_types_is_tree_node(const struct lwp_type *type)
{
    const char *container = lwp_types_container(type);
    return container && !strstr(container, "unordered") && (strstr(container, "map") || strstr(container, "set"));
}

bool lwp_types_is_list_node(const struct lwp_type *type)
{
    const char *container = lwp_types_container(type);
    return (container && strstr(container, "list")) ||
           (type->owner == LWP_TYPE_OF_SYSTEM && code_begins_with(type->name, "alloc::collections::linked_list::Node<"));
}

bool lwp_types_is_coroutine(const char *name)
{
    const size_t length = name ? strlen(name) : 0, end = strlen(".Frame");
    return length > end && (strcmp(name, "__coro_frame_ty") == 0 || strcmp(name + length - end, ".Frame") == 0);
}

bool lwp_types_links_itself(const struct lwp_type *type)
{
    const char *name = type->tag ? type->tag : type->name;
    for (uint32_t f = 0; f < type->field_count && name && *name; f++)
        if (type->fields[f].type && strstr(type->fields[f].type, name))
            return true;
    return false;
}
