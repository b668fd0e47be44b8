#include "patch/rewrite/split_names.h"

#include "patch/rewrite/rewrite.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void lwp_split_check_name(struct lwp_uses *uses, const char *name, unsigned way)
{
    for (size_t i = 0; i < uses->sources->source_count; i++) {
        const struct lwp_source *source = uses->sources->sources[i];
        const char *there = source->created ? NULL : lwp_find_word(source->text, source->length, name);
        if (there)
            lwp_uses_refuse(uses, way, LWP_REFUSAL_NAME_TAKEN, source, (size_t)(there - source->text));
    }
}

/* From "typedef", if that is there, to the semicolon. */
static void find_declaration(const struct lwp_type *type, struct lwp_split_names *names)
{
    static const char *const words[] = {"typedef", "static", "const", "extern"};
    const char *text = type->source->text;
    names->begin = type->begin;
    for (size_t w = 0; w < 4; w++) {
        size_t at = names->begin, length = strlen(words[w]);
        while (at > 0 && isspace((unsigned char)text[at - 1]))
            at--;
        if (at >= length && memcmp(text + at - length, words[w], length) == 0) {
            names->begin = at - length;
            w = (size_t)-1;
        }
    }
    names->end = type->close + strcspn(text + type->close, ";") + 1;
}

bool lwp_split_names(struct lwp_uses *uses, struct lwp_split_names *names, size_t most, unsigned way)
{
    const struct lwp_type *type = &uses->type;
    size_t refused = uses->refusals[__builtin_ctz(way)].refused_count;
    *names = (struct lwp_split_names){.word = type->tag ? type->tag : type->alias};
    names->part = lwp_arena_alloc(uses->arena, type->field_count + 1, sizeof *names->part);
    if (!names->word || !type->field_count)
        return false;
    names->count = lwp_rewrite_parts(uses, names->part);
    names->count = names->count < most ? names->count : most;
    names->names = lwp_arena_alloc(uses->arena, names->count, sizeof *names->names);
    names->suffix = lwp_arena_alloc(uses->arena, names->count, sizeof *names->suffix);
    for (size_t i = type->field_count; i-- > 0;) {
        names->part[i] = names->part[i] < names->count ? names->part[i] : names->count - 1;
        bool cold = names->part[i] == uses->change->group_count || (names->count == most && names->part[i] == most - 1);
        names->suffix[names->part[i]] = cold ? "cold" : type->fields[i].name;
    }
    for (size_t p = 0; p < names->count; p++) {
        if (!names->suffix[p])
            return lwp_uses_refuse(uses, way, LWP_REFUSAL_CHANGED, type->source, type->begin), false;
        names->names[p] = lwp_arena_printf(uses->arena, "%s_%s", names->word, names->suffix[p]);
        if (p > 0 || way == IN_ARRAYS)
            lwp_split_check_name(uses, names->names[p], way);
    }
    find_declaration(type, names);
    return uses->refusals[__builtin_ctz(way)].refused_count == refused;
}

char *lwp_split_fields(struct lwp_uses *uses, const struct lwp_split_names *names, size_t part)
{
    size_t *order = lwp_arena_alloc(uses->arena, uses->type.field_count, sizeof *order), count = 0;
    for (size_t i = 0; i < uses->type.field_count; i++)
        if (names->part[i] == part)
            order[count++] = i;
    return lwp_rewrite_fields(uses, order, count);
}

char *lwp_split_structure(struct lwp_uses *uses, const struct lwp_split_names *names, size_t part)
{
    const struct lwp_type *type = &uses->type;
    const char *text = type->source->text;
    size_t first, last, other;
    char *fields = lwp_split_fields(uses, names, part);
    if (!fields)
        return NULL;
    lwp_rewrite_chunk(type, 0, &first, &other);
    lwp_rewrite_chunk(type, type->field_count - 1, &other, &last);
    char *structure = lwp_format("struct %s {%.*s%s%.*s};\n\n", names->names[part], (int)(first - type->open - 1), text + type->open + 1,
                                 fields, (int)(type->close - last), text + last);
    free(fields);
    return structure;
}
