#include "patch/loops/loops.h"

#include "base/path.h"
#include "patch/loops/nest.h"

#include <stdlib.h>
#include <string.h>

struct interchange {
    struct walk walk; /* first: visitors get it */
    struct nest *nests;
    size_t nest_count, nest_room; /* the innermost one at the finding's lines, as each unit reads it */
    const struct nest *wanted;    /* it is this one, read again without macros; or NULL */
    struct memory *memory;
    struct expansions expansions;
    char *path; /* of the finding's source; NULL: it was built elsewhere */
};

static struct interchange *interchange_new(struct lwp_uses *uses)
{
    struct interchange *interchange = lwp_zeroed(1, sizeof *interchange);
    interchange->walk.uses = uses;
    interchange->walk.ways = IN_LOOPS;
    interchange->memory = memory_new();
    interchange->path = realpath(uses->change->file, NULL);
    return interchange;
}

static void drop_nests(struct interchange *interchange)
{
    for (size_t i = 0; i < interchange->nest_count; i++)
        nest_free(&interchange->nests[i]);
    interchange->nest_count = 0;
}

static void interchange_free(struct interchange *interchange)
{
    drop_nests(interchange);
    memory_free(interchange->memory);
    free(interchange->nests);
    free(interchange->expansions.expansions);
    free(interchange->walk.macros);
    free(interchange->walk.stringifiers);
    free(interchange->path);
    free(interchange);
}

/* ---- finding it ---- */

static bool is_wanted(struct interchange *interchange, const struct frame *loop)
{
    const struct nest *wanted = interchange->wanted;
    const struct frame *function = loop;
    while (function->up && clang.getCursorKind(function->cursor) != CXCursor_FunctionDecl)
        function = function->up;
    return strcmp(walk_usr(&interchange->walk, function->cursor), wanted->function) == 0 &&
           nest_number(function->cursor, loop->cursor) == wanted->number;
}

/* Whether a loop is at the finding's lines: they are some of its own. */
static bool is_meant(struct interchange *interchange, const struct frame *loop)
{
    const struct lwp_change *change = interchange->walk.uses->change;
    struct span span = walk_span(&interchange->walk, loop->cursor);
    if (!span.source || (interchange->path ? strcmp(span.source->path, interchange->path)
                                           : strcmp(lwp_path_last(span.source->path), lwp_path_last(change->file))))
        return false;
    if (interchange->wanted)
        return is_wanted(interchange, loop);
    return lwp_source_line(span.source, span.begin) <= change->first_line && lwp_source_line(span.source, span.end) >= change->last_line;
}

/* Keeps a nest that lies deeper than what was found, or is another unit's reading of it. */
static void keep(struct interchange *interchange, struct nest *nest)
{
    const struct nest *first = interchange->nests;
    unsigned depth = interchange->nest_count ? first->depth : 0;
    bool same = nest->depth == depth && nest->source == first->source && nest->begin == first->begin;
    if (nest->depth > depth)
        drop_nests(interchange);
    if (nest->depth > depth || same)
        LWP_PUSH(interchange->nest, *nest);
    else
        nest_free(nest);
}

static void begin_unit(struct walk *walk)
{
    walk->macro_count = 0;
    ((struct interchange *)walk)->expansions.expansion_count = 0;
}

static void visit(struct walk *walk, const struct frame *frame)
{
    struct interchange *interchange = (struct interchange *)walk;
    enum CXCursorKind kind = clang.getCursorKind(frame->cursor);
    memory_visit(interchange->memory, walk, frame);
    expansions_visit(&interchange->expansions, walk, frame);
    if (kind == CXCursor_ForStmt && is_meant(interchange, frame)) {
        struct nest nest = {.refusals.arena = walk->uses->arena};
        nest_read(&nest, walk, &interchange->expansions, frame);
        keep(interchange, &nest);
    }
}

static int find(struct interchange *interchange, struct lwp_error *err)
{
    interchange->walk.begin_unit = begin_unit;
    interchange->walk.visit = visit;
    if (walk_units(&interchange->walk, err))
        return err->status;
    for (size_t i = 0; i < interchange->nest_count; i++)
        if (interchange->nests[i].is_read)
            nest_check_order(&interchange->nests[i], interchange->memory);
    return LWP_OK;
}

static size_t count_refusals(const struct interchange *interchange)
{
    size_t count = interchange->walk.uses->refusals[LWP_WAY_LOOPS].refused_count;
    for (size_t i = 0; i < interchange->nest_count; i++)
        count += interchange->nests[i].refusals.refused_count;
    return count;
}

/* ---- the same without macros ---- */

/* Whether the copy says the same as the source, in each of the units. */
static bool is_same(const struct interchange *again, const struct interchange *interchange)
{
    const char *printed = interchange->nests->printed;
    bool same = again->nest_count == interchange->nest_count;
    for (size_t i = 0; i < interchange->nest_count && same; i++)
        same =
            again->nests[i].is_read && strcmp(again->nests[i].printed, printed) == 0 && strcmp(interchange->nests[i].printed, printed) == 0;
    return same;
}

/* What was not understood in the nest because of its macros is read again in a copy of the source. */
static int read_expanded(struct interchange *interchange, struct lwp_error *err)
{
    struct lwp_uses *uses = interchange->walk.uses, copied = {.arena = uses->arena, .change = uses->change, .units = uses->units};
    struct lwp_sources texts = {.arena = uses->arena};
    struct nest *nest = interchange->nests;
    copied.sources = &texts;
    lwp_source_give(&texts, nest->source->path, nest_expand(nest, uses->arena));
    struct interchange *again = interchange_new(&copied);
    again->wanted = nest;
    int status = find(again, err);
    if (!status && is_same(again, interchange)) {
        for (size_t i = 0; i < interchange->nest_count; i++)
            interchange->nests[i].refusals.refused_count = 0;
        for (size_t i = 0; i < again->nest_count; i++)
            for (size_t k = 0; k < again->nests[i].refusals.refused_count; k++)
                lwp_refuse(&nest->refusals, again->nests[i].refusals.refuseds[k].reason, nest->source, nest->inner.begin,
                           again->nests[i].refusals.refuseds[k].use);
    }
    interchange_free(again);
    lwp_uses_free(&copied);
    lwp_sources_free(&texts);
    return status;
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
    struct interchange *interchange = interchange_new(uses);
    struct lwp_refusals *refusals = &uses->refusals[LWP_WAY_LOOPS];
    int status = find(interchange, err);
    const struct nest *nest = interchange->nests;
    if (!status && !interchange->nest_count)
        lwp_refuse(refusals, LWP_REFUSAL_NEST, NULL, 0,
                   lwp_arena_printf(uses->arena, "%s:%u", uses->change->file, uses->change->first_line));
    if (!status && interchange->nest_count && nest->has_macro && count_refusals(interchange))
        status = read_expanded(interchange, err);
    for (size_t i = 0; i < interchange->nest_count; i++)
        for (size_t k = 0; k < interchange->nests[i].refusals.refused_count; k++)
            LWP_PUSH(refusals->refused, interchange->nests[i].refusals.refuseds[k]);
    if (interchange->nest_count && nest->is_read && nest->is_perfect)
        exchange(&interchange->walk, nest);
    else if (interchange->nest_count && !refusals->refused_count)
        nest_distribute(nest, uses->arena);
    interchange_free(interchange);
    return status;
}
