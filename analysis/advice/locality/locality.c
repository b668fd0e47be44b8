/* In: counts of the replayed trace by data object and part of the code, and the values that come often there (strides, strides
 * between traversals, regions before). Out: a row for each object in each source loop. */
#include "analysis/advice/locality/locality.h"

#include "analysis/profile/regions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The counts by object and region, versions of a loop in one. */
static struct lwp_locality_counts locality_merge(const struct lwp_profile *profile)
{
    struct lwp_locality_counts merged = {0};
    for (size_t i = 0; i < profile->locality.count; i++) {
        const struct lwp_locality_count *count = &profile->locality.items[i];
        uint32_t at = lwp_locality_counts_at(&merged, count->object, lwp_regions_final(profile, count->part));
        lwp_locality_count_add(&merged.items[at], count);
    }
    for (size_t i = 0; i < profile->locality.values.count; i++) {
        struct lwp_locality_value value = profile->locality.values.items[i];
        value.part = lwp_regions_final(profile, value.part);
        if (value.of == LWP_LOCALITY_BEFORE)
            value.value = lwp_regions_final(profile, (uint32_t)value.value);
        lwp_locality_values_add(&merged.values, &value);
    }
    lwp_locality_values_join(&merged.values);
    return merged;
}

double lwp_locality_most(const struct lwp_locality_row *row, enum lwp_locality_value_of of, int64_t *value)
{
    const struct lwp_locality_value *most = lwp_locality_values_most(row->values[of].items, row->values[of].count);
    *value = most ? most->value : 0;
    return most ? (double)most->count / (double)row->count->values[of] : 0;
}

static double locality_share(const struct lwp_profile *profile, uint32_t object, uint32_t region)
{
    double weight = 0;
    for (uint32_t at = profile->object_streams[object]; at != LWP_NONE; at = profile->streams[at].next_of_object)
        if (lwp_regions_final(profile, profile->streams[at].region) == region)
            weight += profile->streams[at].weight.weight;
    return profile->total.weight > 0 ? weight / profile->total.weight : 0;
}

static int locality_compare(const void *a, const void *b)
{
    const struct lwp_locality_row *x = a, *y = b;
    if (x->count->found.cycles != y->count->found.cycles)
        return x->count->found.cycles < y->count->found.cycles ? 1 : -1;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    return (x->region > y->region) - (x->region < y->region);
}

void lwp_locality_find(struct lwp_profile *profile, struct lwp_locality *found)
{
    *found = (struct lwp_locality){.measured = profile->locality.traced};
    struct lwp_locality_counts merged = locality_merge(profile);
    struct lwp_locality_count *counts = lwp_arena_alloc(profile->arena, merged.count + 1, sizeof *counts);
    struct lwp_locality_values values = {.count = merged.values.count};
    values.items = lwp_arena_alloc(profile->arena, values.count + 1, sizeof *values.items);
    if (merged.count)
        memcpy(counts, merged.items, merged.count * sizeof *counts);
    if (values.count)
        memcpy(values.items, merged.values.items, values.count * sizeof *values.items);
    found->count = merged.count;
    lwp_locality_counts_free(&merged);
    found->rows = lwp_arena_alloc(profile->arena, found->count + 1, sizeof *found->rows);
    for (size_t i = 0; i < found->count; i++) {
        struct lwp_locality_row *row = &found->rows[i];
        *row = (struct lwp_locality_row){.object = counts[i].object, .region = counts[i].part, .count = &counts[i]};
        row->share = locality_share(profile, row->object, row->region);
        row->numa =
            profile->locality.touched_count && !profile->locality.gaps ? (double)row->count->local / (double)row->count->accesses : -1;
        row->streams = row->count->streams_times ? (double)row->count->streams / (double)row->count->streams_times : 0;
        for (unsigned of = 0; of < LWP_LOCALITY_VALUES; of++)
            row->values[of].items = lwp_locality_values_of(&values, row->object, row->region, of, &row->values[of].count);
        row->stride_share = lwp_locality_most(row, LWP_LOCALITY_STRIDE, &row->stride);
        double part = (double)row->count->values[LWP_LOCALITY_OUTER] / (double)row->count->accesses;
        row->outer_share = lwp_locality_most(row, LWP_LOCALITY_OUTER, &row->outer) * part;
    }
    qsort(found->rows, found->count, sizeof *found->rows, locality_compare);
}

double lwp_locality_median(const struct lwp_locality_row *row)
{
    const struct lwp_locality_frequent *distances = &row->values[LWP_LOCALITY_DISTANCE];
    uint64_t half = row->count->accesses - row->count->accesses / 2, below = 0;
    for (size_t i = 0; i < distances->count; i++) {
        below += distances->items[i].count;
        if (below >= half)
            return (double)distances->items[i].value;
    }
    return -1;
}

double lwp_locality_reuse(const struct lwp_locality_found *found, unsigned level)
{
    uint64_t missed = 0;
    for (unsigned i = level + 1; i < LWP_LOCALITY_PLACES; i++)
        missed += found->at[i];
    return missed ? (double)found->at[level] / (double)missed : -1;
}

static void locality_note_misses(struct lwp_profile *profile, const struct lwp_hierarchy_plan *plan, const struct lwp_locality_found *found,
                                 const char *what)
{
    char text[200] = "";
    uint64_t missed = profile->locality.accesses;
    for (unsigned i = 0; i < plan->caches.levels; i++) {
        size_t used = strlen(text);
        missed -= found->at[i];
        snprintf(text + used, sizeof text - used, "%s%.2f %% miss L%u", used ? ", " : "",
                 100 * (double)missed / (double)profile->locality.accesses, i + 1);
    }
    lwp_profile_note(profile, "%s (%s): of %llu accesses traced %s; %.2f cycles an access.", what, plan->text,
                     (unsigned long long)profile->locality.accesses, text, (double)found->cycles / (double)profile->locality.accesses);
}

void lwp_locality_notes(struct lwp_profile *profile)
{
    const struct lwp_locality_counts *counts = &profile->locality;
    const struct lwp_hierarchy_plan *here = &profile->machines[LWP_MACHINE_HERE], *elsewhere = &profile->machines[LWP_MACHINE_ELSEWHERE];
    struct lwp_locality_count all = {0};
    if (!counts->accesses) {
        if (elsewhere->caches.levels)
            lwp_profile_note(profile,
                             "There is no trace to replay on the machine asked about: that takes lwp collect -e exact --detect locality.");
        return;
    }
    for (size_t i = 0; i < counts->count; i++)
        lwp_locality_count_add(&all, &counts->items[i]);
    locality_note_misses(profile, here, &all.found, "Caches of this machine, modelled");
    if (elsewhere->caches.levels)
        locality_note_misses(profile, elsewhere, &all.elsewhere, "Caches of the machine asked about");
    if (counts->lost)
        lwp_profile_note(profile, "Of %llu windows of the trace %llu are damaged in part.", (unsigned long long)counts->windows,
                         (unsigned long long)counts->lost);
}
