/* Whether the arrays are allocated and freed as if they were one, and nothing uses them where no cursor leads. */
#include "patch/arrays/regroup.h"

#include <stdlib.h>
#include <string.h>

void regroup_refuse(struct regroup *regroup, enum lwp_refusal reason, size_t at)
{
    lwp_uses_refuse(regroup->walk.uses, IN_REGROUP, reason, regroup->source, at);
}

/* ---- statements side by side ---- */

static const struct array_use *use_of_statement(const struct regroup *regroup, CXCursor statement, enum use kind)
{
    for (size_t i = 0; i < regroup->use_count; i++)
        if (regroup->uses[i].kind == kind &&
            clang.equalLocations(clang.getCursorLocation(regroup->uses[i].statement), clang.getCursorLocation(statement)))
            return &regroup->uses[i];
    return NULL;
}

struct look {
    struct walk *walk;
    bool harmless;
};

static enum CXChildVisitResult look_for_effects(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct look *look = data;
    (void)parent;
    if (clang.getCursorKind(cursor) == CXCursor_CallExpr)
        look->harmless = look->harmless && clang.Location_isInSystemHeader(clang.getCursorLocation(clang.getCursorReferenced(cursor)));
    else if (walk_may_assign(look->walk, cursor) || walk_step(look->walk, cursor) ||
             (clang.getCursorKind(cursor) == CXCursor_UnaryOperator && !walk_keeps_address(look->walk, cursor)))
        look->harmless = false;
    return CXChildVisit_Recurse;
}

/* `if (!array) exit(1);`: no other way on, and nothing that changes a count. */
static bool is_test(struct regroup *regroup, CXCursor statement)
{
    struct look look = {&regroup->walk, clang.getCursorKind(statement) == CXCursor_IfStmt};
    clang.visitChildren(statement, look_for_effects, &look);
    return look.harmless;
}

/* `other = malloc(size);` or `free(other);` */
static bool is_others_memory(struct regroup *regroup, CXCursor statement, enum use kind)
{
    CXCursor operands[CHILDREN_MOST], call = statement;
    if (kind == USE_ALLOCATE) {
        if (clang.getCursorKind(statement) != CXCursor_BinaryOperator || walk_children(statement, operands) != 2 ||
            !walk_is_pointer(clang.getCursorType(operands[0])) || clang.getCursorKind(operands[0]) != CXCursor_DeclRefExpr ||
            strcmp(walk_operator(&regroup->walk, statement), "=") != 0)
            return false;
        call = walk_strip(operands[1]);
    }
    const struct lwp_known *known =
        clang.getCursorKind(call) == CXCursor_CallExpr ? walk_known(&regroup->walk, clang.getCursorReferenced(call)) : NULL;
    return known && known->role == (kind == USE_ALLOCATE ? ROLE_ALLOCATE : ROLE_FREE);
}

/* Whether one statement for each array stands in the block of `first`, and nothing between them that could see one of them alone. */
static bool are_side_by_side(struct regroup *regroup, const struct array_use *first)
{
    CXCursor statements[CHILDREN_MOST];
    unsigned count = walk_children(first->block, statements);
    size_t found = 0;
    bool seen[ARRAYS_MOST] = {false};
    for (unsigned i = 0; i < count && count < CHILDREN_MOST && found < regroup->array_count; i++) {
        const struct array_use *use = use_of_statement(regroup, statements[i], first->kind);
        if (use && seen[use->array])
            return false;
        if (use) {
            seen[use->array] = true;
            found++;
        } else if (found && !is_others_memory(regroup, statements[i], first->kind) &&
                   !(first->kind == USE_ALLOCATE && is_test(regroup, statements[i]))) {
            return false;
        }
    }
    return found == regroup->array_count;
}

/* ---- allocations ---- */

static const struct array_use *allocation_of(const struct regroup *regroup, size_t array)
{
    for (size_t i = 0; i < regroup->use_count; i++)
        if (regroup->uses[i].kind == USE_ALLOCATE && regroup->uses[i].array == array)
            return &regroup->uses[i];
    return NULL;
}

static void check_allocations(struct regroup *regroup)
{
    const struct array_use *first = allocation_of(regroup, 0);
    size_t count = 0;
    if (!first) {
        regroup_refuse(regroup, LWP_REFUSAL_SIDE, regroup->arrays[0].at);
        return;
    }
    for (size_t i = 0; i < regroup->use_count; i++) {
        const struct array_use *use = &regroup->uses[i];
        if (use->kind != USE_ALLOCATE)
            continue;
        unsigned recorded = regroup->walk.uses->change->arrays[use->array].line;
        count++;
        if (recorded < lwp_source_line(regroup->source, use->begin) || recorded > lwp_source_line(regroup->source, use->end))
            regroup_refuse(regroup, LWP_REFUSAL_NO_ARRAY, use->at);
        if (strcmp(use->allocator, first->allocator) != 0 || strcmp(use->count, first->count) != 0)
            regroup_refuse(regroup, LWP_REFUSAL_SIDE, use->at);
    }
    if (count != regroup->array_count || !are_side_by_side(regroup, first))
        regroup_refuse(regroup, LWP_REFUSAL_SIDE, first->at);
}

/* A size belongs to its own array's allocation, a test comes after that. */
static void check_use(struct regroup *regroup, const struct array_use *use)
{
    const struct array_use *allocation = allocation_of(regroup, use->array);
    CXCursor statements[CHILDREN_MOST];
    bool fine = allocation != NULL;
    if (use->kind == USE_SIZE) {
        fine = fine && use->at >= allocation->size_begin && use->at < allocation->size_end;
    } else if (use->kind == USE_TEST && fine) {
        unsigned count = walk_children(allocation->block, statements);
        fine = false;
        for (unsigned i = 0; i < count && use->at > allocation->end; i++) {
            struct span span = walk_span(&regroup->walk, statements[i]);
            fine = fine || (is_test(regroup, statements[i]) && span.begin < use->at && span.end > use->at);
        }
    } else if (use->kind == USE_FREE) {
        fine = are_side_by_side(regroup, use);
    }
    if (!fine)
        regroup_refuse(regroup, use->kind == USE_SIZE ? LWP_REFUSAL_SIZEOF : LWP_REFUSAL_SIDE, use->at);
}

/* ---- names that no cursor explains ---- */

/* Behind a comment or a literal that begins there, or 0. */
static size_t skip_text(const char *text, size_t at)
{
    const char *end = NULL;
    if (text[at] == '/' && text[at + 1] == '/')
        return at + strcspn(text + at, "\n");
    if (text[at] == '/' && text[at + 1] == '*')
        return (end = strstr(text + at + 2, "*/")) ? (size_t)(end + 2 - text) : at + strlen(text + at);
    if (text[at] != '"' && text[at] != '\'')
        return 0;
    for (size_t to = at + 1; text[to] && text[to] != '\n'; to++) {
        if (text[to] == '\\' && text[to + 1])
            to++;
        else if (text[to] == text[at])
            return to + 1;
    }
    return 0;
}

static bool is_explained(const struct regroup *regroup, size_t at)
{
    for (size_t i = 0; i < regroup->explained_count; i++)
        if (regroup->explaineds[i] == at)
            return true;
    return false;
}

static void check_names(struct regroup *regroup)
{
    const char *text = regroup->source->text;
    for (size_t at = 0, next; at < regroup->source->length; at = next) {
        next = skip_text(text, at);
        if (next)
            continue;
        next = at + 1;
        if (!lwp_is_word_character(text[at]))
            continue;
        while (lwp_is_word_character(text[next]))
            next++;
        for (size_t i = 0; i < regroup->array_count; i++)
            if (walk_is_text(regroup->source, at, regroup->arrays[i].name) && !is_explained(regroup, at))
                regroup_refuse(regroup, LWP_REFUSAL_UNSEEN, at);
    }
}

void regroup_check(struct regroup *regroup)
{
    check_allocations(regroup);
    for (size_t i = 0; i < regroup->use_count; i++)
        check_use(regroup, &regroup->uses[i]);
    check_names(regroup);
}
