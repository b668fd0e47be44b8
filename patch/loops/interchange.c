#include "patch/loops/loops.h"

#include "base/path.h"
#include "patch/loops/nest.h"

#include <stdlib.h>
#include <string.h>

struct interchange {
    struct walk walk; /* first: visitors get it */
    struct nest nest; /* the innermost one at the finding's lines */
    struct memory *memory;
    char *path; /* of the finding's source; NULL: it was built elsewhere */
};

/* Whether a loop is at the finding's lines: they are some of its own. */
static bool is_meant(struct interchange *interchange, CXCursor loop)
{
    const struct lwp_change *change = interchange->walk.uses->change;
    struct span span = walk_span(&interchange->walk, loop);
    if (!span.source || (interchange->path ? strcmp(span.source->path, interchange->path)
                                           : strcmp(lwp_path_last(span.source->path), lwp_path_last(change->file))))
        return false;
    return lwp_source_line(span.source, span.begin) <= change->first_line && lwp_source_line(span.source, span.end) >= change->last_line;
}

static void visit(struct walk *walk, const struct frame *frame)
{
    struct interchange *interchange = (struct interchange *)walk;
    enum CXCursorKind kind = clang.getCursorKind(frame->cursor);
    memory_visit(interchange->memory, walk, frame);
    if (kind == CXCursor_ForStmt && is_meant(interchange, frame->cursor)) {
        struct nest nest = {.refusals.arena = walk->uses->arena};
        nest_read(&nest, walk, frame);
        if (nest.depth > interchange->nest.depth) {
            nest_free(&interchange->nest);
            interchange->nest = nest;
        } else {
            nest_free(&nest);
        }
    }
}

/* The two heads change places. */
static void exchange(struct walk *walk, const struct nest *nest)
{
    struct lwp_source *source = nest->source;
    const struct head *outer = &nest->outer, *inner = &nest->inner;
    struct lwp_arena *arena = walk->uses->arena;
    lwp_source_edit(source, outer->begin, outer->end, 0, lwp_arena_strndup(arena, source->text + inner->begin, inner->end - inner->begin));
    lwp_source_edit(source, inner->begin, inner->end, 0, lwp_arena_strndup(arena, source->text + outer->begin, outer->end - outer->begin));
}

int lwp_loops_interchange(struct lwp_uses *uses, struct lwp_error *err)
{
    struct interchange interchange = {
        .walk = {.uses = uses, .ways = IN_LOOPS, .visit = visit}, .memory = memory_new(), .path = realpath(uses->change->file, NULL)};
    struct lwp_refusals *refusals = &uses->refusals[LWP_WAY_LOOPS];
    struct nest *nest = &interchange.nest;
    int status = walk_units(&interchange.walk, err);
    if (!status && !nest->source)
        lwp_refuse(refusals, LWP_REFUSAL_NEST, NULL, 0,
                   lwp_arena_printf(uses->arena, "%s:%u", uses->change->file, uses->change->first_line));
    else if (!status && nest->is_read)
        nest_check_order(nest, interchange.memory);
    for (size_t i = 0; i < nest->refusals.refused_count; i++)
        LWP_PUSH(refusals->refused, nest->refusals.refuseds[i]);
    if (nest->is_read)
        exchange(&interchange.walk, nest);
    nest_free(nest);
    memory_free(interchange.memory);
    free(interchange.path);
    return status;
}
