/* The variable that holds the one array, and what names its type: what there may be if it is to become one array for each group. */
#include "patch/uses/walk.h"

#include <string.h>

static bool add_use(struct walk *walk, struct lwp_array_use use, const char *name)
{
    if (!use.source || !walk_is_text(use.source, use.at, name))
        return false;
    for (size_t i = 0; i < walk->uses->array_use_count; i++)
        if (walk->uses->array_uses[i].source == use.source && walk->uses->array_uses[i].at == use.at)
            return walk->uses->array_uses[i].field == use.field; /* a macro may use its argument for several */
    LWP_PUSH(walk->uses->array_use, use);
    return true;
}

static bool add_name(struct walk *walk, CXCursor at, struct lwp_array_use use)
{
    return walk_place(walk, clang.getCursorLocation(at), &use.source, &use.at) && add_use(walk, use, walk->uses->change->object);
}

/* Only one variable in the declaration: what follows it is "=", "[", or ";". */
static bool is_alone(const struct lwp_source *source, size_t begin, size_t end, const char *type)
{
    size_t named = begin;
    if (source->text[walk_skip_space(source, end)] != ';')
        return false;
    unsigned depth = 0;
    for (; named < end; named++) {
        depth += source->text[named] == '(' || source->text[named] == '[' || source->text[named] == '{';
        depth -= depth && (source->text[named] == ')' || source->text[named] == ']' || source->text[named] == '}');
        if (source->text[named] == ',' && !depth)
            return false;
    }
    return lwp_find_word(source->text + begin, end - begin, type);
}

void walk_array_variable(struct walk *walk, CXCursor declaration)
{
    const struct lwp_change *change = walk->uses->change;
    unsigned pointers;
    CXType type = clang.getCanonicalType(clang.getCursorType(declaration));
    if (walk_target(walk, type, &pointers) != 0 || clang.getCursorKind(declaration) != CXCursor_VarDecl || !change->object)
        return;
    CXString name = clang.getCursorSpelling(declaration);
    bool named = strcmp(clang.getCString(name), change->object) == 0;
    clang.disposeString(name);
    const char *usr = walk_usr(walk, declaration);
    if (!named || (walk->array_usr && strcmp(usr, walk->array_usr) != 0))
        return;
    walk->array_usr = usr;
    struct span span = walk_span(walk, declaration);
    struct lwp_array_use use = {.begin = span.begin, .end = span.end, .field = -1, .declaration = true};
    bool whole = pointers + (type.kind == CXType_ConstantArray) == 1 && span.source && !span.argument;
    CXCursor parts[CHILDREN_MOST];
    unsigned count = walk_children(declaration, parts);
    for (unsigned i = 0; i < count; i++)
        if (clang.getCursorKind(parts[i]) == CXCursor_InitListExpr)
            whole = false;
    const char *word = walk->uses->type.tag ? walk->uses->type.tag : walk->uses->type.alias;
    if (!whole || !word || !is_alone(span.source, span.begin, span.end, word))
        walk_refuse(walk, IN_ARRAYS, LWP_REFUSAL_ONE_DECLARATION, declaration);
    else if (!add_name(walk, declaration, use))
        walk_refuse(walk, IN_ARRAYS, LWP_REFUSAL_MACRO, declaration);
}

struct effect {
    struct walk *walk;
    bool found;
};

/* Whether evaluating it again would do something again. */
static enum CXChildVisitResult has_effect(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct effect *effect = data;
    enum CXCursorKind kind = clang.getCursorKind(cursor);
    struct span span = walk_span(effect->walk, cursor);
    (void)parent;
    effect->found = effect->found || kind == CXCursor_CallExpr || kind == CXCursor_CompoundAssignOperator || kind == CXCursor_StmtExpr;
    if (kind == CXCursor_UnaryOperator && span.source && span.end - span.begin > 2) {
        const char *first = span.source->text + span.begin, *last = span.source->text + span.end - 2;
        effect->found = effect->found || memcmp(first, "++", 2) == 0 || memcmp(first, "--", 2) == 0 || memcmp(last, "++", 2) == 0 ||
                        memcmp(last, "--", 2) == 0;
    }
    if (kind == CXCursor_BinaryOperator)
        effect->found = effect->found || strcmp(walk_operator(effect->walk, cursor), "=") == 0;
    return CXChildVisit_Recurse;
}

static bool is_repeatable(struct walk *walk, CXCursor call)
{
    struct effect effect = {walk, false};
    for (int i = 0; i < clang.Cursor_getNumArguments(call); i++) {
        CXCursor argument = clang.Cursor_getArgument(call, (unsigned)i);
        has_effect(argument, argument, &effect);
        clang.visitChildren(argument, has_effect, &effect);
    }
    return !effect.found;
}

/* The statement that allocates, clears or frees, to be repeated for each part. */
static void repeat(struct walk *walk, const struct frame *reference, const struct frame *statement, CXCursor call)
{
    struct span span = walk_span(walk, statement->cursor);
    struct lwp_array_use use = {.begin = span.begin, .field = -1, .statement = true};
    bool plain = statement->up && clang.getCursorKind(statement->up->cursor) == CXCursor_CompoundStmt && span.source && !span.argument;
    use.end = plain ? walk_skip_space(span.source, span.end) : 0;
    if (!plain || span.source->text[use.end] != ';' || !is_repeatable(walk, call) || !add_name(walk, reference->cursor, (use.end++, use)))
        walk_refuse(walk, IN_ARRAYS, LWP_REFUSAL_ALLOCATION, reference->cursor);
}

/* Up from the variable while it is still a pointer to elements, or an element. */
static const struct frame *use_of(struct walk *walk, const struct frame *frame, unsigned *index)
{
    const struct frame *above = walk_above(frame, index);
    for (; above; above = walk_above(above, index)) {
        enum CXCursorKind kind = clang.getCursorKind(above->cursor);
        bool steps = kind == CXCursor_BinaryOperator && walk_target(walk, clang.getCursorType(above->cursor), NULL) == 0 &&
                     strcmp(walk_operator(walk, above->cursor), "=") != 0;
        bool element = kind == CXCursor_ArraySubscriptExpr && *index == 0;
        if (!steps && !element && !(kind == CXCursor_UnaryOperator && walk_is_sign(walk, above->cursor, '*')))
            break;
    }
    return above;
}

static void array_use(struct walk *walk, const struct frame *frame)
{
    unsigned index;
    const struct frame *above = use_of(walk, frame, &index);
    enum CXCursorKind kind = above ? clang.getCursorKind(above->cursor) : CXCursor_InvalidFile;
    long field = above && kind == CXCursor_MemberRefExpr ? walk_field(walk, clang.getCursorReferenced(above->cursor)) : -1;
    struct lwp_array_use use = {.field = field};
    if (field >= 0) {
        if (!add_name(walk, frame->cursor, use))
            walk_refuse(walk, IN_ARRAYS, LWP_REFUSAL_MACRO, frame->cursor);
        return;
    }
    if (above && walk_is_null_test(walk, above, index)) {
        use.null_test = true;
        if (!add_name(walk, frame->cursor, use))
            walk_refuse(walk, IN_ARRAYS, LWP_REFUSAL_MACRO, frame->cursor);
        return;
    }
    CXCursor operands[CHILDREN_MOST];
    if (kind == CXCursor_BinaryOperator && index == 0 && strcmp(walk_operator(walk, above->cursor), "=") == 0) {
        walk_children(above->cursor, operands);
        CXCursor value = walk_strip(operands[1]);
        if (clang.getCursorKind(value) == CXCursor_CallExpr)
            repeat(walk, frame, above, value);
        else
            walk_refuse(walk, IN_ARRAYS, LWP_REFUSAL_ALLOCATION, frame->cursor);
        return;
    }
    const struct lwp_known *function = kind == CXCursor_CallExpr ? walk_known(walk, clang.getCursorReferenced(above->cursor)) : NULL;
    if (function && index == 1 && (function->role == ROLE_FREE || function->role == ROLE_SIZED))
        repeat(walk, frame, above, above->cursor);
    else if (kind != CXCursor_UnaryExpr &&
             !(function && function->role == ROLE_ALLOCATE && index == 1)) /* sizeof is walk_type_name's subject */
        walk_refuse(walk, IN_ARRAYS, LWP_REFUSAL_ARRAY_ESCAPES, frame->cursor);
    else if (!add_name(walk, frame->cursor, use)) /* inside a statement that is repeated, or refused when the edits are made */
        walk_refuse(walk, IN_ARRAYS, LWP_REFUSAL_MACRO, frame->cursor);
}

void walk_variable(struct walk *walk, const struct frame *frame)
{
    CXCursor to = clang.getCursorReferenced(frame->cursor);
    if (!clang.Cursor_isNull(to) && clang.getCursorKind(to) == CXCursor_FunctionDecl) {
        walk_function_used(walk, frame);
        if (walk_mentions(walk, clang.getCursorType(to)))
            walk_needs_definition(walk, to, frame->cursor, LWP_REFUSAL_EXTERNAL);
    }
    if (walk_is_array(walk, to))
        array_use(walk, frame);
}

void walk_type_name(struct walk *walk, const struct frame *frame)
{
    if (walk_target(walk, clang.getCursorType(frame->cursor), NULL) != 0 || !frame->up)
        return;
    struct span span = walk_span(walk, frame->cursor);
    enum CXCursorKind kind = clang.getCursorKind(frame->up->cursor);
    bool variable = kind == CXCursor_VarDecl && walk_is_array(walk, frame->up->cursor);
    if (!variable && kind != CXCursor_UnaryExpr && kind != CXCursor_CStyleCastExpr) {
        walk_refuse(walk, IN_ARRAYS, LWP_REFUSAL_OTHER_VARIABLE, frame->cursor);
    } else if (!span.source || span.argument) {
        walk_refuse(walk, IN_ARRAYS, LWP_REFUSAL_MACRO, frame->cursor);
    } else {
        for (size_t i = 0; i < walk->uses->type_name_count; i++)
            if (walk->uses->type_names[i].source == span.source && walk->uses->type_names[i].begin == span.begin)
                return;
        LWP_PUSH(walk->uses->type_name, (struct lwp_type_name){span.source, span.begin, span.end});
    }
}
