/* libclang's functions, loaded by name when `lwp patch` needs them: no other command carries LLVM. */
#ifndef LWP_PATCH_CLANG_API_H
#define LWP_PATCH_CLANG_API_H

#include "base/error.h"

#include <clang-c/Index.h>

#define LWP_CLANG_FUNCTIONS(F)                                                                                                             \
    F(createIndex)                                                                                                                         \
    F(disposeIndex)                                                                                                                        \
    F(parseTranslationUnit2FullArgv)                                                                                                       \
    F(disposeTranslationUnit)                                                                                                              \
    F(getTranslationUnitCursor)                                                                                                            \
    F(getNumDiagnostics)                                                                                                                   \
    F(getDiagnostic)                                                                                                                       \
    F(getDiagnosticSeverity)                                                                                                               \
    F(formatDiagnostic)                                                                                                                    \
    F(disposeDiagnostic)                                                                                                                   \
    F(getCString)                                                                                                                          \
    F(disposeString)                                                                                                                       \
    F(visitChildren)                                                                                                                       \
    F(getCursorKind)                                                                                                                       \
    F(isExpression)                                                                                                                        \
    F(getCursorType)                                                                                                                       \
    F(getCursorReferenced)                                                                                                                 \
    F(getCursorDefinition)                                                                                                                 \
    F(getCursorSemanticParent)                                                                                                             \
    F(getCursorLexicalParent)                                                                                                              \
    F(getCursorExtent)                                                                                                                     \
    F(getCursorLocation)                                                                                                                   \
    F(getCursorPrintingPolicy)                                                                                                             \
    F(getCursorPrettyPrinted)                                                                                                              \
    F(PrintingPolicy_dispose)                                                                                                              \
    F(getCursorSpelling)                                                                                                                   \
    F(getCursorUSR)                                                                                                                        \
    F(getCanonicalCursor)                                                                                                                  \
    F(equalLocations)                                                                                                                      \
    F(equalCursors)                                                                                                                        \
    F(isCursorDefinition)                                                                                                                  \
    F(Cursor_isNull)                                                                                                                       \
    F(Cursor_isBitField)                                                                                                                   \
    F(Cursor_isAnonymousRecordDecl)                                                                                                        \
    F(Cursor_getVarDeclInitializer)                                                                                                        \
    F(Cursor_getStorageClass)                                                                                                              \
    F(getRangeStart)                                                                                                                       \
    F(getRangeEnd)                                                                                                                         \
    F(getFileLocation)                                                                                                                     \
    F(getExpansionLocation)                                                                                                                \
    F(Location_isInSystemHeader)                                                                                                           \
    F(File_tryGetRealPathName)                                                                                                             \
    F(getFileName)                                                                                                                         \
    F(getCanonicalType)                                                                                                                    \
    F(isConstQualifiedType)                                                                                                                \
    F(isVolatileQualifiedType)                                                                                                             \
    F(isRestrictQualifiedType)                                                                                                             \
    F(getEnumConstantDeclValue)                                                                                                            \
    F(getPointeeType)                                                                                                                      \
    F(getArrayElementType)                                                                                                                 \
    F(getTypeDeclaration)                                                                                                                  \
    F(getTypeSpelling)                                                                                                                     \
    F(getResultType)                                                                                                                       \
    F(getNumArgTypes)                                                                                                                      \
    F(getArgType)                                                                                                                          \
    F(Type_getSizeOf)                                                                                                                      \
    F(Type_getAlignOf)                                                                                                                     \
    F(Cursor_getOffsetOfField)                                                                                                             \
    F(Cursor_getNumArguments)                                                                                                              \
    F(Cursor_getArgument)                                                                                                                  \
    F(Cursor_Evaluate)                                                                                                                     \
    F(EvalResult_getKind)                                                                                                                  \
    F(EvalResult_getAsLongLong)                                                                                                            \
    F(EvalResult_dispose)                                                                                                                  \
    F(getAllSkippedRanges)                                                                                                                 \
    F(disposeSourceRangeList)                                                                                                              \
    F(getInclusions)

struct lwp_clang {
#define LWP_CLANG_MEMBER(name) __typeof__(clang_##name) *name;
    LWP_CLANG_FUNCTIONS(LWP_CLANG_MEMBER)
#undef LWP_CLANG_MEMBER
};

/* Valid after lwp_clang_load(). */
extern struct lwp_clang clang;

int lwp_clang_load(struct lwp_error *err);

#endif
