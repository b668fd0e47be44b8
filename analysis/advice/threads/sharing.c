/* A line is shared when at least two threads use it at the same time again and again: each was seen to use it within a few
 * milliseconds of the other, in several spells, one of the two storing. So what one thread prepares and another one uses later is
 * not. It is false sharing when they use other bytes: hardly ever the same bytes were seen, and those seen are not all that a
 * thread used. Where most hits on an object are on the same bytes (the slots of a queue) its lines are not falsely shared: they
 * only look so as few of their accesses were seen.
 *
 * Limits: two threads that alternate on one core pay nothing for it; they are not distinguished. */
#include "analysis/advice/threads/sharing.h"

#include "analysis/profile/objects.h"
#include "analysis/profile/thread_roots.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

enum { HITS_LEAST = 4, SPELLS_LEAST = 4, LISTED = 100 };
static const double share_listed = 0.005, overlap_false = 0.1;

static const char *sharing_object(struct lwp_profile *profile, uint32_t object)
{
    const char *name = object == LWP_NONE ? NULL : lwp_objects_name(profile, object);
    return name ? name : "unknown data";
}

static bool sharing_owned(const struct lwp_profile *profile, uint32_t object)
{
    return object != LWP_NONE && profile->objects[object].kind != LWP_OBJECT_UNKNOWN;
}

/* Memory that belongs to no data object may be a thread's stack. */
static const char *sharing_name(struct lwp_profile *profile, const struct lwp_interaction_use *use)
{
    uint64_t address = use->line * LWP_INTERACTION_LINE;
    for (size_t i = 0; i < profile->interaction.thread_count && !sharing_owned(profile, use->object); i++) {
        const struct lwp_interaction_thread *thread = &profile->interaction.threads[i];
        if (thread->process == use->process && address >= thread->stack_low && address < thread->stack_high)
            return lwp_arena_printf(profile->arena, "the stack of thread %u", thread->tid);
    }
    return sharing_object(profile, use->object);
}

/* The names of the fields that some bytes of the line belong to. */
static const char *sharing_field(struct lwp_profile *profile, const struct lwp_interaction_use *use)
{
    if (use->object == LWP_NONE)
        return NULL;
    const struct lwp_object *object = &profile->objects[use->object];
    const struct lwp_type *type = object->type;
    if (object->kind == LWP_OBJECT_UNKNOWN)
        return NULL;
    if (!type || !type->field_count)
        return object->variable;
    uint64_t bytes = use->loaded | use->stored;
    const char *names = NULL;
    const struct lwp_field *last = NULL;
    for (unsigned i = 0; i < LWP_INTERACTION_LINE; i++) {
        int64_t at = use->offset + (int64_t)i - (int64_t)object->element_start;
        if (!(bytes >> i & 1) || at < 0)
            continue;
        uint64_t within = type->bytes ? (uint64_t)at % type->bytes : (uint64_t)at;
        for (uint32_t k = 0; k < type->field_count; k++) {
            const struct lwp_field *field = &type->fields[k];
            if (within < field->offset || within >= field->offset + field->bytes || field == last)
                continue;
            last = field;
            if (field->name[0] && (!names || !strstr(names, field->name)))
                names = names ? lwp_arena_printf(profile->arena, "%s, %s", names, field->name) : field->name;
        }
    }
    return names;
}

/* Bytes that the use and another one both touch, one of them storing. */
static uint64_t sharing_common(const struct lwp_interaction_use *a, const struct lwp_interaction_use *b)
{
    return (a->stored & (b->stored | b->loaded)) | (b->stored & a->loaded);
}

static int use_compare(const void *a, const void *b)
{
    const struct lwp_interaction_use *x = ((const struct lwp_sharing_use *)a)->use, *y = ((const struct lwp_sharing_use *)b)->use;
    if (x->hits.weight != y->hits.weight)
        return x->hits.weight < y->hits.weight ? 1 : -1;
    return (x->tid > y->tid) - (x->tid < y->tid);
}

/* By the first byte used. */
static int place_compare(const void *a, const void *b)
{
    const struct lwp_interaction_use *x = ((const struct lwp_sharing_use *)a)->use, *y = ((const struct lwp_sharing_use *)b)->use;
    uint64_t m = x->loaded | x->stored, n = y->loaded | y->stored;
    int p = m ? __builtin_ctzll(m) : 64, q = n ? __builtin_ctzll(n) : 64;
    return p != q ? p - q : (x->tid > y->tid) - (x->tid < y->tid);
}

/* One line: uses[0..count). False: it is not shared, or not for certain. */
static bool sharing_line(struct lwp_profile *profile, const struct lwp_interaction_use *uses, size_t count, struct lwp_sharing *item)
{
    uint64_t overlaps = 0, common = 0, hits = 0, stored = 0;
    *item = (struct lwp_sharing){0};
    struct lwp_sharing_use *kept = lwp_arena_alloc(profile->arena, count, sizeof *kept);
    size_t kept_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (uses[i].hits.samples < HITS_LEAST || uses[i].spells < SPELLS_LEAST)
            continue;
        for (size_t k = 0; k < kept_count; k++)
            common |= sharing_common(kept[k].use, &uses[i]);
        kept[kept_count++].use = &uses[i];
        overlaps += uses[i].overlaps;
        hits += uses[i].hits.samples;
        stored |= uses[i].stored;
        const struct lwp_tally tally = lwp_sum_tally(&uses[i].hits);
        lwp_tally_merge(&item->hits, &tally);
    }
    if (kept_count < 2 || !stored)
        return false;
    item->is_false = (double)overlaps < overlap_false * (double)hits;
    if (item->is_false) /* each thread must have bytes of its own, else it is chance that the same were not seen */
        for (size_t i = 0; i < kept_count; i++)
            item->is_false &= ((kept[i].use->loaded | kept[i].use->stored) & ~common) != 0;
    else if (!common)
        return false;
    item->lines = 1;
    item->threads = kept_count;
    qsort(kept, kept_count, sizeof *kept, use_compare);
    item->use_count = kept_count < LWP_SHARING_THREADS ? kept_count : LWP_SHARING_THREADS;
    memcpy(item->uses, kept, item->use_count * sizeof *kept);
    qsort(item->uses, item->use_count, sizeof *item->uses, place_compare);
    item->object = item->uses[0].use->object;
    item->name = sharing_name(profile, item->uses[0].use);
    return true;
}

static int sharing_compare(const void *a, const void *b)
{
    const struct lwp_sharing *x = a, *y = b;
    if (x->hits.weight != y->hits.weight)
        return x->hits.weight < y->hits.weight ? 1 : -1;
    return (x->uses[0].use > y->uses[0].use) - (x->uses[0].use < y->uses[0].use);
}

/* Lines of one object become one item; `items` has those with most hits first. Blocks that a function allocates in the main
 * thread and in others are one object here, and so is memory that belongs to none but has one name. */
static size_t sharing_merge(struct lwp_profile *profile, struct lwp_sharing *items, size_t count)
{
    uint64_t objects[LISTED];
    size_t kept = 0;
    struct lwp_thread_roots roots;
    lwp_thread_roots_find(profile, &roots);
    for (size_t i = 0; i < count; i++) {
        uint64_t object = sharing_owned(profile, items[i].object) ? lwp_thread_roots_object(profile, &roots, items[i].object)
                                                                  : lwp_hash_text(items[i].name);
        size_t k = 0;
        while (k < kept && (objects[k] != object || items[k].is_false != items[i].is_false))
            k++;
        if (k == kept) {
            if (kept == LISTED)
                continue;
            objects[kept] = object;
            items[kept++] = items[i];
            continue;
        }
        items[k].lines++;
        lwp_tally_merge(&items[k].hits, &items[i].hits);
    }
    lwp_thread_roots_free(&roots);
    return kept;
}

/* Of all hits on an object, the part on the same bytes. */
static bool sharing_mostly_true(const struct lwp_profile *profile, uint32_t object, uint64_t lines)
{
    uint64_t hits = 0, overlaps = 0;
    if (object == LWP_NONE || lines < 2)
        return false;
    for (size_t i = 0; i < profile->interaction.use_count; i++)
        if (profile->interaction.uses[i].object == object) {
            hits += profile->interaction.uses[i].hits.samples;
            overlaps += profile->interaction.uses[i].overlaps;
        }
    return (double)overlaps >= overlap_false * (double)hits;
}

/* The type's field of that name; NULL: there is none. */
static const struct lwp_field *sharing_field_called(const struct lwp_type *type, const char *name)
{
    for (uint32_t i = 0; i < type->field_count; i++)
        if (strcmp(type->fields[i].name, name) == 0)
            return &type->fields[i];
    return NULL;
}

/* Between fields of one structure, or elements of that type. */
static const char *sharing_advice_in_type(struct lwp_profile *profile, const struct lwp_sharing *item, const struct lwp_type *type)
{
    const char *first = item->uses[0].field, *last = item->uses[item->use_count - 1].field;
    const unsigned line = LWP_INTERACTION_LINE;
    const bool one_more = first && last && strcmp(first, last) && !strchr(last, ',');
    const struct lwp_field *field = one_more ? sharing_field_called(type, last) : NULL;
    if (field)
        return lwp_arena_printf(profile->arena,
                                "Give '%s' a cache line of its own in %s: declare it as \"alignas(%u) %s;\" (C: #include "
                                "<stdalign.h>; before C11: __attribute__((aligned(%u)))) and the member behind it with "
                                "alignas(%u), too. Blocks from malloc then need aligned_alloc(%u, ...).",
                                last, type->name, line, field->declaration, line, line, line);
    return lwp_arena_printf(profile->arena,
                            "Give each thread's %s whole cache lines: begin the type with \"alignas(%u)\" on its first member, so that "
                            "its size becomes a multiple of %u bytes, and allocate arrays of it with aligned_alloc(%u, ...).",
                            type->name, line, line, line);
}

static const char *sharing_advice(struct lwp_profile *profile, const struct lwp_sharing *item)
{
    const struct lwp_interaction_use *first = item->uses[0].use, *last = item->uses[item->use_count - 1].use;
    const struct lwp_object *object = last->object == LWP_NONE ? NULL : &profile->objects[last->object];
    const struct lwp_type *type = object ? object->type : NULL;
    const unsigned line = LWP_INTERACTION_LINE;
    if (!item->is_false)
        return lwp_arena_printf(profile->arena, "The threads use the same bytes, so that padding does not help: let each thread work on a "
                                                "copy of its own and put them together at the end or now and then.");
    if (type && type->field_count && first->object == last->object)
        return sharing_advice_in_type(profile, item, type);
    if (first->object != last->object && object && object->kind == LWP_OBJECT_STATIC)
        return lwp_arena_printf(
            profile->arena,
            "The variables '%s' and '%s' lie in one cache line: declare each with alignas(%u) (__attribute__((aligned(%u))) before C11).",
            item->name, sharing_object(profile, last->object), line, line);
    return lwp_arena_printf(
        profile->arena,
        "Let what each thread writes begin on a cache line of its own: pad each thread's part to a multiple of %u bytes and align the "
        "whole to %u (alignas, aligned_alloc), or collect in local variables and store once at the end.",
        line, line);
}

void lwp_sharing_find(struct lwp_profile *profile, struct lwp_sharings *found)
{
    const struct lwp_thread_interaction *shared = &profile->interaction;
    *found = (struct lwp_sharings){0};
    struct lwp_sharing *items = NULL, one;
    size_t count = 0, room = 0;
    for (size_t i = 0, last; i < shared->use_count; i = last) {
        for (last = i + 1; last < shared->use_count && shared->uses[last].process == shared->uses[i].process &&
                           shared->uses[last].line == shared->uses[i].line;
             last++)
            ;
        if (last - i < 2 || !sharing_line(profile, shared->uses + i, last - i, &one))
            continue;
        LWP_GROW(&items, count, &room);
        items[count++] = one;
    }
    if (count) {
        qsort(items, count, sizeof *items, sharing_compare);
        count = sharing_merge(profile, items, count);
        qsort(items, count, sizeof *items, sharing_compare);
    }
    found->items = lwp_arena_alloc(profile->arena, count + 1, sizeof *found->items);
    for (size_t i = 0; i < count; i++) {
        struct lwp_sharing *item = &items[i];
        struct lwp_tally whole = profile->total;
        if (profile->locality.several) /* counted: the model's cycles do not have them */
            lwp_tally_merge(&whole, &item->hits);
        item->share = lwp_share_of(&item->hits, &whole);
        if (item->share.value < share_listed || (item->is_false && sharing_mostly_true(profile, item->object, item->lines)))
            continue;
        for (size_t k = 0; k < item->use_count; k++)
            item->uses[k].field = sharing_field(profile, item->uses[k].use);
        item->advice = sharing_advice(profile, item);
        item->declaration = lwp_padding_declare(profile, item);
        if (item->is_false)
            item->advice =
                lwp_arena_printf(profile->arena, "%s What that gains is not known: at most the %.0f %% of all time that was seen there.",
                                 item->advice, 100 * item->share.high);
        found->items[found->count++] = *item;
    }
    free(items);
}
