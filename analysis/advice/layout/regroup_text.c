/* Names of arrays as members of a structure, and the declaration of the new array.
 * Limits: without debug info types are guessed from the size and said to be so. */
#include "analysis/advice/layout/regroup_internal.h"
#include "analysis/profile/objects.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MOST = 64, LISTED = 6, TAG_MOST = 28, ONE_LINE = 78 };

const char *lwp_regroup_member(const char *variable)
{
    const char *last = variable;
    for (const char *c = variable; c && *c; c++)
        if (*c == '.' || *c == '>' || *c == ':')
            last = c + 1;
    size_t length = last ? strspn(last, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") : 0;
    return length && length < NAME_MOST && !last[length] && !isdigit((unsigned char)*last) ? last : NULL;
}

void lwp_regroup_names(struct lwp_profile *profile, struct lwp_regroup_candidates *candidates)
{
    for (size_t i = 0; i < candidates->count; i++) {
        const struct lwp_object *object = &profile->objects[candidates->arrays[i].object];
        const char *name = lwp_regroup_member(object->variable);
        if (!name)
            name = lwp_arena_printf(profile->arena, "array%zu", i + 1);
        for (size_t k = 0; k < i; k++)
            if (strcmp(candidates->arrays[k].name, name) == 0) {
                name = lwp_arena_printf(profile->arena, "%s_%zu", name, i + 1);
                break;
            }
        candidates->arrays[i].name = name;
    }
}

const char *lwp_regroup_list(struct lwp_profile *profile, const struct lwp_regroup_candidates *candidates,
                             const struct lwp_regroup *regroup)
{
    const char *names[LISTED];
    size_t listed = 0;
    for (; listed < regroup->count && listed < LISTED; listed++)
        names[listed] = candidates->arrays[regroup->members[listed]].name;
    return lwp_arena_list(profile->arena, names, listed, regroup->count - listed);
}

/* "J_c_dN" or "abcd"; of many only the first: "dbl_group". */
static const char *text_tag(struct lwp_profile *profile, const struct lwp_regroup_candidates *candidates, const struct lwp_regroup *regroup)
{
    size_t length = 0, longest = 0;
    for (size_t i = 0; i < regroup->count; i++) {
        size_t letters = strlen(candidates->arrays[regroup->members[i]].name);
        length += letters + 1;
        longest = letters > longest ? letters : longest;
    }
    if (length > TAG_MOST)
        return lwp_arena_printf(profile->arena, "%s_group", candidates->arrays[regroup->members[0]].name);
    const char *tag = "";
    for (size_t i = 0; i < regroup->count; i++)
        tag = lwp_arena_printf(profile->arena, "%s%s%s", tag, i && longest > 1 ? "_" : "", candidates->arrays[regroup->members[i]].name);
    return regroup->count > 1 && longest == 1 ? tag : lwp_arena_printf(profile->arena, "%s_group", tag);
}

/* The type of an array's elements, or of what they consist of: `times` of it (rows, or bytes). */
static const char *text_type(struct lwp_profile *profile, const struct lwp_regroup_array *array, enum lwp_language language,
                             unsigned long long *times)
{
    const struct lwp_type *type = array->type;
    uint64_t bytes = array->element_bytes, of = type && type->name ? type->bytes : 0;
    bool scalar = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    *times = of ? (bytes % of == 0 ? bytes / of : 1) : scalar ? 1 : bytes;
    if (type && type->name && (of == bytes || (of && bytes % of == 0)))
        return type->name;
    if (language == LWP_LANGUAGE_FORTRAN)
        return "integer(1)";
    return scalar ? lwp_arena_printf(profile->arena, "/* unknown type */ uint%u_t", (unsigned)bytes * 8)
                  : "/* unknown type */ unsigned char";
}

static void text_members(FILE *out, struct lwp_profile *profile, const struct lwp_regroup_candidates *candidates,
                         const struct lwp_regroup *regroup, enum lwp_language language, const char *before, const char *after)
{
    for (size_t i = 0; i < regroup->count; i++) {
        const struct lwp_regroup_array *array = &candidates->arrays[regroup->members[i]];
        unsigned long long times;
        const char *type = text_type(profile, array, language, &times);
        fputs(before, out);
        if (language == LWP_LANGUAGE_RUST) {
            if (times > 1)
                fprintf(out, "%s: [%s; %llu]", array->name, type, times);
            else
                fprintf(out, "%s: %s", array->name, type);
        } else if (language == LWP_LANGUAGE_FORTRAN) {
            fprintf(out, times > 1 ? "%s :: %s(%llu)" : "%s :: %s", type, array->name, times);
        } else {
            bool pointer = type[strlen(type) - 1] == '*';
            fprintf(out, "%s%s%s", type, pointer ? "" : " ", array->name);
            if (times > 1)
                fprintf(out, "[%llu]", times);
        }
        fputs(after, out);
    }
}

const char *lwp_regroup_declaration(struct lwp_profile *profile, const struct lwp_regroup_candidates *candidates,
                                    const struct lwp_regroup *regroup)
{
    const struct lwp_regroup_array *first = &candidates->arrays[regroup->members[0]];
    bool is_static = profile->objects[first->object].kind == LWP_OBJECT_STATIC;
    enum lwp_language language = first->type ? first->type->language : LWP_LANGUAGE_C;
    unsigned long long elements = first->elements, times;
    const char *tag = text_tag(profile, candidates, regroup);
    char *text = NULL;
    size_t size = 0, length = strlen(tag) + strlen("struct  { };");
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return "";
    for (size_t i = 0; i < regroup->count; i++) {
        const struct lwp_regroup_array *array = &candidates->arrays[regroup->members[i]];
        length += strlen(array->name) + strlen(text_type(profile, array, language, &times)) + 3;
    }
    if (language == LWP_LANGUAGE_FORTRAN) {
        fprintf(out, "type :: %s\n", tag);
        text_members(out, profile, candidates, regroup, language, "    ", "\n");
        fprintf(out, is_static ? "end type %s\ntype(%s) :: group(%llu)\n" : "end type %s\ntype(%s), allocatable :: group(:)\n", tag, tag,
                elements);
    } else if (language == LWP_LANGUAGE_RUST) {
        fprintf(out, "struct %s {\n", tag);
        text_members(out, profile, candidates, regroup, language, "    ", ",\n");
        fprintf(out, "}\nlet mut group: Vec<%s>;\n", tag);
    } else {
        bool one_line = length <= ONE_LINE;
        fprintf(out, "struct %s {%s", tag, one_line ? "" : "\n");
        text_members(out, profile, candidates, regroup, language, one_line ? " " : "    ", one_line ? ";" : ";\n");
        fprintf(out, is_static ? "%s};\nstruct %s group[%llu];\n" : "%s};\nstruct %s *group; /* %llu elements */\n", one_line ? " " : "",
                tag, elements);
    }
    fclose(out);
    const char *kept = lwp_arena_strdup(profile->arena, text ? text : "");
    free(text);
    return kept;
}
