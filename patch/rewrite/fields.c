/* How fields are declared, and the text that declares some of them in another order. */
#include "patch/rewrite/rewrite.h"

#include <stdlib.h>
#include <string.h>

/* Past spaces and a comment that ends on the same line, and the line's end if nothing else follows. */
static size_t rest_of_line(const char *text, size_t at)
{
    size_t after = at + strspn(text + at, " \t\r");
    while (text[after] == '/' && text[after + 1] == '*') {
        const char *end = strstr(text + after + 2, "*/"), *line = strchr(text + after, '\n');
        if (!end || (line && line < end))
            return at;
        after = (size_t)(end + 2 - text);
        after += strspn(text + after, " \t\r");
    }
    if (text[after] == '/' && text[after + 1] == '/')
        after += strcspn(text + after, "\n");
    return text[after] == '\n' ? after + 1 : at;
}

void lwp_rewrite_chunk(const struct lwp_type *type, size_t field, size_t *begin, size_t *end)
{
    const char *text = type->source->text;
    size_t first = field, last = field;
    while (first > 0 && type->fields[first - 1].begin == type->fields[field].begin)
        first--;
    while (last + 1 < type->field_count && type->fields[last + 1].begin == type->fields[field].begin)
        last++;
    *end = type->fields[last].end + strcspn(text + type->fields[last].end, ";") + 1;
    *end = rest_of_line(text, *end);
    *begin = rest_of_line(text, type->open + 1);
    if (first > 0) {
        size_t before;
        lwp_rewrite_chunk(type, first - 1, &before, begin);
    }
}

/* Where the declarator of the first of several begins: after the type that all share. */
static size_t shared_end(const struct lwp_type *type, size_t first)
{
    const struct lwp_field *field = &type->fields[first];
    size_t at = field->begin;
    while (at < field->name_at && type->source->text[at] != '*')
        at++;
    return at;
}

/* One field of `int a, *b;`: "int " and "*b". NULL: too intricate. */
static const char *alone(struct lwp_arena *arena, const struct lwp_type *type, size_t first, size_t field)
{
    const char *text = type->source->text;
    size_t base = shared_end(type, first), from = base;
    if (memchr(text + type->fields[first].begin, '(', base - type->fields[first].begin) ||
        memchr(text + type->fields[first].begin, '{', base - type->fields[first].begin))
        return NULL;
    if (field > first) {
        from = type->fields[field - 1].end + strspn(text + type->fields[field - 1].end, " \t\n");
        if (text[from] != ',')
            return NULL;
        from += 1 + strspn(text + from + 1, " \t\n");
    }
    size_t length = type->fields[field].end - from;
    if (memchr(text + from, '/', length) || memchr(text + from, '(', length))
        return NULL;
    return lwp_arena_printf(arena, "%.*s%.*s;", (int)(base - type->fields[first].begin), text + type->fields[first].begin, (int)length,
                            text + from);
}

/* Adds the fields order[*i], ... that one declaration has, taken apart unless all follow each other as declared. False: it cannot be. */
static bool add_declaration(struct lwp_uses *uses, char **all, const size_t *order, size_t count, size_t *i)
{
    const struct lwp_type *type = &uses->type;
    size_t field = order[*i], first = field, last = field, begin, end;
    while (first > 0 && type->fields[first - 1].begin == type->fields[field].begin)
        first--;
    while (last + 1 < type->field_count && type->fields[last + 1].begin == type->fields[field].begin)
        last++;
    lwp_rewrite_chunk(type, field, &begin, &end);
    bool whole = field == first && *i + last - first < count;
    for (size_t n = first; n <= last && whole; n++)
        whole = order[*i + n - first] == n;
    const char *text = type->source->text;
    if (whole) {
        *i += last - first;
        lwp_format_more(all, "%.*s", (int)(end - begin), text + begin);
        return true;
    }
    const char *own = alone(uses->arena, type, first, field);
    if (!own)
        return false;
    size_t name = type->fields[first].begin, lead = name;
    size_t tail = type->fields[last].end + strcspn(text + type->fields[last].end, ";") + 1;
    if (first == field) { /* comments stay with the first, where it goes */
        lwp_format_more(all, "%.*s%s%.*s", (int)(name - begin), text + begin, own, (int)(end - tail), text + tail);
        return true;
    }
    while (lead > 0 && (text[lead - 1] == ' ' || text[lead - 1] == '\t'))
        lead--;
    lwp_format_more(all, "%.*s%s%c", (int)(name - lead), text + lead, own, text[end - 1] == '\n' ? '\n' : ' ');
    return true;
}

char *lwp_rewrite_fields(struct lwp_uses *uses, const size_t *order, size_t count)
{
    char *all = lwp_format("%s", "");
    for (size_t i = 0; i < count; i++)
        if (!add_declaration(uses, &all, order, count, &i)) {
            free(all);
            return NULL;
        }
    return all;
}

size_t lwp_rewrite_field_at(const struct lwp_type *type, long long offset)
{
    for (size_t i = 0; i < type->field_count; i++)
        if (offset >= type->fields[i].offset && offset < type->fields[i].offset + type->fields[i].bytes)
            return i;
    return type->field_count;
}

size_t lwp_rewrite_parts(const struct lwp_uses *uses, size_t *part)
{
    const struct lwp_change *change = uses->change;
    bool cold = false, whole = change->kind == LWP_CHANGE_NODES;
    for (size_t i = 0; i < uses->type.field_count; i++)
        part[i] = whole ? 0 : change->group_count;
    if (whole)
        return 1;
    for (size_t g = 0; g < change->group_count; g++)
        for (size_t f = 0; f < change->groups[g].count; f++) {
            size_t field = lwp_rewrite_field_at(&uses->type, change->groups[g].offsets[f]);
            if (field < uses->type.field_count && part[field] == change->group_count)
                part[field] = g;
        }
    for (size_t i = 0; i < uses->type.field_count; i++)
        cold = cold || part[i] == change->group_count;
    return change->group_count + cold;
}

void lwp_rewrite_initialisers(struct lwp_uses *uses)
{
    for (size_t i = 0; i < uses->positional_count; i++) {
        const struct lwp_positional *value = &uses->positionals[i];
        lwp_source_edit(value->source, value->at, value->at, value->at,
                        lwp_arena_printf(uses->arena, ".%s = ", uses->type.fields[value->field].name));
    }
}

/* ---- reorder ---- */

void lwp_rewrite_reorder(struct lwp_uses *uses)
{
    struct lwp_type *type = &uses->type;
    size_t count = 0, begin, end, other;
    size_t *order = lwp_arena_alloc(uses->arena, type->field_count + 1, sizeof *order);
    bool *taken = lwp_arena_alloc(uses->arena, type->field_count + 1, sizeof *taken);
    for (size_t g = 0; g < uses->change->group_count; g++)
        for (size_t f = 0; f < uses->change->groups[g].count; f++) {
            size_t field = lwp_rewrite_field_at(type, uses->change->groups[g].offsets[f]);
            if (field < type->field_count && !taken[field])
                order[count++] = field;
            taken[field] = true;
        }
    for (size_t i = 0; i < type->field_count; i++)
        if (!taken[i])
            order[count++] = i;
    char *text = lwp_rewrite_fields(uses, order, count);
    if (!text) {
        lwp_uses_refuse(uses, IN_LAYOUT, LWP_REFUSAL_DECLARATOR, type->source, type->open);
        return;
    }
    lwp_rewrite_chunk(type, 0, &begin, &other);
    lwp_rewrite_chunk(type, type->field_count - 1, &other, &end);
    lwp_source_edit(type->source, begin, end, 0, lwp_arena_strdup(uses->arena, text));
    free(text);
    lwp_rewrite_initialisers(uses);
}
