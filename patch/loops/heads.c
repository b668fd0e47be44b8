/* The nest: its two heads, and what is used after it. */
#include "patch/loops/nest.h"

#include <stdlib.h>
#include <string.h>

/* ---- a loop's head ---- */

static bool is_reference(CXCursor expression, CXCursor variable)
{
    CXCursor inner = walk_strip(expression);
    return clang.getCursorKind(inner) == CXCursor_DeclRefExpr && clang.equalCursors(clang.getCursorReferenced(inner), variable);
}

static bool is_integer(CXType type)
{
    type = clang.getCanonicalType(type);
    return !clang.isVolatileQualifiedType(type) && type.kind >= CXType_Bool && type.kind <= CXType_LongLong;
}

/* `long i = FIRST` or `i = FIRST`. */
static bool read_init(struct walk *walk, CXCursor init, CXCursor *counter, CXCursor *first)
{
    CXCursor parts[CHILDREN_MOST];
    unsigned count = walk_children(init, parts);
    if (clang.getCursorKind(init) == CXCursor_DeclStmt && count == 1 && clang.getCursorKind(parts[0]) == CXCursor_VarDecl) {
        *counter = parts[0];
        *first = clang.Cursor_getVarDeclInitializer(*counter);
    } else if (clang.getCursorKind(init) == CXCursor_BinaryOperator && count == 2 && strcmp(walk_operator(walk, init), "=") == 0) {
        *counter = clang.getCursorReferenced(walk_strip(parts[0]));
        *first = parts[1];
    } else {
        return false;
    }
    enum CXCursorKind kind = clang.getCursorKind(*counter);
    return clang.isExpression(clang.getCursorKind(*first)) && (kind == CXCursor_VarDecl || kind == CXCursor_ParmDecl) &&
           clang.Cursor_getStorageClass(*counter) != CX_SC_Static && is_integer(clang.getCursorType(*counter)) &&
           clang.getCursorKind(clang.getCursorSemanticParent(*counter)) == CXCursor_FunctionDecl;
}

/* `++`, `--`, `+= 2` and the like: the sign of the step, 0: something else. */
static int read_advance(struct walk *walk, struct head *head, CXCursor advance)
{
    CXCursor parts[CHILDREN_MOST];
    long long by;
    unsigned count = walk_children(advance, parts);
    if (!count || !is_reference(parts[0], head->counter))
        return 0;
    if (clang.getCursorKind(advance) == CXCursor_CompoundAssignOperator && count == 2 &&
        clang.getCursorKind(walk_strip(parts[1])) == CXCursor_IntegerLiteral && !walk_is_null(parts[1])) {
        const char *sign = walk_operator(walk, advance);
        head->by_one = walk_number(parts[1], &by) && by == 1;
        return strcmp(sign, "+=") == 0 ? 1 : strcmp(sign, "-=") == 0 ? -1 : 0;
    }
    head->by_one = true;
    return walk_step(walk, advance);
}

/* The ends between which the counter is, from `i < END` and what it begins with. */
static bool read_ends(struct walk *walk, struct head *head, CXCursor condition, struct form first, struct form end)
{
    const char *comparison = walk_operator(walk, condition);
    struct form one = form_of_number(1);
    if (head->step > 0 && (strcmp(comparison, "<") == 0 || strcmp(comparison, "!=") == 0 || strcmp(comparison, "<=") == 0)) {
        head->least = first;
        head->beyond = comparison[0] == '<' && comparison[1] == '=' ? form_sum(end, one, 1) : end;
        return true;
    }
    if (head->step < 0 && (strcmp(comparison, ">") == 0 || strcmp(comparison, "!=") == 0 || strcmp(comparison, ">=") == 0)) {
        head->least = comparison[0] == '>' && comparison[1] == '=' ? end : form_sum(end, one, 1);
        head->beyond = form_sum(first, one, 1);
        return true;
    }
    return false;
}

/* The text between the parentheses. */
static bool read_text(struct walk *walk, struct head *head, CXCursor loop, CXCursor advance)
{
    struct span whole = walk_span(walk, loop), last = walk_span(walk, advance);
    if (!whole.source || whole.source != last.source || !walk_is_text(whole.source, whole.begin, "for"))
        return false;
    size_t open = walk_skip_space(whole.source, whole.begin + 3);
    head->begin = open + 1;
    head->end = walk_skip_space(whole.source, last.end);
    return whole.source->text[open] == '(' && whole.source->text[head->end] == ')';
}

/* The parts of `for (init; condition; advance) body`; false: one is missing, or the head has another form. */
static bool read_head(struct nest *nest, struct walk *walk, CXCursor loop, struct head *head, CXCursor *parts)
{
    CXCursor all[CHILDREN_MOST], compared[CHILDREN_MOST], first;
    if (walk_children(loop, all) != FOR_PARTS)
        return false;
    memcpy(parts, all, FOR_PARTS * sizeof *parts);
    if (!read_init(walk, parts[FOR_INIT], &head->counter, &first) || !read_text(walk, head, loop, parts[FOR_ADVANCE]) ||
        clang.getCursorKind(parts[FOR_CONDITION]) != CXCursor_BinaryOperator || walk_children(parts[FOR_CONDITION], compared) != 2 ||
        !is_reference(compared[0], head->counter))
        return false;
    head->variable = walk_usr(walk, head->counter);
    CXType type = clang.getCanonicalType(clang.getCursorType(head->counter));
    head->is_unsigned = type.kind >= CXType_Bool && type.kind <= CXType_ULongLong;
    head->step = read_advance(walk, head, parts[FOR_ADVANCE]);
    return head->step &&
           read_ends(walk, head, parts[FOR_CONDITION], nest_read_end(nest, walk, first), nest_read_end(nest, walk, compared[1]));
}

/* ---- what is used after the loops ---- */

struct search {
    struct walk *walk;
    const struct nest *nest;
    CXCursor variable;
    unsigned begins; /* loops around that begin with giving it a value */
    bool found;
};

static enum CXChildVisitResult search_uses(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct search *search = data;
    const struct nest *nest = search->nest;
    (void)parent;
    CXCursor parts[CHILDREN_MOST], counter, first;
    enum CXCursorKind kind = clang.getCursorKind(cursor);
    struct span span = walk_span(search->walk, cursor);
    if (span.source == nest->source && span.begin >= nest->begin && span.end <= nest->end)
        return CXChildVisit_Continue;
    bool around = span.source == nest->source && span.begin <= nest->begin && span.end >= nest->end;
    bool begins = kind == CXCursor_ForStmt && !around && walk_children(cursor, parts) == FOR_PARTS &&
                  read_init(search->walk, parts[FOR_INIT], &counter, &first) && clang.equalCursors(counter, search->variable);
    search->found = search->found || kind == CXCursor_LabelStmt ||
                    (kind == CXCursor_DeclRefExpr && !search->begins && is_reference(cursor, search->variable));
    search->begins += begins;
    clang.visitChildren(cursor, search_uses, search);
    search->begins -= begins;
    return CXChildVisit_Continue;
}

/* Whether anything else in the function may see the value that the loops leave in a variable of it. */
static bool is_used_after(struct walk *walk, const struct nest *nest, CXCursor function, CXCursor variable)
{
    struct search search = {.walk = walk, .nest = nest, .variable = variable};
    if (nest_is_inside(walk, variable, nest->source, nest->begin, nest->end))
        return false;
    clang.visitChildren(function, search_uses, &search);
    return search.found;
}

/* ---- the nest ---- */

/* Lines of the preprocessor in the loops, or right before them: a pragma speaks of the loop that follows. A macro may be one, too. */
static bool has_directive(const struct nest *nest, struct walk *walk, const struct expansions *expansions, const struct frame *outer)
{
    CXCursor beside[CHILDREN_MOST];
    const char *text = nest->source->text;
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a loop is in a function
    struct span before = walk_span(walk, outer->up->cursor);
    size_t from = before.begin;
    if (outer->index > 0 && clang.getCursorKind(outer->up->cursor) == CXCursor_CompoundStmt &&
        walk_children(outer->up->cursor, beside) > outer->index) {
        before = walk_span(walk, beside[outer->index - 1]);
        from = before.end;
    }
    if (before.source != nest->source || from > nest->begin)
        return true;
    for (size_t at = from; at < nest->end; at++)
        if (text[at] == '#' || strncmp(text + at, "_Pragma", 7) == 0)
            return true;
    return expansions_are_in(expansions, nest->source, from, nest->begin) ||
           expansions_have_pragma(expansions, walk, nest->source, nest->begin, nest->end);
}

/* The loop around, or NULL; *perfect: it has nothing else in it. */
static const struct frame *outer_of(const struct frame *inner, bool *perfect)
{
    const struct frame *up = inner->up;
    CXCursor statements[CHILDREN_MOST];
    *perfect = true;
    if (up && clang.getCursorKind(up->cursor) == CXCursor_CompoundStmt) {
        *perfect = walk_children(up->cursor, statements) == 1;
        up = up->up;
    }
    return up && clang.getCursorKind(up->cursor) == CXCursor_ForStmt ? up : NULL;
}

void nest_read(struct nest *nest, struct walk *walk, const struct expansions *expansions, const struct frame *inner)
{
    const struct frame *outer = outer_of(inner, &nest->is_perfect), *function = inner;
    struct span span = walk_span(walk, outer ? outer->cursor : inner->cursor);
    CXCursor parts[FOR_PARTS], outer_parts[FOR_PARTS];
    nest->source = span.source;
    nest->begin = span.begin;
    nest->end = span.end;
    for (; function->up && clang.getCursorKind(function->cursor) != CXCursor_FunctionDecl; function = function->up)
        nest->depth += clang.getCursorKind(function->cursor) == CXCursor_ForStmt;
    if (!outer || !span.source) {
        nest_refuse(nest, walk, LWP_REFUSAL_NEST, inner->cursor);
        return;
    }
    if (has_directive(nest, walk, expansions, outer))
        nest_refuse(nest, walk, LWP_REFUSAL_DIRECTIVE, outer->cursor);
    if (nest->refusals.refused_count)
        return;
    if (!read_head(nest, walk, outer->cursor, &nest->outer, outer_parts) || !read_head(nest, walk, inner->cursor, &nest->inner, parts)) {
        nest_refuse(nest, walk, LWP_REFUSAL_HEAD, inner->cursor);
        return;
    }
    for (size_t i = 0; i < walk->from->argument_count; i++)
        nest->any_type = nest->any_type || strcmp(walk->from->arguments[i], "-fno-strict-aliasing") == 0;
    nest->is_read = true;
    nest->number = nest_number(function->cursor, inner->cursor);
    nest->function = walk_usr(walk, function->cursor);
    nest_print(nest, walk, function->cursor);
    nest->has_macro = expansions_are_in(expansions, nest->source, nest->begin, nest->end);
    if (nest->is_perfect)
        nest_read_body(nest, walk, parts[FOR_BODY]);
    else if (!nest_read_around(nest, walk, outer_parts, parts, inner->cursor))
        nest_refuse(nest, walk, LWP_REFUSAL_NEST, inner->cursor);
    if (is_used_after(walk, nest, function->cursor, nest->outer.counter))
        nest_refuse(nest, walk, LWP_REFUSAL_COUNTER, outer->cursor);
    if (is_used_after(walk, nest, function->cursor, nest->inner.counter))
        nest_refuse(nest, walk, LWP_REFUSAL_COUNTER, inner->cursor);
    for (size_t i = 0; i < nest->outside_count; i++) {
        const struct outside *outside = &nest->outsides[i];
        bool local = clang.getCursorKind(clang.getCursorSemanticParent(outside->declaration)) == CXCursor_FunctionDecl &&
                     clang.Cursor_getStorageClass(outside->declaration) != CX_SC_Static;
        if (outside->writes && outside->sometimes && (!local || is_used_after(walk, nest, function->cursor, outside->declaration)))
            lwp_refuse(&nest->refusals, LWP_REFUSAL_CARRIED, outside->source, outside->at, NULL);
    }
}
