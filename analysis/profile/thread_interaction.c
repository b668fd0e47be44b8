/* All records of a thread are in one file, so what is kept for a thread (uses) or a reader (cells) comes from one reading
 * thread alone. Only threads are listed by several. */
#include "analysis/profile/thread_interaction.h"

#include "analysis/profile/communication_counts.h"
#include "analysis/profile/locations.h"
#include "analysis/profile/profile.h"
#include "analysis/program/code.h"
#include "base/arena.h"
#include "base/hash.h"
#include "base/order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USES_MOST = 1 << 18, CELLS_MOST = 1 << 18, SPELL_NS = 20000000 };

void lwp_interaction_begin(struct lwp_thread_interaction *interaction, uint32_t process, const struct lwps_thread *record)
{
    interaction->process = process;
    interaction->tid = record->tid;
    struct lwp_interaction_thread *thread = LWP_PUSH(
        interaction->thread, (struct lwp_interaction_thread){
                                 .process = process, .tid = record->tid, .stack_low = record->stack_low, .stack_high = record->stack_high});
    snprintf(thread->name, sizeof thread->name, "%s", record->name ? record->name : "");
}

static uint64_t interaction_key(uint64_t a, uint64_t b, uint64_t c)
{
    return lwp_hash_mix(lwp_hash_mix(a, b), c) >> 1;
}

/* NULL: it would be one too many. */
static struct lwp_interaction_cell *interaction_cell(struct lwp_thread_interaction *interaction, uint32_t process, uint32_t writer,
                                                     uint32_t reader)
{
    uint32_t at = lwp_map_index(&interaction->cell_index, interaction_key(process, writer, reader), interaction->cell_count, CELLS_MOST);
    interaction->refused += at == LWP_MAP_NONE;
    if (at == interaction->cell_count)
        LWP_PUSH(interaction->cell, (struct lwp_interaction_cell){.process = process, .writer = writer, .reader = reader});
    return at == LWP_MAP_NONE ? NULL : &interaction->cells[at];
}

void lwp_interaction_candidate(struct lwp_thread_interaction *interaction, const struct lwps_watch *record, uint32_t location)
{
    interaction->candidates++;
    if (record->end == LWPS_WATCH_FOREIGN) {
        interaction->foreign_samples++;
        interaction->foreign_weight += record->weight;
    } else if (record->verdicts & LWPS_VERDICT_SHARING)
        lwp_communication_samples_store(&interaction->samples,
                                        &(struct lwp_communication_store){.process = interaction->process,
                                                                          .writer = interaction->tid,
                                                                          .location = location,
                                                                          .address = record->first.address,
                                                                          .time = record->time},
                                        record->weight);
}

void lwp_interaction_trial(struct lwp_thread_interaction *interaction, const struct lwps_watch *record, uint32_t stored_at,
                           uint32_t read_at)
{
    interaction->records++;
    struct lwp_interaction_cell *cell = interaction_cell(interaction, interaction->process, record->first_tid, interaction->tid);
    if (!cell)
        return;
    bool decided = record->end == LWPS_WATCH_DECIDED;
    bool read = decided && record->overlap && record->second.flags & LWPS_ACCESS_LOAD;
    bool unread = !read && (decided || record->end == LWPS_WATCH_EVICTED);
    cell->read += read;
    cell->unread += unread;
    cell->lost += !read && !unread;
    if (read || unread)
        lwp_communication_samples_trial(&interaction->samples,
                                        &(struct lwp_communication_store){.process = interaction->process,
                                                                          .writer = record->first_tid,
                                                                          .location = stored_at,
                                                                          .address = record->first.address,
                                                                          .time = record->time},
                                        interaction->tid, read, read ? read_at : LWP_NONE);
}

static uint64_t interaction_mask(const struct lwps_access *access)
{
    unsigned first = access->address % LWP_INTERACTION_LINE, bytes = access->bytes ? access->bytes : 1;
    if (bytes > LWP_INTERACTION_LINE - first)
        bytes = LWP_INTERACTION_LINE - first;
    return (bytes == LWP_INTERACTION_LINE ? UINT64_MAX : ((uint64_t)1 << bytes) - 1) << first;
}

static struct lwp_interaction_use *interaction_use(struct lwp_thread_interaction *interaction, uint32_t process, uint32_t tid,
                                                   uint64_t line)
{
    uint32_t at = lwp_map_index(&interaction->use_index, interaction_key(process, tid, line), interaction->use_count, USES_MOST);
    interaction->refused += at == LWP_MAP_NONE;
    if (at == interaction->use_count)
        LWP_PUSH(interaction->use,
                 (struct lwp_interaction_use){.process = process, .tid = tid, .line = line, .object = LWP_NONE, .context = LWP_NONE});
    return at == LWP_MAP_NONE ? NULL : &interaction->uses[at];
}

void lwp_interaction_use(struct lwp_thread_interaction *interaction, const struct lwps_watch *record, uint32_t object, uint64_t offset,
                         uint32_t context)
{
    const struct lwps_access *access = &record->second;
    interaction->records++;
    struct lwp_interaction_use *use =
        interaction_use(interaction, interaction->process, interaction->tid, access->address / LWP_INTERACTION_LINE);
    if (!use)
        return;
    use->object = object; /* the last one: memory is reused */
    use->offset = (int64_t)offset - (int64_t)(access->address % LWP_INTERACTION_LINE);
    if (access->flags & LWPS_ACCESS_LOAD)
        use->loaded |= interaction_mask(access);
    if (access->flags & LWPS_ACCESS_STORE)
        use->stored |= interaction_mask(access);
    lwp_sum_add(&use->hits, record->weight);
    use->overlaps += record->overlap != 0;
    uint64_t spell = record->end_time / SPELL_NS + 1;
    use->spells += spell != use->spell;
    use->spell = spell;
    /* Majority vote (Boyer and Moore): the context of most hits, in one word. */
    if (use->context == context) {
        use->lead++;
    } else if (use->lead == 0) {
        use->context = context;
        use->lead = 1;
    } else {
        use->lead--;
    }
}

void lwp_interaction_counted(struct lwp_thread_interaction *interaction, const struct lwp_interaction_use *more, uint64_t hits,
                             uint64_t cycles)
{
    struct lwp_interaction_use *use = interaction_use(interaction, more->process, more->tid, more->line);
    if (!use)
        return;
    use->object = more->object;
    use->offset = more->offset;
    use->loaded |= more->loaded;
    use->stored |= more->stored;
    use->spells += hits; /* each is a time of its own: of each round an even mix is assumed */
    lwp_sum_add_many(&use->hits, cycles, hits);
}

void lwp_interaction_merge(struct lwp_thread_interaction *into, struct lwp_thread_interaction *from)
{
    LWP_APPEND_ALL(&into->threads, &into->thread_count, &into->thread_room, from->threads, from->thread_count);
    for (size_t i = 0; i < from->cell_count; i++) {
        const struct lwp_interaction_cell *cell = &from->cells[i];
        struct lwp_interaction_cell *to = interaction_cell(into, cell->process, cell->writer, cell->reader);
        if (!to)
            continue;
        to->read += cell->read;
        to->unread += cell->unread;
        to->lost += cell->lost;
    }
    for (size_t i = 0; i < from->use_count; i++) {
        const struct lwp_interaction_use *use = &from->uses[i];
        struct lwp_interaction_use *to = interaction_use(into, use->process, use->tid, use->line);
        if (to && to->hits.samples == 0)
            *to = *use;
        else if (to) /* a thread's number was used twice in one process: rare */
            lwp_sum_merge(&to->hits, &use->hits);
    }
    lwp_communication_samples_merge(&into->samples, &from->samples);
    into->records += from->records;
    into->refused += from->refused;
    into->candidates += from->candidates;
    into->foreign_samples += from->foreign_samples;
    into->foreign_weight += from->foreign_weight;
    lwp_interaction_free(from);
}

static int interaction_thread_compare(const void *a, const void *b)
{
    const struct lwp_interaction_thread *x = a, *y = b;
    return LWP_COMPARE(x->process, y->process) ?: LWP_COMPARE(x->tid, y->tid);
}

static int interaction_cell_compare(const void *a, const void *b)
{
    const struct lwp_interaction_cell *x = a, *y = b;
    return LWP_COMPARE(x->process, y->process) ?: LWP_COMPARE(x->writer, y->writer) ?: LWP_COMPARE(x->reader, y->reader);
}

static int interaction_use_compare(const void *a, const void *b)
{
    const struct lwp_interaction_use *x = a, *y = b;
    return LWP_COMPARE(x->process, y->process) ?: LWP_COMPARE(x->line, y->line) ?: LWP_COMPARE(x->tid, y->tid);
}

void lwp_interaction_renumber(struct lwp_thread_interaction *interaction, const uint32_t *contexts, const uint32_t *objects)
{
    for (size_t i = 0; i < interaction->use_count; i++) {
        struct lwp_interaction_use *use = &interaction->uses[i];
        if (use->object != LWP_NONE)
            use->object = objects[use->object];
        if (use->context != LWP_NONE)
            use->context = contexts[use->context];
    }
    LWP_SORT(interaction->threads, interaction->thread_count, interaction_thread_compare);
    LWP_SORT(interaction->cells, interaction->cell_count, interaction_cell_compare);
    LWP_SORT(interaction->uses, interaction->use_count, interaction_use_compare);
}

/* ---- what is the program's ---- */

struct interaction_places {
    struct lwp_profile *profile;
    struct lwp_map known; /* location -> whether it is the runtime's */
};

static bool interaction_is_runtime(void *context, uint32_t location)
{
    struct interaction_places *places = context;
    if (location == LWP_NONE)
        return false;
    uint32_t *at = lwp_map_at(&places->known, location);
    if (*at == LWP_MAP_NONE)
        *at = lwp_communication_is_runtime(places->profile, location);
    return *at;
}

static size_t interaction_cell_find(const struct lwp_thread_interaction *interaction, const struct lwp_communication_trials *of)
{
    const struct lwp_interaction_cell key = {.process = of->process, .writer = of->writer, .reader = of->reader};
    return LWP_PARTITION_POINT(i, 0, interaction->cell_count, interaction_cell_compare(&interaction->cells[i], &key) < 0);
}

void lwp_interaction_locate(struct lwp_profile *profile)
{
    struct lwp_thread_interaction *interaction = &profile->interaction;
    struct lwp_communication_samples *samples = &interaction->samples;
    struct interaction_places places = {.profile = profile};
    interaction->runtime = lwp_communication_samples_drop(samples, interaction_is_runtime, &places);
    lwp_map_fini(&places.known);
    lwp_communication_samples_renumber(samples);
    for (size_t i = 0; i < interaction->cell_count; i++)
        interaction->cells[i].read = interaction->cells[i].unread = 0;
    for (size_t i = 0; i < samples->trial_count; i++) {
        const size_t at = interaction_cell_find(interaction, &samples->trials[i]);
        struct lwp_interaction_cell *cell = &interaction->cells[at];
        for (unsigned k = 0; k < LWP_COMMUNICATION_PARTS && at < interaction->cell_count; k++) {
            cell->read += samples->trials[i].read[k];
            cell->unread += samples->trials[i].decided[k] - samples->trials[i].read[k];
        }
    }
}

void lwp_interaction_free(struct lwp_thread_interaction *interaction)
{
    lwp_map_fini(&interaction->cell_index);
    lwp_map_fini(&interaction->use_index);
    free(interaction->threads);
    free(interaction->cells);
    free(interaction->uses);
    lwp_communication_samples_free(&interaction->samples);
    *interaction = (struct lwp_thread_interaction){0};
}
