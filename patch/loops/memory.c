/* What pointers are ever given, in all of the program: a pointer that gets nothing but new memory has its memory for itself. */
#include "patch/loops/nest.h"

#include <stdlib.h>
#include <string.h>

enum { CALLS_MOST = 8, ARGUMENTS_MOST = 4, PARAMETERS_MOST = 2 };

/* Something that is said of a variable or of a function's result. */
enum saying {
    GETS_NEW,      /* from the C library */
    GETS_RESULT,   /* of a function of the program */
    GETS_VARIABLE, /* a function's result is a local variable's value */
    GETS_OTHER,
    IS_EXPOSED,
    IS_CHANGED, /* a parameter that is a number */
};

/* A number of bytes: a product of a number and of parameters of the function where it stands. */
struct amount {
    bool known;
    long long number;
    const char *parameters[PARAMETERS_MOST]; /* USR */
    unsigned places[PARAMETERS_MOST], count;
};

struct said {
    const char *of; /* USR */
    enum saying what;
    const char *from; /* the function's or the variable's USR */
    struct amount amounts[ARGUMENTS_MOST]; /* GETS_NEW: the first is the size; GETS_RESULT: the arguments */
};

struct memory {
    struct said *saids;
    size_t said_count, said_room;
};

struct memory *memory_new(void)
{
    return lwp_zeroed(1, sizeof(struct memory));
}

void memory_free(struct memory *memory)
{
    free(memory->saids);
    free(memory);
}

static bool is_pointer(CXCursor of)
{
    return walk_is_pointer(clang.getCursorType(of));
}

static struct said *say(struct memory *memory, struct walk *walk, CXCursor of, enum saying what, const char *from)
{
    return LWP_PUSH(memory->said, (struct said){.of = walk_usr(walk, of), .what = what, .from = from});
}

/* ---- how much memory ---- */

static struct amount amount_of_parameter(struct walk *walk, CXCursor parameter)
{
    CXCursor function = clang.getCursorSemanticParent(parameter);
    for (int i = 0; i < clang.Cursor_getNumArguments(function) && i < ARGUMENTS_MOST; i++)
        if (clang.equalCursors(clang.Cursor_getArgument(function, (unsigned)i), parameter))
            return (struct amount){true, 1, {walk_usr(walk, parameter)}, {(unsigned)i}, 1};
    return (struct amount){0};
}

static struct amount amount_product(struct amount a, struct amount b)
{
    struct amount product = a;
    product.known =
        a.known && b.known && a.count + b.count <= PARAMETERS_MOST && !__builtin_mul_overflow(a.number, b.number, &product.number);
    for (unsigned i = 0; i < b.count && product.known; i++, product.count++) {
        product.parameters[product.count] = b.parameters[i];
        product.places[product.count] = b.places[i];
    }
    return product;
}

static struct amount amount_of(struct walk *walk, CXCursor expression)
{
    CXCursor inner = walk_strip(expression), operands[CHILDREN_MOST];
    struct amount amount = {0};
    if (walk_number(expression, &amount.number)) {
        amount.known = amount.number > 0;
        return amount;
    }
    if (clang.getCursorKind(inner) == CXCursor_DeclRefExpr && clang.getCursorKind(clang.getCursorReferenced(inner)) == CXCursor_ParmDecl)
        return amount_of_parameter(walk, clang.getCursorReferenced(inner));
    if (clang.getCursorKind(inner) == CXCursor_BinaryOperator && strcmp(walk_operator(walk, inner), "*") == 0 &&
        walk_children(inner, operands) == 2)
        return amount_product(amount_of(walk, operands[0]), amount_of(walk, operands[1]));
    return amount;
}

/* What an allocator of the C library is asked for. */
static struct amount amount_of_new(struct walk *walk, CXCursor call, const char *name)
{
    static const struct {
        const char *name;
        unsigned first, count;
    } sizes[] = {{"malloc", 0, 1},       {"calloc", 0, 2},        {"realloc", 1, 1},
                 {"reallocarray", 1, 2}, {"aligned_alloc", 1, 1}, {"memalign", 1, 1}};
    struct amount amount = {0};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (strcmp(sizes[i].name, name) == 0 && clang.Cursor_getNumArguments(call) == (int)(sizes[i].first + sizes[i].count)) {
            amount = amount_of(walk, clang.Cursor_getArgument(call, sizes[i].first));
            if (sizes[i].count == 2)
                amount = amount_product(amount, amount_of(walk, clang.Cursor_getArgument(call, sizes[i].first + 1)));
        }
    return amount;
}

/* ---- what is said ---- */

static void gets(struct memory *memory, struct walk *walk, CXCursor of, CXCursor value)
{
    CXCursor inner = walk_strip(value), callee = clang.getCursorReferenced(inner);
    bool call = clang.getCursorKind(inner) == CXCursor_CallExpr && clang.getCursorKind(callee) == CXCursor_FunctionDecl;
    const struct lwp_known *known = call ? walk_known(walk, callee) : NULL;
    if (walk_is_null(inner))
        return;
    if (known && known->role == ROLE_ALLOCATE)
        say(memory, walk, of, GETS_NEW, NULL)->amounts[0] = amount_of_new(walk, inner, known->name);
    else if (call && !known) {
        struct said *said = say(memory, walk, of, GETS_RESULT, walk_usr(walk, callee));
        for (int i = 0; i < clang.Cursor_getNumArguments(inner) && i < ARGUMENTS_MOST; i++)
            said->amounts[i] = amount_of(walk, clang.Cursor_getArgument(inner, (unsigned)i));
    } else
        say(memory, walk, of, GETS_OTHER, NULL);
}

/* A local variable, whose value belongs to one call of the function. */
static bool is_local(CXCursor variable)
{
    return clang.getCursorKind(variable) == CXCursor_VarDecl && clang.Cursor_getStorageClass(variable) != CX_SC_Static &&
           clang.getCursorKind(clang.getCursorSemanticParent(variable)) == CXCursor_FunctionDecl;
}

static void returns(struct memory *memory, struct walk *walk, const struct frame *frame)
{
    CXCursor value[CHILDREN_MOST];
    const struct frame *function = frame->up;
    while (function && clang.getCursorKind(function->cursor) != CXCursor_FunctionDecl)
        function = function->up;
    if (!function || walk_children(frame->cursor, value) != 1 || !is_pointer(value[0]))
        return;
    CXCursor inner = walk_strip(value[0]), variable = clang.getCursorReferenced(inner);
    if (clang.getCursorKind(inner) == CXCursor_DeclRefExpr && is_local(variable))
        say(memory, walk, function->cursor, GETS_VARIABLE, walk_usr(walk, variable));
    else
        gets(memory, walk, function->cursor, value[0]);
}

static bool is_in_assembler(const struct frame *reference)
{
    const struct frame *up = reference->up;
    while (up && clang.isExpression(clang.getCursorKind(up->cursor)))
        up = up->up;
    return up && clang.getCursorKind(up->cursor) == CXCursor_GCCAsmStmt;
}

/* The variable that an expression is a part of: x for x.a[3].b. */
static CXCursor variable_of(CXCursor expression)
{
    CXCursor parts[CHILDREN_MOST];
    for (;;) {
        expression = walk_strip(expression);
        enum CXCursorKind kind = clang.getCursorKind(expression);
        if ((kind != CXCursor_MemberRefExpr && kind != CXCursor_ArraySubscriptExpr) || !walk_children(expression, parts) ||
            is_pointer(parts[0]))
            return expression;
        expression = parts[0];
    }
}

void memory_visit(struct memory *memory, struct walk *walk, const struct frame *frame)
{
    CXCursor parts[CHILDREN_MOST], to;
    enum CXCursorKind kind = clang.getCursorKind(frame->cursor);
    unsigned count;
    switch (kind) {
    case CXCursor_ParmDecl:
        if (is_pointer(frame->cursor))
            say(memory, walk, frame->cursor, GETS_OTHER, NULL);
        return;
    case CXCursor_VarDecl:
        to = clang.Cursor_getVarDeclInitializer(frame->cursor);
        if (is_pointer(frame->cursor) && !clang.Cursor_isNull(to))
            gets(memory, walk, frame->cursor, to);
        return;
    case CXCursor_ReturnStmt:
        returns(memory, walk, frame);
        return;
    case CXCursor_DeclRefExpr:
        if (is_in_assembler(frame))
            say(memory, walk, clang.getCursorReferenced(frame->cursor), IS_EXPOSED, NULL);
        return;
    case CXCursor_BinaryOperator:
    case CXCursor_CompoundAssignOperator:
    case CXCursor_UnaryOperator:
        break;
    default:
        return;
    }
    count = walk_children(frame->cursor, parts);
    to = count ? variable_of(parts[0]) : frame->cursor;
    if (clang.getCursorKind(to) != CXCursor_DeclRefExpr)
        return;
    to = clang.getCursorReferenced(to);
    if (kind == CXCursor_UnaryOperator && !walk_keeps_address(walk, frame->cursor))
        say(memory, walk, to, IS_EXPOSED, NULL);
    else if (clang.getCursorKind(to) == CXCursor_ParmDecl && !is_pointer(to) &&
             (walk_may_assign(walk, frame->cursor) || walk_step(walk, frame->cursor)))
        say(memory, walk, to, IS_CHANGED, NULL);
    else if (kind == CXCursor_BinaryOperator && is_pointer(to) && is_pointer(parts[0]) &&
             strcmp(walk_operator(walk, frame->cursor), "=") == 0)
        gets(memory, walk, to, parts[1]);
    else if (kind != CXCursor_UnaryOperator && is_pointer(to) && walk_may_assign(walk, frame->cursor))
        say(memory, walk, to, GETS_OTHER, NULL);
}

/* Whether all that a variable or a function's result ever is is new memory. */
static bool is_new(const struct memory *memory, const char *usr, unsigned depth)
{
    bool any = false;
    for (size_t i = 0; i < memory->said_count; i++) {
        const struct said *said = &memory->saids[i];
        if (strcmp(said->of, usr) != 0)
            continue;
        if (said->what == GETS_OTHER || said->what == IS_EXPOSED || depth == CALLS_MOST ||
            (said->what != GETS_NEW && !is_new(memory, said->from, depth + 1)))
            return false;
        any = true;
    }
    return any;
}

bool memory_is_own(const struct memory *memory, const char *variable)
{
    return is_new(memory, variable, 0);
}

static bool is_said(const struct memory *memory, const char *variable, enum saying what)
{
    for (size_t i = 0; i < memory->said_count; i++)
        if (memory->saids[i].what == what && strcmp(memory->saids[i].of, variable) == 0)
            return true;
    return false;
}

bool memory_is_exposed(const struct memory *memory, const char *variable)
{
    return is_said(memory, variable, IS_EXPOSED);
}

/* The number that an amount is where the parameters are these; 0: not known. */
static long long number_of(const struct memory *memory, const struct amount *amount, const long long *arguments)
{
    long long number = amount->known ? amount->number : 0;
    for (unsigned i = 0; i < amount->count && number; i++)
        if (!arguments || is_said(memory, amount->parameters[i], IS_CHANGED) || is_said(memory, amount->parameters[i], IS_EXPOSED) ||
            __builtin_mul_overflow(number, arguments[amount->places[i]], &number))
            number = 0;
    return number;
}

/* The most bytes that a variable or a function's result ever points to; 0: not known. */
static long long most_bytes(const struct memory *memory, const char *usr, const long long *arguments, unsigned depth)
{
    long long most = 0;
    for (size_t i = 0; i < memory->said_count; i++) {
        const struct said *said = &memory->saids[i];
        long long bytes = 0, given[ARGUMENTS_MOST];
        if (strcmp(said->of, usr) != 0)
            continue;
        for (unsigned a = 0; a < ARGUMENTS_MOST; a++)
            given[a] = number_of(memory, &said->amounts[a], arguments);
        if (said->what == GETS_NEW)
            bytes = given[0];
        else if (depth < CALLS_MOST && (said->what == GETS_RESULT || said->what == GETS_VARIABLE))
            bytes = most_bytes(memory, said->from, said->what == GETS_RESULT ? given : arguments, depth + 1);
        if (!bytes)
            return 0;
        most = bytes > most ? bytes : most;
    }
    return most;
}

long long memory_most_bytes(const struct memory *memory, const char *variable)
{
    return most_bytes(memory, variable, NULL, 0);
}

unsigned memory_values(const struct memory *memory, const char *variable)
{
    unsigned count = 0;
    for (size_t i = 0; i < memory->said_count; i++)
        count += memory->saids[i].what < IS_EXPOSED && strcmp(memory->saids[i].of, variable) == 0;
    return count;
}
