/* The declarations of a split structure as C text.
 *
 * Arrays: one structure for each group, each to be an array of its own. Single blocks (tree nodes): the hottest group
 * keeps the name and points to the others. Names come from DWARF, or are made from offsets when there is none.
 * Limits: comments, attributes and macros of the original are not known; of a C++ class it is a sketch. */
#include "analysis/split.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *declaration_tag(const struct lwp_split *split)
{
    const struct lwp_type *type = split->layout->type;
    return type && type->tag && *type->tag ? type->tag : "element";
}

/* neuron_P, neuron_XQ, node_key_left: short names run together, long lists become a number. */
static void declaration_name(const struct lwp_split *split, int which, char *name, size_t size)
{
    const char *tag = declaration_tag(split);
    size_t longest = 0, count = 0, length = 0;
    for (size_t f = 0; f < split->layout->field_count; f++)
        if (split->group[f] == which) {
            size_t letters = strlen(split->layout->fields[f].name);
            longest = letters > longest ? letters : longest;
            length += letters + 1;
            count++;
        }
    if (which < 0) {
        snprintf(name, size, "%s_cold", tag);
        return;
    }
    bool plain = length <= 32;
    for (size_t f = 0; plain && f < split->layout->field_count; f++)
        if (split->group[f] == which)
            plain = strspn(split->layout->fields[f].name,
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
                    strlen(split->layout->fields[f].name);
    if (!plain) {
        snprintf(name, size, "%s_hot%d", tag, which + 1);
        return;
    }
    size_t used = (size_t)snprintf(name, size, "%s", tag), placed = 0;
    for (size_t f = 0; f < split->layout->field_count && used < size; f++)
        if (split->group[f] == which) {
            used += (size_t)snprintf(name + used, size - used, "%s%s", placed == 0 || longest > 1 ? "_" : "",
                                     split->layout->fields[f].name);
            placed++;
        }
}

static void declaration_group(FILE *out, const struct lwp_split *split, int which, const char *name)
{
    const struct lwp_layout *layout = split->layout;
    size_t count = 0, length = strlen(name) + 12;
    for (size_t f = 0; f < layout->field_count; f++)
        if (split->group[f] == which) {
            count++;
            length += strlen(layout->fields[f].declaration) + 2;
        }
    bool links = layout->single && which == 0;
    bool one_line = length <= 78 && !links;
    fprintf(out, "struct %s {%s", name, one_line ? "" : "\n");
    for (size_t f = 0; f < layout->field_count; f++)
        if (split->group[f] == which)
            fprintf(out, one_line ? " %s;" : "    %s;\n", layout->fields[f].declaration);
    for (int g = 1; links && g <= (int)split->groups; g++) {
        char other[256];
        int target = g < (int)split->groups ? g : -1;
        if (target < 0 && !split->cold)
            break;
        declaration_name(split, target, other, sizeof other);
        if (target < 0)
            fprintf(out, "    struct %s *cold;\n", other);
        else
            fprintf(out, "    struct %s *part%d;\n", other, target + 1);
    }
    fprintf(out, "%s};\n", one_line ? " " : "");
}

const char *lwp_declaration_write(struct lwp_profile *profile, const struct lwp_split *split)
{
    const struct lwp_layout *layout = split->layout;
    char *text = NULL, name[256];
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return "";
    if (layout->type && layout->type->is_class)
        fprintf(out, "/* A sketch: %s is a C++ class; keep its methods and adapt them. */\n", layout->type->name);
    if (!layout->type)
        fprintf(out, "/* The type is not known: fields are named by their offset in the %llu-byte element. */\n",
                (unsigned long long)layout->element_bytes);
    if (layout->single) {
        for (int g = 1; g <= (int)split->groups; g++) {
            int which = g < (int)split->groups ? g : -1;
            if (which < 0 && !split->cold)
                break;
            declaration_name(split, which, name, sizeof name);
            declaration_group(out, split, which, name);
        }
        declaration_group(out, split, 0, declaration_tag(split));
    } else {
        for (int g = 0; g <= (int)split->groups; g++) {
            int which = g < (int)split->groups ? g : -1;
            if (which < 0 && !split->cold)
                break;
            declaration_name(split, which, name, sizeof name);
            declaration_group(out, split, which, name);
        }
    }
    fclose(out);
    const char *kept = lwp_arena_strdup(profile->arena, text ? text : "");
    free(text);
    return kept;
}
