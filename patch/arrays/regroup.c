#include "patch/arrays/arrays.h"

#include "patch/arrays/regroup.h"

#include <stdlib.h>
#include <string.h>

static void begin_unit(struct walk *walk)
{
    struct regroup *regroup = (struct regroup *)walk;
    walk->macro_count = walk->stringifier_count = 0;
    regroup->explained_count = 0;
}

static size_t count_refusals(const struct regroup *regroup)
{
    return regroup->walk.uses->refusals[LWP_WAY_REGROUP].refused_count;
}

/* All that uses the arrays is in the one unit that declares them; its cursors end with it. */
static void end_unit(struct walk *walk)
{
    struct regroup *regroup = (struct regroup *)walk;
    if (!regroup->source || strcmp(regroup->source->path, walk->from->file) != 0)
        return;
    for (size_t i = 0; i < regroup->array_count; i++)
        if (!regroup->arrays[i].usr)
            return;
    regroup_check(regroup);
    if (!count_refusals(regroup))
        regroup_edit(regroup);
}

/* What was waiting for the other units. */
static void decide(struct regroup *regroup)
{
    struct lwp_uses *uses = regroup->walk.uses;
    for (size_t i = 0; i < regroup->array_count; i++)
        if (!regroup->arrays[i].usr)
            lwp_refuse(&uses->refusals[LWP_WAY_REGROUP], LWP_REFUSAL_NO_ARRAY, NULL, 0, regroup->arrays[i].name);
        else if (regroup->arrays[i].elsewhere && !regroup->arrays[i].is_static)
            regroup_refuse(regroup, LWP_REFUSAL_ONE_DECLARATION, regroup->arrays[i].at);
    for (size_t i = 0; i < regroup->use_count; i++) {
        const struct array_use *use = &regroup->uses[i];
        if (use->kind == USE_ALLOCATE && !use->from_library && !walk_is_allocator(&regroup->walk, use->allocator))
            regroup_refuse(regroup, LWP_REFUSAL_UNKNOWN_ALLOCATOR, use->at);
    }
}

int lwp_arrays_regroup(struct lwp_uses *uses, struct lwp_error *err)
{
    const struct lwp_change *change = uses->change;
    struct regroup regroup = {
        .walk = {.uses = uses, .ways = IN_REGROUP, .begin_unit = begin_unit, .visit = regroup_visit, .end_unit = end_unit},
        .array_count = change->array_count};
    if (change->array_count > ARRAYS_MOST)
        return lwp_error_set(err, LWP_ERR_LIMIT, "the finding names %zu arrays; lwp patch joins at most %d", change->array_count,
                             ARRAYS_MOST);
    for (size_t i = 0; i < change->array_count; i++)
        regroup.arrays[i].name = change->arrays[i].name;
    int status = walk_units(&regroup.walk, err);
    if (!status)
        decide(&regroup);
    walk_functions_free(&regroup.walk);
    free(regroup.walk.macros);
    free(regroup.walk.stringifiers);
    free(regroup.uses);
    free(regroup.explaineds);
    return status;
}
