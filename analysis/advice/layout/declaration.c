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

enum { NAME_BYTES = 256, COMMENT_COLUMN = 40, ONE_LINE = 80 };

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
    const struct lwp_profile *profile;
    const struct lwp_split *split;
    enum lwp_language language;
};

/* What can be part of a new name: "Body" of "ns::Body<double>". */
static void declaration_tag(const struct lwp_split *split, char *tag, size_t size)
{
    const struct lwp_type *type = split->layout->type;
    const char *text = type && type->tag ? type->tag : "", *start = text;
    size_t plain = strcspn(text, "<({");
    for (size_t i = 0; i < plain; i++)
        if (text[i] == ':' || text[i] == ' ')
            start = text + i + 1;
    int length = (int)(text + plain - start);
    snprintf(tag, size, "%.*s", length ? length : (int)strlen("element"), length ? start : "element");
}

/* Part 0 keeps the type's name where pointers to elements are to lead to it. */
static bool declaration_keeps_name(const struct lwp_split *split)
{
    const struct lwp_layout *layout = split->layout;
    return split->kind == LWP_SPLIT_REORDER || layout->single || (layout->pointed && !split->caution);
}

static bool declaration_plain(const char *name)
{
    return name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] == '\0';
}

/* neuron_P, neuron_XQ, node_key_left: short names run together, long lists become a number. */
static void declaration_name(const struct lwp_split *split, int which, char *name, size_t size)
{
    char tag[NAME_BYTES / 2];
    struct lwp_split_part part;
    size_t longest = 0, length = 0;
    bool plain = true;
    declaration_tag(split, tag, sizeof tag);
    lwp_split_part(split, which, &part);
    for (size_t i = 0; i < part.count; i++) {
        const char *field = split->layout->fields[part.fields[i]].name;
        size_t letters = strlen(field);
        longest = letters > longest ? letters : longest;
        length += letters + 1;
        plain = plain && declaration_plain(field);
    }
    if (which == 0 && declaration_keeps_name(split)) {
        snprintf(name, size, "%s", tag);
    } else if (which < 0) {
        snprintf(name, size, "%s_cold", tag);
    } else if (!plain || length > 32) {
        snprintf(name, size, "%s_hot%d", tag, which + 1);
    } else {
        size_t used = (size_t)snprintf(name, size, "%s", tag);
        for (size_t i = 0; i < part.count && used < size; i++)
            used += (size_t)snprintf(name + used, size - used, "%s%s", i == 0 || longest > 1 ? "_" : "",
                                     split->layout->fields[part.fields[i]].name);
    }
}

/* The length of the first of "unsigned a : 3; unsigned b : 5"; braces hold together. */
static size_t declaration_first(const char *text)
{
    int depth = 0;
    size_t at = 0;
    for (; text[at]; at++) {
        depth += text[at] == '{' || text[at] == '(';
        depth -= text[at] == '}' || text[at] == ')';
        if (text[at] == ';' && depth == 0 && text[at + 1])
            break;
    }
    return at;
}

/* `text` as one member, with `comment` in a column of its own. */
static void declaration_member(const struct declaration *to, const char *text, const char *comment)
{
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
    char other[NAME_BYTES], text[NAME_BYTES + 64], name[32];
    declaration_name(to->split, target, other, sizeof other);
    if (target < 0)
        snprintf(name, sizeof name, "cold");
    else
        snprintf(name, sizeof name, "part%d", target + 1);
    if (to->language == LWP_LANGUAGE_FORTRAN)
        snprintf(text, sizeof text, "type(%s), pointer :: %s", other, name);
    else if (to->language == LWP_LANGUAGE_RUST)
        snprintf(text, sizeof text, "%s: Box<%s>", name, other);
    else
        snprintf(text, sizeof text, "struct %s *%s", other, name);
    declaration_member(to, text, NULL);
}

/* The compiler's own member: the pointer to the virtual functions. */
static bool declaration_is_table(const struct lwp_layout_field *field)
{
    return strncmp(field->name, "_vptr", 5) == 0;
}

/* "struct neuron_XQ { double X; double Q; };" where that fits a line. */
static bool declaration_one_line(const struct declaration *to, int which, const struct lwp_split_part *part, const char *name)
{
    size_t length = strlen("struct  { };") + strlen(name);
    bool table = false;
    for (size_t i = 0; i < part->count; i++) {
        table |= declaration_is_table(&to->split->layout->fields[part->fields[i]]);
        length += strlen(to->split->layout->fields[part->fields[i]].declaration) + 2;
    }
    if (length > ONE_LINE || table || part->links || to->split->align || to->language == LWP_LANGUAGE_FORTRAN ||
        (which == 0 && declaration_keeps_name(to->split)))
        return false;
    bool rust = to->language == LWP_LANGUAGE_RUST;
    fprintf(to->out, "struct %s {", name);
    for (size_t i = 0; i < part->count; i++)
        fprintf(to->out, " %s%s", to->split->layout->fields[part->fields[i]].declaration, !rust ? ";" : i + 1 < part->count ? "," : "");
    fputs(rust ? " }\n" : " };\n", to->out);
    return true;
}

static void declaration_links(const struct declaration *to, const struct lwp_split_part *part)
{
    for (size_t link = 1; link <= part->links; link++)
        declaration_link(to, link < to->split->groups ? (int)link : -1);
}

static void declaration_part(const struct declaration *to, int which, const char *name)
{
    const struct lwp_layout *layout = to->split->layout;
    struct lwp_split_part part;
    lwp_split_part(to->split, which, &part);
    if (declaration_one_line(to, which, &part, name))
        return;
    bool defined =
        which == 0 && declaration_keeps_name(to->split) && layout->type && layout->type->is_typedef && to->language == LWP_LANGUAGE_C;
    if (to->language == LWP_LANGUAGE_FORTRAN)
        fprintf(to->out, "type :: %s\n", name);
    else if (to->split->align && to->language == LWP_LANGUAGE_CXX)
        fprintf(to->out, "struct alignas(%llu) %s {\n", (unsigned long long)to->split->align, name);
    else if (to->split->align)
        fprintf(to->out, "%sstruct __attribute__((aligned(%llu))) %s {\n", defined ? "typedef " : "", (unsigned long long)to->split->align,
                name);
    else
        fprintf(to->out, "%sstruct %s {\n", defined ? "typedef " : "", name);
    for (size_t i = 0; i < part.count; i++) {
        const struct lwp_layout_field *field = &layout->fields[part.fields[i]];
        char comment[64];
        if (field->flexible)
            declaration_links(to, &part);
        if (declaration_is_table(field)) {
            fputs("    // the pointer to the virtual functions, +0 while the class has any\n", to->out);
            continue;
        }
        double share = to->profile->total.weight > 0 ? field->weight / to->profile->total.weight : 0;
        if (share >= 0.001)
            snprintf(comment, sizeof comment, "+%llu, %.1f %% of the time", (unsigned long long)part.offsets[i], 100 * share);
        else
            snprintf(comment, sizeof comment, "+%llu", (unsigned long long)part.offsets[i]);
        declaration_member(to, field->declaration, comment);
    }
    if (!part.count || !layout->fields[part.fields[part.count - 1]].flexible)
        declaration_links(to, &part);
    if (defined)
        fprintf(to->out, "} %s;\n", name);
    else if (to->language == LWP_LANGUAGE_FORTRAN)
        fprintf(to->out, "end type %s\n", name);
    else
        fputs(to->language == LWP_LANGUAGE_RUST ? "}\n" : "};\n", to->out);
}

static void declaration_head(const struct declaration *to)
{
    const struct lwp_layout *layout = to->split->layout;
    const char *note = languages[to->language].note, *end = languages[to->language].note_end;
    if (layout->type && layout->type->is_class)
        fprintf(to->out, "%sA sketch: %s is a class; keep its methods and adapt them.%s\n", note, layout->type->name, end);
    if (!layout->type)
        fprintf(to->out, "%sThe type is not known: fields are named by their offset in the %llu-byte element.%s\n", note,
                (unsigned long long)layout->element_bytes, end);
    if (to->split->pooled)
        fprintf(to->out, "%sFor nodes from an array: the index of a node, p - array, is that of the rest in arrays of its own.%s\n", note,
                end);
    if (to->split->kind == LWP_SPLIT_REORDER || layout->single || !declaration_keeps_name(to->split))
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

const char *lwp_declaration_write(struct lwp_profile *profile, const struct lwp_split *split)
{
    char *text = NULL, name[NAME_BYTES];
    size_t size = 0;
    struct declaration to = {.out = open_memstream(&text, &size),
                             .profile = profile,
                             .split = split,
                             .language = split->layout->type ? split->layout->type->language : LWP_LANGUAGE_C};
    if (!to.out)
        return "";
    declaration_head(&to);
    bool nodes = (split->layout->single || split->layout->linked) && !split->pooled && split->kind == LWP_SPLIT_PARTS;
    bool rest = split->cold && !split->caution;                       /* the unused part of somebody else's type stays where it is */
    for (int g = nodes ? 1 : 0; g < (int)split->groups + rest; g++) { /* what is pointed to comes first */
        int which = g < (int)split->groups ? g : -1;
        declaration_name(split, which, name, sizeof name);
        declaration_part(&to, which, name);
    }
    declaration_name(split, 0, name, sizeof name);
    if (nodes)
        declaration_part(&to, 0, name);
    fclose(to.out);
    const char *kept = lwp_arena_strdup(profile->arena, text ? text : "");
    free(text);
    return kept;
}
