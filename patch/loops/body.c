/* What one iteration reads and writes. */
#include "patch/loops/nest.h"

#include <stdlib.h>
#include <string.h>

enum { PRIVATES_MOST = 64, SCOPES_MOST = 64 };

/* A variable that an iteration gives a value before it reads it. */
struct private
{
    const char *variable;
    struct form value; /* unless it is given more than one */
    unsigned scope;    /* 0: declared in the body */
};

struct reader {
    struct nest *nest;
    struct walk *walk;
    CXCursor body;
    bool in_head;
    struct private privates[PRIVATES_MOST];
    size_t private_count;
    unsigned scopes[SCOPES_MOST], scope_depth, last_scope; /* statements around, by number */
    unsigned breakable;                                    /* loops around, in the body */
};

static void read_expression(struct reader *reader, CXCursor expression, bool reads, bool writes);
static void read_statement(struct reader *reader, CXCursor statement);

static void refuse(struct reader *reader, enum lwp_refusal reason, CXCursor at)
{
    nest_refuse(reader->nest, reader->walk, reason, at);
}

static const char *usr_of(struct reader *reader, CXCursor declaration)
{
    return walk_string(reader->walk, clang.getCursorUSR(declaration));
}

static bool is_variable(CXCursor declaration)
{
    enum CXCursorKind kind = clang.getCursorKind(declaration);
    return kind == CXCursor_VarDecl || kind == CXCursor_ParmDecl;
}

static bool is_in_body(struct reader *reader, CXCursor declaration)
{
    struct span body = walk_span(reader->walk, reader->body);
    return !reader->in_head && nest_is_inside(reader->walk, declaration, body.source, body.begin, body.end);
}

/* Without parentheses and conversions that the compiler adds. */
static CXCursor bare(CXCursor expression)
{
    CXCursor children[CHILDREN_MOST];
    for (;;) {
        enum CXCursorKind kind = clang.getCursorKind(expression);
        if ((kind != CXCursor_ParenExpr && kind != CXCursor_UnexposedExpr) || walk_children(expression, children) != 1)
            return expression;
        expression = children[0];
    }
}

/* ---- variables ---- */

static struct private *find_private(struct reader *reader, const char *variable)
{
    for (size_t i = 0; i < reader->private_count; i++)
        if (strcmp(reader->privates[i].variable, variable) == 0)
            return &reader->privates[i];
    return NULL;
}

static bool is_open(const struct reader *reader, const struct private *private)
{
    for (unsigned i = 0; private && i < reader->scope_depth; i++)
        if (reader->scopes[i] == private->scope)
            return true;
    return private && private->scope == 0;
}

static struct outside *outside_of(struct reader *reader, CXCursor declaration, CXCursor use)
{
    struct nest *nest = reader->nest;
    const char *variable = usr_of(reader, declaration);
    struct outside *found = NULL;
    for (size_t i = 0; i < nest->outside_count && !found; i++)
        if (strcmp(nest->outsides[i].variable, variable) == 0)
            found = &nest->outsides[i];
    if (!found)
        found = LWP_PUSH(
            nest->outside,
            (struct outside){.declaration = declaration, .variable = variable, .type = nest_type(clang.getCursorType(declaration))});
    walk_place(reader->walk, clang.getRangeStart(clang.getCursorExtent(use)), &found->source, &found->at);
    return found;
}

static void use_variable(struct reader *reader, CXCursor declaration, CXCursor use, bool reads, bool writes)
{
    const struct nest *nest = reader->nest;
    if (clang.equalCursors(declaration, nest->outer.counter) || clang.equalCursors(declaration, nest->inner.counter)) {
        if (reader->in_head || writes)
            refuse(reader, reader->in_head ? LWP_REFUSAL_HEAD : LWP_REFUSAL_COUNTER, use);
        return;
    }
    const struct private *private = find_private(reader, usr_of(reader, declaration));
    if (is_in_body(reader, declaration) || is_open(reader, private))
        return;
    struct outside *outside = outside_of(reader, declaration, use);
    outside->reads = outside->reads || reads || writes;
    outside->writes = outside->writes || writes;
}

struct writes {
    struct reader *reader;
    CXCursor variable;
    unsigned count;
};

static bool is_one_of(const char *text, const char *const *all, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(text, all[i]) == 0)
            return true;
    return false;
}

static bool is_assignment(struct reader *reader, CXCursor expression)
{
    static const char *const plain[] = {"+", "-", "*", "/", "%", "==", "!=", "<", ">", "<=", ">=", "&&", "||", "&", "|", "^", "<<", ">>"};
    return clang.getCursorKind(expression) == CXCursor_CompoundAssignOperator ||
           (clang.getCursorKind(expression) == CXCursor_BinaryOperator &&
            !is_one_of(walk_operator(reader->walk, expression), plain, sizeof plain / sizeof *plain));
}

static bool is_step(struct reader *reader, CXCursor expression)
{
    struct span span = walk_span(reader->walk, expression);
    if (clang.getCursorKind(expression) != CXCursor_UnaryOperator || !span.source || span.end - span.begin < 3)
        return false;
    const char *begin = span.source->text + span.begin, *end = span.source->text + span.end - 2;
    return strncmp(begin, "++", 2) == 0 || strncmp(begin, "--", 2) == 0 || strncmp(end, "++", 2) == 0 || strncmp(end, "--", 2) == 0;
}

static enum CXChildVisitResult count_write(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct writes *writes = data;
    CXCursor parts[CHILDREN_MOST];
    (void)parent;
    if ((is_assignment(writes->reader, cursor) || is_step(writes->reader, cursor)) && walk_children(cursor, parts))
        writes->count += clang.equalCursors(clang.getCursorReferenced(bare(parts[0])), writes->variable);
    return CXChildVisit_Recurse;
}

/* Whether the body gives the variable a value in one place only: then it has that one wherever it is read. */
static bool is_written_once(struct reader *reader, CXCursor declaration, bool initialised)
{
    struct writes writes = {reader, declaration, initialised};
    clang.visitChildren(reader->body, count_write, &writes);
    return writes.count == 1;
}

/* `x = value;` as a statement: from here to the end of the statement around it, x has a value of this iteration. */
static void assign(struct reader *reader, CXCursor declaration, CXCursor use, struct form value)
{
    const char *variable = usr_of(reader, declaration);
    struct private *private = find_private(reader, variable);
    bool inside = is_in_body(reader, declaration);
    if (!private && reader->private_count < PRIVATES_MOST)
    private = &reader->privates[reader->private_count++];
    if (!private) {
        refuse(reader, LWP_REFUSAL_EXPRESSION, use);
        return;
    }
    if (!private->variable || !is_open(reader, private))
    private->scope = inside ? 0 : reader->scopes[reader->scope_depth - 1];
    private->variable = variable;
    private->value = is_written_once(reader, declaration, clang.equalCursors(declaration, use)) ? value : (struct form){0};
    if (inside)
        return;
    struct outside *outside = outside_of(reader, declaration, use);
    outside->writes = true;
    outside->sometimes = outside->sometimes || reader->scope_depth > 1;
}

/* ---- forms ---- */

/* Whether a conversion leaves every value, and what is computed with it, as it is. */
static bool keeps_value(CXType from, CXType to)
{
    from = clang.getCanonicalType(from);
    to = clang.getCanonicalType(to);
    if (from.kind < CXType_Bool || from.kind > CXType_LongLong || to.kind < CXType_Bool || to.kind > CXType_LongLong)
        return false;
    bool from_sign = from.kind >= CXType_Char_S, to_sign = to.kind >= CXType_Char_S;
    long long from_size = clang.Type_getSizeOf(from), to_size = clang.Type_getSizeOf(to);
    return to_size > from_size ? !from_sign || to_sign || to_size == 8 : to_size == from_size && (from_sign == to_sign || to_size == 8);
}

/* Sums in these types either do not wrap or must not: overflow is undefined, or wider than memory. */
static bool is_exact(CXType type)
{
    type = clang.getCanonicalType(type);
    return type.kind == CXType_Int || type.kind == CXType_Long || type.kind == CXType_LongLong ||
           ((type.kind == CXType_ULong || type.kind == CXType_ULongLong) && clang.Type_getSizeOf(type) == 8);
}

static bool number_of(CXCursor expression, long long *number)
{
    CXEvalResult value = clang.Cursor_Evaluate(expression);
    bool known = value && clang.EvalResult_getKind(value) == CXEval_Int;
    if (known)
        *number = clang.EvalResult_getAsLongLong(value);
    if (value)
        clang.EvalResult_dispose(value);
    return known;
}

static struct form form_of_variable(struct reader *reader, CXCursor declaration)
{
    if (clang.getCursorKind(declaration) == CXCursor_EnumConstantDecl)
        return form_of_number(clang.getEnumConstantDeclValue(declaration));
    if (!is_variable(declaration))
        return (struct form){0};
    if (clang.equalCursors(declaration, reader->nest->outer.counter) || clang.equalCursors(declaration, reader->nest->inner.counter))
        return form_of_counter(clang.equalCursors(declaration, reader->nest->outer.counter) ? OUTER_LOOP : INNER_LOOP);
    const char *variable = usr_of(reader, declaration);
    const struct private *private = find_private(reader, variable);
    if (is_open(reader, private))
        return private->value;
    return is_in_body(reader, declaration) ? (struct form){0} : form_of_symbol(variable); /* if written, the nest is refused */
}

static struct form form_of(struct reader *reader, CXCursor expression)
{
    CXCursor children[CHILDREN_MOST];
    unsigned count = walk_children(expression, children);
    enum CXCursorKind kind = clang.getCursorKind(expression);
    long long number;
    CXType type = clang.getCursorType(expression);
    if (kind == CXCursor_IntegerLiteral)
        return number_of(expression, &number) ? form_of_number(number) : (struct form){0};
    if (kind == CXCursor_DeclRefExpr)
        return form_of_variable(reader, clang.getCursorReferenced(expression));
    if (kind == CXCursor_ParenExpr && count == 1)
        return form_of(reader, children[0]);
    if (kind == CXCursor_UnexposedExpr || kind == CXCursor_CStyleCastExpr)
        return count && keeps_value(clang.getCursorType(children[count - 1]), type) ? form_of(reader, children[count - 1])
                                                                                    : (struct form){0};
    if (kind != CXCursor_BinaryOperator || count != 2 || !is_exact(type))
        return (struct form){0};
    const char *operator= walk_operator(reader->walk, expression);
    if (strcmp(operator, "*") == 0)
        return form_product(reader->walk->uses->arena, form_of(reader, children[0]), form_of(reader, children[1]));
    if (strcmp(operator, "+") == 0 || strcmp(operator, "-") == 0)
        return form_sum(form_of(reader, children[0]), form_of(reader, children[1]), *operator== '+' ? 1 : - 1);
    return (struct form){0};
}

/* ---- elements ---- */

static void add_index(struct element *element, struct form index)
{
    if (element->index_count < INDICES_MOST)
        element->indices[element->index_count++] = index; /* without the others there is only less to be excluded */
}

static bool is_pointer(CXType type)
{
    return clang.getCanonicalType(type).kind == CXType_Pointer;
}

/* `pointer + index`, as often as it stands there: what is added to the last index. */
static CXCursor read_moves(struct reader *reader, CXCursor base, struct form *index)
{
    CXCursor operands[CHILDREN_MOST];
    while (clang.getCursorKind(base) == CXCursor_BinaryOperator && walk_children(base, operands) == 2 &&
           strcmp(walk_operator(reader->walk, base), "+") == 0 && is_pointer(clang.getCursorType(operands[0]))) {
        read_expression(reader, operands[1], true, false);
        *index = form_sum(*index, form_of(reader, operands[1]), 1);
        base = bare(operands[0]);
    }
    return base;
}

/* What the element is of. */
static void read_base(struct reader *reader, struct element *element, CXCursor base, bool *is_private)
{
    CXCursor variable = clang.getCursorReferenced(base);
    CXType type = clang.getCursorType(variable);
    bool inside = clang.getCursorKind(base) == CXCursor_DeclRefExpr && is_in_body(reader, variable);
    element->base = BASE_UNKNOWN;
    if (clang.getCursorKind(base) == CXCursor_MemberRefExpr && !is_pointer(clang.getCursorType(base)))
        element->type = ""; /* an array in a structure, or in a union */
    if (clang.getCursorKind(base) != CXCursor_DeclRefExpr || !is_variable(variable) || (inside && is_pointer(type))) {
        read_expression(reader, base, true, false);
        return;
    }
    *is_private = inside;
    element->variable = usr_of(reader, variable);
    if (!is_pointer(type)) {
        element->base = BASE_ARRAY;
        return;
    }
    use_variable(reader, variable, base, true, false);
    if (!is_open(reader, find_private(reader, element->variable)))
        element->base = clang.isRestrictQualifiedType(clang.getCanonicalType(type)) && clang.getCursorKind(variable) == CXCursor_ParmDecl
                            ? BASE_RESTRICT
                            : BASE_POINTER;
}

/* a[i][j], *(p + i), p->x; without `reads` and `writes` only the address is computed. */
static void read_element(struct reader *reader, CXCursor expression, const char *type, bool reads, bool writes)
{
    struct element element = {.type = type};
    CXCursor at = expression, parts[CHILDREN_MOST];
    bool is_private = false;
    walk_place(reader->walk, clang.getRangeStart(clang.getCursorExtent(expression)), &element.source, &element.at);
    while (clang.getCursorKind(at) == CXCursor_ArraySubscriptExpr && walk_children(at, parts) == 2) {
        struct form index = form_of(reader, parts[1]);
        read_expression(reader, parts[1], true, false);
        CXCursor base = read_moves(reader, bare(parts[0]), &index);
        add_index(&element, index);
        bool is_row = clang.getCursorKind(base) == CXCursor_ArraySubscriptExpr && !is_pointer(clang.getCursorType(base));
        at = base;
        if (!is_row)
            break;
    }
    if (clang.getCursorKind(expression) == CXCursor_UnaryOperator) {
        struct form index = form_of_number(0);
        walk_children(expression, parts);
        at = read_moves(reader, bare(parts[0]), &index);
        add_index(&element, index);
    } else if (clang.getCursorKind(expression) == CXCursor_MemberRefExpr) {
        walk_children(expression, parts);
        at = bare(parts[0]);
    }
    read_base(reader, &element, at, &is_private);
    for (int write = 0; write < 2; write++) {
        element.writes = write;
        if (!is_private && (write ? writes : reads))
            LWP_PUSH(reader->nest->element, element);
    }
}

/* ---- expressions ---- */

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
        refuse(reader, LWP_REFUSAL_CALL, call);
    for (int i = 0; i < clang.Cursor_getNumArguments(call); i++)
        read_expression(reader, clang.Cursor_getArgument(call, (unsigned)i), true, false);
}

static void read_unary(struct reader *reader, CXCursor expression, bool reads, bool writes)
{
    CXCursor operand[CHILDREN_MOST];
    struct span span = walk_span(reader->walk, expression);
    if (walk_children(expression, operand) != 1 || !span.source || span.end - span.begin < 2) {
        refuse(reader, LWP_REFUSAL_EXPRESSION, expression);
        return;
    }
    const char *text = span.source->text;
    if (is_step(reader, expression))
        read_expression(reader, operand[0], true, true);
    else if (text[span.begin] == '*')
        read_element(reader, expression, nest_type(clang.getCursorType(expression)), reads, writes);
    else if (strchr("-+!~", text[span.begin]))
        read_expression(reader, operand[0], true, false);
    else
        refuse(reader, LWP_REFUSAL_EXPRESSION, expression);
}

static void read_binary(struct reader *reader, CXCursor expression)
{
    CXCursor operands[CHILDREN_MOST];
    bool assigns = strcmp(walk_operator(reader->walk, expression), "=") == 0;
    if (walk_children(expression, operands) != 2 || (!assigns && is_assignment(reader, expression))) { /* or an unknown operator */
        refuse(reader, LWP_REFUSAL_EXPRESSION, expression);
        return;
    }
    read_expression(reader, operands[1], true, false);
    read_expression(reader, operands[0], !assigns, assigns);
}

static void read_reference(struct reader *reader, CXCursor expression, bool reads, bool writes)
{
    CXCursor to = clang.getCursorReferenced(expression);
    if (is_variable(to) && clang.getCanonicalType(clang.getCursorType(to)).kind != CXType_ConstantArray)
        use_variable(reader, to, expression, reads, writes);
    else if (clang.getCursorKind(to) != CXCursor_EnumConstantDecl)
        refuse(reader, LWP_REFUSAL_EXPRESSION, expression);
}

/* .x is part of what it stands behind; ->x of what the pointer leads to. */
static void read_member(struct reader *reader, CXCursor expression, bool reads, bool writes)
{
    CXCursor parts[CHILDREN_MOST];
    CXCursor base = walk_children(expression, parts) ? bare(parts[0]) : expression;
    enum CXCursorKind kind = clang.getCursorKind(base);
    if (kind == CXCursor_ArraySubscriptExpr && !is_pointer(clang.getCursorType(base)))
        read_element(reader, base, "", reads, writes);
    else if (is_pointer(clang.getCursorType(base)))
        read_element(reader, expression, "", reads, writes);
    else if (kind == CXCursor_DeclRefExpr || kind == CXCursor_MemberRefExpr)
        read_expression(reader, base, reads || writes, writes); /* the other members keep their values */
    else
        refuse(reader, LWP_REFUSAL_EXPRESSION, expression);
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
        refuse(reader, LWP_REFUSAL_EXPRESSION, expression);
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
            refuse(reader, LWP_REFUSAL_EXPRESSION, expression);
        return;
    case CXCursor_CStyleCastExpr:
    case CXCursor_ConditionalOperator:
        read_all(reader, expression);
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
        refuse(reader, LWP_REFUSAL_EXPRESSION, expression);
    }
}

/* ---- statements ---- */

static void enter(struct reader *reader, CXCursor statement)
{
    if (reader->scope_depth == SCOPES_MOST - 1)
        refuse(reader, LWP_REFUSAL_EXPRESSION, statement);
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
            refuse(reader, LWP_REFUSAL_EXPRESSION, variables[i]);
            continue;
        }
        CXCursor value = clang.Cursor_getVarDeclInitializer(variables[i]);
        if (clang.Cursor_isNull(value))
            continue;
        if (clang.getCursorKind(value) == CXCursor_InitListExpr) {
            read_all(reader, value);
        } else {
            read_expression(reader, value, true, false);
            assign(reader, variables[i], variables[i], form_of(reader, value));
        }
    }
}

static void read_loop(struct reader *reader, CXCursor statement)
{
    CXCursor parts[CHILDREN_MOST];
    if (walk_children(statement, parts) != 4) {
        refuse(reader, LWP_REFUSAL_EXPRESSION, statement);
        return;
    }
    enter(reader, statement);
    reader->breakable++;
    read_statement(reader, parts[0]);
    read_expression(reader, parts[1], true, false);
    read_inner(reader, parts[3]);
    read_expression(reader, parts[2], true, false);
    reader->breakable--;
    leave(reader);
}

static void read_assignment(struct reader *reader, CXCursor statement)
{
    CXCursor operands[CHILDREN_MOST];
    bool assigns = clang.getCursorKind(statement) == CXCursor_BinaryOperator && walk_children(statement, operands) == 2 &&
                   strcmp(walk_operator(reader->walk, statement), "=") == 0;
    CXCursor to = assigns ? bare(operands[0]) : statement, variable = clang.getCursorReferenced(to);
    if (!assigns || clang.getCursorKind(to) != CXCursor_DeclRefExpr || !is_variable(variable) ||
        clang.equalCursors(variable, reader->nest->outer.counter) || clang.equalCursors(variable, reader->nest->inner.counter) ||
        clang.isVolatileQualifiedType(clang.getCursorType(to))) {
        read_expression(reader, statement, true, false);
        return;
    }
    read_expression(reader, operands[1], true, false);
    assign(reader, variable, to, form_of(reader, operands[1]));
}

static void read_statement(struct reader *reader, CXCursor statement)
{
    CXCursor parts[CHILDREN_MOST];
    unsigned count = walk_children(statement, parts);
    if (count == CHILDREN_MOST) {
        refuse(reader, LWP_REFUSAL_EXPRESSION, statement);
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
    case CXCursor_NullStmt:
        return;
    case CXCursor_BreakStmt:
    case CXCursor_ContinueStmt:
        if (!reader->breakable)
            refuse(reader, LWP_REFUSAL_JUMP, statement);
        return;
    case CXCursor_ReturnStmt:
    case CXCursor_GotoStmt:
        refuse(reader, LWP_REFUSAL_JUMP, statement);
        return;
    default:
        if (clang.isExpression(clang.getCursorKind(statement)))
            read_assignment(reader, statement);
        else
            refuse(reader, LWP_REFUSAL_EXPRESSION, statement);
    }
}

struct form nest_read_end(struct nest *nest, struct walk *walk, CXCursor expression)
{
    struct reader reader = {.nest = nest, .walk = walk, .body = expression, .in_head = true};
    read_expression(&reader, expression, true, false);
    return form_of(&reader, expression);
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
