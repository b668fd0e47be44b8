#include "patch/uses/uses.h"

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
        walk_first_field(walk, frame);
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
    case CXCursor_MacroDefinition:
        walk_macro(walk, frame->cursor);
        break;
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
    walk_freed(walk, frame);
    if (clang.isExpression(kind) && walk->watched_count) {
        visit_expression(walk, frame);
        visit_assembler(walk, frame);
    }
}

static void begin_unit(struct walk *walk)
{
    walk->type = (CXCursor){0};
    walk->watched_count = 0;
    walk->stringifier_count = 0;
    walk->macro_count = 0;
}

int lwp_uses_find(struct lwp_uses *uses, struct lwp_error *err)
{
    struct walk walk = {.uses = uses, .begin_unit = begin_unit, .visit = visit, .end_unit = walk_skipped, .ways = IN_ALL};
    if (walk_units(&walk, err))
        return err->status;
    if (uses->type.source) {
        walk_functions_decide(&walk);
        walk_macros_decide(&walk);
        walk_skipped_decide(&walk);
        walk_pragmas_decide(&walk);
        walk_first_field_decide(&walk);
    } else {
        lwp_uses_refuse(uses, IN_ALL, LWP_REFUSAL_NO_TYPE, NULL, 0);
    }
    walk_functions_free(&walk);
    walk_skipped_free(&walk);
    walk_first_field_free(&walk);
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
