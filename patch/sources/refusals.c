#include "patch/sources/refusals.h"

#include "base/path.h"

#include <string.h>

static const struct {
    const char *name, *reason;
} reasons[] = {
#define REASON(id, name, reason) {name, reason},
    LWP_REFUSALS(REASON)
#undef REASON
};

enum { USE_COLUMNS = 100 };

static const char *line_of(struct lwp_arena *arena, const struct lwp_source *source, size_t offset)
{
    const char *begin = source->text + (offset < source->length ? offset : source->length), *end;
    while (begin > source->text && begin[-1] != '\n')
        begin--;
    begin += strspn(begin, " \t");
    end = begin + strcspn(begin, "\n");
    return lwp_arena_strndup(arena, begin, end - begin < USE_COLUMNS ? (size_t)(end - begin) : USE_COLUMNS);
}

void lwp_refuse(struct lwp_refusals *refusals, enum lwp_refusal reason, const struct lwp_source *source, size_t offset, const char *detail)
{
    const char *path = source ? source->path : "";
    unsigned line = source ? lwp_source_line(source, offset) : 0;
    for (size_t i = 0; i < refusals->refused_count; i++) {
        const struct lwp_refused *refused = &refusals->refuseds[i];
        if (refused->reason == reason && refused->line == line && strcmp(refused->path, path) == 0)
            return;
    }
    const char *use = detail ? lwp_arena_strdup(refusals->arena, detail) : source ? line_of(refusals->arena, source, offset) : "";
    LWP_PUSH(refusals->refused, (struct lwp_refused){reason, path, line, use});
}

void lwp_refusals_print(FILE *to, const struct lwp_refusals *refusals, const char *root)
{
    for (size_t i = 0; i < refusals->refused_count; i++) {
        const struct lwp_refused *refused = &refusals->refuseds[i];
        const char *path = lwp_path_below(refused->path, root);
        fputs(path ? path : refused->path, to);
        if (refused->line)
            fprintf(to, ":%u", refused->line);
        fprintf(to, "%s%s: %s\n", *refused->path ? ": " : "", reasons[refused->reason].name, reasons[refused->reason].reason);
        if (*refused->use)
            fprintf(to, "    %s\n", refused->use);
    }
}
