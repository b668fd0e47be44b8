/* The translation units of a program, one after the other, each from its top. */
#include "patch/uses/walk.h"

#include <string.h>

struct visitor {
    struct walk *walk;
    struct frame frame;
    unsigned next;
};

static enum CXChildVisitResult visit_child(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct visitor *above = data;
    struct visitor here = {above->walk, {cursor, &above->frame, above->next++}, 0};
    (void)parent;
    bool outermost = !above->frame.up;
    if (clang.getCursorKind(cursor) == CXCursor_InclusionDirective ||
        (outermost && clang.Location_isInSystemHeader(clang.getCursorLocation(cursor))))
        return CXChildVisit_Continue;
    above->walk->visit(above->walk, &here.frame);
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
            if (walk->ways & 1u << way)
                lwp_refuse(&walk->uses->refusals[way], LWP_REFUSAL_PARSE, source, 0, text);
        if (wrong)
            return false;
    }
    return true;
}

/* Texts that stand for those of files, as libclang wants them. */
static struct CXUnsavedFile *list_given(const struct walk *walk, unsigned *count)
{
    const struct lwp_sources *sources = walk->uses->sources;
    struct CXUnsavedFile *given = lwp_arena_alloc(walk->uses->arena, sources->source_count + 1, sizeof *given);
    *count = 0;
    for (size_t i = 0; i < sources->source_count; i++)
        if (sources->sources[i]->given)
            given[(*count)++] = (struct CXUnsavedFile){sources->sources[i]->path, sources->sources[i]->text, sources->sources[i]->length};
    return given;
}

static void read_unit(struct walk *walk, CXIndex index)
{
    const struct lwp_unit *unit = walk->from;
    unsigned given_count;
    struct CXUnsavedFile *given = list_given(walk, &given_count);
    walk->file = NULL;
    if (walk->begin_unit)
        walk->begin_unit(walk);
    struct lwp_source *source = lwp_source_open(walk->uses->sources, unit->file);
    if (strcmp(strrchr(unit->file, '.'), ".c") != 0) {
        lwp_uses_refuse(walk->uses, walk->ways, LWP_REFUSAL_CPLUSPLUS, source, 0);
        return;
    }
    if (clang.parseTranslationUnit2FullArgv(index, NULL, (const char *const *)unit->arguments, (int)unit->argument_count, given,
                                            given_count, CXTranslationUnit_DetailedPreprocessingRecord, &walk->unit) != CXError_Success) {
        lwp_uses_refuse(walk->uses, walk->ways, LWP_REFUSAL_PARSE, source, 0);
        return;
    }
    walk->uses->units_read++;
    if (check_errors(walk)) {
        struct visitor top = {walk, {clang.getTranslationUnitCursor(walk->unit), NULL, 0}, 0};
        clang.visitChildren(top.frame.cursor, visit_child, &top);
        if (walk->end_unit)
            walk->end_unit(walk);
    }
    clang.disposeTranslationUnit(walk->unit);
}

int walk_units(struct walk *walk, struct lwp_error *err)
{
    if (lwp_clang_load(err))
        return err->status;
    CXIndex index = clang.createIndex(0, 0);
    for (unsigned way = 0; way < LWP_WAYS; way++)
        walk->uses->refusals[way].arena = walk->uses->arena;
    for (size_t i = 0; i < walk->uses->units->unit_count; i++) {
        walk->from = &walk->uses->units->units[i];
        read_unit(walk, index);
    }
    clang.disposeIndex(index);
    return LWP_OK;
}
