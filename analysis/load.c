/* Reads result directories into a profile, with as many threads as there are cores.
 *
 * The work is a row of processes; opening one (its modules, blocks and pools from process.lwps) gives a row of thread
 * files. Whoever is free takes a thread file of an open process, or else opens the next one, so that few are open at a
 * time; a process is dropped after its last file. Each thread counts into a shard of its own; in the end shards are
 * merged pairwise, side by side, and the last one becomes the profile (settle.c). What is damaged, cut or newer is
 * noted and left out. Notes, like everything else, come out in an order that is always the same. Memory: what is shared
 * (objects, contexts, code), a shard for each reading thread, and the open processes' blocks; nothing of it grows with
 * the number of samples, and of thread files only the names are kept. Several ranks (ranks.h) each read a part of the row
 * like that and hand on what came of it, so that the first has all in the end. Limits: one thread's file is read by one
 * thread; modules are opened one process after the other. */
#include "analysis/load.h"

#include "analysis/attribute.h"
#include "analysis/load_internal.h"
#include "analysis/parallel.h"
#include "analysis/ranks.h"
#include "analysis/settle.h"
#include "analysis/space_objects.h"
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS_MAX = 256, NOTES_KEPT = 1 << 12, NOTE_TEXT = 600 };

/* What a visitor of process.lwps is given. */
struct load_visit {
    struct load *load;
    struct load_process *process;
    struct lwps_file file;
    uint32_t notes;
};

void load_note(struct load *load, uint32_t number, uint32_t sequence, const char *format, ...)
{
    char text[NOTE_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    char *copy = strdup(text);
    if (!copy)
        return;
    pthread_mutex_lock(&load->lock);
    LWP_GROW(&load->notes, load->note_count, &load->note_room);
    load->notes[load->note_count++] = (struct load_note){number, sequence, copy};
    pthread_mutex_unlock(&load->lock);
}

/* ---- process.lwps ---- */

static int load_process_file(void *to, const struct lwps_file *file)
{
    struct load_visit *visit = to;
    visit->file = *file;
    lwp_space_start(visit->process->space, file->start_ns);
    return 0;
}

static int load_process_record(void *to, const struct lwps_process *record)
{
    struct load_visit *visit = to;
    struct lwp_profile *profile = visit->load->profile;
    size_t size = record->command_bytes;
    pthread_mutex_lock(&profile->lock);
    char *command = lwp_arena_alloc(profile->arena, size + 1, 1);
    pthread_mutex_unlock(&profile->lock);
    memcpy(command, record->command, size);
    while (size && command[size - 1] == '\0')
        size--;
    for (size_t i = 0; i < size; i++)
        if (command[i] == '\0')
            command[i] = ' ';
    visit->process->summary->command = command;
    visit->process->summary->pid = record->pid;
    return 0;
}

static int load_module(void *to, const struct lwps_module *record)
{
    lwp_space_module(((struct load_visit *)to)->process->space, record);
    return 0;
}

static int load_module_end(void *to, const struct lwps_module_end *record)
{
    lwp_space_module_end(((struct load_visit *)to)->process->space, record);
    return 0;
}

static int load_process_context(void *to, const struct lwps_context *record)
{
    lwp_space_context(((struct load_visit *)to)->process->space, record);
    return 0;
}

static int load_pool(void *to, const struct lwps_pool *record)
{
    lwp_space_pool(((struct load_visit *)to)->process->space, record);
    return 0;
}

static int load_pool_count(void *to, const struct lwps_pool_count *record)
{
    lwp_space_pool_count(((struct load_visit *)to)->process->space, record);
    return 0;
}

static int load_block(void *to, const struct lwps_block *record)
{
    lwp_space_block(((struct load_visit *)to)->process->space, record);
    return 0;
}

static int load_block_end(void *to, const struct lwps_block_end *record)
{
    lwp_space_block_end(((struct load_visit *)to)->process->space, record);
    return 0;
}

static int load_totals(void *to, const struct lwps_totals *record)
{
    struct load_process *process = ((struct load_visit *)to)->process;
    process->totals = *record;
    process->has_totals = true;
    return 0;
}

static int load_note_record(void *to, const struct lwps_note *record)
{
    struct load_visit *visit = to;
    if (visit->notes < NOTES_KEPT)
        load_note(visit->load, visit->process->input->number, visit->notes++, "%s", record->text);
    return 0;
}

static const struct lwps_visitor process_visitor = {.file = load_process_file,
                                                    .process = load_process_record,
                                                    .module = load_module,
                                                    .module_end = load_module_end,
                                                    .context = load_process_context,
                                                    .pool = load_pool,
                                                    .pool_count = load_pool_count,
                                                    .block = load_block,
                                                    .block_end = load_block_end,
                                                    .totals = load_totals,
                                                    .note = load_note_record};

/* ---- files ---- */

static void load_damage(struct load *load, uint32_t number, const char *path, const struct lwps_damage *damage)
{
    if (damage->unknown_blocks)
        load_note(load, number, NOTES_KEPT + 1, "%s: %llu blocks of a newer lwp were skipped.", path,
                  (unsigned long long)damage->unknown_blocks);
    if (damage->bad_blocks)
        load_note(load, number, NOTES_KEPT + 2, "%s: %llu damaged blocks were skipped; the rest was used.", path,
                  (unsigned long long)damage->bad_blocks);
    if (damage->torn_bytes)
        load_note(load, number, NOTES_KEPT + 3, "%s: the last %llu bytes are no whole block and were left out.", path,
                  (unsigned long long)damage->torn_bytes);
    else if (damage->incomplete)
        load_note(load, number, NOTES_KEPT + 4,
                  "%s was not closed in order: the program was killed, or the file was cut.", path);
}

static void load_open(struct load *load, size_t index, struct lwp_resolver *resolver)
{
    struct load_process *process = &load->processes[index];
    struct load_visit visit = {.load = load, .process = process};
    char path[4096], shown[NOTE_TEXT];
    struct lwps_damage damage = {0};
    struct lwp_error err = {0};
    process->space = lwp_space_new(load->profile, (uint32_t)index);
    snprintf(path, sizeof path, "%s/process.lwps", process->input->path);
    snprintf(shown, sizeof shown, "%s/process.lwps", process->input->shown);
    if (lwps_read(path, &process_visitor, &visit, &damage, &err))
        load_note(load, process->input->number, NOTES_KEPT, "Not used: %s", err.text);
    load_damage(load, process->input->number, shown, &damage);
    process->lost = visit.file.lost_records;
    if (lwp_space_refused(process->space))
        load_note(load, process->input->number, NOTES_KEPT, "%s: %llu modules and heap blocks are too many and were left out.", shown,
                  (unsigned long long)lwp_space_refused(process->space));

    pthread_mutex_lock(&load->lock);
    while (load->modules != index)
        pthread_cond_wait(&load->changed, &load->lock);
    pthread_mutex_unlock(&load->lock);
    lwp_space_modules(process->space);
    pthread_mutex_lock(&load->lock);
    load->modules++;
    pthread_cond_broadcast(&load->changed);
    pthread_mutex_unlock(&load->lock);
    lwp_space_objects(process->space, resolver);
}

static const char *load_unit(uint8_t unit)
{
    static const char *const units[] = {"an unknown unit", "nanoseconds", "cycles", "simulated cycles"};
    return units[unit < sizeof units / sizeof *units ? unit : 0];
}

/* Returns the records its writer lost. */
static uint64_t load_thread(struct load *load, struct load_process *process, size_t file,
                            struct lwp_attribution *attribution)
{
    const struct lwp_input *input = process->input;
    uint32_t number = input->number + 1 + (uint32_t)file;
    char path[4096], shown[NOTE_TEXT];
    struct lwp_attributed read;
    struct lwps_damage damage = {0};
    struct lwp_error err = {0};
    snprintf(path, sizeof path, "%s/%s", input->path, input->files[file]);
    snprintf(shown, sizeof shown, "%s/%s", input->shown, input->files[file]);
    if (lwp_attribute(attribution, process->space, number, path, &read, &damage, &err))
        load_note(load, number, NOTES_KEPT, "Not used: %s", err.text);
    if (read.other_unit) {
        pthread_mutex_lock(&load->lock);
        process->left_out = true;
        pthread_mutex_unlock(&load->lock);
        load_note(load, number, NOTES_KEPT,
                  "%s was measured in %s and the first run in %s: the two cannot be added, so it is left out.",
                  input->shown, load_unit(read.other_unit), load_unit(load->profile->weight_unit));
        return 0;
    }
    load_damage(load, number, shown, &damage);
    return read.lost_records;
}

/* ---- the threads ---- */

struct load_task {
    struct load_process *process;
    size_t index; /* of the process to open, or of the file to read */
    bool open;
};

static bool load_has_files(const struct load_process *process)
{
    return process->next < process->input->file_count;
}

static bool load_take(struct load *load, struct load_task *task)
{
    bool found = false;
    pthread_mutex_lock(&load->lock);
    for (;;) {
        size_t i = load->open_first;
        while (i < load->next && !(load->processes[i].ready && load_has_files(&load->processes[i])))
            i++;
        if (i < load->next) {
            *task = (struct load_task){.process = &load->processes[i], .index = load->processes[i].next++};
            found = true;
            break;
        }
        if (load->next < load->last) {
            *task = (struct load_task){.process = &load->processes[load->next], .index = load->next, .open = true};
            lwp_log_progress("reading %s (%zu of %zu)", task->process->input->shown, load->next + 1 - load->first,
                             load->last - load->first);
            load->next++;
            load->opening++;
            found = true;
            break;
        }
        if (!load->opening)
            break;
        pthread_cond_wait(&load->changed, &load->lock);
    }
    pthread_mutex_unlock(&load->lock);
    return found;
}

static void load_done(struct load *load, const struct load_task *task, uint64_t lost)
{
    struct load_process *process = task->process;
    struct lwp_space *finished = NULL;
    pthread_mutex_lock(&load->lock);
    process->lost += lost;
    if (task->open) {
        load->opening--;
        process->ready = true;
        process->left = process->input->file_count;
        if (process->left == 0)
            finished = process->space;
    } else if (--process->left == 0) {
        finished = process->space;
    }
    while (load->open_first < load->next && load->processes[load->open_first].ready &&
           !load_has_files(&load->processes[load->open_first]))
        load->open_first++;
    pthread_cond_broadcast(&load->changed);
    pthread_mutex_unlock(&load->lock);
    if (finished)
        lwp_space_free(finished);
}

static void *load_work(void *of)
{
    struct load_worker *worker = of;
    struct load *load = worker->load;
    struct lwp_resolver *resolver = lwp_resolver_new(load->profile);
    struct lwp_attribution *attribution = lwp_attribution_new(resolver, &worker->shard, load->profile->weight_unit,
                                                                   load->profile->machines);
    struct load_task task;
    while (load_take(load, &task)) {
        uint64_t lost = 0;
        if (task.open)
            load_open(load, task.index, resolver);
        else if (!load->profile->contexts_refused) /* it is all read again otherwise */
            lost = load_thread(load, task.process, task.index, attribution);
        load_done(load, &task, lost);
    }
    lwp_attribution_free(attribution);
    lwp_resolver_free(resolver);
    for (unsigned apart = 1; apart < load->jobs; apart *= 2) {
        pthread_barrier_wait(&load->merging);
        if (worker->index % (2 * apart) == 0 && worker->index + apart < load->jobs)
            lwp_shard_merge(&worker->shard, &load->workers[worker->index + apart].shard);
    }
    return NULL;
}

static void load_all(struct load *load)
{
    lwp_ranks_part(load->inputs.count, &load->first, &load->last);
    load->next = load->modules = load->open_first = load->first;
    load->jobs = load->profile->jobs ? load->profile->jobs : lwp_parallel_cores();
    if (load->jobs > load->inputs.files)
        load->jobs = load->inputs.files;
    if (load->jobs > JOBS_MAX)
        load->jobs = JOBS_MAX;
    load->workers = calloc(load->jobs, sizeof *load->workers);
    if (!load->workers)
        abort();
    unsigned made = 1;
    for (unsigned i = 0; i < load->jobs; i++)
        load->workers[i] = (struct load_worker){.load = load, .index = i};
    /* Those that start wait here until it is known how many there are. */
    pthread_mutex_lock(&load->lock);
    while (made < load->jobs && pthread_create(&load->workers[made].thread, NULL, load_work, &load->workers[made]) == 0)
        made++;
    load->jobs = made;
    pthread_barrier_init(&load->merging, NULL, load->jobs);
    pthread_mutex_unlock(&load->lock);
    load_work(&load->workers[0]);
    for (unsigned i = 1; i < load->jobs; i++)
        pthread_join(load->workers[i].thread, NULL);
    pthread_barrier_destroy(&load->merging);
}

/* ---- before and after ---- */

static int load_stop(void *to, const struct lwps_file *file)
{
    *(struct lwps_file *)to = *file;
    return 1;
}

/* All weights are in the unit of the first file that can be read. */
static void load_first(struct load *load)
{
    static const struct lwps_visitor visitor = {.file = load_stop};
    for (size_t i = 0; i < load->inputs.count; i++)
        for (size_t k = 0; k < load->inputs.items[i].file_count; k++) {
            char path[4096];
            struct lwps_file file;
            struct lwp_error err;
            snprintf(path, sizeof path, "%s/%s", load->inputs.items[i].path, load->inputs.items[i].files[k]);
            if (lwps_read(path, &visitor, &file, NULL, &err) == 1) {
                load->profile->engine = file.engine;
                load->profile->weight_unit = file.weight_unit;
                return;
            }
        }
}

static int load_note_compare(const void *a, const void *b)
{
    const struct load_note *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

static void load_sums(struct load *load)
{
    struct lwp_profile *profile = load->profile;
    for (size_t i = 0; i < load->inputs.count; i++) {
        const struct load_process *process = &load->processes[i];
        if (process->lost)
            load_note(load, process->input->number, NOTES_KEPT + 5,
                      "%s: %llu records could not be written (disk full, or a file limit) and are missing.",
                      process->input->shown, (unsigned long long)process->lost);
        if (process->left_out)
            continue;
        profile->samples_lost += process->lost;
        if (!process->has_totals)
            continue;
        profile->user_ns += process->totals.user_ns;
        profile->system_ns += process->totals.system_ns;
        profile->own_ns += process->totals.own_ns;
        profile->samples_lost += process->totals.samples_lost;
    }
    if (load->note_count)
        qsort(load->notes, load->note_count, sizeof *load->notes, load_note_compare);
    for (size_t i = 0; i < load->note_count; i++)
        lwp_profile_note(profile, "%s", load->notes[i].text);
}

static void load_settle(struct load *load)
{
    struct lwp_stream_table *tables[JOBS_MAX];
    uint64_t refused = 0;
    for (unsigned i = 0; i < load->jobs; i++) {
        tables[i] = &load->workers[i].shard.streams;
        refused += tables[i]->refused;
    }
    lwp_settle(load->profile, &load->workers[0].shard, tables, load->jobs);
    if (refused)
        lwp_profile_note(load->profile,
                         "There were too many different accesses; %llu were counted on their objects only.",
                         (unsigned long long)refused);
}

static int load_once(struct lwp_profile *profile, const char *const *dirs, size_t count, struct lwp_error *err)
{
    struct load load = {.profile = profile, .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    int status = lwp_ranks_status(lwp_inputs_find(profile, dirs, count, &load.inputs, err), err);
    if (status)
        goto out;
    load.processes = calloc(load.inputs.count, sizeof *load.processes);
    profile->processes = calloc(load.inputs.count, sizeof *profile->processes);
    if (!load.processes || !profile->processes)
        abort();
    profile->process_count = load.inputs.count;
    for (size_t i = 0; i < load.inputs.count; i++) {
        const struct lwp_input *input = &load.inputs.items[i];
        profile->processes[i] = (struct lwp_process_summary){
            .pid = input->pid, .threads = input->threads, .rank = input->rank, .command = ""};
        load.processes[i] = (struct load_process){.input = input, .summary = &profile->processes[i]};
    }
    load_first(&load);
    lwp_hierarchy_plan_of(&profile->machines[LWP_MACHINE_HERE], json_object_get(profile->run, "machine"));
    load_all(&load);
    load_ranks(&load);
    if (lwp_ranks_first()) {
        load_sums(&load);
        load_settle(&load);
    }
    lwp_log_progress(NULL);
out:
    for (size_t i = 0; i < load.note_count; i++)
        free(load.notes[i].text);
    free(load.notes);
    free(load.workers);
    free(load.processes);
    lwp_inputs_free(&load.inputs);
    pthread_mutex_destroy(&load.lock);
    pthread_cond_destroy(&load.changed);
    return status;
}

/* With too many call paths, those that came first would be whole, and that depends on who read what when. */
int lwp_load(struct lwp_profile *profile, const char *const *dirs, size_t count, struct lwp_error *err)
{
    enum { DEPTH_FIRST = 256 };
    int status = load_once(profile, dirs, count, err);
    for (uint32_t depth = DEPTH_FIRST; status == LWP_OK && profile->contexts_refused; depth /= 2) {
        lwp_profile_again(profile);
        profile->context_depth = depth;
        status = load_once(profile, dirs, count, err);
        if (status == LWP_OK && !profile->contexts_refused)
            lwp_profile_note(profile, "There were too many different call paths: only their outermost %u frames are told apart.", depth);
    }
    return status;
}
