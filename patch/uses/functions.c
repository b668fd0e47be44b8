/* What functions do with memory: those of the C library by name, the project's by their bodies. A function may be in another
 * translation unit, so what depends on one is decided at the end. */
#include "patch/uses/walk.h"

#include <stdlib.h>
#include <string.h>

enum { DEPENDS_MOST = 4, PARAMETERS_MOST = 32 };

struct function {
    const char *usr;
    bool defined, seen_body;
    bool allocates;                       /* if it returns void *: only memory that it has just allocated */
    bool transparent;                     /* and does nothing else that anybody could notice */
    unsigned sizes;                       /* number of its parameters, whose product is what it allocates; 0: something else */
    unsigned opaque;                      /* parameters, by bit, of which it looks at no byte */
    unsigned single;                      /* those of which it looks at one value only: *parameter */
    unsigned parameters;                  /* those that have a bit; not what stands for "..." */
    bool frees;                           /* its only parameter, and nothing else */
    bool called, address_taken, callback; /* called directly; its address used elsewhere; given to qsort or the like */
    const char *depends[DEPENDS_MOST];    /* project functions whose results it returns as new memory */
    unsigned depend_count;
};

enum need { NEED_DEFINITION, NEED_SIZE, NEED_ALLOCATOR, NEED_OPAQUE, NEED_SINGLE, NEED_CALLBACK };

struct pending {
    enum need need;
    const char *usr;
    enum lwp_refusal reason;
    struct lwp_source *source;
    size_t at, name_end;
    unsigned argument;
};

struct functions {
    struct function *functions;
    size_t function_count, function_room;
    struct pending *pendings;
    size_t pending_count, pending_room;
};

static const struct lwp_known known[] = {
    {"malloc", ROLE_ALLOCATE, 0, "malloc"},   {"calloc", ROLE_ALLOCATE, 0, "calloc"},    {"realloc", ROLE_ALLOCATE, 1, "realloc"},
    {"reallocarray", ROLE_ALLOCATE, 1, NULL}, {"aligned_alloc", ROLE_ALLOCATE, 0, NULL}, {"memalign", ROLE_ALLOCATE, 0, NULL},
    {"valloc", ROLE_ALLOCATE, 0, NULL},       {"alloca", ROLE_ALLOCATE, 0, NULL},        {"__builtin_alloca", ROLE_ALLOCATE, 0, NULL},
    {"free", ROLE_FREE, 1, "free"},           {"memset", ROLE_SIZED, 1, NULL},           {"bzero", ROLE_SIZED, 1, NULL},
    {"memcpy", ROLE_PAIR, 3, NULL},           {"memmove", ROLE_PAIR, 3, NULL},           {"qsort", ROLE_SORT, 1, NULL},
    {"bsearch", ROLE_SORT, 3, NULL},          {"pthread_create", ROLE_OPAQUE, 8, NULL},  {"__builtin_prefetch", ROLE_OPAQUE, 1, NULL},
};

/* What a transparent allocator may call beside. */
static const char *const harmless[] = {"memset", "fprintf", "printf", "puts",     "fputs",
                                       "perror", "exit",    "abort",  "strerror", "__errno_location"};

const struct lwp_known *walk_known(struct walk *walk, CXCursor callee)
{
    (void)walk;
    if (clang.Cursor_isNull(callee) || clang.getCursorKind(callee) != CXCursor_FunctionDecl)
        return NULL;
    CXString name = clang.getCursorSpelling(callee);
    const struct lwp_known *found = NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known && !found; i++)
        if (strcmp(clang.getCString(name), known[i].name) == 0)
            found = &known[i];
    clang.disposeString(name);
    CXCursor definition = clang.getCursorDefinition(callee);
    if (found && !clang.Cursor_isNull(definition) && !clang.Location_isInSystemHeader(clang.getCursorLocation(definition)))
        return NULL; /* the project's own malloc() */
    return found;
}

static struct functions *state(struct walk *walk)
{
    if (!walk->functions)
        walk->functions = lwp_zeroed(1, sizeof *walk->functions);
    return walk->functions;
}

static struct function *find(struct walk *walk, const char *usr)
{
    struct functions *functions = state(walk);
    for (size_t i = 0; i < functions->function_count; i++)
        if (strcmp(functions->functions[i].usr, usr) == 0)
            return &functions->functions[i];
    return LWP_PUSH(functions->function, (struct function){.usr = usr});
}

static struct function *of(struct walk *walk, CXCursor declaration)
{
    return find(walk, walk_usr(walk, declaration));
}

/* ---- one function's body ---- */

struct body {
    struct walk *walk;
    struct function *function;
    CXCursor definition;
    CXCursor locals[8]; /* what it returns */
    unsigned local_count;
    bool asks_null; /* second pass */
    unsigned allocations;
};

static long parameter_index(const struct body *body, CXCursor reference)
{
    int count = clang.Cursor_getNumArguments(body->definition);
    CXCursor to = clang.getCursorReferenced(reference);
    for (int i = 0; i < count && i < PARAMETERS_MOST; i++)
        if (clang.equalCursors(clang.Cursor_getArgument(body->definition, (unsigned)i), to))
            return i;
    return -1;
}

/* Whether a call's arguments are these parameters, each once, multiplied and nothing else. */
static bool multiplies_parameters(struct body *body, CXCursor call)
{
    unsigned seen = 0, count = (unsigned)clang.Cursor_getNumArguments(body->definition);
    CXCursor stack[32];
    unsigned top = 0;
    for (int i = 0; i < clang.Cursor_getNumArguments(call) && top < 16; i++)
        stack[top++] = clang.Cursor_getArgument(call, (unsigned)i);
    while (top) {
        CXCursor expression = walk_strip(stack[--top]), operands[CHILDREN_MOST];
        long parameter = clang.getCursorKind(expression) == CXCursor_DeclRefExpr ? parameter_index(body, expression) : -1;
        struct span span = walk_span(body->walk, expression);
        if (parameter >= 0 && !(seen & 1u << parameter)) {
            seen |= 1u << parameter;
        } else if (clang.getCursorKind(expression) == CXCursor_BinaryOperator && top < 16 &&
                   strcmp(walk_operator(body->walk, expression), "*") == 0 && walk_children(expression, operands) == 2) {
            stack[top++] = operands[0];
            stack[top++] = operands[1];
        } else if (clang.getCursorKind(expression) != CXCursor_IntegerLiteral || !span.source ||
                   !walk_is_text(span.source, span.begin, "1")) {
            return false;
        }
    }
    return count && seen == (1u << count) - 1;
}

/* Whether an expression is new memory (or none). */
static bool is_new(struct body *body, CXCursor expression)
{
    CXCursor inner = walk_strip(expression);
    if (walk_is_null(inner))
        return true;
    if (clang.getCursorKind(inner) != CXCursor_CallExpr)
        return false;
    CXCursor callee = clang.getCursorReferenced(inner);
    const struct lwp_known *function = walk_known(body->walk, callee);
    if (function && function->role == ROLE_ALLOCATE) {
        bool plain = function->pool && strcmp(function->pool, "realloc") != 0;
        unsigned count = (unsigned)clang.Cursor_getNumArguments(body->definition);
        body->function->sizes = body->allocations == 0 && plain && multiplies_parameters(body, inner) ? count : 0;
        body->allocations++;
        return strcmp(function->name, "alloca") != 0;
    }
    if (clang.Cursor_isNull(callee) || clang.getCursorKind(callee) != CXCursor_FunctionDecl || body->function->depend_count == DEPENDS_MOST)
        return false;
    body->function->depends[body->function->depend_count++] = walk_usr(body->walk, callee);
    body->function->sizes = 0;
    body->function->transparent = false;
    return true;
}

static int local_index(const struct body *body, CXCursor declaration)
{
    for (unsigned i = 0; i < body->local_count; i++)
        if (clang.equalCursors(body->locals[i], declaration))
            return (int)i;
    return -1;
}

/* What is returned: new memory, or a variable whose uses the second pass looks at. */
static void look_at_return(struct body *body, CXCursor statement)
{
    CXCursor values[CHILDREN_MOST];
    if (walk_children(statement, values) != 1) {
        body->function->allocates = false;
        return;
    }
    CXCursor inner = walk_strip(values[0]);
    if (clang.getCursorKind(inner) == CXCursor_DeclRefExpr) {
        CXCursor variable = clang.getCursorReferenced(inner);
        bool local = clang.getCursorKind(variable) == CXCursor_VarDecl && clang.Cursor_getStorageClass(variable) != CX_SC_Static &&
                     clang.getCursorKind(clang.getCursorSemanticParent(variable)) == CXCursor_FunctionDecl;
        if (!local || body->local_count == 8)
            body->function->allocates = false;
        else if (local_index(body, variable) < 0)
            body->locals[body->local_count++] = variable;
    } else if (!is_new(body, inner)) {
        body->function->allocates = false;
    }
}

/* A use of a variable that is returned, or of a parameter: one that reads no byte behind it? */
static bool is_quiet(struct body *body, const struct frame *reference, bool *assigned)
{
    unsigned index;
    const struct frame *above = walk_above(reference, &index);
    enum CXCursorKind kind = clang.getCursorKind(above->cursor);
    if (kind == CXCursor_ReturnStmt || walk_is_null_test(body->walk, above, index))
        return true;
    if (kind == CXCursor_BinaryOperator && index == 0 && strcmp(walk_operator(body->walk, above->cursor), "=") == 0) {
        CXCursor operands[CHILDREN_MOST];
        walk_children(above->cursor, operands);
        *assigned = true;
        return is_new(body, operands[1]);
    }
    const struct lwp_known *function = kind == CXCursor_CallExpr ? walk_known(body->walk, clang.getCursorReferenced(above->cursor)) : NULL;
    return function && index > 0 && (function->role == ROLE_FREE || (function->role == ROLE_SIZED && index == 1));
}

static bool is_harmless(struct body *body, CXCursor call)
{
    CXCursor callee = clang.getCursorReferenced(call);
    const struct lwp_known *function = walk_known(body->walk, callee);
    if (function && (function->role == ROLE_ALLOCATE || function->role == ROLE_FREE))
        return true;
    if (clang.Cursor_isNull(callee))
        return false;
    CXString name = clang.getCursorSpelling(callee);
    bool found = false;
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        found = found || strcmp(clang.getCString(name), harmless[i]) == 0;
    clang.disposeString(name);
    return found;
}

/* A use of a parameter that goes no further than what it points to. */
static bool is_one_value(struct body *body, const struct frame *reference)
{
    unsigned index;
    const struct frame *above = walk_above(reference, &index);
    if (clang.getCursorKind(above->cursor) != CXCursor_UnaryOperator || !walk_is_sign(body->walk, above->cursor, '*'))
        return walk_is_null_test(body->walk, above, index);
    CXType pointee = clang.getPointeeType(clang.getCanonicalType(clang.getCursorType(reference->cursor)));
    return walk_is_same_type(pointee, clang.getCursorType(above->cursor)); /* not cast to something larger */
}

static void look_at_reference(struct body *body, const struct frame *frame)
{
    CXCursor to = clang.getCursorReferenced(frame->cursor);
    bool assigned = false;
    long parameter = parameter_index(body, frame->cursor);
    if (parameter >= 0 && walk_is_pointer(clang.getCursorType(to)) &&
        (!is_quiet(body, frame, &assigned) || assigned))
        body->function->opaque &= ~(1u << parameter);
    if (parameter >= 0 && !is_one_value(body, frame))
        body->function->single &= ~(1u << parameter);
    if (local_index(body, to) >= 0 && !is_quiet(body, frame, &assigned))
        body->function->allocates = false;
}

struct body_frame {
    struct body *body;
    struct frame frame;
    unsigned next;
};

static void body_cursor(struct body *body, const struct frame *frame)
{
    enum CXCursorKind kind = clang.getCursorKind(frame->cursor);
    if (!body->asks_null && kind == CXCursor_ReturnStmt) {
        look_at_return(body, frame->cursor);
    } else if (body->asks_null && kind == CXCursor_DeclRefExpr) {
        look_at_reference(body, frame);
    } else if (body->asks_null && kind == CXCursor_VarDecl && local_index(body, frame->cursor) >= 0) {
        CXCursor parts[CHILDREN_MOST];
        unsigned count = walk_children(frame->cursor, parts);
        for (unsigned i = 0; i < count; i++)
            if (clang.isExpression(clang.getCursorKind(parts[i])) && !is_new(body, parts[i]))
                body->function->allocates = false;
    } else if (!body->asks_null && kind == CXCursor_CallExpr && !is_harmless(body, frame->cursor)) {
        body->function->transparent = false;
    } else if (kind == CXCursor_CompoundAssignOperator || kind == CXCursor_GCCAsmStmt) {
        body->function->transparent = false;
    } else if (!body->asks_null && (kind == CXCursor_BinaryOperator || kind == CXCursor_UnaryOperator)) {
        CXCursor operands[CHILDREN_MOST];
        struct span span = walk_span(body->walk, frame->cursor);
        bool assigns = kind == CXCursor_BinaryOperator
                           ? strcmp(walk_operator(body->walk, frame->cursor), "=") == 0
                           : !span.source || strchr("+-", span.source->text[span.begin]) || strchr("+-", span.source->text[span.end - 1]);
        CXCursor to = walk_children(frame->cursor, operands) ? walk_strip(operands[0]) : frame->cursor;
        CXCursor variable = clang.getCursorReferenced(to);
        if (assigns && (clang.getCursorKind(to) != CXCursor_DeclRefExpr ||
                        clang.getCursorKind(clang.getCursorSemanticParent(variable)) != CXCursor_FunctionDecl ||
                        clang.Cursor_getStorageClass(variable) == CX_SC_Static))
            body->function->transparent = false;
    }
}

static enum CXChildVisitResult body_visit(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct body_frame *above = data;
    struct body_frame here = {above->body, {cursor, &above->frame, above->next++}, 0};
    (void)parent;
    body_cursor(above->body, &here.frame);
    clang.visitChildren(cursor, body_visit, &here);
    return CXChildVisit_Continue;
}

void walk_function(struct walk *walk, CXCursor definition)
{
    struct function *function = of(walk, definition);
    function->defined = true;
    if (function->seen_body)
        return;
    CXType result = clang.getCanonicalType(clang.getResultType(clang.getCursorType(definition)));
    bool memory = result.kind == CXType_Pointer && clang.getCanonicalType(clang.getPointeeType(result)).kind == CXType_Void;
    function->seen_body = true;
    function->allocates = memory;
    function->transparent = true;
    function->opaque = function->single = ~0u;
    int count = clang.Cursor_getNumArguments(definition);
    function->parameters = count < 0 ? 0 : count < PARAMETERS_MOST ? (unsigned)count : PARAMETERS_MOST;
    struct body body = {.walk = walk, .function = function, .definition = definition};
    struct body_frame top = {&body, {definition, NULL, 0}, 0};
    clang.visitChildren(definition, body_visit, &top);
    body.asks_null = true;
    top.next = 0;
    clang.visitChildren(definition, body_visit, &top);
    function->frees =
        function->transparent && result.kind == CXType_Void && clang.Cursor_getNumArguments(definition) == 1 && (function->opaque & 1);
    function->allocates = function->allocates && (body.allocations > 0 || function->depend_count > 0);
}

/* ---- how functions are used ---- */

void walk_function_used(struct walk *walk, const struct frame *reference)
{
    CXCursor to = clang.getCursorReferenced(reference->cursor);
    if (clang.Location_isInSystemHeader(clang.getCursorLocation(to)))
        return;
    unsigned index;
    const struct frame *above = walk_above(reference, &index);
    struct function *function = of(walk, to);
    if (above && clang.getCursorKind(above->cursor) == CXCursor_CallExpr && index == 0) {
        function->called = true;
        return;
    }
    const struct lwp_known *taker = above && clang.getCursorKind(above->cursor) == CXCursor_CallExpr
                                        ? walk_known(walk, clang.getCursorReferenced(above->cursor))
                                        : NULL;
    if (taker && (taker->role == ROLE_SORT || taker->role == ROLE_OPAQUE))
        function->callback = true;
    else
        function->address_taken = true;
}

void walk_defines(struct walk *walk, CXCursor declaration)
{
    of(walk, declaration)->defined = true;
}

static void add(struct walk *walk, enum need need, CXCursor function, CXCursor at, enum lwp_refusal reason, unsigned argument)
{
    struct pending pending = {.need = need, .usr = walk_usr(walk, function), .reason = reason, .argument = argument};
    CXString name = clang.getCursorSpelling(function);
    walk_place(walk, clang.getRangeStart(clang.getCursorExtent(at)), &pending.source, &pending.at);
    pending.name_end = pending.source && walk_is_text(pending.source, pending.at, clang.getCString(name))
                           ? pending.at + strlen(clang.getCString(name))
                           : 0;
    clang.disposeString(name);
    of(walk, function);
    LWP_PUSH(state(walk)->pending, pending);
}

void walk_needs_definition(struct walk *walk, CXCursor function, CXCursor at, enum lwp_refusal reason)
{
    add(walk, NEED_DEFINITION, function, at, reason, 0);
}

void walk_needs_allocator(struct walk *walk, CXCursor function, CXCursor call)
{
    add(walk, NEED_ALLOCATOR, function, call, LWP_REFUSAL_UNKNOWN_ALLOCATOR, 0);
}

void walk_needs_size(struct walk *walk, CXCursor function, CXCursor at)
{
    add(walk, NEED_SIZE, function, at, LWP_REFUSAL_SIZEOF, 0);
}

void walk_needs_opaque(struct walk *walk, CXCursor function, unsigned argument, CXCursor call)
{
    add(walk, NEED_OPAQUE, function, call, LWP_REFUSAL_VOID, argument);
}

void walk_needs_single(struct walk *walk, CXCursor function, unsigned argument, CXCursor at)
{
    add(walk, NEED_SINGLE, function, at, LWP_REFUSAL_FIELD_ADDRESS, argument);
}

void walk_needs_callback(struct walk *walk, CXCursor function, CXCursor at)
{
    add(walk, NEED_CALLBACK, function, at, LWP_REFUSAL_VOID, 0);
}

static bool allocates(struct walk *walk, const char *usr, unsigned depth)
{
    struct function function = *find(walk, usr); /* a copy: looking others up may move them */
    bool all = function.allocates && depth < 8;
    for (unsigned i = 0; i < function.depend_count && all; i++)
        all = allocates(walk, function.depends[i], depth + 1);
    return all;
}

bool walk_is_allocator(struct walk *walk, const char *usr)
{
    struct function function = *find(walk, usr);
    return function.transparent && function.sizes && allocates(walk, usr, 0);
}

static void pool_call(struct walk *walk, const struct pending *pending, const char *as)
{
    struct lwp_uses *uses = walk->uses;
    if (!as || !pending->name_end)
        lwp_uses_refuse(uses, IN_POOLS, as ? LWP_REFUSAL_MACRO : LWP_REFUSAL_UNKNOWN_ALLOCATOR, pending->source, pending->at);
    else
        LWP_PUSH(uses->pool_call, (struct lwp_pool_call){pending->source, pending->at, pending->name_end, as});
}

static void decide(struct walk *walk, const struct pending *pending)
{
    struct function function = *find(walk, pending->usr);
    bool fine = false;
    switch (pending->need) {
    case NEED_DEFINITION:
        fine = function.defined;
        break;
    case NEED_SIZE:
        fine = allocates(walk, pending->usr, 0);
        break;
    case NEED_ALLOCATOR:
        fine = allocates(walk, pending->usr, 0);
        if (fine)
            pool_call(walk, pending,
                      !function.transparent || !function.sizes || function.sizes > 2 ? NULL
                      : function.sizes == 2                                          ? "calloc"
                                                                                     : "malloc");
        break;
    case NEED_OPAQUE:
        fine = function.seen_body && pending->argument < function.parameters && (function.opaque & 1u << pending->argument);
        if (fine)
            pool_call(walk, pending, function.frees ? "free" : NULL);
        break;
    case NEED_SINGLE:
        fine = function.seen_body && pending->argument < function.parameters && (function.single & 1u << pending->argument);
        break;
    case NEED_CALLBACK:
        fine = function.callback && !function.called && !function.address_taken;
        break;
    }
    bool layout = pending->reason == LWP_REFUSAL_SIZEOF || pending->reason == LWP_REFUSAL_FIELD_ADDRESS;
    if (!fine)
        lwp_uses_refuse(walk->uses, layout ? IN_FIELDS : IN_ALL, pending->reason, pending->source, pending->at);
}

void walk_functions_decide(struct walk *walk)
{
    for (size_t i = 0; i < state(walk)->pending_count; i++)
        decide(walk, &walk->functions->pendings[i]);
}

void walk_functions_free(struct walk *walk)
{
    if (!walk->functions)
        return;
    free(walk->functions->functions);
    free(walk->functions->pendings);
    free(walk->functions);
}
