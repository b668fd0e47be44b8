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

void lwp_interaction_begin(struct lwp_thread_interaction *shared, uint32_t process, const struct lwps_thread *record)
{
    shared->process = process;
    shared->tid = record->tid;
    LWP_GROW(&shared->threads, shared->thread_count, &shared->thread_room);
    struct lwp_interaction_thread *thread = &shared->threads[shared->thread_count++];
    *thread = (struct lwp_interaction_thread){
        .process = process, .tid = record->tid, .stack_low = record->stack_low, .stack_high = record->stack_high};
    snprintf(thread->name, sizeof thread->name, "%s", record->name ? record->name : "");
}

static uint64_t shared_key(uint64_t a, uint64_t b, uint64_t c)
{
    return lwp_hash_mix(lwp_hash_mix(a, b), c) >> 1;
}

static struct lwp_interaction_cell *shared_cell(struct lwp_thread_interaction *shared, uint32_t process, uint32_t writer,
                                           uint32_t reader)
{
    uint64_t key = shared_key(process, writer, reader);
    uint32_t known = lwp_table_get(&shared->cell_index, key);
    if (known != LWP_TABLE_NONE)
        return &shared->cells[known];
    if (shared->cell_count >= CELLS_MOST) {
        shared->refused++;
        return NULL;
    }
    *lwp_table_at(&shared->cell_index, key) = (uint32_t)shared->cell_count;
    LWP_GROW(&shared->cells, shared->cell_count, &shared->cell_room);
    struct lwp_interaction_cell *cell = &shared->cells[shared->cell_count++];
    *cell = (struct lwp_interaction_cell){.process = process, .writer = writer, .reader = reader};
    return cell;
}

void lwp_interaction_candidate(struct lwp_thread_interaction *shared, const struct lwps_watch *record)
{
    shared->candidates++;
    if (record->end == LWPS_WATCH_FOREIGN) {
        shared->foreign_samples++;
        shared->foreign_weight += record->weight;
    } else if (record->verdicts & LWPS_VERDICT_SHARING)
        lwp_communication_samples_store(&shared->transfers, shared->process, shared->tid, record->first.address, record->time,
                            record->weight);
}

void lwp_interaction_candidates(struct lwp_thread_interaction *shared, const struct lwps_candidates *record)
{
    shared->candidates += record->count;
}

void lwp_interaction_trial(struct lwp_thread_interaction *shared, const struct lwps_watch *record)
{
    shared->records++;
    struct lwp_interaction_cell *cell = shared_cell(shared, shared->process, record->first_tid, shared->tid);
    if (!cell)
        return;
    bool decided = record->end == LWPS_WATCH_DECIDED;
    bool read = decided && record->overlap && record->second.flags & LWPS_ACCESS_LOAD;
    bool unread = !read && (decided || record->end == LWPS_WATCH_EVICTED);
    cell->read += read;
    cell->unread += unread;
    cell->lost += !read && !unread;
    if (read || unread)
        lwp_communication_samples_trial(&shared->transfers, shared->process, record->first_tid, shared->tid, record->first.address,
                            record->time, read);
}

static uint64_t shared_mask(const struct lwps_access *access)
{
    unsigned first = access->address % LWP_INTERACTION_LINE, bytes = access->bytes ? access->bytes : 1;
    if (bytes > LWP_INTERACTION_LINE - first)
        bytes = LWP_INTERACTION_LINE - first;
    return (bytes == LWP_INTERACTION_LINE ? UINT64_MAX : ((uint64_t)1 << bytes) - 1) << first;
}

static struct lwp_interaction_use *shared_use(struct lwp_thread_interaction *shared, uint32_t process, uint32_t tid, uint64_t line)
{
    uint64_t key = shared_key(process, tid, line);
    uint32_t known = lwp_table_get(&shared->use_index, key);
    if (known != LWP_TABLE_NONE)
        return &shared->uses[known];
    if (shared->use_count >= USES_MOST) {
        shared->refused++;
        return NULL;
    }
    *lwp_table_at(&shared->use_index, key) = (uint32_t)shared->use_count;
    LWP_GROW(&shared->uses, shared->use_count, &shared->use_room);
    struct lwp_interaction_use *use = &shared->uses[shared->use_count++];
    *use =
        (struct lwp_interaction_use){.process = process, .tid = tid, .line = line, .object = LWP_NONE, .context = LWP_NONE};
    return use;
}

void lwp_interaction_use(struct lwp_thread_interaction *shared, const struct lwps_watch *record, uint32_t object, uint64_t offset,
                    uint32_t context)
{
    const struct lwps_access *access = &record->second;
    shared->records++;
    struct lwp_interaction_use *use = shared_use(shared, shared->process, shared->tid, access->address / LWP_INTERACTION_LINE);
    if (!use)
        return;
    use->object = object; /* the last one: memory is used again for other things */
    use->offset = (int64_t)offset - (int64_t)(access->address % LWP_INTERACTION_LINE);
    if (access->flags & LWPS_ACCESS_LOAD)
        use->loaded |= shared_mask(access);
    if (access->flags & LWPS_ACCESS_STORE)
        use->stored |= shared_mask(access);
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
        struct lwp_interaction_cell *to = shared_cell(into, cell->process, cell->writer, cell->reader);
        if (!to)
            continue;
        to->read += cell->read;
        to->unread += cell->unread;
        to->lost += cell->lost;
    }
    for (size_t i = 0; i < from->use_count; i++) {
        const struct lwp_interaction_use *use = &from->uses[i];
        struct lwp_interaction_use *to = shared_use(into, use->process, use->tid, use->line);
        if (to && to->hits.samples == 0)
            *to = *use;
        else if (to) /* a thread's number was used twice in one process: rare */
            lwp_sum_merge(&to->hits, &use->hits);
    }
    lwp_communication_samples_merge(&into->transfers, &from->transfers);
    into->records += from->records;
    into->refused += from->refused;
    into->candidates += from->candidates;
    into->foreign_samples += from->foreign_samples;
    into->foreign_weight += from->foreign_weight;
    lwp_interaction_free(from);
}

static int shared_compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int shared_thread_compare(const void *a, const void *b)
{
    const struct lwp_interaction_thread *x = a, *y = b;
    return x->process != y->process ? shared_compare(x->process, y->process) : shared_compare(x->tid, y->tid);
}

static int shared_cell_compare(const void *a, const void *b)
{
    const struct lwp_interaction_cell *x = a, *y = b;
    if (x->process != y->process)
        return shared_compare(x->process, y->process);
    return x->writer != y->writer ? shared_compare(x->writer, y->writer) : shared_compare(x->reader, y->reader);
}

static int shared_use_compare(const void *a, const void *b)
{
    const struct lwp_interaction_use *x = a, *y = b;
    if (x->process != y->process)
        return shared_compare(x->process, y->process);
    return x->line != y->line ? shared_compare(x->line, y->line) : shared_compare(x->tid, y->tid);
}

void lwp_interaction_renumber(struct lwp_thread_interaction *shared, const uint32_t *contexts, const uint32_t *objects)
{
    for (size_t i = 0; i < shared->use_count; i++) {
        struct lwp_interaction_use *use = &shared->uses[i];
        if (use->object != LWP_NONE)
            use->object = objects[use->object];
        if (use->context != LWP_NONE)
            use->context = contexts[use->context];
    }
    if (shared->thread_count)
        qsort(shared->threads, shared->thread_count, sizeof *shared->threads, shared_thread_compare);
    if (shared->cell_count)
        qsort(shared->cells, shared->cell_count, sizeof *shared->cells, shared_cell_compare);
    if (shared->use_count)
        qsort(shared->uses, shared->use_count, sizeof *shared->uses, shared_use_compare);
    lwp_communication_samples_renumber(&shared->transfers);
}

void lwp_interaction_free(struct lwp_thread_interaction *shared)
{
    lwp_table_free(&shared->cell_index);
    lwp_table_free(&shared->use_index);
    free(shared->threads);
    free(shared->cells);
    free(shared->uses);
    lwp_communication_samples_free(&shared->transfers);
    *shared = (struct lwp_thread_interaction){0};
}
