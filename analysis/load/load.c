/* Reads result directories into a profile, with as many threads as there are cores.
 *
 * The work is a list of processes; opening one (its modules, blocks and pools from process.lwps) adds its thread files. A free
 * thread takes a file of an open process, or else opens the next process, so that few are open at a time; a process is dropped after
 * its last file. Each thread counts into its own shard; in the end shards are merged pairwise, in parallel, and the last one becomes
 * the profile (merge.c). What is damaged, cut or newer is noted and left out. Notes and all else are in a deterministic order.
 * Memory: what is shared (objects, contexts, code), a shard for each reading thread, and the blocks of open processes; nothing grows
 * with the number of samples. Several ranks (ranks.h) each read a part of the list and send the result to the first one.
 * Limits: one thread's file is read by one thread; modules are opened one process after the other. */
#include "analysis/load/load.h"

#include "analysis/addresses/address_map.h"
#include "analysis/load/load_internal.h"
#include "analysis/ranks/ranks.h"
#include "analysis/tables/engines.h"
#include "base/log.h"
#include "base/parallel.h"

#include <stdio.h>
#include <stdlib.h>

enum { JOBS_MAX = 256 };

/* Returns the records its writer lost. */
static uint64_t load_thread(struct load *load, struct load_process *process, size_t file, struct lwp_thread_reader *reader)
{
    const struct lwp_input *input = process->input;
    uint32_t number = input->number + 1 + (uint32_t)file;
    char path[4096], shown[LOAD_PATH_TEXT];
    struct lwp_thread_file read;
    struct lwps_damage damage = {0};
    struct lwp_error err = {0};
    snprintf(path, sizeof path, "%s/%s", input->path, input->files[file]);
    snprintf(shown, sizeof shown, "%s/%s", input->shown, input->files[file]);
    if (lwp_thread_reader_read(reader, process->map, number, path, &read, &damage, &err))
        load_note(&load->notes, number, LOAD_NOTES_KEPT, "Not used: %s", err.text);
    if (read.other_unit) {
        pthread_mutex_lock(&load->lock);
        process->left_out = true;
        pthread_mutex_unlock(&load->lock);
        load_note(&load->notes, number, LOAD_NOTES_KEPT,
                  "%s was measured in %s and the first run in %s: the two cannot be added, so it is left out.",
                  input->shown, lwp_unit_row(read.other_unit)->words, lwp_unit_row(load->profile->weight_unit)->words);
        return 0;
    }
    load_note_damage(&load->notes, number, input, shown, &damage);
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
    struct lwp_address_map *finished = NULL;
    pthread_mutex_lock(&load->lock);
    process->lost += lost;
    if (task->open) {
        load->opening--;
        process->ready = true;
        process->left = process->input->file_count;
        if (process->left == 0)
            finished = process->map;
    } else if (--process->left == 0) {
        finished = process->map;
    }
    while (load->open_first < load->next && load->processes[load->open_first].ready && !load_has_files(&load->processes[load->open_first]))
        load->open_first++;
    pthread_cond_broadcast(&load->changed);
    pthread_mutex_unlock(&load->lock);
    if (finished)
        lwp_address_map_free(finished);
}

static void *load_work(void *of)
{
    struct load_worker *worker = of;
    struct load *load = worker->load;
    struct lwp_resolver *resolver = lwp_resolver_new(load->profile);
    struct lwp_thread_reader *reader = lwp_thread_reader_new(resolver, &worker->shard, load->profile->weight_unit, load->profile->machines);
    struct load_task task;
    while (load_take(load, &task)) {
        uint64_t lost = 0;
        if (task.open)
            load_open(load, task.index, resolver);
        else if (!load->profile->contexts_refused) /* else all is read again */
            lost = load_thread(load, task.process, task.index, reader);
        load_done(load, &task, lost);
    }
    lwp_thread_reader_free(reader);
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
    load->workers = lwp_zeroed(load->jobs, sizeof *load->workers);
    unsigned made = 1;
    for (unsigned i = 0; i < load->jobs; i++)
        load->workers[i] = (struct load_worker){.load = load, .index = i};
    /* New threads wait here until their number is known. */
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

/* All costs are in the unit of the first readable file. */
static void load_first(struct load *load)
{
    for (size_t i = 0; i < load->inputs.count; i++)
        for (size_t k = 0; k < load->inputs.items[i].file_count; k++) {
            char path[4096];
            struct lwps_file file;
            snprintf(path, sizeof path, "%s/%s", load->inputs.items[i].path, load->inputs.items[i].files[k]);
            if (lwp_input_header(path, &file)) {
                load->profile->engine = file.engine;
                load->profile->weight_unit = file.weight_unit;
                return;
            }
        }
}

static void load_sums(struct load *load)
{
    struct lwp_profile *profile = load->profile;
    for (size_t i = 0; i < load->inputs.count; i++) {
        const struct load_process *process = &load->processes[i];
        if (process->lost)
            load_note(&load->notes, process->input->number, LOAD_NOTES_KEPT + 5,
                      "%s: %llu records could not be written (disk full, or a file limit) and are missing.", process->input->shown,
                      (unsigned long long)process->lost);
        if (process->left_out)
            continue;
        profile->samples_lost += process->lost;
        if (!process->has_totals)
            continue;
        profile->user_ns += process->totals.user_ns;
        profile->system_ns += process->totals.system_ns;
        profile->own_ns += process->totals.own_ns;
        profile->resident_bytes += process->totals.resident_bytes;
        profile->allocations_recorded += process->totals.allocations;
        profile->allocations_unrecorded += process->totals.allocations_unrecorded;
        profile->page_faults += process->totals.page_faults;
        profile->starts += process->totals.page_faults > 0;
        profile->instructions += process->totals.instructions;
        profile->instructions_recorded += process->totals.instructions_recorded;
        profile->native_instructions += process->totals.native_instructions;
        profile->native_ns += process->totals.native_ns;
        profile->native_least_ns += process->totals.native_least_ns;
        profile->native_most_ns += process->totals.native_most_ns;
        profile->native_page_faults += process->totals.native_page_faults;
        profile->samples_lost += process->totals.samples_lost;
    }
    load_notes_finish(&load->notes, profile);
}

static void load_merge(struct load *load)
{
    struct lwp_stream_table *tables[JOBS_MAX];
    uint64_t refused = 0;
    for (unsigned i = 0; i < load->jobs; i++) {
        tables[i] = &load->workers[i].shard.streams;
        refused += tables[i]->refused;
    }
    lwp_merge_shards(load->profile, &load->workers[0].shard, tables, load->jobs);
    if (refused)
        lwp_profile_note(load->profile, "There were too many different accesses; %llu were counted on their objects only.",
                         (unsigned long long)refused);
}

static int load_once(struct lwp_profile *profile, const char *const *dirs, size_t count, struct lwp_error *err)
{
    struct load load = {.profile = profile, .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER,
                        .notes = {.lock = PTHREAD_MUTEX_INITIALIZER}};
    int status = lwp_ranks_status(lwp_inputs_find(profile, dirs, count, &load.inputs, err), err);
    if (status)
        goto out;
    load.processes = lwp_zeroed(load.inputs.count, sizeof *load.processes);
    profile->processes = lwp_zeroed(load.inputs.count, sizeof *profile->processes);
    profile->process_count = load.inputs.count;
    for (size_t i = 0; i < load.inputs.count; i++) {
        const struct lwp_input *input = &load.inputs.items[i];
        profile->processes[i] =
            (struct lwp_process_summary){.pid = input->pid, .threads = input->threads, .rank = input->rank, .command = ""};
        load.processes[i] = (struct load_process){.input = input, .summary = &profile->processes[i]};
    }
    load_first(&load);
    lwp_hierarchy_plan_of(&profile->machines[LWP_MACHINE_HERE], json_object_get(profile->run, "machine"));
    load_all(&load);
    status = load_ranks(&load, err);
    if (lwp_ranks_first() && !status) {
        load_sums(&load);
        load_merge(&load);
    }
    lwp_log_progress(NULL);
out:
    load_notes_free(&load.notes);
    free(load.workers);
    free(load.processes);
    lwp_inputs_free(&load.inputs);
    pthread_mutex_destroy(&load.lock);
    pthread_cond_destroy(&load.changed);
    return status;
}

/* With too many call paths those read first would be complete, which is not deterministic: so all are read again and cut. */
int lwp_load(struct lwp_profile *profile, const char *const *dirs, size_t count, struct lwp_error *err)
{
    enum { DEPTH_FIRST = 256 };
    int status = load_once(profile, dirs, count, err);
    for (uint32_t depth = DEPTH_FIRST; status == LWP_OK && profile->contexts_refused; depth /= 2) {
        lwp_profile_reset(profile);
        profile->context_depth = depth;
        status = load_once(profile, dirs, count, err);
        if (status == LWP_OK && !profile->contexts_refused)
            lwp_profile_note(profile, "There were too many different call paths: only their outermost %u frames are distinguished.", depth);
    }
    return status;
}
