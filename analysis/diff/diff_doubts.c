/* What speaks against comparing two results: other machine, engine, arguments, end, amount of data, another program, or
 * a control that is off: loops which the change does not touch must take as long as before.
 * Limits: the same work is assumed when nothing speaks against it. */
#include "analysis/diff/diff_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { CONTROL_SAMPLES = 30 };

static const double share_matters = 0.05, control_off = 0.25, z95 = 1.96;

struct doubts {
    const struct lwp_diff_result *before, *after;
    const struct lwp_diff_rows *rows;
    struct lwp_arena *arena;
    struct lwp_diff_doubts *found;
};

__attribute__((format(printf, 4, 5))) static void doubts_add(struct doubts *doubts, const char *kind, bool serious, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    struct lwp_diff_doubts *found = doubts->found;
    if (found->count == LWP_DIFF_DOUBTS_MAX)
        return;
    found->list[found->count].kind = kind;
    found->list[found->count].serious = serious;
    found->list[found->count++].text = lwp_arena_strdup(doubts->arena, text);
    if (serious && !found->reason)
        found->reason = found->list[found->count - 1].text;
}

static bool doubts_same_value(const struct doubts *doubts, const char *parent, const char *key)
{
    const json_t *a = doubts->before->run, *b = doubts->after->run;
    if (parent) {
        a = json_object_get(a, parent);
        b = json_object_get(b, parent);
    }
    a = json_object_get(a, key);
    b = json_object_get(b, key);
    /* What one result does not say is no difference. */
    return !a || !b || json_is_null(a) || json_is_null(b) || json_equal(a, b);
}

static void doubts_machine(struct doubts *doubts)
{
    static const char *const keys[] = {"cpu", "cores", "caches", "line_bytes"};
    const char *what = NULL;
    for (size_t i = 0; i < sizeof keys / sizeof *keys && !what; i++)
        if (!doubts_same_value(doubts, "machine", keys[i]))
            what = keys[i];
    if (what)
        doubts_add(doubts, "machine", true, "the machines differ (%s): times cannot be held against each other", what);
    else if (!doubts_same_value(doubts, NULL, "host"))
        doubts_add(doubts, "machine", false, "the hosts differ, with machines alike: %.60s and %.60s",
                   lwp_json_string_or(doubts->before->run, "host", "?"), lwp_json_string_or(doubts->after->run, "host", "?"));
    if (strcmp(doubts->before->engine, doubts->after->engine) != 0 || strcmp(doubts->before->unit, doubts->after->unit) != 0)
        doubts_add(
            doubts, "engine", true, "measured by different engines (%s in %s, %s in %s): only shares can be laid side by side",
            *doubts->before->engine ? doubts->before->engine : "unknown", *doubts->before->unit ? doubts->before->unit : "unknown units",
            *doubts->after->engine ? doubts->after->engine : "unknown", *doubts->after->unit ? doubts->after->unit : "unknown units");
}

/* Loops the change does not touch: their seconds before and after, samples in both. */
static void doubts_control(const struct doubts *doubts, double *before, double *after, uint64_t *few)
{
    uint64_t samples_before = 0, samples_after = 0;
    bool *touched = lwp_arena_alloc(doubts->arena, doubts->before->loop_count + 1, sizeof *touched);
    *before = *after = 0;
    for (size_t r = 0; r < doubts->rows->count; r++) {
        const struct lwp_diff_row *row = &doubts->rows->rows[r];
        if (row->status == LWP_DIFF_SAME)
            continue;
        for (size_t i = 0; i < row->before_count; i++) {
            const struct lwp_diff_structure *structure = &doubts->before->structures[row->before[i]];
            for (size_t u = 0; u < structure->use_count; u++)
                touched[structure->uses[u].loop] = true;
        }
        for (size_t i = 0; i < row->after_count; i++) {
            const struct lwp_diff_structure *structure = &doubts->after->structures[row->after[i]];
            for (size_t u = 0; u < structure->use_count; u++)
                if (doubts->after->loops[structure->uses[u].loop].match != LWP_DIFF_NONE)
                    touched[doubts->after->loops[structure->uses[u].loop].match] = true;
        }
    }
    for (size_t i = 0; i < doubts->before->loop_count; i++) {
        const struct lwp_diff_loop *loop = &doubts->before->loops[i];
        if (touched[i] || loop->match == LWP_DIFF_NONE)
            continue;
        *before += lwp_diff_seconds(doubts->before, loop->share);
        *after += lwp_diff_seconds(doubts->after, doubts->after->loops[loop->match].share);
        samples_before += loop->samples;
        samples_after += doubts->after->loops[loop->match].samples;
    }
    *few = samples_before < samples_after ? samples_before : samples_after;
}

/* How far a count of elements may be off (95 %): where samples show how far an array is used, their highest of n is 1 / n short of the end,
 * in the mean. Of a stream 64 places are kept. */
static double doubts_off(const struct lwp_diff_structure *structure)
{
    return structure->about ? 3 / fmax(3, fmin((double)structure->samples, 64)) : 0;
}

/* Nothing of AFTER has about as many elements as `old` has. Untyped blocks do not know what their elements are. */
static bool doubts_elements(const struct doubts *doubts, const struct lwp_diff_row *row, const struct lwp_diff_structure *old,
                            double *after)
{
    const double count = (double)old->elements;
    bool known = false;
    for (size_t i = 0; i < row->after_count; i++) {
        const struct lwp_diff_structure *part = &doubts->after->structures[row->after[i]];
        double other = (double)part->elements;
        if (other < 1 || (!part->type && row->status != LWP_DIFF_SAME))
            continue;
        if (fmax(count, other) <= (1.1 + doubts_off(old) + doubts_off(part)) * fmin(count, other))
            return false;
        known = true;
        *after = other;
    }
    return known;
}

static bool doubts_data(struct doubts *doubts)
{
    for (size_t r = 0; r < doubts->rows->count; r++) {
        const struct lwp_diff_row *row = &doubts->rows->rows[r];
        if (!row->before_count)
            continue;
        const struct lwp_diff_structure *old = &doubts->before->structures[row->before[0]];
        double after;
        if (old->share < share_matters || !old->elements || !doubts_elements(doubts, row, old, &after))
            continue;
        const bool unrecorded =
            json_object_get(doubts->before->run, "allocations_unrecorded") || json_object_get(doubts->after->run, "allocations_unrecorded");
        doubts_add(doubts, "data", !unrecorded, "%s: %.0f elements of %.60s before, %.0f after",
                   unrecorded ? "not all allocations were recorded, so whether the two runs did the same work is not known"
                              : "the two runs did different work",
                   (double)old->elements, old->type ? old->type : old->name, after);
        return !unrecorded;
    }
    return false;
}

static bool doubts_same_arguments(const struct doubts *doubts)
{
    const json_t *a = json_object_get(doubts->before->run, "command"), *b = json_object_get(doubts->after->run, "command");
    size_t n = json_array_size(a);
    if (!n || !json_array_size(b))
        return true;
    if (n != json_array_size(b))
        return false;
    for (size_t i = 1; i < n; i++)
        if (!json_equal(json_array_get(a, i), json_array_get(b, i)))
            return false;
    return true;
}

static void doubts_work(struct doubts *doubts)
{
    double before, after, known = 0, found = 0;
    uint64_t few;
    doubts_control(doubts, &before, &after, &few);
    const double whole_before = lwp_diff_seconds(doubts->before, 1), whole_after = lwp_diff_seconds(doubts->after, 1);
    bool known_times = whole_before >= 0 && whole_after >= 0, enough = few >= CONTROL_SAMPLES && before > 0 && after > 0;
    /* Little code beside much that changed says nothing of the whole, and shares its caches. */
    bool matters = before >= share_matters * whole_before || after >= share_matters * whole_after;
    bool control = known_times && enough && matters;
    double ratio = control ? before / after : 1, error = control ? 2 * z95 / sqrt((double)few) : 0;
    bool off = control && fabs(log(ratio)) > log(1 + control_off) + error;
    bool data = doubts_data(doubts);
    if (!doubts_same_value(doubts, NULL, "exit"))
        doubts_add(doubts, "exit", true, "the two runs ended differently");
    if (!doubts_same_arguments(doubts))
        doubts_add(doubts, "arguments", data || off || !control, "the two runs were started with different arguments%s",
                   data || off || !control ? "" : ", but did the same work elsewhere");
    if (off)
        doubts_add(doubts, "control", true,
                   "the two runs did different work, or one was disturbed: code that the change does not touch took "
                   "%.2f s before and %.2f s after",
                   before, after);
    if (doubts->before->threads && doubts->after->threads && doubts->before->threads != doubts->after->threads)
        doubts_add(doubts, "threads", false, "%u threads before, %u after", doubts->before->threads, doubts->after->threads);
    for (size_t i = 0; i < doubts->before->loop_count; i++) {
        const struct lwp_diff_loop *loop = &doubts->before->loops[i];
        known += loop->function ? loop->share : 0;
        found += loop->match != LWP_DIFF_NONE ? loop->share : 0;
    }
    if (known > 0.2 && found < 0.3 * known)
        doubts_add(doubts, "program", true,
                   "these look like different programs: only %.0f %% of the time before is in functions that are there "
                   "after",
                   100 * found / known);
    if (doubts->before->samples < 50 || doubts->after->samples < 50)
        doubts_add(doubts, "samples", false, "few samples (%llu before, %llu after): shares are rough",
                   (unsigned long long)doubts->before->samples, (unsigned long long)doubts->after->samples);
    doubts->found->control = control;
    doubts->found->before_s = before;
    doubts->found->after_s = after;
    doubts->found->low = ratio * exp(-error);
    doubts->found->high = ratio * exp(error);
}

void lwp_diff_doubts_find(const struct lwp_diff_result *before, const struct lwp_diff_result *after, const struct lwp_diff_rows *rows,
                          struct lwp_arena *arena, struct lwp_diff_doubts *found)
{
    struct doubts doubts = {before, after, rows, arena, found};
    *found = (struct lwp_diff_doubts){0};
    doubts_machine(&doubts);
    doubts_work(&doubts);
}
