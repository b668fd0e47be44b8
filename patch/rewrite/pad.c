/* Fields that threads take from each other's caches come to lie at least a cache line apart, wherever the structure begins: explicit
 * fields do that, where an alignment would be a promise that malloc does not keep. */
#include "patch/rewrite/rewrite.h"

#include <stdlib.h>
#include <string.h>

static bool is_shared(const struct lwp_uses *uses, size_t field)
{
    const struct lwp_change_group *group = uses->change->groups;
    for (size_t i = 0; i < group->count; i++)
        if (lwp_rewrite_field_at(&uses->type, group->offsets[i]) == field)
            return true;
    return false;
}

static const char *pad_name(struct lwp_uses *uses)
{
    for (unsigned number = 1;; number++) {
        const char *name = lwp_arena_printf(uses->arena, "pad%u", number);
        bool taken = false;
        for (size_t i = 0; i < uses->type.field_count; i++)
            taken = taken || strcmp(uses->type.fields[i].name, name) == 0;
        for (size_t s = 0; s < uses->sources->source_count; s++)
            for (size_t e = 0; e < uses->sources->sources[s]->edit_count; e++)
                taken = taken || strstr(uses->sources->sources[s]->edits[e].text, lwp_arena_printf(uses->arena, "%s[", name));
        if (!taken)
            return name;
    }
}

/* The indent of what begins a line at `at`; NULL: something else stands before it. */
static const char *line_indent(const struct lwp_uses *uses, size_t at)
{
    const char *text = uses->type.source->text;
    size_t line = at;
    while (line > 0 && text[line - 1] != '\n')
        line--;
    size_t indent = strspn(text + line, " \t");
    return line + indent == at ? lwp_arena_strndup(uses->arena, text + line, indent) : NULL;
}

/* So many bytes before what stands at `at`. */
static void add_pad(struct lwp_uses *uses, size_t at, long long bytes)
{
    const char *indent = line_indent(uses, at), *name = pad_name(uses);
    lwp_source_edit(uses->type.source, at, at, 0,
                    indent ? lwp_arena_printf(uses->arena, "char %s[%lld]; /* another cache line */\n%s", name, bytes, indent)
                           : lwp_arena_printf(uses->arena, "char %s[%lld]; ", name, bytes));
}

/* At the end of the structure: elements of an array come to lie apart, too. */
static void add_last(struct lwp_uses *uses, long long bytes)
{
    const struct lwp_type *type = &uses->type;
    const size_t field = type->field_count - 1,
                 end = type->fields[field].end + strcspn(type->source->text + type->fields[field].end, ";") + 1;
    const char *indent = line_indent(uses, type->fields[field].begin), *name = pad_name(uses);
    lwp_source_edit(type->source, end, end, 0,
                    indent ? lwp_arena_printf(uses->arena, "\n%schar %s[%lld]; /* another cache line */", indent, name, bytes)
                           : lwp_arena_printf(uses->arena, " char %s[%lld];", name, bytes));
}

void lwp_rewrite_pad(struct lwp_uses *uses)
{
    const struct lwp_type *type = &uses->type;
    long long line = uses->change->line_bytes, first = -1, last = 0, grown = 0;
    size_t shared = 0;
    for (size_t i = 0; i < type->field_count; i++) {
        const struct lwp_field *field = &type->fields[i];
        if (!is_shared(uses, i))
            continue;
        shared++;
        if (first >= 0 && field->offset - last + 1 < line) {
            if (field->begin == type->fields[i - 1].begin || field->offset - last < 0) {
                lwp_uses_refuse(uses, IN_LAYOUT, LWP_REFUSAL_DECLARATOR, type->source, field->begin);
                return;
            }
            add_pad(uses, field->begin, line);
            grown += line;
        }
        first = first < 0 ? field->offset : first;
        last = field->offset + field->bytes;
    }
    if (!shared) {
        lwp_uses_refuse(uses, IN_LAYOUT, LWP_REFUSAL_CHANGED, type->source, type->begin);
        return;
    }
    long long apart = type->bytes + grown - (last + grown - first);
    if (apart < line)
        add_last(uses, line - apart);
    lwp_rewrite_initialisers(uses);
}
