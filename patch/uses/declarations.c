/* The structure's definition, what holds elements, and what is declared with them. */
#include "patch/uses/walk.h"

#include "base/path.h"

#include <stdlib.h>
#include <string.h>

/* Whether clang's offsets are what the types alone would give. */
static bool is_natural(const struct lwp_type *type, const long long *aligns)
{
    long long at = 0, most = 1;
    for (size_t i = 0; i < type->field_count; i++) {
        long long align = aligns[i] > 0 ? aligns[i] : 1;
        at = (at + align - 1) / align * align;
        if (at != type->fields[i].offset)
            return false;
        at += type->fields[i].bytes;
        most = align > most ? align : most;
    }
    return (at + most - 1) / most * most == type->bytes;
}

/* Whether it uses a tag or an enumerator that a declaration before it, in the same braces, defines. */
struct borrowed {
    struct walk *walk;
    const struct lwp_type *type;
    size_t begin; /* of the field */
    bool is;
};

static enum CXChildVisitResult look_at_name(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct borrowed *borrowed = data;
    struct lwp_source *source;
    size_t at;
    CXCursor to = clang.getCursorReferenced(cursor);
    (void)parent;
    if (!clang.Cursor_isNull(to) && walk_place(borrowed->walk, clang.getCursorLocation(to), &source, &at))
        borrowed->is = borrowed->is || (source == borrowed->type->source && at > borrowed->type->open && at < borrowed->begin);
    return borrowed->is ? CXChildVisit_Break : CXChildVisit_Recurse;
}

static bool read_field(struct walk *walk, struct lwp_type *type, CXCursor cursor, long long *aligns)
{
    CXType of = clang.getCursorType(cursor);
    struct lwp_source *source;
    struct span span = walk_span(walk, cursor);
    struct lwp_field field = {.name = walk_string(walk, clang.getCursorSpelling(cursor)),
                              .type = walk_string(walk, clang.getTypeSpelling(clang.getCanonicalType(of))),
                              .begin = span.begin,
                              .end = span.end,
                              .offset = clang.Cursor_getOffsetOfField(cursor) / 8,
                              .bytes = clang.Type_getSizeOf(of)};
    if (clang.Cursor_isBitField(cursor))
        walk_refuse(walk, IN_FIELDS, LWP_REFUSAL_BIT_FIELD, cursor);
    bool written = span.source == type->source && walk_place(walk, clang.getCursorLocation(cursor), &source, &field.name_at) &&
                   source == type->source && walk_is_text(source, field.name_at, field.name) && span.begin > type->open &&
                   span.end <= type->close && field.name_at >= span.begin && !span.argument;
    if (!written)
        walk_refuse(walk, IN_FIELDS, LWP_REFUSAL_MACRO_FIELDS, cursor);
    struct borrowed borrowed = {.walk = walk, .type = type, .begin = span.begin};
    clang.visitChildren(cursor, look_at_name, &borrowed);
    if (borrowed.is)
        walk_refuse(walk, IN_FIELDS, LWP_REFUSAL_FIELD_TAG, cursor);
    if (type->field_count == CHILDREN_MOST)
        return false;
    CXType element = clang.getCanonicalType(of);
    walk->field_aggregate[type->field_count] = element.kind == CXType_Record || element.kind == CXType_ConstantArray;
    aligns[type->field_count] = clang.Type_getAlignOf(of);
    LWP_PUSH(type->field, field);
    return written;
}

static void check_text(struct walk *walk, const struct lwp_type *type, CXCursor cursor)
{
    for (size_t at = type->open; at < type->close; at++) {
        size_t first = at + strspn(type->source->text + at, " \t");
        if (type->source->text[at - 1] == '\n' && type->source->text[first] == '#')
            walk_refuse(walk, IN_FIELDS, LWP_REFUSAL_IFDEF_FIELDS, cursor);
    }
    if (type->field_count) {
        const struct lwp_field *last = &type->fields[type->field_count - 1];
        const char *size = strchr(last->type, '[');
        if (size && (strncmp(size, "[]", 2) == 0 || strncmp(size, "[0]", 3) == 0 || strncmp(size, "[1]", 3) == 0))
            lwp_uses_refuse(walk->uses, IN_ALL, LWP_REFUSAL_FLEXIBLE, type->source, last->name_at);
    }
}

static void read_type(struct walk *walk, CXCursor cursor, struct lwp_type *type)
{
    CXCursor parts[CHILDREN_MOST];
    long long aligns[CHILDREN_MOST];
    struct span span = walk_span(walk, cursor);
    *type = (struct lwp_type){.source = span.source, .begin = span.begin, .bytes = clang.Type_getSizeOf(clang.getCursorType(cursor))};
    const char *spelling = walk_string(walk, clang.getTypeSpelling(clang.getCursorType(cursor)));
    bool tagged = strncmp(spelling, "struct ", 7) == 0;
    type->tag = tagged ? spelling + 7 : NULL;
    type->alias = tagged ? NULL : spelling;
    if (!span.source || span.argument || span.source->text[span.end - 1] != '}' || !walk_is_text(span.source, span.begin, "struct")) {
        walk_refuse(walk, IN_ALL, LWP_REFUSAL_MACRO_FIELDS, cursor);
        return;
    }
    if (clang.getCursorKind(clang.getCursorLexicalParent(cursor)) != CXCursor_TranslationUnit)
        walk_refuse(walk, IN_SPLIT | IN_NODES, LWP_REFUSAL_NESTED, cursor);
    type->close = span.end - 1;
    type->open = span.begin + strcspn(span.source->text + span.begin, "{");
    bool natural = true;
    unsigned count = walk_children(cursor, parts);
    for (unsigned i = 0; i < count; i++) {
        enum CXCursorKind kind = clang.getCursorKind(parts[i]);
        if (kind == CXCursor_FieldDecl)
            natural = read_field(walk, type, parts[i], aligns) && natural;
        else if ((kind == CXCursor_StructDecl || kind == CXCursor_UnionDecl) && clang.Cursor_isAnonymousRecordDecl(parts[i]))
            walk_refuse(walk, IN_FIELDS, LWP_REFUSAL_ANONYMOUS, parts[i]);
        else if (kind == CXCursor_PackedAttr || kind == CXCursor_AlignedAttr)
            walk_refuse(walk, IN_FIELDS, LWP_REFUSAL_PACKED, parts[i]);
    }
    if (natural && !is_natural(type, aligns))
        walk_refuse(walk, IN_FIELDS, LWP_REFUSAL_PACKED, cursor);
    check_text(walk, type, cursor);
    if (!lwp_path_is_below(type->source->path, walk->uses->units->root))
        walk_refuse(walk, IN_ALL, LWP_REFUSAL_SYSTEM, cursor);
}

/* The definition in this unit; it must be the one that other units saw. */
static void found_type(struct walk *walk, CXCursor cursor)
{
    struct lwp_type *type = &walk->uses->type;
    struct span span = walk_span(walk, cursor);
    if (type->source && (span.source != type->source || span.begin != type->begin)) {
        walk_refuse(walk, IN_ALL, LWP_REFUSAL_TWICE, cursor);
        return;
    }
    walk->type = cursor;
    walk->watched[0] = clang.getCanonicalCursor(cursor);
    walk->watched_count = 1;
    if (!type->source) {
        read_type(walk, cursor, type);
        if (walk->uses->change->bytes && type->bytes != walk->uses->change->bytes)
            walk_refuse(walk, IN_ALL, LWP_REFUSAL_CHANGED, cursor);
        return;
    }
    CXCursor parts[CHILDREN_MOST];
    unsigned count = walk_children(cursor, parts), fields = 0;
    bool same = clang.Type_getSizeOf(clang.getCursorType(cursor)) == type->bytes;
    for (unsigned i = 0; i < count; i++)
        if (clang.getCursorKind(parts[i]) == CXCursor_FieldDecl && fields++ < type->field_count)
            same = same && clang.Cursor_getOffsetOfField(parts[i]) / 8 == type->fields[fields - 1].offset;
    if (!same || fields != type->field_count)
        walk_refuse(walk, IN_ALL, LWP_REFUSAL_CHANGED, cursor);
}

static bool is_named(struct walk *walk, CXCursor record)
{
    CXString spelling = clang.getTypeSpelling(clang.getCursorType(record));
    const char *text = clang.getCString(spelling);
    text = strncmp(text, "struct ", 7) == 0 ? text + 7 : text;
    bool same = strcmp(text, walk->uses->change->type) == 0;
    clang.disposeString(spelling);
    return same;
}

void walk_record(struct walk *walk, const struct frame *frame)
{
    enum CXCursorKind kind = clang.getCursorKind(frame->cursor);
    CXCursor parts[CHILDREN_MOST];
    if (kind == CXCursor_TypedefDecl) {
        CXString name = clang.getCursorSpelling(frame->cursor);
        CXCursor record = clang.getCursorDefinition(clang.getTypeDeclaration(clang.getCanonicalType(clang.getCursorType(frame->cursor))));
        if (strcmp(clang.getCString(name), walk->uses->change->type) == 0 && !clang.Cursor_isNull(record) &&
            clang.getCursorKind(record) == CXCursor_StructDecl && !(walk->watched_count && clang.equalCursors(record, walk->type)))
            found_type(walk, record);
        clang.disposeString(name);
        return;
    }
    if (!clang.isCursorDefinition(frame->cursor)) {
        if (kind == CXCursor_StructDecl && !walk->watched_count && is_named(walk, frame->cursor)) {
            walk->type = frame->cursor; /* this unit may never see the fields, and still have pointers to elements */
            walk->watched[0] = clang.getCanonicalCursor(frame->cursor);
            walk->watched_count = 1;
        }
        return;
    }
    if (kind == CXCursor_StructDecl && is_named(walk, frame->cursor) &&
        !(walk->watched_count && clang.equalCursors(frame->cursor, walk->type)))
        found_type(walk, frame->cursor);
    unsigned count = walk_children(frame->cursor, parts);
    for (unsigned i = 0; i < count; i++) {
        bool field = clang.getCursorKind(parts[i]) == CXCursor_FieldDecl;
        if (field && kind == CXCursor_UnionDecl && walk_target(walk, clang.getCursorType(parts[i]), NULL) >= 0)
            walk_refuse(walk, IN_ALL, LWP_REFUSAL_UNION, parts[i]); /* a pointer to it, too, is one to something else */
        if (!field || !walk_is_value(walk, clang.getCursorType(parts[i])))
            continue;
        walk_refuse(walk, IN_SPLIT | IN_NODES, LWP_REFUSAL_EMBEDDED, parts[i]);
        if (walk->watched_count == WATCHED_MOST)
            walk_refuse(walk, IN_ALL, LWP_REFUSAL_EMBEDDED, parts[i]);
        else
            walk->watched[walk->watched_count++] = clang.getCanonicalCursor(frame->cursor);
        break;
    }
}

void walk_declaration(struct walk *walk, const struct frame *frame)
{
    CXType type = clang.getCursorType(frame->cursor);
    enum CXCursorKind kind = clang.getCursorKind(frame->cursor);
    if (kind == CXCursor_FunctionDecl) {
        if (clang.isCursorDefinition(frame->cursor))
            walk_function(walk, frame->cursor);
        return;
    }
    if (walk_target(walk, type, NULL) < 0)
        return;
    walk_array_variable(walk, frame->cursor);
    bool variable = kind == CXCursor_VarDecl && walk_is_array(walk, frame->cursor);
    if (!variable)
        walk_refuse(walk, IN_ARRAYS, LWP_REFUSAL_OTHER_VARIABLE, frame->cursor);
    if (walk_is_value(walk, type))
        walk_refuse(walk, IN_POOL, LWP_REFUSAL_BY_VALUE, frame->cursor);
    if (kind == CXCursor_VarDecl && clang.Cursor_getStorageClass(frame->cursor) == CX_SC_Extern)
        walk_needs_definition(walk, frame->cursor, frame->cursor, LWP_REFUSAL_EXTERNAL_VARIABLE);
    else if (kind == CXCursor_VarDecl)
        walk_defines(walk, frame->cursor);
}

/* An element as a whole: copied, passed, returned, or a literal. */
void walk_value(struct walk *walk, const struct frame *frame)
{
    enum CXCursorKind kind = clang.getCursorKind(frame->cursor);
    CXType type = clang.getCanonicalType(clang.getCursorType(frame->cursor));
    if (type.kind != CXType_Record || kind == CXCursor_UnexposedExpr || kind == CXCursor_ParenExpr || walk_target(walk, type, NULL) != 0)
        return;
    const struct frame *above = walk_above(frame, NULL);
    enum CXCursorKind use = above ? clang.getCursorKind(above->cursor) : CXCursor_InvalidFile;
    bool address = use == CXCursor_UnaryOperator && walk_is_sign(walk, above->cursor, '&');
    if (use != CXCursor_MemberRefExpr && use != CXCursor_UnaryExpr && !address)
        walk_refuse(walk, IN_SPLIT, LWP_REFUSAL_BY_VALUE, frame->cursor);
}
