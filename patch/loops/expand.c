/* Macros in the loops. A cursor shows what they become, but not the operators that they spell: these are read from the text. So where
 * macros are used, the loops are read again from a copy of the source, in which the function stands as libclang prints it: without them. */
#include "patch/loops/nest.h"

#include <string.h>

/* ---- where macros are used ---- */

void expansions_visit(struct expansions *expansions, struct walk *walk, const struct frame *frame)
{
    struct expansion expansion = {.cursor = frame->cursor};
    enum CXCursorKind kind = clang.getCursorKind(frame->cursor);
    if (kind == CXCursor_MacroDefinition)
        walk_macro(walk, frame->cursor);
    else if (kind == CXCursor_MacroExpansion &&
             walk_place(walk, clang.getRangeStart(clang.getCursorExtent(frame->cursor)), &expansion.source, &expansion.at))
        LWP_PUSH(expansions->expansion, expansion);
}

static bool is_in(const struct expansion *expansion, const struct lwp_source *source, size_t begin, size_t end)
{
    return expansion->source == source && expansion->at >= begin && expansion->at < end;
}

bool expansions_are_in(const struct expansions *expansions, const struct lwp_source *source, size_t begin, size_t end)
{
    for (size_t i = 0; i < expansions->expansion_count; i++)
        if (is_in(&expansions->expansions[i], source, begin, end))
            return true;
    return false;
}

bool expansions_have_pragma(const struct expansions *expansions, struct walk *walk, const struct lwp_source *source, size_t begin,
                            size_t end)
{
    for (size_t i = 0; i < expansions->expansion_count; i++)
        if (is_in(&expansions->expansions[i], source, begin, end) && walk_macro_says(walk, expansions->expansions[i].cursor, "_Pragma"))
            return true;
    return false;
}

/* ---- the function without them ---- */

struct count {
    CXSourceLocation until; /* cursors know how they were reached, and differ */
    unsigned loops;
    bool found;
};

static enum CXChildVisitResult count_loop(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct count *count = data;
    (void)parent;
    bool loop = clang.getCursorKind(cursor) == CXCursor_ForStmt;
    count->found = count->found || (loop && clang.equalLocations(clang.getCursorLocation(cursor), count->until));
    count->loops += loop && !count->found;
    return count->found ? CXChildVisit_Break : CXChildVisit_Recurse;
}

unsigned nest_number(CXCursor function, CXCursor inner)
{
    struct count count = {.until = clang.getCursorLocation(inner)};
    clang.visitChildren(function, count_loop, &count);
    return count.loops;
}

void nest_print(struct nest *nest, struct walk *walk, CXCursor function)
{
    struct span span = walk_span(walk, function);
    CXPrintingPolicy policy = clang.getCursorPrintingPolicy(function);
    nest->printed = walk_string(walk, clang.getCursorPrettyPrinted(function, policy));
    clang.PrintingPolicy_dispose(policy);
    nest->function_begin = span.begin;
    nest->function_end = span.end;
}

const char *nest_expand(const struct nest *nest, struct lwp_arena *arena)
{
    const char *text = nest->source->text;
    return lwp_arena_printf(arena, "%.*s%s%s", (int)nest->function_begin, text, nest->printed, text + nest->function_end);
}
