/* Elements from a pool: as they are, or split in place: the structure keeps its hot fields and its name, each other part is reached by a
 * function. */
#include "patch/rewrite/rewrite.h"
#include "patch/rewrite/split_names.h"

#include <stdlib.h>
#include <string.h>

enum { PARTS_MOST = 7 };

__asm__(".pushsection .rodata\n"
        "lwp_split_header_text:\n.incbin \"" LWP_TEMPLATES "/../patch/rewrite/lwp_split.h\"\n.byte 0\n"
        ".popsection");
extern const char lwp_split_header_text[] __attribute__((visibility("hidden")));

static void rewrite_members(struct lwp_uses *uses, const struct lwp_split_names *names)
{
    for (size_t i = 0; i < uses->member_count; i++) {
        const struct lwp_member *member = &uses->members[i];
        size_t part = names->part[member->field];
        if (part == 0)
            continue;
        const char *before = lwp_arena_printf(uses->arena, "%s(%s", names->names[part], member->arrow ? "" : "&");
        lwp_source_edit(member->source, member->begin, member->begin, member->name_at, before);
        lwp_source_edit(member->source, member->base_end, member->name_at, member->name_at, ")->");
    }
}

static void rewrite_calls(struct lwp_uses *uses, const char *word)
{
    for (size_t i = 0; i < uses->pool_call_count; i++) {
        const struct lwp_pool_call *call = &uses->pool_calls[i];
        lwp_source_edit(call->source, call->name_at, call->name_end, call->name_at, lwp_arena_printf(uses->arena, "%s_%s", word, call->as));
    }
}

/* The other parts before the structure, its own fields in its braces, and the functions after it. */
static void rewrite_type(struct lwp_uses *uses, const struct lwp_split_names *names, unsigned way)
{
    const struct lwp_type *type = &uses->type;
    size_t begin, end, other;
    const char *hot = type->tag ? lwp_arena_printf(uses->arena, "struct %s", type->tag) : type->alias;
    char *before = lwp_format("#include \"lwp_split.h\"\n\n"),
         *after = lwp_format("\n\nLWP_SPLIT_POOL(%s, %s, sizeof(%s)", names->word, hot, hot);
    char *parts = lwp_format("%s", ""), *fields = names->count > 1 ? lwp_split_fields(uses, names, 0) : lwp_format("%s", "");
    for (size_t p = 1; p < names->count && fields; p++) {
        char *text = lwp_split_structure(uses, names, p);
        if (!text) {
            free(fields);
            fields = NULL;
            break;
        }
        lwp_format_more(&before, "%s", text);
        free(text);
        lwp_format_more(&after, ", sizeof(struct %s)", names->names[p]);
        lwp_format_more(&parts, "\nLWP_SPLIT_PART(%s, %s, struct %s, %zu)", names->names[p], hot, names->names[p], p);
    }
    if (fields) {
        lwp_format_more(&after, ")%s", parts);
        lwp_rewrite_chunk(type, 0, &begin, &other);
        lwp_rewrite_chunk(type, type->field_count - 1, &other, &end);
        lwp_source_edit(type->source, names->begin, names->begin, 0, lwp_arena_strdup(uses->arena, before));
        if (names->count > 1)
            lwp_source_edit(type->source, begin, end, 0, lwp_arena_strdup(uses->arena, fields));
        lwp_source_edit(type->source, names->end, names->end, 0, lwp_arena_strdup(uses->arena, after));
    } else {
        lwp_uses_refuse(uses, way, LWP_REFUSAL_DECLARATOR, type->source, type->open);
    }
    free(before);
    free(after);
    free(parts);
    free(fields);
}

static void add_header(struct lwp_uses *uses, unsigned way)
{
    const char *path = uses->type.source->path;
    int folder = (int)(strrchr(path, '/') - path);
    const char *header = lwp_arena_printf(uses->arena, "%.*s/lwp_split.h", folder, path);
    const struct lwp_source *there = lwp_source_open(uses->sources, header);
    if (!there)
        lwp_source_create(uses->sources, header, lwp_split_header_text);
    else if (strcmp(there->text, lwp_split_header_text) != 0)
        lwp_uses_refuse(uses, way, LWP_REFUSAL_NAME_TAKEN, there, 0);
}

void lwp_rewrite_pool(struct lwp_uses *uses, unsigned way)
{
    struct lwp_split_names names;
    if (!lwp_split_names(uses, &names, PARTS_MOST, way))
        return;
    static const char *const functions[] = {"malloc", "calloc", "realloc", "free", "pool", "sizes"};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        lwp_split_check_name(uses, lwp_arena_printf(uses->arena, "%s_%s", names.word, functions[i]), way);
    rewrite_type(uses, &names, way);
    rewrite_members(uses, &names);
    rewrite_calls(uses, names.word);
    add_header(uses, way);
}
