/* What one iteration reads and writes. */
#include "patch/loops/reader.h"

#include <stdlib.h>
#include <string.h>

static void read_expression(struct reader *reader, CXCursor expression, bool reads, bool writes);
static void read_statement(struct reader *reader, CXCursor statement);

/* ---- elements ---- */

static void add_index(struct element *element, struct form index)
{
    if (element->index_count < INDICES_MOST)
        element->indices[element->index_count++] = index; /* without the others there is only less to be excluded */
}

/* `pointer + index`, as often as it stands there: what is added to the last index. */
static CXCursor read_moves(struct reader *reader, CXCursor base, struct form *index)
{
    CXCursor operands[CHILDREN_MOST];
    while (clang.getCursorKind(base) == CXCursor_BinaryOperator && walk_children(base, operands) == 2 &&
           strcmp(walk_operator(reader->walk, base), "+") == 0 && walk_is_pointer(clang.getCursorType(operands[0]))) {
        read_expression(reader, operands[1], true, false);
        *index = form_sum(*index, reader_form(reader, operands[1]), 1);
        base = reader_bare(operands[0]);
    }
    return base;
}

/* What the element is of. */
static void read_base(struct reader *reader, struct element *element, CXCursor base, bool *is_private)
{
    CXCursor variable = clang.getCursorReferenced(base);
    CXType type = clang.getCursorType(variable);
    bool inside = clang.getCursorKind(base) == CXCursor_DeclRefExpr && reader_is_in_body(reader, variable);
    element->base = BASE_UNKNOWN;
    if (clang.getCursorKind(base) == CXCursor_MemberRefExpr && !walk_is_pointer(clang.getCursorType(base)))
        element->type = ""; /* an array in a structure, or in a union */
    if (clang.getCursorKind(base) != CXCursor_DeclRefExpr || !reader_is_variable(variable) || (inside && walk_is_pointer(type))) {
        read_expression(reader, base, true, false);
        return;
    }
    *is_private = inside;
    element->variable = walk_usr(reader->walk, variable);
    if (!walk_is_pointer(type)) {
        element->base = BASE_ARRAY;
        element->all_bytes = clang.Type_getSizeOf(type);
        return;
    }
    reader_use(reader, variable, base, true, false);
    if (!reader_is_temporary(reader, element->variable))
        element->base = clang.isRestrictQualifiedType(clang.getCanonicalType(type)) && clang.getCursorKind(variable) == CXCursor_ParmDecl
                            ? BASE_RESTRICT
                            : BASE_POINTER;
}

/* a[i][j], *(p + i), p->x; without `reads` and `writes` only the address is computed. */
static void read_element(struct reader *reader, CXCursor expression, const char *type, bool reads, bool writes)
{
    struct element element = {.type = type,
                              .bytes = clang.Type_getSizeOf(clang.getCursorType(expression)),
                              .always = reader->scope_depth == 1 && !reader->perhaps};
    CXCursor at = expression, parts[CHILDREN_MOST];
    bool is_private = false;
    walk_place(reader->walk, clang.getRangeStart(clang.getCursorExtent(expression)), &element.source, &element.at);
    while (clang.getCursorKind(at) == CXCursor_ArraySubscriptExpr && walk_children(at, parts) == 2) {
        struct form index = reader_form(reader, parts[1]);
        read_expression(reader, parts[1], true, false);
        CXCursor base = read_moves(reader, reader_bare(parts[0]), &index);
        add_index(&element, index);
        bool is_row = clang.getCursorKind(base) == CXCursor_ArraySubscriptExpr && !walk_is_pointer(clang.getCursorType(base));
        at = base;
        if (!is_row)
            break;
    }
    if (clang.getCursorKind(expression) == CXCursor_UnaryOperator) {
        struct form index = form_of_number(0);
        walk_children(expression, parts);
        at = read_moves(reader, reader_bare(parts[0]), &index);
        add_index(&element, index);
    } else if (clang.getCursorKind(expression) == CXCursor_MemberRefExpr) {
        walk_children(expression, parts);
        at = reader_bare(parts[0]);
    }
    read_base(reader, &element, at, &is_private);
    for (int write = 0; write < 2; write++) {
        element.writes = write;
        if (!is_private && (write ? writes : reads))
            LWP_PUSH(reader->nest->element, element);
    }
}

/* ---- expressions ---- */

static bool is_one_of(const char *text, const char *const *all, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(text, all[i]) == 0)
            return true;
    return false;
}

/* Functions of the C library whose result depends on nothing but the arguments. */
static void read_call(struct reader *reader, CXCursor call)
{
    static const char *const pure[] = {"abs",  "labs", "fabs", "sqrt", "cbrt", "exp",    "exp2",  "log",   "log2",  "log10", "pow",
                                       "sin",  "cos",  "tan",  "asin", "acos", "atan",   "atan2", "sinh",  "cosh",  "tanh",  "floor",
                                       "ceil", "fmin", "fmax", "fmod", "fma",  "hypot",  "round", "trunc", "fabsf", "sqrtf", "expf",
                                       "logf", "powf", "sinf", "cosf", "tanf", "floorf", "ceilf", "fminf", "fmaxf", "fmaf"};
    CXCursor callee = clang.getCursorReferenced(call);
    const char *name = walk_string(reader->walk, clang.getCursorSpelling(callee));
    if (!clang.Location_isInSystemHeader(clang.getCursorLocation(callee)) || !is_one_of(name, pure, sizeof pure / sizeof *pure))
        reader_refuse(reader, LWP_REFUSAL_CALL, call);
    for (int i = 0; i < clang.Cursor_getNumArguments(call); i++)
        read_expression(reader, clang.Cursor_getArgument(call, (unsigned)i), true, false);
}

static void read_unary(struct reader *reader, CXCursor expression, bool reads, bool writes)
{
    CXCursor operand[CHILDREN_MOST];
    struct span span = walk_span(reader->walk, expression);
    if (walk_children(expression, operand) != 1 || !span.source || span.end - span.begin < 2) {
        reader_refuse(reader, LWP_REFUSAL_EXPRESSION, expression);
        return;
    }
    const char *text = span.source->text;
    if (walk_step(reader->walk, expression))
        read_expression(reader, operand[0], true, true);
    else if (text[span.begin] == '*')
        read_element(reader, expression, nest_type(clang.getCursorType(expression)), reads, writes);
    else if (strchr("-+!~", text[span.begin]))
        read_expression(reader, operand[0], true, false);
    else
        reader_refuse(reader, LWP_REFUSAL_EXPRESSION, expression);
}

static void read_binary(struct reader *reader, CXCursor expression)
{
    CXCursor operands[CHILDREN_MOST];
    bool assigns = strcmp(walk_operator(reader->walk, expression), "=") == 0;
    if (walk_children(expression, operands) != 2 || (!assigns && walk_may_assign(reader->walk, expression))) { /* or an unknown operator */
        reader_refuse(reader, LWP_REFUSAL_EXPRESSION, expression);
        return;
    }
    bool perhaps = strcmp(walk_operator(reader->walk, expression), "&&") == 0 || strcmp(walk_operator(reader->walk, expression), "||") == 0;
    reader->perhaps += perhaps;
    read_expression(reader, operands[1], true, false);
    reader->perhaps -= perhaps;
    read_expression(reader, operands[0], !assigns, assigns);
}

static void read_reference(struct reader *reader, CXCursor expression, bool reads, bool writes)
{
    CXCursor to = clang.getCursorReferenced(expression);
    if (reader_is_variable(to) && clang.getCanonicalType(clang.getCursorType(to)).kind != CXType_ConstantArray)
        reader_use(reader, to, expression, reads, writes);
    else if (clang.getCursorKind(to) != CXCursor_EnumConstantDecl)
        reader_refuse(reader, LWP_REFUSAL_EXPRESSION, expression);
}

/* .x is part of what it stands behind; ->x of what the pointer leads to. */
static void read_member(struct reader *reader, CXCursor expression, bool reads, bool writes)
{
    CXCursor parts[CHILDREN_MOST];
    CXCursor base = walk_children(expression, parts) ? reader_bare(parts[0]) : expression;
    enum CXCursorKind kind = clang.getCursorKind(base);
    if (kind == CXCursor_ArraySubscriptExpr && !walk_is_pointer(clang.getCursorType(base)))
        read_element(reader, base, "", reads, writes);
    else if (walk_is_pointer(clang.getCursorType(base)))
        read_element(reader, expression, "", reads, writes);
    else if (kind == CXCursor_DeclRefExpr || kind == CXCursor_MemberRefExpr)
        read_expression(reader, base, reads || writes, writes); /* the other members keep their values */
    else
        reader_refuse(reader, LWP_REFUSAL_EXPRESSION, expression);
}

static void read_all(struct reader *reader, CXCursor expression)
{
    CXCursor parts[CHILDREN_MOST];
    unsigned count = walk_children(expression, parts);
    for (unsigned i = 0; i < count; i++)
        if (clang.isExpression(clang.getCursorKind(parts[i])))
            read_expression(reader, parts[i], true, false);
}

static void read_expression(struct reader *reader, CXCursor expression, bool reads, bool writes)
{
    CXCursor parts[CHILDREN_MOST];
    CXType type = clang.getCanonicalType(clang.getCursorType(expression));
    if (clang.isVolatileQualifiedType(type) || type.kind == CXType_Atomic)
        reader_refuse(reader, LWP_REFUSAL_EXPRESSION, expression);
    switch (clang.getCursorKind(expression)) {
    case CXCursor_IntegerLiteral:
    case CXCursor_FloatingLiteral:
    case CXCursor_CharacterLiteral:
    case CXCursor_UnaryExpr: /* sizeof */
        return;
    case CXCursor_ParenExpr:
    case CXCursor_UnexposedExpr:
        if (walk_children(expression, parts) == 1)
            read_expression(reader, parts[0], reads, writes);
        else
            reader_refuse(reader, LWP_REFUSAL_EXPRESSION, expression);
        return;
    case CXCursor_CStyleCastExpr:
        read_all(reader, expression);
        return;
    case CXCursor_ConditionalOperator:
        reader->perhaps++;
        read_all(reader, expression);
        reader->perhaps--;
        return;
    case CXCursor_DeclRefExpr:
        read_reference(reader, expression, reads, writes);
        return;
    case CXCursor_ArraySubscriptExpr:
        read_element(reader, expression, nest_type(type), reads, writes);
        return;
    case CXCursor_MemberRefExpr:
        read_member(reader, expression, reads, writes);
        return;
    case CXCursor_UnaryOperator:
        read_unary(reader, expression, reads, writes);
        return;
    case CXCursor_BinaryOperator:
        read_binary(reader, expression);
        return;
    case CXCursor_CompoundAssignOperator:
        walk_children(expression, parts);
        read_expression(reader, parts[1], true, false);
        read_expression(reader, parts[0], true, true);
        return;
    case CXCursor_CallExpr:
        read_call(reader, expression);
        return;
    default:
        reader_refuse(reader, LWP_REFUSAL_EXPRESSION, expression);
    }
}

/* ---- statements ---- */

static void enter(struct reader *reader, CXCursor statement)
{
    if (reader->scope_depth == SCOPES_MOST - 1)
        reader_refuse(reader, LWP_REFUSAL_EXPRESSION, statement);
    else
        reader->scopes[reader->scope_depth++] = ++reader->last_scope;
}

static void leave(struct reader *reader)
{
    reader->scope_depth--;
}

static void read_inner(struct reader *reader, CXCursor statement)
{
    enter(reader, statement);
    read_statement(reader, statement);
    leave(reader);
}

static void read_declarations(struct reader *reader, CXCursor statement)
{
    CXCursor variables[CHILDREN_MOST];
    unsigned count = walk_children(statement, variables);
    for (unsigned i = 0; i < count; i++) {
        enum CX_StorageClass storage = clang.Cursor_getStorageClass(variables[i]);
        if (clang.getCursorKind(variables[i]) != CXCursor_VarDecl || storage == CX_SC_Static || storage == CX_SC_Extern ||
            clang.isVolatileQualifiedType(clang.getCursorType(variables[i]))) {
            reader_refuse(reader, LWP_REFUSAL_EXPRESSION, variables[i]);
            continue;
        }
        CXCursor value = clang.Cursor_getVarDeclInitializer(variables[i]);
        if (clang.Cursor_isNull(value))
            continue;
        if (clang.getCursorKind(value) == CXCursor_InitListExpr) {
            read_all(reader, value);
        } else {
            read_expression(reader, value, true, false);
            reader_assign(reader, variables[i], variables[i], reader_form(reader, value));
        }
    }
}

static void read_loop(struct reader *reader, CXCursor statement)
{
    CXCursor parts[CHILDREN_MOST];
    if (walk_children(statement, parts) != FOR_PARTS) {
        reader_refuse(reader, LWP_REFUSAL_EXPRESSION, statement);
        return;
    }
    enter(reader, statement);
    reader->breakable++;
    read_statement(reader, parts[FOR_INIT]);
    read_expression(reader, parts[FOR_CONDITION], true, false);
    read_inner(reader, parts[FOR_BODY]);
    read_expression(reader, parts[FOR_ADVANCE], true, false);
    reader->breakable--;
    leave(reader);
}

static void read_assignment(struct reader *reader, CXCursor statement)
{
    CXCursor operands[CHILDREN_MOST];
    bool assigns = clang.getCursorKind(statement) == CXCursor_BinaryOperator && walk_children(statement, operands) == 2 &&
                   strcmp(walk_operator(reader->walk, statement), "=") == 0;
    CXCursor to = assigns ? reader_bare(operands[0]) : statement, variable = clang.getCursorReferenced(to);
    if (!assigns || clang.getCursorKind(to) != CXCursor_DeclRefExpr || !reader_is_variable(variable) ||
        clang.equalCursors(variable, reader->nest->outer.counter) || clang.equalCursors(variable, reader->nest->inner.counter) ||
        clang.isVolatileQualifiedType(clang.getCursorType(to))) {
        read_expression(reader, statement, true, false);
        return;
    }
    read_expression(reader, operands[1], true, false);
    reader_assign(reader, variable, to, reader_form(reader, operands[1]));
}

static void read_statement(struct reader *reader, CXCursor statement)
{
    CXCursor parts[CHILDREN_MOST];
    unsigned count = walk_children(statement, parts);
    if (count == CHILDREN_MOST) {
        reader_refuse(reader, LWP_REFUSAL_EXPRESSION, statement);
        return;
    }
    switch (clang.getCursorKind(statement)) {
    case CXCursor_CompoundStmt:
        for (unsigned i = 0; i < count; i++)
            read_statement(reader, parts[i]);
        return;
    case CXCursor_DeclStmt:
        read_declarations(reader, statement);
        return;
    case CXCursor_IfStmt:
        read_expression(reader, parts[0], true, false);
        for (unsigned i = 1; i < count; i++)
            read_inner(reader, parts[i]);
        return;
    case CXCursor_ForStmt:
        read_loop(reader, statement);
        return;
    case CXCursor_DoStmt: /* also what macros of several statements are made of */
        reader->breakable++;
        read_inner(reader, parts[0]);
        reader->breakable--;
        read_expression(reader, parts[1], true, false);
        return;
    case CXCursor_NullStmt:
        return;
    case CXCursor_BreakStmt:
    case CXCursor_ContinueStmt:
        if (!reader->breakable)
            reader_refuse(reader, LWP_REFUSAL_JUMP, statement);
        return;
    case CXCursor_ReturnStmt:
    case CXCursor_GotoStmt:
        reader_refuse(reader, LWP_REFUSAL_JUMP, statement);
        return;
    default:
        if (clang.isExpression(clang.getCursorKind(statement)))
            read_assignment(reader, statement);
        else
            reader_refuse(reader, LWP_REFUSAL_EXPRESSION, statement);
    }
}

struct form nest_read_end(struct nest *nest, struct walk *walk, CXCursor expression)
{
    struct reader reader = {.nest = nest, .walk = walk, .body = expression, .in_head = true};
    read_expression(&reader, expression, true, false);
    return reader_form(&reader, expression);
}

void nest_read_statements(struct nest *nest, struct walk *walk, CXCursor body, CXCursor work, CXCursor loop)
{
    CXCursor statements[CHILDREN_MOST];
    unsigned count = walk_children(body, statements);
    struct reader *reader = lwp_zeroed(1, sizeof *reader);
    reader->nest = nest;
    reader->walk = walk;
    reader->body = body;
    enter(reader, body);
    for (unsigned i = 0; i < count; i++)
        if (clang.equalLocations(clang.getCursorLocation(statements[i]), clang.getCursorLocation(loop)))
            read_inner(reader, work);
        else
            read_statement(reader, statements[i]);
    free(reader);
}

void nest_read_body(struct nest *nest, struct walk *walk, CXCursor body)
{
    struct reader *reader = lwp_zeroed(1, sizeof *reader);
    reader->nest = nest;
    reader->walk = walk;
    reader->body = body;
    enter(reader, body);
    read_statement(reader, body);
    free(reader);
}
