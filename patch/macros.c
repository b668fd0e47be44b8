#include "patch/walk.h"

#include <ctype.h>
#include <string.h>

void walk_macro(struct walk *walk, CXCursor definition)
{
    struct span span = walk_span(walk, definition);
    if (span.source && memchr(span.source->text + span.begin, '#', span.end - span.begin))
        LWP_PUSH(walk->stringifier, walk_string(walk, clang.getCursorSpelling(definition)));
}

void walk_in_macro(struct walk *walk, CXCursor use)
{
    CXFile file;
    unsigned at;
    CXSourceLocation begin = clang.getRangeStart(clang.getCursorExtent(use));
    clang.getExpansionLocation(begin, &file, NULL, NULL, &at);
    struct lwp_source *source;
    size_t offset;
    if (!walk_place(walk, begin, &source, &offset) || at >= source->length)
        return;
    /* the outermost macro's name is where the expansion begins; one inside its arguments may be the one that matters */
    for (size_t i = 0; i < walk->stringifier_count; i++)
        if (at < offset && walk_has_word(source->text + at, offset - at, walk->stringifiers[i])) {
            walk_refuse(walk, IN_SPLIT, LWP_REFUSAL_STRINGIFIED, use);
            return;
        }
}
