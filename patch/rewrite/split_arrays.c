/* One array of a structure becomes one array for each group of its fields. */
#include "patch/rewrite/rewrite.h"
#include "patch/rewrite/split_names.h"

#include <stdlib.h>
#include <string.h>

enum { PARTS_MOST = 16 };

static const char *variable_name(struct lwp_uses *uses, const struct lwp_split_names *names, size_t part)
{
    return lwp_arena_printf(uses->arena, "%s_%s", uses->change->object, names->suffix[part]);
}

/* The text [begin, end) with the variable's and the type's names as one part's. */
static char *text_for_part(struct lwp_uses *uses, const struct lwp_split_names *names, const struct lwp_source *source, size_t begin,
                           size_t end, size_t part)
{
    struct lwp_source piece = {.path = source->path, .text = source->text, .length = end};
    for (size_t i = 0; i < uses->array_use_count; i++) {
        const struct lwp_array_use *use = &uses->array_uses[i];
        if (use->source == source && use->at >= begin && use->at < end)
            lwp_source_edit(&piece, use->at, use->at + strlen(uses->change->object), 0, variable_name(uses, names, part));
    }
    for (size_t i = 0; i < uses->type_name_count; i++) {
        const struct lwp_type_name *name = &uses->type_names[i];
        bool tagged = name->end > begin && strncmp(source->text + name->begin, "struct", 6) == 0;
        if (name->source != source || name->begin < begin || name->end > end)
            continue;
        size_t from = name->begin; /* libclang names the tag alone, or with its keyword */
        if (!tagged) {
            size_t at = from;
            while (at > begin && strchr(" \t\n", source->text[at - 1]))
                at--;
            from = at >= begin + 6 && memcmp(source->text + at - 6, "struct", 6) == 0 ? at - 6 : from;
        }
        lwp_source_edit(&piece, from, name->end, 0, lwp_arena_printf(uses->arena, "struct %s", names->names[part]));
    }
    struct lwp_source *pieces[] = {&piece};
    struct lwp_sources all = {.arena = uses->arena, .sources = pieces, .source_count = 1};
    char *whole = lwp_sources_settle(&all, NULL) ? NULL : lwp_source_apply(&piece);
    char *text = whole ? lwp_format("%s", whole + begin) : NULL;
    free(whole);
    free(piece.edits);
    return text;
}

static size_t indent_of(const struct lwp_source *source, size_t at)
{
    size_t begin = at;
    while (begin > 0 && (source->text[begin - 1] == ' ' || source->text[begin - 1] == '\t'))
        begin--;
    return at - begin;
}

/* Whether anything but its declaration is left of a part's array: with neither accesses nor statements it would be unused. */
static bool is_needed(const struct lwp_uses *uses, const struct lwp_split_names *names, size_t part)
{
    for (size_t i = 0; i < uses->array_use_count; i++) {
        const struct lwp_array_use *use = &uses->array_uses[i];
        if (use->statement || use->null_test || (use->field >= 0 && names->part[use->field] == part))
            return true;
    }
    return false;
}

/* The declaration or statement once for each part. */
static void repeat(struct lwp_uses *uses, const struct lwp_split_names *names, const struct lwp_array_use *use)
{
    char *all = lwp_format("%s", "");
    size_t indent = indent_of(use->source, use->begin);
    size_t last_part = names->count - 1;
    while (last_part > 0 && !is_needed(uses, names, last_part))
        last_part--;
    for (size_t p = 0; p <= last_part; p++) {
        if (!is_needed(uses, names, p))
            continue;
        char *text = text_for_part(uses, names, use->source, use->begin, use->end, p);
        if (!text) {
            lwp_uses_refuse(uses, IN_ARRAYS, LWP_REFUSAL_ALLOCATION, use->source, use->begin);
            break;
        }
        bool last = p == last_part;
        lwp_format_more(&all, "%s%s%s%.*s", text, last || use->statement ? "" : ";", last ? "" : "\n", last ? 0 : (int)indent,
                        use->source->text + use->begin - indent);
        free(text);
    }
    lwp_source_edit(use->source, use->begin, use->end, use->at, lwp_arena_strdup(uses->arena, all));
    free(all);
}

static bool is_repeated(const struct lwp_uses *uses, const struct lwp_source *source, size_t at)
{
    for (size_t i = 0; i < uses->array_use_count; i++) {
        const struct lwp_array_use *use = &uses->array_uses[i];
        if ((use->declaration || use->statement) && use->source == source && at >= use->begin && at < use->end)
            return true;
    }
    return false;
}

static void rewrite_use(struct lwp_uses *uses, const struct lwp_split_names *names, const struct lwp_array_use *use)
{
    size_t end = use->at + strlen(uses->change->object);
    bool repeated = is_repeated(uses, use->source, use->at);
    if (use->declaration || use->statement) {
        repeat(uses, names, use);
    } else if (use->field >= 0 && !repeated) {
        lwp_source_edit(use->source, use->at, end, use->at, variable_name(uses, names, names->part[use->field]));
    } else if (use->null_test && !repeated) {
        char *all = lwp_format("(%s", variable_name(uses, names, 0));
        for (size_t p = 1; p < names->count; p++)
            lwp_format_more(&all, " && %s", variable_name(uses, names, p));
        lwp_source_edit(use->source, use->at, end, use->at,
                        lwp_arena_printf(uses->arena, "%s ? %s : 0)", all, variable_name(uses, names, 0)));
        free(all);
    } else if (use->field >= 0 || use->null_test || !repeated) {
        lwp_uses_refuse(uses, IN_ARRAYS, repeated ? LWP_REFUSAL_ALLOCATION : LWP_REFUSAL_ARRAY_ESCAPES, use->source, use->at);
    }
}

static void rewrite_type(struct lwp_uses *uses, const struct lwp_split_names *names)
{
    const struct lwp_type *type = &uses->type;
    const char *text = type->source->text;
    size_t after = type->close + 1;
    after += strspn(text + after, " \t\n");
    bool typedefed = strncmp(text + names->begin, "typedef", 7) == 0;
    bool plain = typedefed ? !memchr(text + after, ',', names->end - after) && !memchr(text + after, '*', names->end - after)
                           : after + 1 == names->end;
    char *all = lwp_format("%s", "");
    for (size_t p = 0; p < names->count && plain; p++) {
        char *structure = lwp_split_structure(uses, names, p);
        plain = structure != NULL;
        lwp_format_more(&all, "%s", structure ? structure : "");
        free(structure);
    }
    size_t length = strlen(all);
    while (length && all[length - 1] == '\n') /* what followed the structure stays */
        all[--length] = '\0';
    if (plain)
        lwp_source_edit(type->source, names->begin, names->end, 0, lwp_arena_strdup(uses->arena, all));
    else
        lwp_uses_refuse(uses, IN_ARRAYS, LWP_REFUSAL_DECLARATOR, type->source, type->begin);
    free(all);
}

void lwp_rewrite_arrays(struct lwp_uses *uses)
{
    struct lwp_split_names names;
    bool found = false;
    for (size_t i = 0; i < uses->array_use_count; i++)
        found = found || uses->array_uses[i].declaration;
    if (!found) {
        lwp_uses_refuse(uses, IN_ARRAYS, LWP_REFUSAL_OTHER_VARIABLE, uses->type.source, uses->type.begin);
        return;
    }
    if (!lwp_split_names(uses, &names, PARTS_MOST, IN_ARRAYS))
        return;
    for (size_t p = 0; p < names.count; p++)
        lwp_split_check_name(uses, variable_name(uses, &names, p), IN_ARRAYS);
    rewrite_type(uses, &names);
    for (size_t i = 0; i < uses->array_use_count; i++)
        rewrite_use(uses, &names, &uses->array_uses[i]);
    for (size_t i = 0; i < uses->type_name_count; i++)
        if (!is_repeated(uses, uses->type_names[i].source, uses->type_names[i].begin))
            lwp_uses_refuse(uses, IN_ARRAYS, LWP_REFUSAL_OTHER_VARIABLE, uses->type_names[i].source, uses->type_names[i].begin);
}
