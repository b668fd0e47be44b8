#include "patch/uses/uses.h"

#include "base/path.h"
#include "patch/uses/walk.h"

#include <stdlib.h>
#include <string.h>

static void visit_expression(struct walk *walk, const struct frame *frame)
{
    switch (clang.getCursorKind(frame->cursor)) {
    case CXCursor_UnexposedExpr:
    case CXCursor_CStyleCastExpr:
        walk_conversion(walk, frame);
        break;
    case CXCursor_MemberRefExpr:
        walk_member(walk, frame);
        break;
    case CXCursor_CallExpr:
        walk_call(walk, frame);
        break;
    case CXCursor_UnaryExpr:
        walk_sizeof(walk, frame);
        break;
    case CXCursor_UnaryOperator:
        walk_address(walk, frame);
        break;
    case CXCursor_InitListExpr:
        walk_initialiser(walk, frame);
        break;
    case CXCursor_DeclRefExpr:
        walk_variable(walk, frame);
        break;
    default:
        break;
    }
    walk_value(walk, frame);
}

/* Inline assembly that is given elements. */
static void visit_assembler(struct walk *walk, const struct frame *frame)
{
    for (const struct frame *up = frame->up; up && walk_target(walk, clang.getCursorType(frame->cursor), NULL) >= 0; up = up->up)
        if (clang.getCursorKind(up->cursor) == CXCursor_GCCAsmStmt || clang.getCursorKind(up->cursor) == CXCursor_MSAsmStmt) {
            walk_refuse(walk, IN_ALL, LWP_REFUSAL_ASSEMBLER, frame->cursor);
            return;
        }
}

static void visit(struct walk *walk, const struct frame *frame)
{
    enum CXCursorKind kind = clang.getCursorKind(frame->cursor);
    switch (kind) {
    case CXCursor_StructDecl:
    case CXCursor_UnionDecl:
    case CXCursor_TypedefDecl:
        walk_record(walk, frame);
        break;
    case CXCursor_VarDecl:
    case CXCursor_ParmDecl:
    case CXCursor_FieldDecl:
    case CXCursor_FunctionDecl:
        walk_declaration(walk, frame);
        break;
    case CXCursor_TypeRef:
        walk_type_name(walk, frame);
        break;
    case CXCursor_MemberRef:
        walk_member_name(walk, frame);
        break;
    default:
        break;
    }
    if (clang.isExpression(kind) && walk->watched_count) {
        visit_expression(walk, frame);
        visit_assembler(walk, frame);
    }
}

struct visitor {
    struct walk *walk;
    struct frame frame;
    unsigned next;
};

static enum CXChildVisitResult visit_child(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct visitor *above = data;
    struct visitor here = {above->walk, {cursor, &above->frame, above->next++}, 0};
    enum CXCursorKind kind = clang.getCursorKind(cursor);
    (void)parent;
    if (kind == CXCursor_MacroExpansion || kind == CXCursor_InclusionDirective)
        return CXChildVisit_Continue;
    bool outermost = !above->frame.up;
    if (outermost && clang.Location_isInSystemHeader(clang.getCursorLocation(cursor)))
        return CXChildVisit_Continue;
    if (kind == CXCursor_MacroDefinition) {
        walk_macro(above->walk, cursor);
        return CXChildVisit_Continue;
    }
    visit(above->walk, &here.frame);
    clang.visitChildren(cursor, visit_child, &here);
    return CXChildVisit_Continue;
}

/* Whether libclang understood all of the source. */
static bool check_errors(struct walk *walk)
{
    unsigned count = clang.getNumDiagnostics(walk->unit);
    for (unsigned i = 0; i < count; i++) {
        CXDiagnostic diagnostic = clang.getDiagnostic(walk->unit, i);
        bool wrong = clang.getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error;
        const char *text = wrong ? walk_string(walk, clang.formatDiagnostic(diagnostic, CXDiagnostic_DisplaySourceLocation)) : NULL;
        clang.disposeDiagnostic(diagnostic);
        struct lwp_source *source = wrong ? lwp_source_open(walk->uses->sources, walk->from->file) : NULL;
        for (unsigned way = 0; wrong && way < LWP_WAYS; way++)
            lwp_refuse(&walk->uses->refusals[way], LWP_REFUSAL_PARSE, source, 0, text);
        if (wrong)
            return false;
    }
    return true;
}

static void read_unit(struct walk *walk, CXIndex index)
{
    struct lwp_uses *uses = walk->uses;
    const struct lwp_unit *unit = walk->from;
    walk->file = NULL;
    walk->type = (CXCursor){0};
    walk->watched_count = 0;
    walk->stringifier_count = 0;
    walk->macro_count = 0;
    struct lwp_source *source = lwp_source_open(uses->sources, unit->file);
    if (strcmp(strrchr(unit->file, '.'), ".c") != 0) {
        lwp_uses_refuse(uses, IN_ALL, LWP_REFUSAL_CPLUSPLUS, source, 0);
        return;
    }
    if (clang.parseTranslationUnit2FullArgv(index, NULL, (const char *const *)unit->arguments, (int)unit->argument_count, NULL, 0,
                                            CXTranslationUnit_DetailedPreprocessingRecord, &walk->unit) != CXError_Success) {
        lwp_uses_refuse(uses, IN_ALL, LWP_REFUSAL_PARSE, source, 0);
        return;
    }
    uses->units_read++;
    if (check_errors(walk)) {
        struct visitor top = {walk, {clang.getTranslationUnitCursor(walk->unit), NULL, 0}, 0};
        clang.visitChildren(top.frame.cursor, visit_child, &top);
        walk_skipped(walk);
    }
    clang.disposeTranslationUnit(walk->unit);
}

int lwp_uses_find(struct lwp_uses *uses, struct lwp_error *err)
{
    if (lwp_clang_load(err))
        return err->status;
    CXIndex index = clang.createIndex(0, 0);
    struct walk walk = {.uses = uses};
    for (unsigned way = 0; way < LWP_WAYS; way++)
        uses->refusals[way].arena = uses->arena;
    for (size_t i = 0; i < uses->units->unit_count; i++) {
        walk.from = &uses->units->units[i];
        read_unit(&walk, index);
    }
    clang.disposeIndex(index);
    if (uses->type.source) {
        walk_functions_decide(&walk);
        walk_macros_decide(&walk);
        walk_skipped_decide(&walk);
    } else {
        lwp_uses_refuse(uses, IN_ALL, LWP_REFUSAL_NO_TYPE, NULL, 0);
    }
    walk_functions_free(&walk);
    walk_skipped_free(&walk);
    free(walk.stringifiers);
    free(walk.macros);
    free(walk.macro_others);
    return LWP_OK;
}

void lwp_uses_free(struct lwp_uses *uses)
{
    for (unsigned way = 0; way < LWP_WAYS; way++)
        free(uses->refusals[way].refuseds);
    free(uses->type.fields);
    free(uses->members);
    free(uses->pool_calls);
    free(uses->array_uses);
    free(uses->type_names);
    free(uses->positionals);
}
