/* Accesses to fields, their addresses, and initialisers. */
#include "patch/uses/walk.h"

#include <string.h>

long walk_field(const struct walk *walk, CXCursor field)
{
    if (!walk->watched_count || clang.Cursor_isNull(field) || clang.getCursorKind(field) != CXCursor_FieldDecl ||
        !clang.equalCursors(clang.getCanonicalCursor(clang.getCursorSemanticParent(field)), walk->watched[0]))
        return -1;
    long long offset = clang.Cursor_getOffsetOfField(field) / 8;
    CXString name = clang.getCursorSpelling(field);
    long found = -1;
    for (size_t i = 0; i < walk->uses->type.field_count && found < 0; i++)
        if (walk->uses->type.fields[i].offset == offset && strcmp(walk->uses->type.fields[i].name, clang.getCString(name)) == 0)
            found = (long)i;
    clang.disposeString(name);
    return found;
}

void walk_member(struct walk *walk, const struct frame *frame)
{
    CXCursor parts[CHILDREN_MOST];
    long field = walk_field(walk, clang.getCursorReferenced(frame->cursor));
    if (field < 0) {
        walk_macro_other(walk, frame->cursor, clang.getCursorReferenced(frame->cursor));
        return;
    }
    struct lwp_member member = {.field = (size_t)field};
    struct span base = walk_children(frame->cursor, parts) ? walk_span(walk, parts[0]) : (struct span){0};
    bool written = base.source && walk_place(walk, clang.getCursorLocation(frame->cursor), &member.source, &member.name_at) &&
                   member.source == base.source && base.end < member.name_at && base.end > base.begin &&
                   walk_is_text(member.source, member.name_at, walk->uses->type.fields[field].name);
    if (written) {
        const char *text = member.source->text;
        size_t at = walk_skip_space(member.source, base.end);
        member.arrow = text[at] == '-' && text[at + 1] == '>';
        written = (member.arrow || text[at] == '.') && walk_skip_space(member.source, at + (member.arrow ? 2 : 1)) == member.name_at &&
                  member.arrow == walk_is_pointer(clang.getCursorType(parts[0]));
    }
    if (!written) {
        bool editable = walk_macro_member(walk, frame->cursor, member.field);
        walk_refuse(walk, editable ? IN_ARRAYS : IN_SPLIT, LWP_REFUSAL_MACRO, frame->cursor);
        return;
    }
    if (base.argument)
        walk_in_macro(walk, frame->cursor);
    member.begin = base.begin;
    member.base_end = base.end;
    member.end = member.name_at + strlen(walk->uses->type.fields[field].name);
    for (size_t i = walk->uses->member_count; i-- > 0;) /* once for all units that include it */
        if (walk->uses->members[i].source == member.source && walk->uses->members[i].name_at == member.name_at)
            return;
    LWP_PUSH(walk->uses->member, member);
}

void walk_member_name(struct walk *walk, const struct frame *frame)
{
    CXCursor field = clang.getCursorReferenced(frame->cursor);
    if (clang.Cursor_isNull(field) || clang.getCursorKind(field) != CXCursor_FieldDecl)
        return;
    bool ours = walk_is_value(walk, clang.getCursorType(clang.getCursorSemanticParent(field)));
    bool designates = frame->up && frame->up->up && clang.getCursorKind(frame->up->up->cursor) == CXCursor_InitListExpr;
    if (ours && !designates)
        walk_refuse(walk, IN_FIELDS, LWP_REFUSAL_OFFSETOF, frame->cursor);
}

/* &p->x, where y lies beside it and is as large: (&p->x)[1] may be meant to be p->y. */
void walk_address(struct walk *walk, const struct frame *frame)
{
    CXCursor parts[CHILDREN_MOST];
    if (walk_children(frame->cursor, parts) != 1 || !walk_is_sign(walk, frame->cursor, '&'))
        return;
    CXCursor inner = walk_strip(parts[0]);
    long field = clang.getCursorKind(inner) == CXCursor_MemberRefExpr ? walk_field(walk, clang.getCursorReferenced(inner)) : -1;
    if (field < 0)
        return;
    const struct lwp_type *type = &walk->uses->type;
    size_t i = (size_t)field;
    enum CXTypeKind kind = clang.getCanonicalType(clang.getCursorType(inner)).kind;
    bool array = kind == CXType_ConstantArray || kind == CXType_Record;
    bool next = i + 1 < type->field_count && strcmp(type->fields[i].type, type->fields[i + 1].type) == 0;
    bool previous = i > 0 && strcmp(type->fields[i].type, type->fields[i - 1].type) == 0;
    if (array || !(next || previous))
        return;
    unsigned argument;
    const struct frame *above = walk_above(frame, &argument);
    CXCursor callee = clang.getCursorReferenced(above->cursor);
    if (clang.getCursorKind(above->cursor) == CXCursor_CallExpr && argument > 0 && !clang.Cursor_isNull(callee) &&
        clang.getCursorKind(callee) == CXCursor_FunctionDecl && !clang.Location_isInSystemHeader(clang.getCursorLocation(callee)))
        walk_needs_single(walk, callee, argument - 1, frame->cursor);
    else
        walk_refuse(walk, IN_FIELDS, LWP_REFUSAL_FIELD_ADDRESS, frame->cursor);
}

/* ---- initialisers ---- */

static bool is_aggregate(CXType type)
{
    enum CXTypeKind kind = clang.getCanonicalType(type).kind;
    return kind == CXType_Record || kind == CXType_ConstantArray || kind == CXType_IncompleteArray;
}

static bool is_designated(CXCursor value)
{
    CXCursor parts[CHILDREN_MOST];
    if (clang.getCursorKind(value) != CXCursor_UnexposedExpr || !walk_children(value, parts))
        return false;
    return clang.getCursorKind(parts[0]) == CXCursor_MemberRef;
}

/* Values of the structure in order: each gets its field's name. */
static void name_values(struct walk *walk, CXCursor list, struct span span, const CXCursor *values, unsigned count)
{
    const struct lwp_type *type = &walk->uses->type;
    size_t last = span.begin;
    bool fine = count <= type->field_count && !span.argument;
    for (unsigned i = 0; i < count && fine; i++) {
        struct span value = walk_span(walk, values[i]);
        fine = value.source == span.source && value.begin > last && value.begin < span.end && !value.argument && !is_designated(values[i]);
        last = value.begin;
        CXType of = clang.getCursorType(values[i]);
        bool list_or_string =
            clang.getCursorKind(values[i]) == CXCursor_InitListExpr || clang.getCursorKind(values[i]) == CXCursor_StringLiteral;
        char *wanted = fine && !list_or_string ? walk_string(walk, clang.getTypeSpelling(clang.getCanonicalType(of))) : NULL;
        fine = fine && (list_or_string || !walk->field_aggregate[i] || strcmp(wanted, type->fields[i].type) == 0);
    }
    if (!fine) {
        walk_refuse(walk, IN_LAYOUT, LWP_REFUSAL_INITIALISER, list);
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        struct lwp_positional positional = {span.source, walk_span(walk, values[i]).begin, i};
        LWP_PUSH(walk->uses->positional, positional);
    }
}

void walk_initialiser(struct walk *walk, const struct frame *frame)
{
    CXCursor values[CHILDREN_MOST];
    CXType type = clang.getCursorType(frame->cursor);
    if (!walk_is_value(walk, type))
        return;
    unsigned count = walk_children(frame->cursor, values), named = 0;
    struct span span = walk_span(walk, frame->cursor);
    bool array = clang.getCanonicalType(type).kind != CXType_Record;
    bool ours = !array && walk_target(walk, type, NULL) == 0;
    for (unsigned i = 0; i < count; i++)
        named += is_designated(values[i]);
    bool zero = count == 1 && clang.getCursorKind(values[0]) == CXCursor_IntegerLiteral && walk_is_null(values[0]);
    if (!count || zero || (ours && named == count))
        return;
    if (!span.source || span.source->text[span.begin] != '{' || span.source->text[span.end - 1] != '}' || count >= CHILDREN_MOST) {
        walk_refuse(walk, IN_LAYOUT, LWP_REFUSAL_MACRO, frame->cursor);
        return;
    }
    if (ours) {
        name_values(walk, frame->cursor, span, values, count);
        return;
    }
    for (unsigned i = 0; i < count; i++) { /* what holds elements: braces around each, or the values of fields go astray */
        bool braces = clang.getCursorKind(values[i]) == CXCursor_InitListExpr || clang.getCursorKind(values[i]) == CXCursor_UnexposedExpr;
        if (!braces && (array || !is_aggregate(clang.getCursorType(values[i]))))
            walk_refuse(walk, IN_LAYOUT, LWP_REFUSAL_INITIALISER, frame->cursor);
    }
}
