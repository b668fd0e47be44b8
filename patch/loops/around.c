/* An inner loop with statements around it, as where a sum is begun before it and stored after it. The statements then get loops of their
 * own, over some iterations of the outer loop at a time, and variables of one iteration become arrays of as many. Each iteration does what
 * it did, in the same order, so sums stay the same to the last digit; it must not use what another one writes. */
#include "patch/loops/reader.h"

#include <stdlib.h>
#include <string.h>

enum { AT_A_TIME = 512 }; /* runs of doubles as long as a page, which is how far prefetchers go */

/* ---- reading ---- */

static bool is_number(CXType type)
{
    type = clang.getCanonicalType(type);
    return type.kind >= CXType_Bool && type.kind <= CXType_LongDouble && type.kind != CXType_Int128 && type.kind != CXType_UInt128 &&
           !clang.isVolatileQualifiedType(type) && !clang.isConstQualifiedType(type);
}

/* Whether sums are the same to the last digit in memory as in a register: those of the x87 are not. */
static bool is_exact_in_memory(const struct walk *walk, CXType type)
{
    enum CXTypeKind kind = clang.getCanonicalType(type).kind;
    bool narrow = false;
    for (size_t i = 0; i < walk->from->argument_count; i++)
        narrow = narrow || strcmp(walk->from->arguments[i], "-m32") == 0;
    return !narrow || (kind != CXType_Float && kind != CXType_Double);
}

/* `double sum = 0;`, alone in its declaration, of a type that its words alone name. */
static bool read_own(struct nest *nest, struct walk *walk, CXCursor statement, CXCursor variable)
{
    struct span whole = walk_span(walk, statement), span = walk_span(walk, variable);
    struct lwp_source *source;
    struct own own = {.declaration = variable, .name = walk_string(walk, clang.getCursorSpelling(variable))};
    CXCursor value = clang.Cursor_getVarDeclInitializer(variable);
    if (nest->around.own_count == OWN_MOST || whole.source != nest->source || whole.argument || span.source != nest->source ||
        span.begin != whole.begin || !is_number(clang.getCursorType(variable)) ||
        !is_exact_in_memory(walk, clang.getCursorType(variable)) ||
        !walk_place(walk, clang.getCursorLocation(variable), &source, &own.name_at) || !walk_is_text(source, own.name_at, own.name))
        return false;
    own.begin = whole.begin;
    own.end = whole.end;
    own.is_set = !clang.Cursor_isNull(value);
    own.type = lwp_arena_strndup(walk->uses->arena, source->text + own.begin, own.name_at - own.begin);
    nest->around.owns[nest->around.own_count++] = own;
    return !strpbrk(own.type, "(/*\n") && (own.is_set || own.name_at + strlen(own.name) == span.end) &&
           !lwp_find_word(own.type, strlen(own.type), "register");
}

struct search {
    struct nest *nest;
    struct walk *walk;
    bool fine;
};

/* Where the iteration's variables are used. */
static enum CXChildVisitResult list_uses(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct search *search = data;
    struct nest *nest = search->nest;
    struct lwp_source *source;
    size_t at;
    (void)parent;
    for (unsigned i = 0; i < nest->around.own_count && clang.getCursorKind(cursor) == CXCursor_DeclRefExpr; i++) {
        if (!clang.equalCursors(clang.getCursorReferenced(cursor), nest->around.owns[i].declaration))
            continue;
        if (!walk_place(search->walk, clang.getCursorLocation(cursor), &source, &at) || source != nest->source ||
            !walk_is_text(source, at, nest->around.owns[i].name))
            search->fine = false;
        else
            LWP_PUSH(nest->around.use, (struct own_use){i, at});
    }
    return CXChildVisit_Recurse;
}

/* The names that the change adds. */
static bool are_names_free(struct nest *nest, struct lwp_arena *arena)
{
    static const char *const endings[] = {"first", "end"};
    for (size_t i = 0; i < 2; i++) {
        const char *name = lwp_arena_printf(arena, "%s_%s", nest->around.counter, endings[i]), *text = nest->source->text,
                   *there = lwp_find_word(text, nest->source->length, name);
        if (there) {
            lwp_refuse(&nest->refusals, LWP_REFUSAL_NAME_TAKEN, nest->source, (size_t)(there - text), NULL);
            return false;
        }
    }
    return true;
}

/* `for (TYPE counter = first; counter < end; counter++)` */
static bool is_plain_head(struct nest *nest, struct walk *walk, const CXCursor *parts)
{
    CXCursor compared[CHILDREN_MOST];
    long long number;
    CXType type = clang.getCursorType(nest->outer.counter);
    if (clang.getCursorKind(parts[FOR_INIT]) != CXCursor_DeclStmt || nest->outer.step != 1 || !nest->outer.by_one ||
        strcmp(walk_operator(walk, parts[FOR_CONDITION]), "<") != 0 || walk_children(parts[FOR_CONDITION], compared) != 2 ||
        clang.Type_getSizeOf(type) < 4)
        return false;
    struct span end = walk_span(walk, compared[1]), first = walk_span(walk, clang.Cursor_getVarDeclInitializer(nest->outer.counter)),
                declared = walk_span(walk, nest->outer.counter);
    bool small = walk_number(compared[1], &number) && number >= 0 && number <= 0x7fffffff;
    CXType end_type = clang.getCanonicalType(clang.getCursorType(reader_bare(compared[1])));
    struct lwp_source *source;
    size_t at;
    if ((!small && end_type.kind != clang.getCanonicalType(type).kind) ||
        !walk_place(walk, clang.getCursorLocation(nest->outer.counter), &source, &at) || end.source != nest->source ||
        first.source != nest->source || declared.source != nest->source || end.argument || first.argument)
        return false;
    const char *text = nest->source->text;
    struct lwp_arena *arena = walk->uses->arena;
    nest->around.type = lwp_arena_strndup(arena, text + declared.begin, at - declared.begin);
    nest->around.counter = walk_string(walk, clang.getCursorSpelling(nest->outer.counter));
    nest->around.first = lwp_arena_strndup(arena, text + first.begin, first.end - first.begin);
    nest->around.end = lwp_arena_strndup(arena, text + end.begin, end.end - end.begin);
    return declared.begin == nest->outer.begin && walk_is_text(source, at, nest->around.counter) && !strpbrk(nest->around.type, "(/*\n");
}

bool nest_read_around(struct nest *nest, struct walk *walk, const CXCursor *outer, const CXCursor *inner, CXCursor loop)
{
    CXCursor statements[CHILDREN_MOST], variables[CHILDREN_MOST];
    unsigned count = walk_children(outer[FOR_BODY], statements);
    struct span body = walk_span(walk, outer[FOR_BODY]), within = walk_span(walk, loop), work = walk_span(walk, inner[FOR_BODY]);
    struct search search = {nest, walk, true};
    if (count == CHILDREN_MOST || body.source != nest->source || body.argument || within.source != nest->source ||
        work.source != nest->source || work.argument || clang.getCursorKind(inner[FOR_INIT]) != CXCursor_DeclStmt ||
        !is_plain_head(nest, walk, outer))
        return false;
    nest->around.body_begin = body.begin;
    nest->around.body_end = body.end;
    nest->around.inner_begin = within.begin;
    nest->around.inner_end = within.end;
    if (clang.getCursorKind(inner[FOR_BODY]) != CXCursor_CompoundStmt)
        nest->around.inner_end = walk_skip_space(nest->source, within.end) + 1;
    nest->around.work_begin = work.begin;
    for (unsigned i = 0; i < count; i++) {
        struct span span = walk_span(walk, statements[i]);
        if (clang.getCursorKind(statements[i]) != CXCursor_DeclStmt)
            continue;
        if (span.begin > nest->around.inner_begin || walk_children(statements[i], variables) != 1 ||
            !read_own(nest, walk, statements[i], variables[0]))
            return false;
    }
    clang.visitChildren(outer[FOR_BODY], list_uses, &search);
    nest_read_statements(nest, walk, outer[FOR_BODY], inner[FOR_BODY], loop);
    for (size_t i = 0; i < nest->outside_count; i++) /* the inner loop's head, which all iterations share, may use an own one */
        if (nest_is_inside(walk, nest->outsides[i].declaration, nest->source, nest->begin, nest->end))
            nest_refuse(nest, walk, LWP_REFUSAL_HEAD, loop);
    return search.fine && are_names_free(nest, walk->uses->arena) && nest->source->text[nest->around.body_begin] == '{' &&
           nest->source->text[nest->around.body_end - 1] == '}' &&
           (nest->source->text[nest->around.inner_end - 1] == ';' || nest->source->text[nest->around.inner_end - 1] == '}');
}

/* ---- the text ---- */

/* The blanks that a line begins with. */
static const char *indent_at(struct lwp_arena *arena, const struct lwp_source *source, size_t at)
{
    while (at > 0 && source->text[at - 1] != '\n')
        at--;
    return lwp_arena_strndup(arena, source->text + at, strspn(source->text + at, " \t"));
}

/* The lines that begin between two places, but not the one that the second is in. */
static void indent_lines(const struct nest *nest, size_t begin, size_t end)
{
    const char *text = nest->source->text;
    while (end > begin && text[end - 1] != '\n')
        end--;
    for (size_t at = begin; at + 1 < end; at++)
        if (text[at] == '\n' && text[at + 1 + strspn(text + at + 1, " \t\r")] != '\n')
            lwp_source_edit(nest->source, at + 1, at + 1, 0, "    ");
}

static void insert(const struct nest *nest, size_t at, const char *text)
{
    lwp_source_edit(nest->source, at, at, 1, text);
}

static void rewrite_own(const struct nest *nest, struct lwp_arena *arena, const struct own *own, const char *index)
{
    if (own->is_set)
        lwp_source_edit(nest->source, own->begin, own->name_at + strlen(own->name), 0, lwp_arena_printf(arena, "%s%s", own->name, index));
    else
        lwp_source_edit(nest->source, own->begin, own->end, 0, "");
}

static bool is_blank(const struct nest *nest, size_t begin, size_t end)
{
    return walk_skip_space(nest->source, begin) >= end;
}

void nest_distribute(const struct nest *nest, struct lwp_arena *arena)
{
    struct lwp_source *source = nest->source;
    const char *c = nest->around.counter, *type = nest->around.type, *indent = indent_at(arena, source, nest->begin),
               *index = lwp_arena_printf(arena, "[%s - %s_first]", c, c),
               *head = lwp_arena_printf(arena, "for (%s%s = %s_first; %s < %s_end; %s++)", type, c, c, c, c, c);
    lwp_source_edit(source, nest->outer.begin, nest->outer.end, 0,
                    lwp_arena_printf(arena, "%s%s_first = %s, %s_end; %s_first < %s; %s_first = %s_end", type, c, nest->around.first, c, c,
                                     nest->around.end, c, c));
    char *begin = lwp_format("\n%s    %s_end = (unsigned long long)(%s) - %s_first < %d ? %s : %s_first + %d;", indent, c, nest->around.end,
                             c, AT_A_TIME, nest->around.end, c, AT_A_TIME);
    for (unsigned i = 0; i < nest->around.own_count; i++)
        lwp_format_more(&begin, "\n%s    %s%s[%d];", indent, nest->around.owns[i].type, nest->around.owns[i].name, AT_A_TIME);
    bool before = !is_blank(nest, nest->around.body_begin + 1, nest->around.inner_begin),
         after = !is_blank(nest, nest->around.inner_end, nest->around.body_end - 1);
    if (before) {
        lwp_format_more(&begin, "\n%s    %s {", indent, head);
        indent_lines(nest, nest->around.body_begin + 1, nest->around.inner_begin);
        insert(nest, nest->around.inner_begin, lwp_arena_printf(arena, "}\n%s    ", indent));
    }
    insert(nest, nest->around.body_begin + 1, lwp_arena_strdup(arena, begin));
    free(begin);
    bool block = source->text[nest->around.work_begin] == '{';
    insert(nest, nest->around.work_begin, lwp_arena_printf(arena, block ? "%s " : "%s\n%s            ", head, indent));
    if (!block)
        indent_lines(nest, nest->around.work_begin, nest->around.inner_end + strcspn(source->text + nest->around.inner_end, "\n") + 1);
    if (after) {
        insert(nest, nest->around.inner_end, lwp_arena_printf(arena, "\n%s    %s {", indent, head));
        indent_lines(nest, nest->around.inner_end, nest->around.body_end - 1);
        insert(nest, nest->around.body_end - 1, lwp_arena_printf(arena, "    }\n%s", indent));
    }
    for (unsigned i = 0; i < nest->around.own_count; i++)
        rewrite_own(nest, arena, &nest->around.owns[i], index);
    for (size_t i = 0; i < nest->around.use_count; i++) {
        size_t end = nest->around.uses[i].at + strlen(nest->around.owns[nest->around.uses[i].own].name);
        lwp_source_edit(source, end, end, 0, index);
    }
}
