/* Where the arrays are declared and used. */
#include "patch/arrays/regroup.h"

#include <stdlib.h>
#include <string.h>

/* ---- declarations ---- */

/* Elements that may be members: of a type that is known there, and that are neither const nor volatile nor arrays. */
static bool is_plain(CXType element)
{
    CXType type = clang.getCanonicalType(element);
    bool array = type.kind == CXType_ConstantArray || type.kind == CXType_IncompleteArray || type.kind == CXType_VariableArray;
    return !array && type.kind != CXType_Atomic && !clang.isVolatileQualifiedType(type) && !clang.isConstQualifiedType(type) &&
           clang.Type_getSizeOf(type) > 0 && clang.Type_getAlignOf(type) <= 16;
}

static void look_at_variable(struct regroup *regroup, CXCursor declaration)
{
    struct walk *walk = &regroup->walk;
    const struct lwp_change *change = walk->uses->change;
    const char *name = walk_string(walk, clang.getCursorSpelling(declaration)), *usr = walk_usr(walk, declaration);
    struct span span = walk_span(walk, declaration);
    bool global = clang.getCursorKind(clang.getCursorSemanticParent(declaration)) == CXCursor_TranslationUnit;
    enum CX_StorageClass storage = clang.Cursor_getStorageClass(declaration);
    struct lwp_source *source;
    size_t at;
    if (!span.source || !walk_place(walk, clang.getCursorLocation(declaration), &source, &at))
        return;
    for (size_t i = 0; i < regroup->array_count; i++) {
        struct array *array = &regroup->arrays[i];
        if (strcmp(array->name, name) != 0)
            continue;
        bool ours = global && (array->usr ? strcmp(array->usr, usr) == 0 : walk_is_file(source, change->arrays[i].file));
        array->elsewhere = array->elsewhere || (!ours && (storage == CX_SC_Extern || (global && storage != CX_SC_Static)));
        if (!ours)
            continue;
        bool again = array->usr && (source != regroup->source || at != array->at);
        if (again || span.argument || !walk_is_text(source, at, name) || !walk_is_pointer(clang.getCursorType(declaration)) ||
            strcmp(source->path, walk->from->file) != 0 || (regroup->source && regroup->source != source)) {
            walk_refuse(walk, IN_REGROUP, LWP_REFUSAL_ONE_DECLARATION, declaration);
            return;
        }
        array->usr = usr;
        array->at = at;
        array->begin = span.begin;
        array->is_static = storage == CX_SC_Static;
        array->element = clang.getPointeeType(clang.getCanonicalType(clang.getCursorType(declaration)));
        regroup->source = source;
        if (!is_plain(array->element))
            walk_refuse(walk, IN_REGROUP, LWP_REFUSAL_ONE_DECLARATION, declaration);
    }
}

/* ---- uses ---- */

/* Whether the address of an element, or of a part of it, is taken: & is the only such operator, but a macro may spell it. */
static bool is_address_taken(struct walk *walk, const struct frame *element)
{
    const struct frame *up = element->up;
    enum CXCursorKind kind = clang.getCursorKind(up->cursor);
    for (; kind == CXCursor_ParenExpr || kind == CXCursor_MemberRefExpr || kind == CXCursor_ArraySubscriptExpr ||
           kind == CXCursor_UnexposedExpr;
         kind = clang.getCursorKind(up->cursor)) {
        CXCursor parts[CHILDREN_MOST];
        if (kind == CXCursor_ArraySubscriptExpr && walk_children(up->cursor, parts) &&
            walk_is_pointer(clang.getCursorType(walk_strip(parts[0]))))
            return false;
        up = up->up;
    }
    return kind == CXCursor_UnaryOperator && !walk_keeps_address(walk, up->cursor);
}

/* array[index], all of it written there. */
static bool is_element(struct regroup *regroup, const struct frame *above, struct array_use *use)
{
    struct walk *walk = &regroup->walk;
    struct span span = walk_span(walk, above->cursor);
    const char *text = regroup->source->text;
    const struct array *array = &regroup->arrays[use->array];
    size_t at = walk_skip_space(regroup->source, use->at + strlen(array->name));
    unsigned depth = 0;
    if (span.source != regroup->source || span.begin != use->at || text[at] != '[' ||
        !walk_is_same_type(clang.getCursorType(above->cursor), array->element))
        return false;
    for (; at < span.end; at++) {
        depth += text[at] == '[';
        depth -= text[at] == ']';
        if (!depth)
            break;
    }
    use->kind = USE_ELEMENT;
    use->begin = span.begin;
    use->end = span.end;
    return at + 1 == span.end && !strpbrk(lwp_arena_strndup(walk->uses->arena, text + span.begin, span.end - span.begin), "'\"") &&
           !is_address_taken(walk, above);
}

/* A statement of its own in a block. */
static bool is_statement(struct regroup *regroup, const struct frame *frame, struct array_use *use)
{
    struct span span = walk_span(&regroup->walk, frame->cursor);
    if (!frame->up || clang.getCursorKind(frame->up->cursor) != CXCursor_CompoundStmt || span.source != regroup->source || span.argument)
        return false;
    use->begin = span.begin;
    use->end = walk_skip_space(span.source, span.end);
    use->block = frame->up->cursor;
    use->statement = frame->cursor;
    return span.source->text[use->end++] == ';';
}

/* Whether a larger product would be the same number of bytes: nothing cuts it to fewer than 64 bits. */
static bool is_wide(CXCursor expression)
{
    CXCursor parts[CHILDREN_MOST];
    unsigned count;
    for (; clang.getCursorKind(expression) != CXCursor_BinaryOperator; expression = parts[count - 1])
        if (clang.Type_getSizeOf(clang.getCursorType(expression)) < 8 || !(count = walk_children(expression, parts)))
            return false;
    return clang.Type_getSizeOf(clang.getCursorType(expression)) == 8;
}

/* What a product consists of; the first sizeof the element is set aside. */
static bool read_factors(struct regroup *regroup, struct array_use *use, CXCursor expression)
{
    struct walk *walk = &regroup->walk;
    CXCursor inner = walk_strip(expression), operands[CHILDREN_MOST], variable = clang.getCursorReferenced(inner);
    struct span span = walk_span(walk, inner);
    long long number;
    if (clang.getCursorKind(inner) == CXCursor_BinaryOperator && strcmp(walk_operator(walk, inner), "*") == 0 &&
        walk_children(inner, operands) == 2)
        return (is_wide(expression) || use->size_end) && read_factors(regroup, use, operands[0]) && read_factors(regroup, use, operands[1]);
    if (walk_number(inner, &number)) {
        bool size = clang.getCursorKind(inner) == CXCursor_UnaryExpr && span.source == regroup->source && !span.argument &&
                    walk_is_text(span.source, span.begin, "sizeof") && number == clang.Type_getSizeOf(regroup->arrays[use->array].element);
        if (size && !use->size_end) {
            use->size_begin = span.begin;
            use->size_end = span.end;
        } else {
            use->count = lwp_arena_printf(walk->uses->arena, "%s*%lld", use->count, number);
        }
        return true;
    }
    if (clang.getCursorKind(inner) != CXCursor_DeclRefExpr || clang.isVolatileQualifiedType(clang.getCursorType(inner)))
        return false;
    use->count = lwp_arena_printf(walk->uses->arena, "%s*%s", use->count, walk_usr(walk, variable));
    return true;
}

/* array = allocate(count * sizeof *array); */
static bool is_allocation(struct regroup *regroup, const struct frame *assignment, struct array_use *use)
{
    struct walk *walk = &regroup->walk;
    CXCursor operands[CHILDREN_MOST];
    if (walk_children(assignment->cursor, operands) != 2 || !is_statement(regroup, assignment, use))
        return false;
    CXCursor call = walk_strip(operands[1]), callee = clang.getCursorReferenced(call), cast = walk_written(operands[1]);
    if (clang.getCursorKind(call) != CXCursor_CallExpr || clang.getCursorKind(callee) != CXCursor_FunctionDecl)
        return false;
    if (clang.getCursorKind(cast) == CXCursor_CStyleCastExpr) {
        struct span whole = walk_span(walk, cast), called = walk_span(walk, call);
        if (whole.source != regroup->source || whole.argument || called.source != whole.source)
            return false;
        use->cast_begin = whole.begin;
        use->cast_end = called.begin;
    }
    const struct lwp_known *known = walk_known(walk, callee);
    if (known && (!known->pool || known->role != ROLE_ALLOCATE || strcmp(known->pool, "realloc") == 0))
        return false;
    use->kind = USE_ALLOCATE;
    use->allocator = walk_usr(walk, callee);
    use->from_library = known != NULL;
    use->count = "";
    for (int i = 0; i < clang.Cursor_getNumArguments(call); i++) {
        CXCursor argument = clang.Cursor_getArgument(call, (unsigned)i);
        if (clang.Type_getSizeOf(clang.getCursorType(argument)) != 8 || !read_factors(regroup, use, argument))
            return false;
    }
    return use->size_end > 0;
}

/* What the use is; false: it forbids the change, for `reason`. */
static bool read_use(struct regroup *regroup, const struct frame *frame, struct array_use *use, enum lwp_refusal *reason)
{
    struct walk *walk = &regroup->walk;
    unsigned index;
    const struct frame *above = walk_above(frame, &index), *further;
    enum CXCursorKind kind = clang.getCursorKind(above->cursor);
    *reason = LWP_REFUSAL_ARRAY_ESCAPES;
    if (kind == CXCursor_ArraySubscriptExpr && index == 0)
        return is_element(regroup, above, use);
    if (walk_is_null_test(walk, above, index)) {
        use->kind = USE_TEST;
        return true;
    }
    const struct lwp_known *function = kind == CXCursor_CallExpr ? walk_known(walk, clang.getCursorReferenced(above->cursor)) : NULL;
    bool allocation = kind == CXCursor_BinaryOperator && index == 0 && strcmp(walk_operator(walk, above->cursor), "=") == 0;
    if (allocation || (function && function->role == ROLE_FREE && index == 1)) {
        *reason = LWP_REFUSAL_SIDE;
        use->kind = USE_FREE;
        return allocation ? is_allocation(regroup, above, use) : is_statement(regroup, above, use);
    }
    further = kind == CXCursor_UnaryOperator && walk_is_sign(walk, above->cursor, '*') ? walk_above(above, NULL) : NULL;
    use->kind = USE_SIZE;
    return further && clang.getCursorKind(further->cursor) == CXCursor_UnaryExpr;
}

static void look_at_reference(struct regroup *regroup, const struct frame *frame)
{
    struct walk *walk = &regroup->walk;
    const char *usr = walk_usr(walk, clang.getCursorReferenced(frame->cursor));
    struct array_use use = {0};
    struct lwp_source *source;
    enum lwp_refusal reason = LWP_REFUSAL_MACRO;
    while (use.array < regroup->array_count && (!regroup->arrays[use.array].usr || strcmp(regroup->arrays[use.array].usr, usr) != 0))
        use.array++;
    if (use.array == regroup->array_count)
        return;
    if (!walk_place(walk, clang.getCursorLocation(frame->cursor), &source, &use.at) || source != regroup->source ||
        !walk_is_text(source, use.at, regroup->arrays[use.array].name) || !read_use(regroup, frame, &use, &reason))
        walk_refuse(walk, IN_REGROUP, reason, frame->cursor);
    else if (walk_is_stringified(walk, frame->cursor))
        walk_refuse(walk, IN_REGROUP, LWP_REFUSAL_STRINGIFIED, frame->cursor);
    else
        LWP_PUSH(regroup->use, use);
}

/* Where a name of ours is written and something is known of it: a use, or another thing of this name. */
static void explain(struct regroup *regroup, CXCursor cursor)
{
    struct lwp_source *source;
    size_t at;
    CXString name = clang.getCursorSpelling(cursor);
    bool ours = false;
    for (size_t i = 0; i < regroup->array_count && !ours; i++)
        ours = strcmp(clang.getCString(name), regroup->arrays[i].name) == 0;
    clang.disposeString(name);
    if (ours && walk_place(&regroup->walk, clang.getCursorLocation(cursor), &source, &at) &&
        strcmp(source->path, regroup->walk.from->file) == 0)
        LWP_PUSH(regroup->explained, at);
}

void regroup_visit(struct walk *walk, const struct frame *frame)
{
    struct regroup *regroup = (struct regroup *)walk;
    switch (clang.getCursorKind(frame->cursor)) {
    case CXCursor_VarDecl:
        look_at_variable(regroup, frame->cursor);
        break;
    case CXCursor_FunctionDecl:
        if (clang.isCursorDefinition(frame->cursor))
            walk_function(walk, frame->cursor);
        break;
    case CXCursor_DeclRefExpr:
        look_at_reference(regroup, frame);
        break;
    case CXCursor_MacroDefinition:
        walk_macro(walk, frame->cursor);
        return;
    case CXCursor_MacroExpansion: /* explains no use either */
        return;
    default:
        break;
    }
    explain(regroup, frame->cursor);
}
