/* A thread's records are all in one file, so that what is kept for a thread (uses) or a reader (cells) comes from one
 * reader of files alone; only threads are listed by several. */
#include "analysis/profile/thread_interaction.h"

#include "analysis/program/code.h"
#include "base/arena.h"
#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USES_MOST = 1 << 18, CELLS_MOST = 1 << 18, SPELL_NS = 20000000 };

void lwp_interaction_begin(struct lwp_thread_interaction *interaction, uint32_t process, const struct lwps_thread *record)
{
    interaction->process = process;
    interaction->tid = record->tid;
    LWP_GROW(&interaction->threads, interaction->thread_count, &interaction->thread_room);
    struct lwp_interaction_thread *thread = &interaction->threads[interaction->thread_count++];
    *thread = (struct lwp_interaction_thread){
        .process = process, .tid = record->tid, .stack_low = record->stack_low, .stack_high = record->stack_high};
    snprintf(thread->name, sizeof thread->name, "%s", record->name ? record->name : "");
}

static uint64_t interaction_key(uint64_t a, uint64_t b, uint64_t c)
{
    return lwp_hash_mix(lwp_hash_mix(a, b), c) >> 1;
}

static struct lwp_interaction_cell *interaction_cell(struct lwp_thread_interaction *interaction, uint32_t process, uint32_t writer,
                                           uint32_t reader)
{
    uint64_t key = interaction_key(process, writer, reader);
    uint32_t known = lwp_table_get(&interaction->cell_index, key);
    if (known != LWP_TABLE_NONE)
        return &interaction->cells[known];
    if (interaction->cell_count >= CELLS_MOST) {
        interaction->refused++;
        return NULL;
    }
    *lwp_table_at(&interaction->cell_index, key) = (uint32_t)interaction->cell_count;
    LWP_GROW(&interaction->cells, interaction->cell_count, &interaction->cell_room);
    struct lwp_interaction_cell *cell = &interaction->cells[interaction->cell_count++];
    *cell = (struct lwp_interaction_cell){.process = process, .writer = writer, .reader = reader};
    return cell;
}

void lwp_interaction_candidate(struct lwp_thread_interaction *interaction, const struct lwps_watch *record)
{
    interaction->candidates++;
    if (record->end == LWPS_WATCH_FOREIGN) {
        interaction->foreign_samples++;
        interaction->foreign_weight += record->weight;
    } else if (record->verdicts & LWPS_VERDICT_SHARING)
        lwp_communication_samples_store(&interaction->samples, interaction->process, interaction->tid, record->first.address, record->time,
                            record->weight);
}

void lwp_interaction_candidates(struct lwp_thread_interaction *interaction, const struct lwps_candidates *record)
{
    interaction->candidates += record->count;
}

void lwp_interaction_trial(struct lwp_thread_interaction *interaction, const struct lwps_watch *record)
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
        lwp_communication_samples_trial(&interaction->samples, interaction->process, record->first_tid, interaction->tid, record->first.address,
                            record->time, read);
}

static uint64_t interaction_mask(const struct lwps_access *access)
{
    unsigned first = access->address % LWP_INTERACTION_LINE, bytes = access->bytes ? access->bytes : 1;
    if (bytes > LWP_INTERACTION_LINE - first)
        bytes = LWP_INTERACTION_LINE - first;
    return (bytes == LWP_INTERACTION_LINE ? UINT64_MAX : ((uint64_t)1 << bytes) - 1) << first;
}

static struct lwp_interaction_use *interaction_use(struct lwp_thread_interaction *interaction, uint32_t process, uint32_t tid, uint64_t line)
{
    uint64_t key = interaction_key(process, tid, line);
    uint32_t known = lwp_table_get(&interaction->use_index, key);
    if (known != LWP_TABLE_NONE)
        return &interaction->uses[known];
    if (interaction->use_count >= USES_MOST) {
        interaction->refused++;
        return NULL;
    }
    *lwp_table_at(&interaction->use_index, key) = (uint32_t)interaction->use_count;
    LWP_GROW(&interaction->uses, interaction->use_count, &interaction->use_room);
    struct lwp_interaction_use *use = &interaction->uses[interaction->use_count++];
    *use =
        (struct lwp_interaction_use){.process = process, .tid = tid, .line = line, .object = LWP_NONE, .context = LWP_NONE};
    return use;
}

void lwp_interaction_use(struct lwp_thread_interaction *interaction, const struct lwps_watch *record, uint32_t object, uint64_t offset,
                    uint32_t context)
{
    const struct lwps_access *access = &record->second;
    interaction->records++;
    struct lwp_interaction_use *use = interaction_use(interaction, interaction->process, interaction->tid, access->address / LWP_INTERACTION_LINE);
    if (!use)
        return;
    use->object = object; /* the last one: memory is used again for other things */
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
    if (use->context == context) {
        use->lead++;
    } else if (use->lead == 0) {
        use->context = context;
        use->lead = 1;
    } else {
        use->lead--;
    }
}

void lwp_interaction_merge(struct lwp_thread_interaction *into, struct lwp_thread_interaction *from)
{
    for (size_t i = 0; i < from->thread_count; i++) {
        LWP_GROW(&into->threads, into->thread_count, &into->thread_room);
        into->threads[into->thread_count++] = from->threads[i];
    }
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

static int interaction_compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int interaction_thread_compare(const void *a, const void *b)
{
    const struct lwp_interaction_thread *x = a, *y = b;
    return x->process != y->process ? interaction_compare(x->process, y->process) : interaction_compare(x->tid, y->tid);
}

static int interaction_cell_compare(const void *a, const void *b)
{
    const struct lwp_interaction_cell *x = a, *y = b;
    if (x->process != y->process)
        return interaction_compare(x->process, y->process);
    return x->writer != y->writer ? interaction_compare(x->writer, y->writer) : interaction_compare(x->reader, y->reader);
}

static int interaction_use_compare(const void *a, const void *b)
{
    const struct lwp_interaction_use *x = a, *y = b;
    if (x->process != y->process)
        return interaction_compare(x->process, y->process);
    return x->line != y->line ? interaction_compare(x->line, y->line) : interaction_compare(x->tid, y->tid);
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
    if (interaction->thread_count)
        qsort(interaction->threads, interaction->thread_count, sizeof *interaction->threads, interaction_thread_compare);
    if (interaction->cell_count)
        qsort(interaction->cells, interaction->cell_count, sizeof *interaction->cells, interaction_cell_compare);
    if (interaction->use_count)
        qsort(interaction->uses, interaction->use_count, sizeof *interaction->uses, interaction_use_compare);
    lwp_communication_samples_renumber(&interaction->samples);
}

void lwp_interaction_free(struct lwp_thread_interaction *interaction)
{
    lwp_table_free(&interaction->cell_index);
    lwp_table_free(&interaction->use_index);
    free(interaction->threads);
    free(interaction->cells);
    free(interaction->uses);
    lwp_communication_samples_free(&interaction->samples);
    *interaction = (struct lwp_thread_interaction){0};
}
