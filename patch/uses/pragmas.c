/* Pragmas are no part of what libclang shows, but their clauses name variables and fields: shared(items), reduction(+ : p->sum). */
#include "patch/uses/walk.h"

#include <string.h>

/* The first place of a field's name behind . or -> in `length` bytes, or NULL. */
static const char *find_field(const char *text, size_t length, const char *name)
{
    const char *end = text + length;
    while ((text = lwp_find_word(text, (size_t)(end - text), name)) && text[-1] != '.' && text[-1] != '>')
        text++;
    return text;
}

static void look_at_pragma(struct walk *walk, const struct lwp_source *source, size_t at, size_t length)
{
    const struct lwp_uses *uses = walk->uses;
    const char *text = source->text + at;
    if (uses->change->object && lwp_find_word(text, length, uses->change->object))
        lwp_uses_refuse(walk->uses, IN_ARRAYS, LWP_REFUSAL_DIRECTIVE, source, at);
    for (size_t i = 0; i < uses->type.field_count; i++)
        if (find_field(text, length, uses->type.fields[i].name))
            lwp_uses_refuse(walk->uses, IN_SPLIT, LWP_REFUSAL_DIRECTIVE, source, at);
}

void walk_pragmas_decide(struct walk *walk)
{
    const struct lwp_sources *sources = walk->uses->sources;
    for (size_t i = 0; i < sources->source_count; i++) {
        const char *text = sources->sources[i]->text, *pragma = text;
        while ((pragma = lwp_find_word(pragma, strlen(pragma), "pragma"))) {
            size_t length = strcspn(pragma, "\n");
            while (pragma[length] && (pragma[length - 1] == '\\' || strncmp(pragma + length - 2, "\\\r", 2) == 0))
                length += 1 + strcspn(pragma + length + 1, "\n");
            look_at_pragma(walk, sources->sources[i], (size_t)(pragma - text), length);
            pragma += length;
        }
    }
}
