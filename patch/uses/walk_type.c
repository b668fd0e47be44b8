#include "patch/uses/walk.h"

#include <string.h>

struct list {
    CXCursor *cursors;
    unsigned count;
};

static enum CXChildVisitResult list_child(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct list *list = data;
    (void)parent;
    if (list->count < CHILDREN_MOST)
        list->cursors[list->count++] = cursor;
    return CXChildVisit_Continue;
}

unsigned walk_children(CXCursor cursor, CXCursor *children)
{
    struct list list = {children, 0};
    clang.visitChildren(cursor, list_child, &list);
    return list.count;
}

struct only {
    CXCursor expression;
    unsigned count;
};

static enum CXChildVisitResult only_child(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct only *only = data;
    (void)parent;
    if (clang.isExpression(clang.getCursorKind(cursor))) {
        only->expression = cursor;
        only->count++;
    }
    return CXChildVisit_Continue;
}

static bool is_wrapper(enum CXCursorKind kind)
{
    return kind == CXCursor_UnexposedExpr || kind == CXCursor_ParenExpr || kind == CXCursor_CStyleCastExpr;
}

CXCursor walk_strip(CXCursor expression)
{
    while (is_wrapper(clang.getCursorKind(expression))) {
        struct only only = {.count = 0};
        clang.visitChildren(expression, only_child, &only);
        if (only.count != 1)
            break;
        expression = only.expression;
    }
    return expression;
}

CXCursor walk_written(CXCursor expression)
{
    CXCursor parts[CHILDREN_MOST];
    while (clang.getCursorKind(expression) == CXCursor_UnexposedExpr && walk_children(expression, parts) == 1)
        expression = parts[0];
    return expression;
}

bool walk_is_same_type(CXType a, CXType b)
{
    CXString left = clang.getTypeSpelling(clang.getCanonicalType(a)), right = clang.getTypeSpelling(clang.getCanonicalType(b));
    bool same = strcmp(clang.getCString(left), clang.getCString(right)) == 0;
    clang.disposeString(left);
    clang.disposeString(right);
    return same;
}

bool walk_number(CXCursor literal, long long *number)
{
    CXEvalResult value = clang.Cursor_Evaluate(literal); /* the text may be a macro's name */
    bool known = value && clang.EvalResult_getKind(value) == CXEval_Int;
    if (known)
        *number = clang.EvalResult_getAsLongLong(value);
    if (value)
        clang.EvalResult_dispose(value);
    return known;
}

bool walk_is_null(CXCursor expression)
{
    CXCursor inner = walk_strip(expression);
    long long number;
    return clang.getCursorKind(inner) == CXCursor_IntegerLiteral && walk_number(inner, &number) && number == 0;
}

bool walk_is_pointer(CXType type)
{
    return clang.getCanonicalType(type).kind == CXType_Pointer;
}

int walk_target(const struct walk *walk, CXType type, unsigned *pointers)
{
    unsigned depth = 0;
    for (type = clang.getCanonicalType(type);; type = clang.getCanonicalType(type)) {
        if (type.kind == CXType_Pointer) {
            type = clang.getPointeeType(type);
            depth++;
        } else if (type.kind == CXType_ConstantArray || type.kind == CXType_IncompleteArray || type.kind == CXType_VariableArray) {
            type = clang.getArrayElementType(type);
        } else {
            break;
        }
    }
    if (pointers)
        *pointers = depth;
    if (type.kind != CXType_Record)
        return -1;
    CXCursor declaration = clang.getCanonicalCursor(clang.getTypeDeclaration(type)); /* there may be no definition in this unit */
    for (size_t i = 0; i < walk->watched_count; i++)
        if (clang.equalCursors(declaration, walk->watched[i]))
            return (int)i;
    return -1;
}

bool walk_is_value(const struct walk *walk, CXType type)
{
    unsigned pointers;
    return walk_target(walk, type, &pointers) >= 0 && pointers == 0;
}

bool walk_mentions(struct walk *walk, CXType type)
{
    type = clang.getCanonicalType(type);
    while (type.kind == CXType_Pointer)
        type = clang.getCanonicalType(clang.getPointeeType(type));
    if (type.kind != CXType_FunctionProto)
        return false;
    if (walk_target(walk, clang.getResultType(type), NULL) >= 0)
        return true;
    for (int i = 0; i < clang.getNumArgTypes(type); i++)
        if (walk_target(walk, clang.getArgType(type, (unsigned)i), NULL) >= 0 || walk_mentions(walk, clang.getArgType(type, (unsigned)i)))
            return true;
    return false;
}

bool walk_is_array(const struct walk *walk, CXCursor declaration)
{
    if (!walk->array_usr)
        return false;
    CXString usr = clang.getCursorUSR(declaration);
    bool same = strcmp(clang.getCString(usr), walk->array_usr) == 0;
    clang.disposeString(usr);
    return same;
}

const char *walk_operator(struct walk *walk, CXCursor binary)
{
    CXCursor operands[CHILDREN_MOST];
    if (walk_children(binary, operands) != 2)
        return "";
    struct span left = walk_span(walk, operands[0]), right = walk_span(walk, operands[1]);
    if (!left.source || left.source != right.source || left.end > right.begin)
        return "";
    size_t at = left.end;
    do
        at = walk_skip_space(left.source, at);
    while (left.source->text[at] == ')' && at++ < right.begin);
    size_t end = at;
    while (end < right.begin && strchr("+-*/%=!<>&|^,", left.source->text[end]))
        end++;
    return lwp_arena_strndup(walk->uses->arena, left.source->text + at, end - at);
}

bool walk_may_assign(struct walk *walk, CXCursor expression)
{
    static const char *const others[] = {"+", "-", "*", "/", "%", "==", "!=", "<", ">", "<=", ">=", "&&", "||", "&", "|", "^", "<<", ">>"};
    if (clang.getCursorKind(expression) != CXCursor_BinaryOperator)
        return clang.getCursorKind(expression) == CXCursor_CompoundAssignOperator;
    const char *operator= walk_operator(walk, expression); /* between two arguments of a macro the text shows a comma */
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(operator, others[i]) == 0)
            return false;
    return true;
}

int walk_step(struct walk *walk, CXCursor expression)
{
    struct span span = walk_span(walk, expression);
    if (clang.getCursorKind(expression) != CXCursor_UnaryOperator || !span.source || span.end - span.begin < 3)
        return 0;
    const char *begin = span.source->text + span.begin, *end = span.source->text + span.end - 2;
    if (strncmp(begin, "++", 2) == 0 || strncmp(end, "++", 2) == 0)
        return 1;
    return strncmp(begin, "--", 2) == 0 || strncmp(end, "--", 2) == 0 ? -1 : 0;
}

const struct frame *walk_above(const struct frame *frame, unsigned *index)
{
    unsigned from = frame->index;
    const struct frame *up = frame->up;
    for (; up && is_wrapper(clang.getCursorKind(up->cursor)); up = up->up)
        from = up->index;
    if (index)
        *index = from;
    return up;
}

bool walk_keeps_address(struct walk *walk, CXCursor unary)
{
    struct span span = walk_span(walk, unary);
    if (!span.source || span.end - span.begin < 2)
        return false;
    return strchr("-+!~*", span.source->text[span.begin]) || walk_step(walk, unary);
}

bool walk_is_sign(struct walk *walk, CXCursor unary, char sign)
{
    struct span span = walk_span(walk, unary);
    return span.source && span.source->text[span.begin] == sign;
}

bool walk_is_null_test(struct walk *walk, const struct frame *above, unsigned index)
{
    enum CXCursorKind kind = clang.getCursorKind(above->cursor);
    if (kind == CXCursor_IfStmt || kind == CXCursor_WhileStmt)
        return index == 0;
    const char *operator= kind == CXCursor_BinaryOperator ? walk_operator(walk, above->cursor) : "";
    if (strcmp(operator, "==") == 0 || strcmp(operator, "!=") == 0) {
        CXCursor operands[CHILDREN_MOST];
        walk_children(above->cursor, operands);
        return walk_is_null(operands[1 - index]);
    }
    return kind == CXCursor_UnaryOperator && walk_is_sign(walk, above->cursor, '!');
}
