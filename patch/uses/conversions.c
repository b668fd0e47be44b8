/* Pointers to elements that become pointers to something else, and the reverse; and sizes. */
#include "patch/uses/walk.h"

#include <string.h>

static bool is_void_pointer(CXType type)
{
    type = clang.getCanonicalType(type);
    return type.kind == CXType_Pointer && clang.getCanonicalType(clang.getPointeeType(type)).kind == CXType_Void;
}

static bool is_pointer(CXType type)
{
    type = clang.getCanonicalType(type);
    return type.kind == CXType_Pointer || type.kind == CXType_ConstantArray || type.kind == CXType_IncompleteArray ||
           type.kind == CXType_VariableArray;
}

/* ---- sizes ---- */

/* Whether it is sizeof the structure, or of an array of it. */
static bool is_size(struct walk *walk, CXCursor expression)
{
    CXCursor parts[CHILDREN_MOST];
    struct span span = walk_span(walk, expression);
    if (clang.getCursorKind(expression) != CXCursor_UnaryExpr)
        return false;
    unsigned count = walk_children(expression, parts);
    for (unsigned i = 0; i < count; i++) {
        if (!walk_is_value(walk, clang.getCursorType(parts[i])))
            continue;
        struct span part = walk_span(walk, parts[i]);
        if (clang.isExpression(clang.getCursorKind(parts[i])) || !part.source || !span.source)
            return true;
        return !memchr(part.source->text + part.end, '*', span.end > part.end ? span.end - part.end : 0); /* sizeof(struct x *) */
    }
    return false;
}

static bool is_sized_product(struct walk *walk, CXCursor expression, bool *elsewhere)
{
    CXCursor inner = walk_strip(expression), operands[CHILDREN_MOST];
    if (is_size(walk, inner))
        return true;
    if (clang.getCursorKind(inner) != CXCursor_BinaryOperator || walk_children(inner, operands) != 2)
        return false;
    bool found = is_sized_product(walk, operands[0], elsewhere) || is_sized_product(walk, operands[1], elsewhere);
    bool product = strcmp(walk_operator(walk, inner), "*") == 0;
    *elsewhere = *elsewhere || (found && !product);
    return found && product;
}

static bool has_size(struct walk *walk, CXCursor call, bool *elsewhere)
{
    *elsewhere = false;
    for (int i = 0; i < clang.Cursor_getNumArguments(call); i++)
        if (is_sized_product(walk, clang.Cursor_getArgument(call, (unsigned)i), elsewhere))
            return true;
    return false;
}

static void need_size(struct walk *walk, CXCursor call)
{
    bool elsewhere;
    if (!has_size(walk, call, &elsewhere))
        walk_refuse(walk, IN_ALL, elsewhere ? LWP_REFUSAL_TRAILING : LWP_REFUSAL_NUMBER, call);
}

void walk_sizeof(struct walk *walk, const struct frame *frame)
{
    if (!is_size(walk, frame->cursor))
        return;
    struct span span = walk_span(walk, frame->cursor);
    unsigned index;
    const struct frame *above = walk_above(frame, &index), *below = frame;
    while (above && clang.getCursorKind(above->cursor) == CXCursor_BinaryOperator && strcmp(walk_operator(walk, above->cursor), "*") == 0) {
        below = above;
        above = walk_above(above, &index);
    }
    enum CXCursorKind kind = above ? clang.getCursorKind(above->cursor) : CXCursor_InvalidFile;
    if (!span.source || !walk_is_text(span.source, span.begin, "sizeof")) {
        walk_refuse(walk, IN_FIELDS, LWP_REFUSAL_SIZEOF, frame->cursor);
    } else if (kind == CXCursor_CallExpr && index > 0) {
        CXCursor callee = clang.getCursorReferenced(above->cursor);
        const struct lwp_known *function = walk_known(walk, callee);
        if (!function && !clang.Cursor_isNull(callee) && clang.getCursorKind(callee) == CXCursor_FunctionDecl)
            walk_needs_size(walk, callee, frame->cursor);
        else if (!function || function->role == ROLE_OPAQUE)
            walk_refuse(walk, IN_FIELDS, LWP_REFUSAL_SIZEOF, frame->cursor);
    } else if (kind == CXCursor_BinaryOperator && below == frame && strcmp(walk_operator(walk, above->cursor), "/") == 0) {
        CXCursor operands[CHILDREN_MOST];
        walk_children(above->cursor, operands);
        if (!is_size(walk, walk_strip(operands[0])) || !is_size(walk, walk_strip(operands[1]))) /* not the number of elements */
            walk_refuse(walk, IN_FIELDS, LWP_REFUSAL_SIZEOF, frame->cursor);
        walk_refuse(walk, IN_ARRAYS, LWP_REFUSAL_SIZEOF, frame->cursor);
    } else {
        for (; above && kind != CXCursor_StaticAssert; above = above->up)
            kind = clang.getCursorKind(above->cursor);
        walk_refuse(walk, IN_FIELDS, kind == CXCursor_StaticAssert ? LWP_REFUSAL_ASSERT : LWP_REFUSAL_SIZEOF, frame->cursor);
    }
}

/* ---- pointers ---- */

static void add_pool_call(struct walk *walk, CXCursor call, const struct lwp_known *function)
{
    struct lwp_source *source = NULL;
    size_t at = 0;
    if (!function->pool || !clang.isCursorDefinition(walk->type)) /* the pool's functions are declared with the type */
        walk_refuse(walk, IN_POOLS, LWP_REFUSAL_UNKNOWN_ALLOCATOR, call);
    else if (!walk_place(walk, clang.getRangeStart(clang.getCursorExtent(call)), &source, &at) || !walk_is_text(source, at, function->name))
        walk_refuse(walk, IN_POOLS, LWP_REFUSAL_MACRO, call);
    else
        LWP_PUSH(walk->uses->pool_call, (struct lwp_pool_call){source, at, at + strlen(function->name), function->pool});
}

/* A pointer to elements is given to a function as void *. */
static void into_call(struct walk *walk, CXCursor call, unsigned argument, int target)
{
    CXCursor callee = clang.getCursorReferenced(call);
    const struct lwp_known *function = walk_known(walk, callee);
    if (function && argument < 32 && (function->pointers & 1u << argument)) {
        if (function->role == ROLE_FREE)
            add_pool_call(walk, call, function);
        if (function->role == ROLE_SIZED || function->role == ROLE_PAIR || function->role == ROLE_SORT)
            need_size(walk, call);
        if (function->role == ROLE_PAIR)
            for (unsigned i = 0; i < 2; i++)
                if (walk_target(walk, clang.getCursorType(walk_strip(clang.Cursor_getArgument(call, i))), NULL) != target)
                    walk_refuse(walk, IN_ALL, LWP_REFUSAL_RAW, call);
        if (function->role != ROLE_FREE && function->role != ROLE_ALLOCATE && function->role != ROLE_OPAQUE)
            walk_refuse(walk, function->role == ROLE_SIZED ? IN_POOL : IN_SPLIT, LWP_REFUSAL_RAW, call);
        return;
    }
    if (clang.Cursor_isNull(callee) || clang.getCursorKind(callee) != CXCursor_FunctionDecl)
        walk_refuse(walk, IN_ALL, LWP_REFUSAL_VOID, call);
    else if (clang.Location_isInSystemHeader(clang.getCursorLocation(callee)))
        walk_refuse(walk, IN_ALL, LWP_REFUSAL_RAW, call);
    else
        walk_needs_opaque(walk, callee, argument, call);
    if (!clang.isCursorDefinition(walk->type))
        walk_refuse(walk, IN_POOLS, LWP_REFUSAL_UNKNOWN_ALLOCATOR, call);
}

static void from_elements(struct walk *walk, const struct frame *frame, CXType to, int target)
{
    if (!is_void_pointer(to)) {
        walk_refuse(walk, IN_ALL, is_pointer(to) ? LWP_REFUSAL_CAST : LWP_REFUSAL_INTEGER, frame->cursor);
        return;
    }
    unsigned index = frame->index;
    const struct frame *up = frame->up;
    for (; up; up = up->up) {
        enum CXCursorKind kind = clang.getCursorKind(up->cursor);
        if (kind != CXCursor_UnexposedExpr && kind != CXCursor_ParenExpr && kind != CXCursor_CStyleCastExpr)
            break;
        CXType type = clang.getCursorType(up->cursor);
        if (walk_target(walk, type, NULL) == target || type.kind == CXType_Void)
            return;
        if (!is_void_pointer(type)) {
            walk_refuse(walk, IN_ALL, is_pointer(type) ? LWP_REFUSAL_CAST : LWP_REFUSAL_INTEGER, frame->cursor);
            return;
        }
        index = up->index;
    }
    enum CXCursorKind kind = up ? clang.getCursorKind(up->cursor) : CXCursor_InvalidFile;
    const char *operator= kind == CXCursor_BinaryOperator ? walk_operator(walk, up->cursor) : "";
    if (kind == CXCursor_CallExpr && index > 0)
        into_call(walk, up->cursor, index - 1, target);
    else if (strcmp(operator, "==") != 0 && strcmp(operator, "!=") != 0)
        walk_refuse(walk, IN_ALL, LWP_REFUSAL_VOID, frame->cursor);
}

static void to_elements(struct walk *walk, CXCursor at, CXCursor from, int target)
{
    CXCursor inner = walk_strip(from);
    if (walk_is_null(inner) || walk_target(walk, clang.getCursorType(inner), NULL) == target)
        return;
    if (!is_void_pointer(clang.getCursorType(inner))) {
        walk_refuse(walk, IN_ALL, is_pointer(clang.getCursorType(inner)) ? LWP_REFUSAL_CAST : LWP_REFUSAL_INTEGER, at);
        return;
    }
    CXCursor to = clang.getCursorReferenced(inner);
    const struct lwp_known *function = walk_known(walk, to);
    enum CXCursorKind kind = clang.getCursorKind(inner);
    if (kind == CXCursor_CallExpr && function && function->role == ROLE_ALLOCATE) {
        need_size(walk, inner);
        add_pool_call(walk, inner, function);
    } else if (kind == CXCursor_CallExpr && function && function->role == ROLE_SORT) {
        if (clang.Cursor_getNumArguments(inner) < 2 ||
            walk_target(walk, clang.getCursorType(walk_strip(clang.Cursor_getArgument(inner, 1))), NULL) != target)
            walk_refuse(walk, IN_ALL, LWP_REFUSAL_VOID, at);
    } else if (kind == CXCursor_CallExpr && !clang.Cursor_isNull(to) && clang.getCursorKind(to) == CXCursor_FunctionDecl &&
               !clang.Location_isInSystemHeader(clang.getCursorLocation(to))) {
        need_size(walk, inner);
        walk_needs_allocator(walk, to, inner);
    } else if (kind == CXCursor_DeclRefExpr && clang.getCursorKind(to) == CXCursor_ParmDecl) {
        walk_needs_callback(walk, clang.getCursorSemanticParent(to), at);
    } else {
        walk_refuse(walk, IN_ALL, kind == CXCursor_CallExpr ? LWP_REFUSAL_UNKNOWN_ALLOCATOR : LWP_REFUSAL_VOID, at);
    }
}

void walk_conversion(struct walk *walk, const struct frame *frame)
{
    CXCursor parts[CHILDREN_MOST], from = frame->cursor;
    unsigned count = walk_children(frame->cursor, parts), expressions = 0;
    for (unsigned i = 0; i < count; i++)
        if (clang.isExpression(clang.getCursorKind(parts[i])) && ++expressions)
            from = parts[i];
    if (expressions != 1)
        return;
    CXType old = clang.getCursorType(from), new = clang.getCursorType(frame->cursor);
    if (clang.getCanonicalType(new).kind == CXType_Void)
        return;
    unsigned old_pointers, new_pointers;
    int before = walk_target(walk, old, &old_pointers), after = walk_target(walk, new, &new_pointers);
    if (before < 0 && after < 0) {
        if (walk_mentions(walk, old) != walk_mentions(walk, new) && !walk_is_null(from))
            walk_refuse(walk, IN_ALL, LWP_REFUSAL_FUNCTION_CAST, frame->cursor);
        if (clang.getCursorKind(frame->cursor) == CXCursor_CStyleCastExpr && walk_mentions(walk, old))
            walk_refuse(walk, IN_ALL, LWP_REFUSAL_FUNCTION_CAST, frame->cursor);
    } else if (before == after) {
        enum CXTypeKind kind = clang.getCanonicalType(old).kind;
        bool decays = kind == CXType_ConstantArray || kind == CXType_IncompleteArray || kind == CXType_VariableArray;
        if (new_pointers != old_pointers && !(decays && new_pointers == old_pointers + 1))
            walk_refuse(walk, IN_ALL, LWP_REFUSAL_CAST, frame->cursor);
    } else if (before >= 0 && after >= 0) {
        walk_refuse(walk, IN_ALL, LWP_REFUSAL_CAST, frame->cursor);
    } else if (before >= 0) {
        if (clang.getCanonicalType(new).kind != CXType_Bool)
            from_elements(walk, frame, new, before);
    } else {
        to_elements(walk, frame->cursor, from, after);
    }
}

void walk_call(struct walk *walk, const struct frame *frame)
{
    CXCursor parts[CHILDREN_MOST];
    if (!walk_children(frame->cursor, parts))
        return;
    CXType type = clang.getCanonicalType(clang.getCursorType(parts[0]));
    while (type.kind == CXType_Pointer)
        type = clang.getCanonicalType(clang.getPointeeType(type));
    int named = type.kind == CXType_FunctionProto ? clang.getNumArgTypes(type) : 0;
    for (int i = named < 0 ? 0 : named; i < clang.Cursor_getNumArguments(frame->cursor); i++) {
        CXCursor argument = clang.Cursor_getArgument(frame->cursor, (unsigned)i);
        if (walk_target(walk, clang.getCursorType(argument), NULL) >= 0)
            walk_refuse(walk, IN_ALL, LWP_REFUSAL_VARARGS, argument);
    }
}
