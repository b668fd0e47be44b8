/* The text of the change: one declaration, one allocation, and array[i] becomes group[i].array. */
#include "patch/arrays/regroup.h"

#include <stdlib.h>
#include <string.h>

enum { PIECES_MOST = 64 };

struct edit {
    struct regroup *regroup;
    struct lwp_arena *arena;
    const char *group;              /* the variable and the structure's tag */
    const char *types[ARRAYS_MOST]; /* of the elements, as declared */
    bool is_static[ARRAYS_MOST];
    size_t declared; /* the end of the last declaration */
};

static void replace(struct edit *edit, size_t begin, size_t end, const char *text)
{
    lwp_source_edit(edit->regroup->source, begin, end, begin, text);
}

/* With its line, if nothing else stands in it. */
static void drop(struct edit *edit, size_t begin, size_t end)
{
    const char *text = edit->regroup->source->text;
    size_t first = begin, behind = end + strspn(text + end, " \t\r");
    while (first > 0 && (text[first - 1] == ' ' || text[first - 1] == '\t'))
        first--;
    if (text[behind] == '\n' && (first == 0 || text[first - 1] == '\n'))
        replace(edit, first, behind + 1, "");
    else
        replace(edit, begin, end, "");
}

/* ---- declarations ---- */

static const char *trimmed(struct edit *edit, const char *begin, const char *end)
{
    begin += strspn(begin, " \t\r\n");
    while (end > begin && strchr(" \t\r\n", end[-1]))
        end--;
    return lwp_arena_strndup(edit->arena, begin, end > begin ? (size_t)(end - begin) : 0);
}

/* Which array a declarator `*name` is, or array_count. */
static size_t array_of(const struct edit *edit, size_t begin, const char *declarator)
{
    const struct regroup *regroup = edit->regroup;
    size_t i = 0;
    if (*declarator == '*')
        declarator += 1 + strspn(declarator + 1, " \t\r\n");
    while (i < regroup->array_count && (regroup->arrays[i].begin != begin || strcmp(regroup->arrays[i].name, declarator) != 0))
        i++;
    return i;
}

/* `static TYPE`: what all declarators have in common, if it may be said of a member. */
static const char *type_of(struct edit *edit, const char *words, bool *is_static)
{
    static const char *const others[] = {"extern", "register", "__thread", "_Thread_local",
                                         "const",  "volatile", "typedef",  "__extension__"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (lwp_find_word(words, strlen(words), others[i]))
            return NULL;
    *is_static = strncmp(words, "static", 6) == 0 && !lwp_is_word_character(words[6]);
    const char *type = *is_static ? trimmed(edit, words + 6, words + strlen(words)) : words;
    return lwp_find_word(type, strlen(type), "static") ? NULL : type;
}

static const char *new_declaration(const struct edit *edit)
{
    const struct regroup *regroup = edit->regroup;
    char *text = lwp_format("struct %s {\n", edit->group);
    for (size_t i = 0; i < regroup->array_count; i++)
        lwp_format_more(&text, "    %s %s;\n", edit->types[i], regroup->arrays[i].name);
    lwp_format_more(&text, "};\n%sstruct %s *%s;", edit->is_static[0] ? "static " : "", edit->group, edit->group);
    const char *copy = lwp_arena_strdup(edit->arena, text);
    free(text);
    return copy;
}

/* Whether the element's type is complete where the structure is to stand. */
static bool is_defined_before(struct edit *edit, const struct array *array, size_t place)
{
    struct lwp_source *source;
    size_t at;
    CXCursor declaration = clang.getTypeDeclaration(clang.getCanonicalType(array->element));
    return clang.getCanonicalType(array->element).kind != CXType_Record ||
           !walk_place(&edit->regroup->walk, clang.getCursorLocation(clang.getCursorDefinition(declaration)), &source, &at) ||
           source != edit->regroup->source || at < place;
}

/* Takes our arrays out of a declaration; false: it cannot be taken apart. */
static bool rewrite_declaration(struct edit *edit, size_t begin, bool last)
{
    const char *text = edit->regroup->source->text + begin, *end = strchr(text, ';'), *star;
    if (!end || !(star = memchr(text, '*', (size_t)(end - text))) || strcspn(text, "/#({=?") < (size_t)(end - text) ||
        memchr(text, ',', (size_t)(star - text)))
        return false;
    bool is_static;
    size_t taken = 0, declared = 0;
    const char *words = trimmed(edit, text, star), *type = type_of(edit, words, &is_static);
    char *rest = lwp_format("%s", "");
    for (const char *piece = star, *next; type && piece < end; piece = next + 1) {
        next = piece + strcspn(piece, ",;");
        const char *declarator = trimmed(edit, piece, next);
        size_t array = *declarator == '*' ? array_of(edit, begin, declarator) : edit->regroup->array_count;
        if (array < edit->regroup->array_count) {
            edit->types[array] = type;
            edit->is_static[array] = is_static;
            taken++;
        } else {
            lwp_format_more(&rest, "%s%s", *rest ? ", " : "", declarator);
        }
    }
    for (size_t i = 0; i < edit->regroup->array_count; i++)
        declared += edit->regroup->arrays[i].begin == begin;
    for (size_t i = 0; i < edit->regroup->array_count && last; i++)
        if (!is_defined_before(edit, &edit->regroup->arrays[i], begin))
            type = NULL;
    const char *kept = *rest ? lwp_arena_printf(edit->arena, "%s %s;", words, rest) : "";
    free(rest);
    if (!type || taken != declared)
        return false;
    size_t behind = (size_t)(end + 1 - edit->regroup->source->text);
    if (last)
        replace(edit, begin, behind, lwp_arena_printf(edit->arena, "%s%s%s", kept, *kept ? "\n" : "", new_declaration(edit)));
    else if (*kept)
        replace(edit, begin, behind, kept);
    else
        drop(edit, begin, behind);
    edit->declared = last ? behind : 0;
    return true;
}

static void rewrite_declarations(struct edit *edit)
{
    const struct regroup *regroup = edit->regroup;
    for (size_t from = 0, next;; from = next + 1) { /* one after the other: the last one needs the others' types */
        size_t later = 0;
        next = (size_t)-1;
        for (size_t i = 0; i < regroup->array_count; i++) {
            size_t begin = regroup->arrays[i].begin;
            if (begin >= from && begin < next) {
                later += next != (size_t)-1;
                next = begin;
            } else {
                later += begin > next;
            }
        }
        if (next == (size_t)-1)
            return;
        if (!rewrite_declaration(edit, next, later == 0))
            regroup_refuse(edit->regroup, LWP_REFUSAL_ONE_DECLARATION, next);
    }
}

/* ---- uses ---- */

static bool is_kept(const struct regroup *regroup, const struct array_use *use)
{
    for (size_t i = 0; i < regroup->use_count; i++) {
        const struct array_use *other = &regroup->uses[i];
        bool beside =
            other->kind == use->kind && clang.equalLocations(clang.getCursorLocation(other->block), clang.getCursorLocation(use->block));
        if (beside && (use->kind == USE_ALLOCATE ? other->begin < use->begin : other->begin > use->begin))
            return false;
    }
    return true;
}

/* Within a statement that is changed as a whole. */
static bool is_within(const struct regroup *regroup, const struct array_use *use)
{
    for (size_t i = 0; i < regroup->use_count; i++) {
        const struct array_use *other = &regroup->uses[i];
        if (other != use && other->kind == USE_ALLOCATE && use->at >= other->begin && use->at < other->end)
            return true;
    }
    return false;
}

static void rewrite_use(struct edit *edit, const struct array_use *use)
{
    const char *name = edit->regroup->arrays[use->array].name;
    bool statement = use->kind == USE_ALLOCATE || use->kind == USE_FREE;
    if (use->at < edit->declared)
        regroup_refuse(edit->regroup, LWP_REFUSAL_ONE_DECLARATION, use->at);
    if (use->kind == USE_SIZE || (!statement && is_within(edit->regroup, use)))
        return;
    if (statement && !is_kept(edit->regroup, use)) {
        drop(edit, use->begin, use->end);
        return;
    }
    replace(edit, use->at, use->at + strlen(name), edit->group);
    if (use->kind == USE_ELEMENT)
        lwp_source_edit(edit->regroup->source, use->end, use->end, use->at, lwp_arena_printf(edit->arena, ".%s", name));
    if (use->kind == USE_ALLOCATE)
        replace(edit, use->size_begin, use->size_end, lwp_arena_printf(edit->arena, "sizeof *%s", edit->group));
    if (use->cast_end)
        replace(edit, use->cast_begin, use->cast_end, lwp_arena_printf(edit->arena, "(struct %s *)", edit->group));
}

void regroup_edit(struct regroup *regroup)
{
    struct lwp_uses *uses = regroup->walk.uses;
    struct edit edit = {
        .regroup = regroup, .arena = uses->arena, .group = lwp_arena_printf(uses->arena, "%s_group", regroup->arrays[0].name)};
    for (size_t i = 0; i < uses->sources->source_count; i++) {
        const struct lwp_source *source = uses->sources->sources[i];
        const char *there = lwp_find_word(source->text, source->length, edit.group);
        if (there)
            lwp_uses_refuse(uses, IN_REGROUP, LWP_REFUSAL_NAME_TAKEN, source, (size_t)(there - source->text));
    }
    rewrite_declarations(&edit);
    for (size_t i = 1; i < regroup->array_count; i++)
        if (edit.is_static[i] != edit.is_static[0])
            regroup_refuse(regroup, LWP_REFUSAL_ONE_DECLARATION, regroup->arrays[i].at);
    for (size_t i = 0; i < regroup->use_count; i++)
        rewrite_use(&edit, &regroup->uses[i]);
}
