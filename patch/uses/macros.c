/* Accesses to fields that a macro's body spells: `#define KEY(p) ((p)->key)`. The body is edited once for all uses, where it is sure that
 * each of them means this field. libclang says only where the macro is used, so the body is found by the macro's name. */
#include "patch/uses/walk.h"

#include <stdlib.h>
#include <string.h>

enum { NESTED_MOST = 4 };

void walk_macro(struct walk *walk, CXCursor definition)
{
    struct span span = walk_span(walk, definition);
    if (!span.source)
        return;
    const char *name = walk_string(walk, clang.getCursorSpelling(definition));
    LWP_PUSH(walk->macro, (struct lwp_macro){name, span.source, span.begin, span.end});
    if (memchr(span.source->text + span.begin, '#', span.end - span.begin))
        LWP_PUSH(walk->stringifier, name);
}

/* The only definition of a macro, or NULL. */
static const struct lwp_macro *find_macro(const struct walk *walk, const char *text, size_t length)
{
    const struct lwp_macro *found = NULL;
    for (size_t i = 0; i < walk->macro_count; i++) {
        const struct lwp_macro *macro = &walk->macros[i];
        if (strlen(macro->name) != length || memcmp(macro->name, text, length) != 0)
            continue;
        if (found && (found->source != macro->source || found->begin != macro->begin))
            return NULL;
        found = macro;
    }
    return found;
}

static size_t word_length(const char *text)
{
    size_t length = 0;
    while (lwp_is_word_character(text[length]))
        length++;
    return length;
}

/* Where the parenthesised base of the access whose "->" or "." is at `at` begins; 0: it is none. */
static size_t base_begin(const char *text, size_t first, size_t at)
{
    while (at > first && strchr(" \t", text[at - 1]))
        at--;
    if (at == first || text[at - 1] != ')')
        return 0;
    unsigned depth = 0;
    do {
        at--;
        depth += text[at] == ')';
        depth -= text[at] == '(';
    } while (depth && at > first);
    size_t before = at;
    while (before > first && strchr(" \t", text[before - 1]))
        before--;
    bool call = before > first && (lwp_is_word_character(text[before - 1]) || strchr(")]", text[before - 1]));
    return depth || call ? 0 : at;
}

/* Fills `member` with the place of an access to `field` in the text; false: it is written in another way. */
static bool read_access(struct lwp_source *source, size_t first, size_t name_at, const char *field, struct lwp_member *member)
{
    const char *text = source->text;
    size_t end = name_at;
    while (end > first && strchr(" \t", text[end - 1]))
        end--;
    bool arrow = end >= first + 2 && text[end - 1] == '>' && text[end - 2] == '-';
    if (!arrow && !(end > first && text[end - 1] == '.'))
        return false;
    size_t base_end = end - (arrow ? 2 : 1);
    while (base_end > first && strchr(" \t", text[base_end - 1]))
        base_end--;
    size_t begin = base_begin(text, first, base_end);
    *member = (struct lwp_member){.source = source,
                                  .begin = begin,
                                  .base_end = base_end,
                                  .name_at = name_at,
                                  .end = name_at + strlen(field),
                                  .arrow = arrow,
                                  .in_macro = true};
    return begin > 0;
}

struct search {
    const struct walk *walk;
    const char *field;
    unsigned found;
    struct lwp_member member;
    bool readable;
};

/* All places where the body, and those of macros it names, have the field's name. */
static void search_body(struct search *search, const struct lwp_macro *macro, unsigned depth)
{
    const char *text = macro->source->text;
    size_t at = macro->begin + word_length(text + macro->begin), first = at;
    while (at < macro->end) {
        size_t length = word_length(text + at);
        if (!length) {
            at++;
            continue;
        }
        const struct lwp_macro *inner = depth < NESTED_MOST ? find_macro(search->walk, text + at, length) : NULL;
        if (length == strlen(search->field) && memcmp(text + at, search->field, length) == 0) {
            search->found++;
            search->readable = read_access(macro->source, first, at, search->field, &search->member);
        } else if (inner && inner != macro) {
            search_body(search, inner, depth + 1);
        }
        at += length;
    }
}

/* The place in a macro's body that the access comes from. */
static bool find_place(struct walk *walk, CXCursor access, const char *field, struct lwp_member *member)
{
    struct lwp_source *source;
    size_t at;
    if (!walk_place(walk, clang.getCursorLocation(access), &source, &at))
        return false;
    size_t length = word_length(source->text + at);
    const struct lwp_macro *macro = length ? find_macro(walk, source->text + at, length) : NULL;
    struct search search = {walk, field, 0, {0}, false};
    if (macro)
        search_body(&search, macro, 0);
    *member = search.member;
    return search.found == 1 && search.readable;
}

bool walk_macro_member(struct walk *walk, CXCursor access, size_t field)
{
    struct lwp_member member;
    if (!find_place(walk, access, walk->uses->type.fields[field].name, &member))
        return false;
    member.field = field;
    for (size_t i = walk->uses->member_count; i-- > 0;)
        if (walk->uses->members[i].source == member.source && walk->uses->members[i].name_at == member.name_at)
            return walk->uses->members[i].in_macro;
    LWP_PUSH(walk->uses->member, member);
    return true;
}

void walk_macro_other(struct walk *walk, CXCursor access, CXCursor field)
{
    const struct lwp_type *type = &walk->uses->type;
    const char *name = NULL;
    struct lwp_member member;
    if (clang.Cursor_isNull(field) || clang.getCursorKind(field) != CXCursor_FieldDecl)
        return;
    CXString spelling = clang.getCursorSpelling(field);
    for (size_t i = 0; i < type->field_count && !name; i++)
        if (strcmp(type->fields[i].name, clang.getCString(spelling)) == 0)
            name = type->fields[i].name;
    clang.disposeString(spelling);
    struct lwp_source *source;
    size_t at;
    if (!name || !walk_place(walk, clang.getCursorLocation(access), &source, &at) || walk_is_text(source, at, name) ||
        !find_place(walk, access, name, &member))
        return;
    for (size_t i = 0; i < walk->macro_other_count; i++)
        if (walk->macro_others[i].source == member.source && walk->macro_others[i].name_at == member.name_at)
            return;
    LWP_PUSH(walk->macro_other, member);
}

/* Whether the bodies of all macros of this name have the word. */
static bool says(const struct walk *walk, const char *text, size_t length, const char *word, unsigned depth)
{
    for (size_t i = 0; i < walk->macro_count; i++) {
        const struct lwp_macro *macro = &walk->macros[i];
        if (strlen(macro->name) != length || memcmp(macro->name, text, length) != 0)
            continue;
        const char *body = macro->source->text;
        if (depth == NESTED_MOST || lwp_find_word(body + macro->begin, macro->end - macro->begin, word))
            return true;
        for (size_t at = macro->begin + length, inner; at < macro->end; at += inner ? inner : 1) {
            inner = word_length(body + at);
            if (inner && says(walk, body + at, inner, word, depth + 1))
                return true;
        }
    }
    return false;
}

bool walk_macro_says(struct walk *walk, CXCursor expansion, const char *word)
{
    const char *name = walk_string(walk, clang.getCursorSpelling(expansion));
    return says(walk, name, strlen(name), word, 0);
}

void walk_macros_decide(struct walk *walk)
{
    for (size_t i = 0; i < walk->macro_other_count; i++)
        for (size_t k = 0; k < walk->uses->member_count; k++) {
            const struct lwp_member *member = &walk->uses->members[k];
            if (member->source == walk->macro_others[i].source && member->name_at == walk->macro_others[i].name_at)
                lwp_uses_refuse(walk->uses, IN_SPLIT, LWP_REFUSAL_MACRO, member->source, member->name_at);
        }
}
