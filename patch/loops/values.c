/* Which variables have a value of the iteration's own, and what are indices made of? */
#include "patch/loops/reader.h"

#include <string.h>

void reader_refuse(struct reader *reader, enum lwp_refusal reason, CXCursor at)
{
    nest_refuse(reader->nest, reader->walk, reason, at);
}

bool reader_is_variable(CXCursor declaration)
{
    enum CXCursorKind kind = clang.getCursorKind(declaration);
    return kind == CXCursor_VarDecl || kind == CXCursor_ParmDecl;
}

bool reader_is_in_body(struct reader *reader, CXCursor declaration)
{
    struct span body = walk_span(reader->walk, reader->body);
    return !reader->in_head && nest_is_inside(reader->walk, declaration, body.source, body.begin, body.end);
}

CXCursor reader_bare(CXCursor expression)
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

static struct temporary *find_temporary(struct reader *reader, const char *variable)
{
    for (size_t i = 0; i < reader->temporary_count; i++)
        if (strcmp(reader->temporaries[i].variable, variable) == 0)
            return &reader->temporaries[i];
    return NULL;
}

static bool is_open(const struct reader *reader, const struct temporary *temporary)
{
    for (unsigned i = 0; temporary && i < reader->scope_depth; i++)
        if (reader->scopes[i] == temporary->scope)
            return true;
    return temporary && temporary->scope == 0;
}

static struct outside *outside_of(struct reader *reader, CXCursor declaration, CXCursor use)
{
    struct nest *nest = reader->nest;
    const char *variable = walk_usr(reader->walk, declaration);
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

void reader_use(struct reader *reader, CXCursor declaration, CXCursor use, bool reads, bool writes)
{
    const struct nest *nest = reader->nest;
    if (clang.equalCursors(declaration, nest->outer.counter) || clang.equalCursors(declaration, nest->inner.counter)) {
        if (reader->in_head || writes)
            reader_refuse(reader, reader->in_head ? LWP_REFUSAL_HEAD : LWP_REFUSAL_COUNTER, use);
        return;
    }
    const struct temporary *temporary = find_temporary(reader, walk_usr(reader->walk, declaration));
    if (reader_is_in_body(reader, declaration) || is_open(reader, temporary))
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

static enum CXChildVisitResult count_write(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct writes *writes = data;
    CXCursor parts[CHILDREN_MOST];
    (void)parent;
    if ((walk_may_assign(writes->reader->walk, cursor) || walk_step(writes->reader->walk, cursor)) && walk_children(cursor, parts))
        writes->count += clang.equalCursors(clang.getCursorReferenced(reader_bare(parts[0])), writes->variable);
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
void reader_assign(struct reader *reader, CXCursor declaration, CXCursor use, struct form value)
{
    const char *variable = walk_usr(reader->walk, declaration);
    struct temporary *temporary = find_temporary(reader, variable);
    bool inside = reader_is_in_body(reader, declaration);
    if (!temporary && reader->temporary_count < TEMPORARIES_MOST)
        temporary = &reader->temporaries[reader->temporary_count++];
    if (!temporary) {
        reader_refuse(reader, LWP_REFUSAL_EXPRESSION, use);
        return;
    }
    if (!temporary->variable || !is_open(reader, temporary))
        temporary->scope = inside ? 0 : reader->scopes[reader->scope_depth - 1];
    temporary->variable = variable;
    temporary->value = is_written_once(reader, declaration, clang.equalCursors(declaration, use)) ? value : (struct form){0};
    if (inside)
        return;
    struct outside *outside = outside_of(reader, declaration, use);
    outside->writes = true;
    outside->sometimes = outside->sometimes || reader->scope_depth > 1;
}

bool reader_is_temporary(struct reader *reader, const char *variable)
{
    return is_open(reader, find_temporary(reader, variable));
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

static struct form form_of_variable(struct reader *reader, CXCursor declaration)
{
    if (clang.getCursorKind(declaration) == CXCursor_EnumConstantDecl)
        return form_of_number(clang.getEnumConstantDeclValue(declaration));
    if (!reader_is_variable(declaration))
        return (struct form){0};
    if (clang.equalCursors(declaration, reader->nest->outer.counter) || clang.equalCursors(declaration, reader->nest->inner.counter))
        return form_of_counter(clang.equalCursors(declaration, reader->nest->outer.counter) ? OUTER_LOOP : INNER_LOOP);
    const char *variable = walk_usr(reader->walk, declaration);
    const struct temporary *temporary = find_temporary(reader, variable);
    if (is_open(reader, temporary))
        return temporary->value;
    return reader_is_in_body(reader, declaration) ? (struct form){0} : form_of_symbol(variable); /* if written, the nest is refused */
}

struct form reader_form(struct reader *reader, CXCursor expression)
{
    CXCursor children[CHILDREN_MOST];
    unsigned count = walk_children(expression, children);
    enum CXCursorKind kind = clang.getCursorKind(expression);
    long long number;
    CXType type = clang.getCursorType(expression);
    if (kind == CXCursor_IntegerLiteral)
        return walk_number(expression, &number) ? form_of_number(number) : (struct form){0};
    if (kind == CXCursor_DeclRefExpr)
        return form_of_variable(reader, clang.getCursorReferenced(expression));
    if (kind == CXCursor_ParenExpr && count == 1)
        return reader_form(reader, children[0]);
    if (kind == CXCursor_UnexposedExpr || kind == CXCursor_CStyleCastExpr)
        return count && keeps_value(clang.getCursorType(children[count - 1]), type) ? reader_form(reader, children[count - 1])
                                                                                    : (struct form){0};
    if (kind != CXCursor_BinaryOperator || count != 2 || !is_exact(type))
        return (struct form){0};
    const char *operator= walk_operator(reader->walk, expression);
    if (strcmp(operator, "*") == 0)
        return form_product(reader->walk->uses->arena, reader_form(reader, children[0]), reader_form(reader, children[1]));
    if (strcmp(operator, "+") == 0 || strcmp(operator, "-") == 0)
        return form_sum(reader_form(reader, children[0]), reader_form(reader, children[1]), *operator== '+' ? 1 : - 1);
    return (struct form){0};
}
