/* The declarations of a split or reordered structure, in the language of its type.
 *
 * Arrays: one structure for each group, each to be an array of its own. Single blocks (tree nodes): the hottest group
 * keeps the name and points to the others. Where a line is not enough, each field has its offset and its part of the
 * time beside it. Names come from DWARF, or are made from offsets when there is none.
 * Limits: comments, attributes and macros of the original are not known; of a C++ class it is a sketch. */
#include "analysis/advice/layout/split_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMMENT_COLUMN = 40, ONE_LINE = 80, NAME_LONGEST = 32 };

/* How each language writes it. */
static const struct {
    const char *member_end, *note, *note_end, *comment, *comment_end; /* comments: on lines of their own, and beside members */
} languages[] = {[LWP_LANGUAGE_C] = {";", "/* ", " */", "/* ", " */"},
                 [LWP_LANGUAGE_CXX] = {";", "/* ", " */", "// ", ""},
                 [LWP_LANGUAGE_FORTRAN] = {"", "! ", "", "! ", ""},
                 [LWP_LANGUAGE_RUST] = {",", "// ", "", "// ", ""},
                 [LWP_LANGUAGE_OTHER] = {";", "/* ", " */", "/* ", " */"}};

struct declaration {
    FILE *out;
    struct lwp_profile *profile;
    const struct lwp_split *split;
    enum lwp_language language;
    bool tuple; /* Rust's: fields have numbers, which a declaration must not name */
};

/* What can be part of a new name: "Body" of "ns::Body<double>". */
static const char *declaration_tag(const struct declaration *to)
{
    const struct lwp_type *type = lwp_layout_declared(to->split->layout);
    const char *text = type && type->tag ? type->tag : "", *start = text;
    int depth = 0;
    for (const char *at = text; *at; at++) {
        depth += !!strchr("<({", *at) - !!strchr(">)}", *at);
        if (depth == 0 && (*at == ':' || *at == ' '))
            start = at + 1;
    }
    const char *end = start + strcspn(start, "<({");
    return start < end ? lwp_arena_strndup(to->profile->arena, start, (size_t)(end - start)) : "element";
}

/* Part 0 keeps the type's name where pointers to elements are to lead to it. */
static bool declaration_keeps_name(const struct lwp_split *split)
{
    const struct lwp_layout *layout = split->layout;
    return split->kind != LWP_SPLIT_PARTS || layout->single || layout->container || (layout->pointed && !split->caution);
}

static bool declaration_plain(const char *name)
{
    return name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] == '\0';
}

/* neuron_P, neuron_XQ, node_key_left: short names run together, long lists become a number. */
static const char *declaration_name(const struct declaration *to, int which)
{
    const char *tag = declaration_tag(to), *name = tag;
    struct lwp_split_part part;
    size_t longest = 0, length = 0;
    bool plain = true;
    lwp_split_part(to->split, which, &part);
    for (size_t i = 0; i < part.count; i++) {
        const char *field = to->split->layout->fields[part.fields[i]].name;
        size_t letters = strlen(field);
        longest = letters > longest ? letters : longest;
        length += letters + 1;
        plain = plain && declaration_plain(field);
    }
    if (which == 0 && declaration_keeps_name(to->split))
        return tag;
    if (which < 0)
        return lwp_arena_printf(to->profile->arena, "%s_cold", tag);
    if (!plain || length > NAME_LONGEST)
        return lwp_arena_printf(to->profile->arena, "%s_hot%d", tag, which + 1);
    for (size_t i = 0; i < part.count; i++)
        name = lwp_arena_printf(to->profile->arena, "%s%s%s", name, i == 0 || longest > 1 ? "_" : "",
                                to->split->layout->fields[part.fields[i]].name);
    return name;
}

static bool declaration_of_tuple(const struct lwp_split *split)
{
    bool rust = split->layout->type && split->layout->type->language == LWP_LANGUAGE_RUST, numbers = true;
    for (size_t i = 0; i < split->layout->field_count; i++)
        numbers = numbers && split->layout->fields[i].name[strspn(split->layout->fields[i].name, "0123456789")] == '\0';
    return rust && numbers;
}

/* "0: usize" and the like as a member of a tuple: "usize". */
static const char *declaration_text(const struct declaration *to, const char *text)
{
    const char *colon = to->tuple ? strstr(text, ": ") : NULL;
    return colon ? colon + 2 : text;
}

/* The length of the first of "unsigned a : 3; unsigned b : 5"; braces hold together. */
static size_t declaration_first(const char *text)
{
    int depth = 0;
    size_t at = 0;
    for (; text[at]; at++) {
        depth += text[at] == '{' || text[at] == '(' || text[at] == '[';
        depth -= text[at] == '}' || text[at] == ')' || text[at] == ']';
        if (text[at] == ';' && depth == 0 && text[at + 1])
            break;
    }
    return at;
}

/* `text` as one member, with `comment` in a column of its own. */
static void declaration_member(const struct declaration *to, const char *text, const char *comment)
{
    text = declaration_text(to, text);
    size_t first = declaration_first(text); /* of several that share bytes */
    int used = fprintf(to->out, "    %.*s%s", (int)first, text, languages[to->language].member_end);
    if (comment)
        fprintf(to->out, "%*s%s%s%s", used < COMMENT_COLUMN ? COMMENT_COLUMN - used : 1, "", languages[to->language].comment, comment,
                languages[to->language].comment_end);
    fputc('\n', to->out);
    if (text[first])
        declaration_member(to, text + first + strspn(text + first, "; "), NULL);
}

static void declaration_link(const struct declaration *to, int target)
{
    struct lwp_arena *arena = to->profile->arena;
    const char *other = declaration_name(to, target), *name = target < 0 ? "cold" : lwp_arena_printf(arena, "part%d", target + 1);
    if (lwp_layout_is_counted(to->split->layout)) {
        declaration_member(to, lwp_arena_printf(arena, "%s: usize", name), lwp_arena_printf(arena, "its place in a Vec<%s>", other));
        return;
    }
    declaration_member(to,
                       to->language == LWP_LANGUAGE_FORTRAN ? lwp_arena_printf(arena, "type(%s), pointer :: %s", other, name)
                       : to->language == LWP_LANGUAGE_RUST  ? lwp_arena_printf(arena, "%s: Box<%s>", name, other)
                                                            : lwp_arena_printf(arena, "struct %s *%s", other, name),
                       NULL);
}

/* "struct neuron_XQ { double X; double Q; };" where that fits a line. */
static bool declaration_one_line(const struct declaration *to, int which, const struct lwp_split_part *part, const char *name)
{
    size_t length = strlen("struct  { };") + strlen(name);
    bool table = false;
    for (size_t i = 0; i < part->count; i++) {
        table |= lwp_layout_is_table(&to->split->layout->fields[part->fields[i]]);
        length += strlen(to->split->layout->fields[part->fields[i]].declaration) + 2;
    }
    if (length > ONE_LINE || table || part->links || to->split->align || to->language == LWP_LANGUAGE_FORTRAN ||
        (which == 0 && declaration_keeps_name(to->split)))
        return false;
    bool rust = to->language == LWP_LANGUAGE_RUST;
    fprintf(to->out, to->tuple ? "struct %s(" : "struct %s { ", name);
    for (size_t i = 0; i < part->count; i++)
        fprintf(to->out, "%s%s%s", i ? " " : "", declaration_text(to, to->split->layout->fields[part->fields[i]].declaration),
                !rust                 ? ";"
                : i + 1 < part->count ? ","
                                      : "");
    fputs(to->tuple ? ");\n" : rust ? " }\n" : " };\n", to->out);
    return true;
}

static void declaration_links(const struct declaration *to, const struct lwp_split_part *part)
{
    for (size_t link = 1; link <= part->links; link++)
        declaration_link(to, link < to->split->groups ? (int)link : -1);
}

static void declaration_part(const struct declaration *to, int which)
{
    const struct lwp_layout *layout = to->split->layout;
    const char *name = declaration_name(to, which), *aligned = "";
    struct lwp_split_part part;
    lwp_split_part(to->split, which, &part);
    if (declaration_one_line(to, which, &part, name))
        return;
    const struct lwp_type *type = lwp_layout_declared(layout);
    bool defined = which == 0 && declaration_keeps_name(to->split) && type && type->is_typedef && to->language == LWP_LANGUAGE_C;
    if (to->split->align)
        aligned =
            lwp_arena_printf(to->profile->arena, to->language == LWP_LANGUAGE_CXX ? "alignas(%llu) " : "__attribute__((aligned(%llu))) ",
                             (unsigned long long)to->split->align);
    if (to->language == LWP_LANGUAGE_FORTRAN)
        fprintf(to->out, "type :: %s\n", name);
    else
        fprintf(to->out, "%sstruct %s%s%s\n", defined ? "typedef " : "", aligned, name, to->tuple ? "(" : " {");
    uint64_t start = layout->payload ? UINT64_MAX : 0; /* of what is declared, in a container's node */
    for (size_t i = 0; i < part.count; i++) {
        const struct lwp_layout_field *field = &layout->fields[part.fields[i]];
        if (layout->payload && lwp_layout_is_fixed(layout, field))
            continue;
        start = part.offsets[i] < start ? part.offsets[i] : start;
        if (field->flexible)
            declaration_links(to, &part);
        if (lwp_layout_is_table(field)) {
            fputs("    // the pointer to the virtual functions, +0 while the class has any\n", to->out);
            continue;
        }
        if (to->language == LWP_LANGUAGE_FORTRAN && *field->name == '_') { /* no name of the language's: gfortran's for a length */
            fprintf(to->out, "    ! %s, +%llu, is the compiler's own\n", field->name, (unsigned long long)part.offsets[i]);
            continue;
        }
        double share = to->profile->total.weight > 0 ? field->weight / to->profile->total.weight : 0;
        const char *comment = lwp_arena_printf(to->profile->arena, "+%llu", (unsigned long long)(part.offsets[i] - start));
        if (share >= 0.001)
            comment = lwp_arena_printf(to->profile->arena, "%s, %.1f %% of the time", comment, 100 * share);
        declaration_member(to, field->declaration, comment);
    }
    if (!part.count || !layout->fields[part.fields[part.count - 1]].flexible)
        declaration_links(to, &part);
    if (defined)
        fprintf(to->out, "} %s;\n", name);
    else if (to->language == LWP_LANGUAGE_FORTRAN)
        fprintf(to->out, "end type %s\n", name);
    else
        fputs(to->tuple ? ");\n" : to->language == LWP_LANGUAGE_RUST ? "}\n" : "};\n", to->out);
}

static void declaration_head(const struct declaration *to)
{
    const struct lwp_layout *layout = to->split->layout;
    const char *note = languages[to->language].note, *end = languages[to->language].note_end;
    const struct lwp_type *type = lwp_layout_declared(layout);
    if (type && type->is_class)
        fprintf(to->out, "%sA sketch: %s is a class; keep its methods and adapt them.%s\n", note, type->name, end);
    if (!layout->type)
        fprintf(to->out, "%sThe type is not known: fields are named by their offset in the %llu-byte element.%s\n", note,
                (unsigned long long)layout->element_bytes, end);
    if (to->split->pooled && to->split->kind == LWP_SPLIT_PARTS && !layout->container)
        fprintf(to->out, "%sFor nodes from an array: the index of a node, p - array, is that of the rest in arrays of its own.%s\n", note,
                end);
    if (to->split->kind != LWP_SPLIT_PARTS || layout->single || layout->container || !declaration_keeps_name(to->split))
        return;
    if (layout->linked)
        fprintf(to->out,
                "%sThere are several arrays, and pointers to elements (%s): no index is common to the parts, so the\n   hot part points to "
                "the rest.%s\n",
                note, layout->pointed, end);
    else
        fprintf(to->out, "%sPointers to elements (%s) lead to the hot part; its index, p - array, is that of the rest.%s\n", note,
                layout->pointed, end);
}

/* A container's nodes from one memory resource. */
static const char *declaration_resource(struct lwp_profile *profile, const struct lwp_layout *layout)
{
    const char *last = strrchr(layout->container, ':') + 1;
    return lwp_arena_printf(
        profile->arena,
        "#include <memory_resource>\n"
        "std::pmr::monotonic_buffer_resource nodes; // declared before the container: it must outlive it\n"
        "std::pmr::%s<%s> name(&nodes);\n",
        last, layout->payload ? lwp_arena_printf(profile->arena, strstr(last, "map") ? "..., %s" : "%s", layout->payload->name) : "...");
}

const char *lwp_declaration_write(struct lwp_profile *profile, const struct lwp_split *split)
{
    if (split->kind == LWP_SPLIT_POOL && split->layout->container && !lwp_layout_is_counted(split->layout))
        return declaration_resource(profile, split->layout);
    if (split->kind == LWP_SPLIT_IN_PLACE)
        return lwp_in_place_write(profile, split);
    const char *copied = split->kind == LWP_SPLIT_ORDER ? lwp_order_write(profile, split) : NULL;
    if (copied)
        return copied;
    char *text = NULL;
    size_t size = 0;
    struct declaration to = {.out = open_memstream(&text, &size),
                             .profile = profile,
                             .split = split,
                             .language = split->layout->type ? split->layout->type->language : LWP_LANGUAGE_C,
                             .tuple = declaration_of_tuple(split)};
    if (!to.out)
        return "";
    declaration_head(&to);
    bool nodes = lwp_split_points(split) && split->kind == LWP_SPLIT_PARTS;
    bool rest = split->cold && !split->caution;                     /* the unused part of somebody else's type stays where it is */
    for (int g = nodes ? 1 : 0; g < (int)split->groups + rest; g++) /* what is pointed to comes first */
        declaration_part(&to, g < (int)split->groups ? g : -1);
    if (nodes)
        declaration_part(&to, 0);
    fclose(to.out);
    const char *kept = lwp_arena_strdup(profile->arena, text ? text : "");
    free(text);
    return kept;
}
