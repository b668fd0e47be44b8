#include "patch/uses/walk.h"

#include "base/path.h"

#include <stdlib.h>
#include <string.h>

char *walk_string(struct walk *walk, CXString string)
{
    const char *text = clang.getCString(string);
    char *copy = lwp_arena_strdup(walk->uses->arena, text ? text : "");
    clang.disposeString(string);
    return copy;
}

const char *walk_usr(struct walk *walk, CXCursor declaration)
{
    return walk_string(walk, clang.getCursorUSR(declaration));
}

bool walk_place(struct walk *walk, CXSourceLocation location, struct lwp_source **source, size_t *offset)
{
    CXFile file;
    unsigned at;
    clang.getFileLocation(location, &file, NULL, NULL, &at);
    if (!file)
        return false;
    if (file != walk->file) {
        char *path = walk_string(walk, clang.File_tryGetRealPathName(file));
        if (*path != '/')
            path = walk_string(walk, clang.getFileName(file));
        walk->file = file;
        walk->source = *path == '/' ? lwp_source_open(walk->uses->sources, path) : NULL;
    }
    *source = walk->source;
    *offset = at;
    return *source && at <= (*source)->length;
}

struct span walk_span(struct walk *walk, CXCursor cursor)
{
    struct span span = {0};
    struct lwp_source *other;
    CXSourceRange range = clang.getCursorExtent(cursor);
    CXSourceLocation begin = clang.getRangeStart(range);
    unsigned at, expanded;
    CXFile file;
    if (!walk_place(walk, begin, &span.source, &span.begin) || !walk_place(walk, clang.getRangeEnd(range), &other, &span.end) ||
        other != span.source || span.end < span.begin)
        return (struct span){0};
    clang.getFileLocation(begin, &file, NULL, NULL, &at);
    clang.getExpansionLocation(begin, &file, NULL, NULL, &expanded);
    span.argument = at != expanded;
    return span;
}

bool walk_is_text(const struct lwp_source *source, size_t at, const char *text)
{
    size_t length = strlen(text);
    return at + length <= source->length && memcmp(source->text + at, text, length) == 0 &&
           !lwp_is_word_character(source->text[at + length]) && (at == 0 || !lwp_is_word_character(source->text[at - 1]));
}

bool walk_is_file(const struct lwp_source *source, const char *recorded)
{
    char *real = realpath(recorded, NULL); /* NULL: it was built elsewhere */
    bool same = real ? strcmp(source->path, real) == 0 : strcmp(lwp_path_last(source->path), lwp_path_last(recorded)) == 0;
    free(real);
    return same;
}

size_t walk_skip_space(const struct lwp_source *source, size_t at)
{
    for (;;) {
        const char *text = source->text + at;
        at += strspn(text, " \t\n\r\f\v");
        text = source->text + at;
        if (text[0] == '/' && text[1] == '/') {
            at += strcspn(text, "\n");
        } else if (text[0] == '/' && text[1] == '*') {
            const char *end = strstr(text + 2, "*/");
            at = end ? (size_t)(end + 2 - source->text) : source->length;
        } else {
            return at;
        }
    }
}

void walk_refuse(struct walk *walk, unsigned ways, enum lwp_refusal reason, CXCursor at)
{
    struct lwp_source *source = NULL;
    size_t offset = 0;
    walk_place(walk, clang.getRangeStart(clang.getCursorExtent(at)), &source, &offset);
    lwp_uses_refuse(walk->uses, ways, reason, source, offset);
}

bool walk_is_stringified(struct walk *walk, CXCursor use)
{
    CXFile file;
    unsigned at;
    CXSourceLocation begin = clang.getRangeStart(clang.getCursorExtent(use));
    clang.getExpansionLocation(begin, &file, NULL, NULL, &at);
    struct lwp_source *source;
    size_t offset;
    if (!walk_place(walk, begin, &source, &offset) || at >= source->length)
        return false;
    /* the outermost macro's name is where the expansion begins; one inside its arguments may be the one that matters */
    for (size_t i = 0; i < walk->stringifier_count; i++)
        if (at < offset && lwp_find_word(source->text + at, offset - at, walk->stringifiers[i]))
            return true;
    return false;
}

void walk_in_macro(struct walk *walk, CXCursor use)
{
    if (walk_is_stringified(walk, use))
        walk_refuse(walk, IN_SPLIT, LWP_REFUSAL_STRINGIFIED, use);
}
