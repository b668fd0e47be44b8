/* Arrays that lie alike in the caches are moved apart: each is allocated a little longer and begins a little later. free() is given the
 * block again, whatever the pointer is called there: all that may free one of them is in the source that allocates them. */
#include "patch/arrays/arrays.h"

#include "patch/uses/walk.h"

#include <stdlib.h>
#include <string.h>

enum { MOVED_MOST = 64 };

/* The call that allocates one of the arrays. */
struct moved {
    unsigned found;
    const char *element; /* its type */
    long long bytes;     /* of it */
    size_t begin, end;
    size_t longer;         /* behind the argument that is to be longer: */
    bool in_elements;      /* a number of elements, or of bytes */
    const char *allocator; /* to be asked for; NULL: the C library's */
};

/* A call of free() or realloc(). */
struct freed {
    struct lwp_source *source;
    size_t at;
    const char *element; /* that the pointer leads to; "": anything */
    bool resizes, is_ours;
};

struct apart {
    struct walk walk; /* first: visitors get it */
    struct moved moved[MOVED_MOST];
    struct lwp_source *source; /* that allocates them */
    size_t place;              /* for what is added: before the first function in it, */
    size_t first, behind;      /* in this unit; behind the last declaration */
    struct freed *freeds;
    size_t freed_count, freed_room;
};

static const char *element_of(struct walk *walk, CXType pointer)
{
    CXType type = clang.getCanonicalType(clang.getPointeeType(clang.getCanonicalType(pointer)));
    const char *name = walk_string(walk, clang.getTypeSpelling(type));
    if (type.kind == CXType_Void || type.kind == CXType_Invalid || (type.kind >= CXType_Char_U && type.kind <= CXType_UChar) ||
        type.kind == CXType_Char_S || type.kind == CXType_SChar)
        return "";
    return strncmp(name, "const ", 6) == 0 ? name + 6 : name;
}

/* free() and realloc() are called, and nothing else is done with them. */
static void look_at_function(struct apart *apart, const struct frame *frame)
{
    struct walk *walk = &apart->walk;
    const struct lwp_known *known = walk_known(walk, clang.getCursorReferenced(frame->cursor));
    const char *name = walk_string(walk, clang.getCursorSpelling(frame->cursor));
    unsigned index;
    if (!known && (strcmp(name, "free") == 0 || strcmp(name, "realloc") == 0)) /* the program's own */
        walk_refuse(walk, IN_REGROUP, LWP_REFUSAL_FREED, frame->cursor);
    if (!known || !(known->pointers & 1) || (known->role != ROLE_FREE && known->role != ROLE_ALLOCATE))
        return;
    const struct frame *above = walk_above(frame, &index);
    struct freed freed = {.resizes = known->role == ROLE_ALLOCATE};
    if (clang.getCursorKind(above->cursor) != CXCursor_CallExpr || index != 0 || clang.Cursor_getNumArguments(above->cursor) < 1 ||
        !walk_place(walk, clang.getCursorLocation(frame->cursor), &freed.source, &freed.at) ||
        !walk_is_text(freed.source, freed.at, known->name)) {
        walk_refuse(walk, IN_REGROUP, LWP_REFUSAL_FREED, frame->cursor);
        return;
    }
    freed.element = element_of(walk, clang.getCursorType(walk_strip(clang.Cursor_getArgument(above->cursor, 0))));
    LWP_PUSH(apart->freed, freed);
}

/* Whether ` + 1` may be written behind an expression. */
static bool binds_closer(struct walk *walk, CXCursor expression)
{
    expression = walk_written(expression);
    enum CXCursorKind kind = clang.getCursorKind(expression);
    const char *operator= kind == CXCursor_BinaryOperator ? walk_operator(walk, expression) : "*";
    return kind != CXCursor_ConditionalOperator && kind != CXCursor_CompoundAssignOperator && kind != CXCursor_UnexposedExpr &&
           strlen(operator) == 1 && strchr("+-*/%", *operator);
}

/* Whether an argument is what each element takes: sizeof, or the number. */
static bool is_size(CXCursor argument, const struct moved *moved)
{
    long long number;
    return walk_number(argument, &number) && number == moved->bytes;
}

/* `array = allocate(count, sizeof *array)` or `allocate(bytes)` at the line that was recorded. */
static void look_at_call(struct apart *apart, const struct frame *frame)
{
    struct walk *walk = &apart->walk;
    const struct lwp_change *change = walk->uses->change;
    const struct frame *above = walk_above(frame, NULL);
    CXCursor parts[CHILDREN_MOST], to = above->cursor, callee = clang.getCursorReferenced(frame->cursor);
    enum CXCursorKind kind = clang.getCursorKind(above->cursor);
    struct span call = walk_span(walk, frame->cursor), last;
    int count = clang.Cursor_getNumArguments(frame->cursor);
    if (kind == CXCursor_BinaryOperator && strcmp(walk_operator(walk, above->cursor), "=") == 0 && walk_children(above->cursor, parts) == 2)
        to = walk_strip(parts[0]);
    else if (kind != CXCursor_VarDecl)
        return;
    const char *name = walk_string(walk, clang.getCursorSpelling(to));
    for (size_t i = 0; i < change->array_count; i++) {
        const struct lwp_change_array *array = &change->arrays[i];
        struct moved moved = {.found = apart->moved[i].found + 1, .begin = call.begin, .end = call.end};
        if (strcmp(array->name, name) != 0 || !call.source || lwp_source_line(call.source, call.begin) > array->line ||
            lwp_source_line(call.source, call.end) < array->line || !walk_is_file(call.source, array->file))
            continue;
        const struct lwp_known *known = walk_known(walk, callee);
        moved.element = element_of(walk, clang.getCursorType(to));
        moved.bytes = clang.Type_getSizeOf(clang.getPointeeType(clang.getCanonicalType(clang.getCursorType(to))));
        moved.allocator = known ? NULL : walk_usr(walk, callee);
        moved.in_elements = count == 2;
        bool second = count == 2 && is_size(clang.Cursor_getArgument(frame->cursor, 0), &moved);
        last = count ? walk_span(walk, clang.Cursor_getArgument(frame->cursor, second)) : (struct span){0};
        moved.longer = last.end;
        if (call.argument || (apart->source && apart->source != call.source) || last.source != call.source || last.argument ||
            strcmp(call.source->path, walk->from->file) != 0 ||
            (known && strcmp(known->name, "malloc") != 0 && strcmp(known->name, "calloc") != 0) || count > 2 || moved.bytes <= 0 ||
            (count == 2 && !is_size(clang.Cursor_getArgument(frame->cursor, !second), &moved)) || !*moved.element ||
            !binds_closer(walk, clang.Cursor_getArgument(frame->cursor, second)) ||
            (!known && clang.getCursorKind(callee) != CXCursor_FunctionDecl)) {
            walk_refuse(walk, IN_REGROUP, LWP_REFUSAL_UNKNOWN_ALLOCATOR, frame->cursor);
            return;
        }
        apart->source = call.source;
        apart->moved[i] = moved;
    }
}

/* Where a declaration of the unit's own source ends; the first function is not to be met yet. */
static void look_at_place(struct apart *apart, const struct frame *frame)
{
    struct span span = walk_span(&apart->walk, frame->cursor);
    if (apart->first || !frame->up || frame->up->up || clang.getCursorKind(frame->cursor) >= CXCursor_PreprocessingDirective ||
        !span.source || strcmp(span.source->path, apart->walk.from->file) != 0)
        return;
    bool function = clang.getCursorKind(frame->cursor) == CXCursor_FunctionDecl && clang.isCursorDefinition(frame->cursor);
    size_t end = function ? span.end : walk_skip_space(span.source, span.end) + 1;
    if (function && apart->behind)
        apart->first = apart->behind;
    else if (function || span.source->text[end - 1] == ';')
        apart->behind = end + strspn(span.source->text + end, " \t\r\n");
}

static void visit(struct walk *walk, const struct frame *frame)
{
    struct apart *apart = (struct apart *)walk;
    look_at_place(apart, frame);
    switch (clang.getCursorKind(frame->cursor)) {
    case CXCursor_FunctionDecl:
        if (clang.isCursorDefinition(frame->cursor))
            walk_function(walk, frame->cursor);
        break;
    case CXCursor_CallExpr:
        look_at_call(apart, frame);
        break;
    case CXCursor_DeclRefExpr:
        look_at_function(apart, frame);
        break;
    default:
        break;
    }
}

/* ---- the text ---- */

/* Functions that move a block, and know it again: any C, with no header but that of free(). */
static const char helpers[] = "static struct {\n"
                              "    char *array, *block;\n"
                              "} %1$s_blocks[%2$zu];\n"
                              "static char %1$s_lock;\n"
                              "\n"
                              "/* The block, used from a later byte on. */\n"
                              "static void *%1$s_apart(void *block, unsigned long by)\n"
                              "{\n"
                              "    char *array = block;\n"
                              "    int i;\n"
                              "    while (__atomic_test_and_set(&%1$s_lock, __ATOMIC_ACQUIRE))\n"
                              "        ;\n"
                              "    for (i = 0; block && array == block && i < %2$zu; i++)\n"
                              "        if (!%1$s_blocks[i].array) {\n"
                              "            %1$s_blocks[i].block = block;\n"
                              "            %1$s_blocks[i].array = array += by;\n"
                              "        }\n"
                              "    __atomic_clear(&%1$s_lock, __ATOMIC_RELEASE);\n"
                              "    return array;\n"
                              "}\n"
                              "\n"
                              "static void %1$s_free(void *array)\n"
                              "{\n"
                              "    void *block = array;\n"
                              "    int i;\n"
                              "    while (__atomic_test_and_set(&%1$s_lock, __ATOMIC_ACQUIRE))\n"
                              "        ;\n"
                              "    for (i = 0; array && block == array && i < %2$zu; i++)\n"
                              "        if (%1$s_blocks[i].array == array) {\n"
                              "            block = %1$s_blocks[i].block;\n"
                              "            %1$s_blocks[i].array = 0;\n"
                              "        }\n"
                              "    __atomic_clear(&%1$s_lock, __ATOMIC_RELEASE);\n"
                              "    free(block);\n"
                              "}\n"
                              "\n";
/* The names that are added begin with the first array's. */
static bool are_names_free(struct apart *apart, const char *word)
{
    static const char *const endings[] = {"blocks", "lock", "apart", "free"};
    struct lwp_arena *arena = apart->walk.uses->arena;
    const struct lwp_source *source = apart->source;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const char *there = lwp_find_word(source->text, source->length, lwp_arena_printf(arena, "%s_%s", word, endings[i]));
        if (there)
            lwp_uses_refuse(apart->walk.uses, IN_REGROUP, LWP_REFUSAL_NAME_TAKEN, source, (size_t)(there - source->text));
        if (there)
            return false;
    }
    return true;
}

static void rewrite(struct apart *apart)
{
    const struct lwp_change *change = apart->walk.uses->change;
    struct lwp_arena *arena = apart->walk.uses->arena;
    struct lwp_source *source = apart->source;
    const char *word = change->arrays[0].name;
    if (!are_names_free(apart, word))
        return;
    for (size_t i = 0; i < change->array_count; i++) {
        const struct moved *moved = &apart->moved[i];
        long long by = change->arrays[i].move;
        if (by <= 0)
            continue;
        lwp_source_edit(source, moved->begin, moved->begin, 1, lwp_arena_printf(arena, "%s_apart(", word));
        lwp_source_edit(source, moved->longer, moved->longer, 0,
                        lwp_arena_printf(arena, " + %lld", moved->in_elements ? (by + moved->bytes - 1) / moved->bytes : by));
        lwp_source_edit(source, moved->end, moved->end, 1, lwp_arena_printf(arena, ", %lld)", by));
    }
    for (size_t i = 0; i < apart->freed_count; i++)
        if (apart->freeds[i].is_ours)
            lwp_source_edit(source, apart->freeds[i].at, apart->freeds[i].at + strlen("free"), 0, lwp_arena_printf(arena, "%s_free", word));
    lwp_source_edit(source, apart->place, apart->place, 0, lwp_arena_printf(arena, helpers, word, change->array_count));
}

/* ---- once all units are read ---- */

static bool may_be_ours(const struct apart *apart, const struct freed *freed)
{
    bool may = !*freed->element;
    for (size_t i = 0; i < apart->walk.uses->change->array_count && !may; i++)
        may = apart->moved[i].found && strcmp(apart->moved[i].element, freed->element) == 0;
    return may;
}

static void decide(struct apart *apart)
{
    struct lwp_uses *uses = apart->walk.uses;
    for (size_t i = 0; i < uses->change->array_count; i++) {
        const struct moved *moved = &apart->moved[i];
        if (uses->change->arrays[i].move > 0 && moved->found != 1)
            lwp_refuse(&uses->refusals[LWP_WAY_REGROUP], LWP_REFUSAL_NO_ARRAY, NULL, 0, uses->change->arrays[i].name);
        else if (moved->found && moved->allocator && !walk_is_allocator(&apart->walk, moved->allocator))
            lwp_uses_refuse(uses, IN_REGROUP, LWP_REFUSAL_UNKNOWN_ALLOCATOR, apart->source, moved->begin);
        else if (moved->found && (!apart->place || moved->begin < apart->place))
            lwp_uses_refuse(uses, IN_REGROUP, LWP_REFUSAL_ONE_DECLARATION, apart->source, moved->begin);
    }
    for (size_t i = 0; i < apart->freed_count; i++) {
        struct freed *freed = &apart->freeds[i];
        freed->is_ours = may_be_ours(apart, freed);
        if (freed->is_ours && (freed->resizes || freed->source != apart->source || freed->at < apart->place))
            lwp_uses_refuse(uses, IN_REGROUP, LWP_REFUSAL_FREED, freed->source, freed->at);
    }
}

static void begin_unit(struct walk *walk)
{
    ((struct apart *)walk)->behind = ((struct apart *)walk)->first = 0;
}

static void end_unit(struct walk *walk)
{
    struct apart *apart = (struct apart *)walk;
    if (apart->source && strcmp(apart->source->path, walk->from->file) == 0)
        apart->place = apart->first;
}

int lwp_arrays_apart(struct lwp_uses *uses, struct lwp_error *err)
{
    const struct lwp_change *change = uses->change;
    struct apart apart = {.walk = {.uses = uses, .ways = IN_REGROUP, .begin_unit = begin_unit, .visit = visit, .end_unit = end_unit}};
    if (change->array_count > MOVED_MOST)
        return lwp_error_set(err, LWP_ERR_LIMIT, "the finding names %zu arrays; lwp patch moves at most %d", change->array_count,
                             MOVED_MOST);
    int status = walk_units(&apart.walk, err);
    if (!status)
        decide(&apart);
    if (!status && !uses->refusals[LWP_WAY_REGROUP].refused_count)
        rewrite(&apart);
    walk_functions_free(&apart.walk);
    free(apart.freeds);
    return status;
}
