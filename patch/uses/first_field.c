/* The address of the first field is that of the element, and free() may be given it by that name. Elements are then freed where no use of
 * the type is seen: refused where such an address is kept, and pointers of its type are freed or become void * anywhere. */
#include "patch/uses/walk.h"

#include <stdlib.h>
#include <string.h>

enum { NESTED_MOST = 4 };

/* Where the address goes on, as a pointer to one of these: the field, its own first field, ... */
struct kept {
    struct lwp_source *source;
    size_t at;
    const char *types[NESTED_MOST];
};

struct first_field {
    struct kept *kepts;
    size_t kept_count, kept_room;
    const char **freeds; /* types that pointers which may be freed point to */
    size_t freed_count, freed_room;
};

static struct first_field *state(struct walk *walk)
{
    if (!walk->first_field)
        walk->first_field = lwp_zeroed(1, sizeof *walk->first_field);
    return walk->first_field;
}

/* What an array or a pointer to it leads to. */
static CXType pointee(CXType type)
{
    type = clang.getCanonicalType(type);
    if (type.kind == CXType_ConstantArray || type.kind == CXType_IncompleteArray || type.kind == CXType_VariableArray)
        return clang.getCanonicalType(clang.getArrayElementType(type));
    return clang.getCanonicalType(clang.getPointeeType(type));
}

/* What a library is given as void * may be kept, and freed later (pthread_setspecific, tsearch): not by these. */
static const char *const looks[] = {"memcpy", "memmove", "mempcpy",  "memset", "bzero",  "memcmp",     "memchr",
                                    "qsort",  "bsearch", "fread",    "fwrite", "read",   "write",      "pread",
                                    "pwrite", "recv",    "recvfrom", "send",   "sendto", "getsockopt", "setsockopt"};

/* Whether a function of a library is called with it. */
static bool is_for_library(const struct frame *above, unsigned index)
{
    if (!above || clang.getCursorKind(above->cursor) != CXCursor_CallExpr || index == 0)
        return false;
    CXCursor callee = clang.getCursorReferenced(above->cursor);
    return !clang.Cursor_isNull(callee) && clang.getCursorKind(callee) == CXCursor_FunctionDecl &&
           clang.Location_isInSystemHeader(clang.getCursorLocation(callee));
}

static bool only_looks(struct walk *walk, const struct frame *above, unsigned index)
{
    if (!is_for_library(above, index))
        return false;
    CXCursor callee = clang.getCursorReferenced(above->cursor);
    CXType type = clang.getCanonicalType(clang.getCursorType(callee));
    bool named = (int)index <= clang.getNumArgTypes(type);
    if (!named || pointee(clang.getArgType(type, index - 1)).kind != CXType_Void)
        return true;
    const char *name = walk_string(walk, clang.getCursorSpelling(callee));
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++)
        if (strcmp(looks[i], name) == 0)
            return true;
    return false;
}

static bool goes_on(struct walk *walk, const struct frame *above, unsigned index)
{
    if (!above)
        return true;
    enum CXCursorKind kind = clang.getCursorKind(above->cursor);
    bool pointer = kind == CXCursor_BinaryOperator && walk_is_pointer(clang.getCursorType(above->cursor));
    return kind != CXCursor_ArraySubscriptExpr && kind != CXCursor_MemberRefExpr && kind != CXCursor_UnaryExpr &&
           kind != CXCursor_UnaryOperator && (kind != CXCursor_BinaryOperator || pointer) && !only_looks(walk, above, index);
}

/* Whether the pointer is given on as one to what is const: only a cast, which is a conversion, gets rid of that. */
static bool becomes_const(const struct frame *pointer, const struct frame *above)
{
    bool is = false;
    for (; pointer != above; pointer = pointer->up)
        if (walk_is_pointer(clang.getCursorType(pointer->cursor)))
            is = clang.isConstQualifiedType(pointee(clang.getCursorType(pointer->cursor)));
    return is;
}

static void name_types(struct walk *walk, CXType type, bool is_const, const char **names)
{
    for (unsigned i = 0; i < NESTED_MOST; i++) {
        type = clang.getCanonicalType(type);
        while (type.kind == CXType_ConstantArray)
            type = clang.getCanonicalType(clang.getArrayElementType(type));
        const char *name = walk_string(walk, clang.getTypeSpelling(type));
        names[i] = is_const && strncmp(name, "const ", 6) != 0 ? lwp_arena_printf(walk->uses->arena, "const %s", name) : name;
        CXCursor parts[CHILDREN_MOST], record = clang.getCursorDefinition(clang.getTypeDeclaration(type));
        unsigned count = clang.Cursor_isNull(record) ? 0 : walk_children(record, parts), first = 0;
        while (first < count && clang.getCursorKind(parts[first]) != CXCursor_FieldDecl)
            first++;
        if (first == count)
            return;
        type = clang.getCursorType(parts[first]);
    }
}

void walk_first_field(struct walk *walk, const struct frame *frame)
{
    if (walk_field(walk, clang.getCursorReferenced(frame->cursor)) != 0)
        return;
    const struct frame *at = frame, *above, *pointer;
    unsigned index;
    for (;; at = above) {
        above = walk_above(at, &index);
        enum CXCursorKind kind = above ? clang.getCursorKind(above->cursor) : CXCursor_InvalidFile;
        bool array = clang.getCanonicalType(clang.getCursorType(at->cursor)).kind == CXType_ConstantArray;
        if (kind == CXCursor_MemberRefExpr && clang.Cursor_getOffsetOfField(clang.getCursorReferenced(above->cursor)) != 0)
            return;
        if (kind != CXCursor_MemberRefExpr && !(kind == CXCursor_ArraySubscriptExpr && index == 0 && array))
            break;
    }
    CXType type = clang.getCursorType(at->cursor);
    pointer = at;
    if (above && clang.getCursorKind(above->cursor) == CXCursor_UnaryOperator && walk_is_pointer(clang.getCursorType(above->cursor)) &&
        walk_is_same_type(type, clang.getPointeeType(clang.getCanonicalType(clang.getCursorType(above->cursor)))))
        pointer = above, above = walk_above(above, &index); /* & */
    else if (clang.getCanonicalType(type).kind != CXType_ConstantArray)
        return;
    struct kept kept = {0};
    if (!goes_on(walk, above, index) || !walk_place(walk, clang.getCursorLocation(frame->cursor), &kept.source, &kept.at))
        return;
    name_types(walk, type, !is_for_library(above, index) && becomes_const(pointer, above), kept.types);
    LWP_PUSH(state(walk)->kept, kept);
}

void walk_freed(struct walk *walk, const struct frame *frame)
{
    enum CXCursorKind kind = clang.getCursorKind(frame->cursor);
    CXCursor parts[CHILDREN_MOST];
    if ((kind != CXCursor_UnexposedExpr && kind != CXCursor_CStyleCastExpr) || !walk_is_pointer(clang.getCursorType(frame->cursor)))
        return;
    unsigned count = walk_children(frame->cursor, parts), index;
    if (!count)
        return;
    CXType from = pointee(clang.getCursorType(parts[count - 1])), to = pointee(clang.getCursorType(frame->cursor));
    if (from.kind == CXType_Invalid || from.kind == CXType_Void || from.kind == CXType_FunctionProto || walk_is_same_type(from, to))
        return;
    const char *old = walk_string(walk, clang.getTypeSpelling(from)), *new = walk_string(walk, clang.getTypeSpelling(to));
    if (strncmp(new, "const ", 6) == 0 && strcmp(new + 6, old) == 0)
        return;
    const struct frame *above = walk_above(frame, &index);
    if (above && only_looks(walk, above, index))
        return;
    struct first_field *first = state(walk);
    for (size_t i = 0; i < first->freed_count; i++)
        if (strcmp(first->freeds[i], old) == 0)
            return;
    LWP_PUSH(first->freed, old);
}

void walk_first_field_decide(struct walk *walk)
{
    const struct first_field *first = state(walk);
    for (size_t k = 0; k < first->kept_count; k++)
        for (unsigned t = 0; t < NESTED_MOST && first->kepts[k].types[t]; t++)
            for (size_t i = 0; i < first->freed_count; i++)
                if (strcmp(first->freeds[i], first->kepts[k].types[t]) == 0)
                    lwp_uses_refuse(walk->uses, IN_ALL, LWP_REFUSAL_FIRST_FIELD, first->kepts[k].source, first->kepts[k].at);
}

void walk_first_field_free(struct walk *walk)
{
    if (!walk->first_field)
        return;
    free(walk->first_field->kepts);
    free(walk->first_field->freeds);
    free(walk->first_field);
}
