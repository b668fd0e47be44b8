#include "patch/patch.h"

#include "analysis/review/review.h"
#include "analysis/review/tried.h"
#include "base/command.h"
#include "base/log.h"
#include "base/path.h"
#include "patch/arrays/arrays.h"
#include "patch/loops/loops.h"
#include "patch/rewrite/rewrite.h"
#include "patch/trial/trial.h"
#include "patch/sources/unified_diff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_units(struct lwp_units *units, const struct lwp_patch_request *request, struct lwp_error *err)
{
    if (request->database && request->command)
        return lwp_error_set(err, LWP_ERR_USAGE, "give either -p or --cc");
    if (request->command)
        return lwp_units_parse(units, request->command, err);
    if (!request->database && access("compile_commands.json", R_OK) != 0)
        return lwp_error_set(err, LWP_ERR_USAGE,
                             "which sources? -p FILE names a compile_commands.json (cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, "
                             "meson, or 'bear -- make' write one), or --cc 'gcc -O2 a.c b.c' says how they are compiled");
    return lwp_units_read(units, request->database ? request->database : "compile_commands.json", err);
}

static int read_uses(struct lwp_uses *uses, struct lwp_error *err)
{
    if (uses->change->kind == LWP_CHANGE_REGROUP)
        return lwp_arrays_regroup(uses, err);
    if (uses->change->kind == LWP_CHANGE_APART)
        return lwp_arrays_apart(uses, err);
    return uses->change->kind == LWP_CHANGE_INTERCHANGE ? lwp_loops_interchange(uses, err) : lwp_uses_find(uses, err);
}

static void drop_edits(struct lwp_sources *sources)
{
    for (size_t i = 0; i < sources->source_count; i++)
        sources->sources[i]->edit_count = 0;
}

/* Makes the edits of the way that is allowed, or of that with fewest refusals. Which one. */
static enum lwp_way rewrite(struct lwp_uses *uses)
{
    if (uses->change->kind == LWP_CHANGE_INTERCHANGE)
        return LWP_WAY_LOOPS; /* done when it was read, as are the next ones */
    if (uses->change->kind == LWP_CHANGE_REGROUP || uses->change->kind == LWP_CHANGE_APART)
        return LWP_WAY_REGROUP;
    if (uses->change->kind == LWP_CHANGE_NODES) {
        if (uses->type.source)
            lwp_rewrite_pool(uses, IN_NODES);
        return LWP_WAY_NODES;
    }
    if (uses->change->kind != LWP_CHANGE_SPLIT) {
        if (uses->type.source)
            (uses->change->kind == LWP_CHANGE_PAD ? lwp_rewrite_pad : lwp_rewrite_reorder)(uses);
        return LWP_WAY_LAYOUT;
    }
    if (!uses->type.source)
        return LWP_WAY_POOL;
    size_t refused = uses->refusals[LWP_WAY_ARRAYS].refused_count;
    if (refused == 0) {
        lwp_rewrite_arrays(uses);
        if (uses->refusals[LWP_WAY_ARRAYS].refused_count == 0)
            return LWP_WAY_ARRAYS;
        drop_edits(uses->sources);
    }
    lwp_rewrite_pool(uses, IN_POOL);
    if (uses->refusals[LWP_WAY_POOL].refused_count <= uses->refusals[LWP_WAY_ARRAYS].refused_count)
        return LWP_WAY_POOL;
    drop_edits(uses->sources);
    lwp_rewrite_arrays(uses);
    return LWP_WAY_ARRAYS;
}

/* Files that are edited must be the project's. */
static void check_places(struct lwp_uses *uses, enum lwp_way way)
{
    for (size_t i = 0; i < uses->sources->source_count; i++) {
        const struct lwp_source *source = uses->sources->sources[i];
        if (source->edit_count && !lwp_path_is_below(source->path, uses->units->root))
            lwp_uses_refuse(uses, 1u << way, LWP_REFUSAL_SYSTEM, source, source->edits[0].begin);
    }
}

/* Keeps the patch, and what it brought, for others beside the analysis. */
static int keep(const struct lwp_uses *uses, const char *directory, const char *command, const struct lwp_trial *trial,
                struct lwp_error *err)
{
    enum { KEPT_MOST = 4 << 20 };
    struct stat info;
    char *text = NULL;
    size_t length = 0;
    if (stat(directory, &info) || !S_ISDIR(info.st_mode)) /* an analysis.json on its own */
        return LWP_OK;
    FILE *to = open_memstream(&text, &length);
    if (!to)
        return lwp_error_errno(err, "cannot keep the patch");
    lwp_unified_diff(to, uses->sources, uses->units->root);
    fclose(to);
    json_t *members = json_object(), *patch = length <= KEPT_MOST ? json_string(text) : NULL; /* NULL: not UTF-8 */
    if (patch) {
        json_object_set_new(members, "patch", patch);
        json_object_set_new(members, "root", json_string(uses->units->root));
    }
    if (trial) {
        json_t *measured = json_pack("{s:s, s:f, s:[f,f], s:i, s:i}", "command", command, "speedup", trial->speedup, "interval", trial->low,
                                     trial->high, "pairs", (int)trial->pairs, "placements", (int)trial->placements);
        json_object_update(members, measured);
        json_decref(measured);
    }
    int status = lwp_tried_keep(directory, uses->change->finding, members, err);
    json_decref(members);
    free(text);
    return status;
}

static int print(struct lwp_uses *uses, enum lwp_way way, const char *directory, bool partial, struct lwp_error *err)
{
    const struct lwp_refusals *refusals = &uses->refusals[way];
    if (refusals->refused_count) {
        lwp_refusals_print(stderr, refusals, uses->units->root);
        lwp_log(LWP_LOG_ERROR, "patch: %zu use%s of %s forbid%s this change%s", refusals->refused_count,
                refusals->refused_count == 1 ? "" : "s", uses->change->type, refusals->refused_count == 1 ? "s" : "",
                partial ? ", see above; the rest of it follows" : "");
        if (!partial)
            return 1;
    }
    if (lwp_sources_settle(uses->sources, err))
        return 1;
    lwp_unified_diff(stdout, uses->sources, uses->units->root);
    char here[4096];
    if (getcwd(here, sizeof here) && strcmp(here, uses->units->root) != 0)
        lwp_log(LWP_LOG_NOTE, "patch: paths are relative to %s: patch -p1 -d %s", uses->units->root, uses->units->root);
    if (refusals->refused_count)
        return 1;
    struct lwp_error unkept = {0};
    if (keep(uses, directory, NULL, NULL, &unkept)) /* the folder may be read-only */
        lwp_log(LWP_LOG_NOTE, "patch: the report will not offer the patch: %s", unkept.text);
    return 0;
}

static int try_out(struct lwp_uses *uses, const struct lwp_patch_request *request, const char *directory, enum lwp_way way,
                   struct lwp_error *err)
{
    struct lwp_trial trial = {.seconds = request->seconds};
    if (uses->refusals[way].refused_count)
        return print(uses, way, directory, false, err);
    if (lwp_trial_parse(&trial, uses->arena, request->trial, err) || lwp_sources_settle(uses->sources, err) ||
        lwp_trial_run(&trial, uses->sources, uses->units, err))
        return 1;
    const struct lwp_change *change = uses->change;
    printf("measured   %.2fx (%.2f-%.2f) in CPU time, %u pairs of runs, %u placements; same output and exit status\n", trial.speedup,
           trial.low, trial.high, trial.pairs, trial.placements);
    if (change->low > 0)
        printf("predicted  %.2fx (%.2f-%.2f)\n", change->speedup, change->low, change->high);
    return keep(uses, directory, request->trial, &trial, err) ? 1 : 0;
}

int lwp_patch(const struct lwp_patch_request *request, int operand_count, char **operands)
{
    struct lwp_error err = {0};
    const char *directory = lwp_result_operand("patch", operand_count, operands);
    if (!directory)
        return LWP_WRONG_USE;
    struct lwp_arena *arena = lwp_arena_new();
    struct lwp_units units = {.arena = arena};
    struct lwp_change change = {0};
    struct lwp_sources sources = {.arena = arena};
    struct lwp_uses uses = {.arena = arena, .sources = &sources, .change = &change, .units = &units};
    int status = 1;
    json_t *root = lwp_analysis_load(directory, &err);
    if (root && !lwp_change_read(&change, arena, root, request->finding, &err) && !read_units(&units, request, &err) &&
        !read_uses(&uses, &err)) {
        enum lwp_way way = rewrite(&uses);
        check_places(&uses, way);
        status = request->trial ? try_out(&uses, request, directory, way, &err) : print(&uses, way, directory, request->partial, &err);
    }
    if (err.status)
        lwp_log(LWP_LOG_ERROR, "patch: %s", err.text);
    if (err.status == LWP_ERR_USAGE)
        status = 2;
    json_decref(root);
    lwp_uses_free(&uses);
    lwp_sources_free(&sources);
    lwp_units_free(&units);
    lwp_arena_free(arena);
    return status;
}
