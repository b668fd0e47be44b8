/* perf.data in, result directory out: one folder for each process image, one file for each thread.
 *
 * What perf knows and lwp's own collector does too: instruction, address, latency, data source, call path, mappings.
 * What it does not know: heap blocks (a mapping of its own, as malloc makes for large arrays, is one object; all
 * smaller blocks are the heap, one object) and how wide an access was (the analysis decodes the instruction). The
 * weight of a sample is its latency times the events it stands for; without latencies, the events; of clocks, ns. */
#include "collector/import/import.h"

#include "base/hash.h"
#include "collector/import/image.h"
#include "collector/import/perf_file.h"
#include "collector/launch/run_json.h"
#include "collector/perf/record.h"
#include "format/paths.h"
#include "format/writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    OPEN_MAX_FILES = 200,
    PROCESSES_MAX = 1 << 16,
    THREADS_MAX = 1 << 20,
    MAPPINGS_MAX = 1 << 16,
    COMM_BYTES = 64,
    PAGE = 4096
};

struct import_mapping {
    uint64_t start, end, bias;
    uint64_t time, end_time;
    bool module; /* else a block */
    uint8_t build_id[20], build_id_bytes;
    char *path;
};

/* One process image. Written at the end, when its samples are known, so that a whole machine's processes need no files.
 */
struct import_process {
    uint32_t pid;
    char folder[64]; /* p<PID>[.<n>], "" until its first sample */
    char comm[COMM_BYTES];
    struct import_mapping *mappings;
    size_t mapping_count, mapping_room;
    uint64_t samples;
};

struct import_thread {
    uint32_t tid, process;
    unsigned generation;
    uint64_t used; /* turn of the last sample: the longest unused is closed first */
    struct lwps_writer file;
    struct lwps_paths paths;
    bool open;
};

struct import {
    const char *dir;
    struct lwp_imported *imported;
    struct lwp_perf_about about;
    uint8_t unit;
    struct import_process *processes;
    size_t process_count, process_room;
    struct import_thread *threads;
    size_t thread_count, thread_room;
    struct lwp_map *process_of, *thread_of; /* pid, (process, tid) -> index of the latest */
    unsigned open;
    uint64_t turn, first_time, throttled, stores_without_latency;
    struct lwp_error *err;
    int status;
};

static void *import_grow(void *array, size_t *room, size_t size)
{
    *room = *room ? *room * 2 : 16;
    void *bigger = realloc(array, *room * size);
    if (!bigger)
        abort();
    return bigger;
}

/* ---- processes ---- */

static bool import_open(struct import *import, struct lwps_writer *file, const char *folder, const char *name,
                        uint32_t pid, uint32_t tid)
{
    char path[512];
    struct lwps_file head = {
        .engine = LWPS_ENGINE_PMU, .weight_unit = import->unit, .pid = pid, .tid = tid, .start_ns = import->first_time};
    if (snprintf(path, sizeof path, "%s/%s/%s", import->dir, folder, name) >= (int)sizeof path) {
        import->status = lwp_error_set(import->err, LWP_ERR_LIMIT, "the path of the result is too long");
        return false;
    }
    int status = lwps_writer_open(file, path, &head);
    if (status && !import->status) {
        errno = -status;
        import->status = lwp_error_errno(import->err, "cannot write %s", path);
    }
    return status == 0;
}

static struct import_process *import_new_process(struct import *import, uint32_t pid)
{
    if (import->process_count >= PROCESSES_MAX)
        return NULL;
    if (import->process_count == import->process_room)
        import->processes = import_grow(import->processes, &import->process_room, sizeof *import->processes);
    struct import_process *process = &import->processes[import->process_count];
    *process = (struct import_process){.pid = pid};
    *lwp_map_at(import->process_of, pid) = (uint32_t)import->process_count++;
    return process;
}

static struct import_process *import_process(struct import *import, uint32_t pid)
{
    uint32_t index = lwp_map_get(import->process_of, pid);
    return index != LWP_MAP_NONE ? &import->processes[index] : import_new_process(import, pid);
}

static bool import_make_folder(struct import *import, struct import_process *process)
{
    for (unsigned generation = 0; !process->folder[0] && !import->status; generation++) {
        char path[512], name[sizeof process->folder];
        if (generation)
            snprintf(name, sizeof name, "p%u.%u", process->pid, generation);
        else
            snprintf(name, sizeof name, "p%u", process->pid);
        if (snprintf(path, sizeof path, "%s/%s", import->dir, name) >= (int)sizeof path)
            import->status = lwp_error_set(import->err, LWP_ERR_LIMIT, "the path of the result is too long");
        else if (mkdir(path, 0777) == 0)
            memcpy(process->folder, name, sizeof name);
        else if (errno != EEXIST)
            import->status = lwp_error_errno(import->err, "cannot make the folder %s", path);
    }
    return process->folder[0] != '\0';
}

/* ---- mappings ---- */

/* What lay there before is gone. */
static void import_unmap(struct import_process *process, uint64_t start, uint64_t end, uint64_t time)
{
    for (size_t i = 0; i < process->mapping_count; i++) {
        struct import_mapping *mapping = &process->mappings[i];
        if (!mapping->module && mapping->end_time == UINT64_MAX && mapping->start < end && start < mapping->end)
            mapping->end_time = time;
    }
}

static void import_keep_mapping(struct import_process *process, const struct import_mapping *mapping)
{
    if (process->mapping_count >= MAPPINGS_MAX)
        return;
    if (process->mapping_count == process->mapping_room)
        process->mappings = import_grow(process->mappings, &process->mapping_room, sizeof *process->mappings);
    struct import_mapping *kept = &process->mappings[process->mapping_count++];
    *kept = *mapping;
    kept->path = strdup(mapping->path);
    if (!kept->path)
        abort();
}

static void import_put_module(struct lwps_writer *file, uint32_t id, const struct import_mapping *mapping)
{
    struct lwps_module module = {.id = id,
                                 .time = mapping->time,
                                 .start = mapping->start,
                                 .end = mapping->end,
                                 .bias = mapping->bias,
                                 .build_id_bytes = mapping->build_id_bytes,
                                 .path = mapping->path};
    memcpy(module.build_id, mapping->build_id, sizeof mapping->build_id);
    lwps_put_module(file, &module);
}

/* Where a mapping was made is not known; its address stands for that, so that each is an object of its own. */
static void import_put_block(struct lwps_writer *file, struct lwps_paths *paths, uint32_t id,
                             const struct import_mapping *mapping)
{
    uint32_t context = lwps_paths_intern(paths, &mapping->start, 1);
    lwps_put_block(file, &(struct lwps_block){.id = id,
                                              .kind = LWPS_BLOCK_MMAP,
                                              .context = context,
                                              .time = mapping->time,
                                              .address = mapping->start,
                                              .size = mapping->end - mapping->start});
    if (mapping->end_time != UINT64_MAX)
        lwps_put_block_end(file, &(struct lwps_block_end){.id = id, .time = mapping->end_time});
}

static bool import_is_file(const char *path)
{
    return path[0] == '/' && path[1] != '/' && strncmp(path, "/dev/zero", 9) && strncmp(path, "/memfd:", 7) &&
           strncmp(path, "/SYSV", 5) && strncmp(path, "/anon_hugepage", 14);
}

static void import_on_mapping(void *to, const struct lwp_perf_mapping *from)
{
    struct import *import = to;
    if (from->kernel || from->bytes == 0 || from->start + from->bytes < from->start ||
        strcmp(from->path, "[vvar]") == 0)
        return;
    struct import_process *process = import_process(import, from->pid);
    if (!process || strcmp(from->path, "[stack]") == 0)
        return;
    struct import_mapping mapping = {.start = from->start,
                                     .end = from->start + from->bytes,
                                     .time = from->time,
                                     .end_time = UINT64_MAX,
                                     .build_id_bytes = from->build_id_bytes,
                                     .path = (char *)from->path};
    memcpy(mapping.build_id, from->build_id, sizeof mapping.build_id);
    for (size_t i = 0; i < process->mapping_count; i++) { /* another part of a known image, or its .bss */
        const struct import_mapping *known = &process->mappings[i];
        if (known->module && mapping.start >= known->start &&
            mapping.end <= ((known->end + PAGE - 1) & ~(uint64_t)(PAGE - 1)) &&
            (!import_is_file(from->path) || strcmp(known->path, mapping.path) == 0))
            return;
    }
    import_unmap(process, mapping.start, mapping.end, from->time);
    if (import_is_file(from->path)) {
        struct lwp_image image;
        mapping.module = lwp_image_of(from->path, from->start, from->bytes, from->file_offset, &image) || !from->data;
        if (mapping.module) { /* else a file that holds data, mapped as such */
            mapping.bias = image.bias;
            mapping.start = image.start;
            mapping.end = image.end;
        }
    }
    import_keep_mapping(process, &mapping);
}

/* ---- threads ---- */

static void import_close_thread(struct import *import, struct import_thread *thread)
{
    if (!thread->open)
        return;
    lwps_paths_free(&thread->paths);
    lwps_writer_close(&thread->file);
    thread->open = false;
    import->open--;
}

static void import_close_oldest(struct import *import)
{
    struct import_thread *oldest = NULL;
    for (size_t i = 0; i < import->thread_count; i++)
        if (import->threads[i].open && (!oldest || import->threads[i].used < oldest->used))
            oldest = &import->threads[i];
    if (oldest)
        import_close_thread(import, oldest);
}

static struct import_thread *import_thread(struct import *import, uint32_t process, uint32_t tid)
{
    uint32_t *at = lwp_map_at(import->thread_of, lwp_hash_mix(process, tid));
    if (*at == LWP_MAP_NONE) {
        if (import->thread_count >= THREADS_MAX)
            return NULL;
        if (import->thread_count == import->thread_room)
            import->threads = import_grow(import->threads, &import->thread_room, sizeof *import->threads);
        *at = (uint32_t)import->thread_count;
        import->threads[import->thread_count++] = (struct import_thread){.tid = tid, .process = process};
        import->imported->threads++;
    }
    struct import_thread *thread = &import->threads[*at];
    thread->used = ++import->turn;
    if (thread->open)
        return thread;
    if (import->open >= OPEN_MAX_FILES)
        import_close_oldest(import);
    char name[64];
    if (thread->generation)
        snprintf(name, sizeof name, "t%u.%u.lwps", tid, thread->generation);
    else
        snprintf(name, sizeof name, "t%u.lwps", tid);
    thread->generation++;
    struct import_process *owner = &import->processes[process];
    thread->open =
        import_make_folder(import, owner) && import_open(import, &thread->file, owner->folder, name, owner->pid, tid);
    if (!thread->open)
        return NULL;
    import->open++;
    thread->paths = (struct lwps_paths){.file = &thread->file};
    lwps_put_thread(&thread->file, &(struct lwps_thread){.tid = tid, .name = owner->comm});
    return thread;
}

/* The arrays may move when they grow: writers know their paths' file by address. */
static void import_settle(struct import_thread *thread)
{
    thread->paths.file = &thread->file;
}

/* ---- samples ---- */

static void import_on_sample(void *to, const struct lwp_perf_event *event, const struct lwp_perf_sample *from)
{
    (void)event;
    struct import *import = to;
    if (!from->user) {
        import->imported->kernel++;
        return;
    }
    struct import_process *process = import_process(import, from->pid);
    struct import_thread *thread =
        process ? import_thread(import, (uint32_t)(process - import->processes), from->tid) : NULL;
    if (!thread)
        return;
    import_settle(thread);
    struct lwps_sample sample;
    lwp_perf_record(from, import->unit, &sample);
    sample.context = lwps_paths_intern(&thread->paths, from->callers, from->caller_count);
    import->stores_without_latency += from->weight == 0;
    import->imported->with_address += from->has_address;
    lwps_put_sample(&thread->file, &sample);
    process->samples++;
    import->imported->samples++;
}

/* ---- tasks ---- */

static void import_on_comm(void *to, const struct lwp_perf_task *task)
{
    struct import *import = to;
    uint32_t index = lwp_map_get(import->process_of, task->pid);
    if (task->exec && index != LWP_MAP_NONE && import->processes[index].mapping_count)
        import_new_process(import, task->pid);
    struct import_process *process = import_process(import, task->pid);
    if (process && task->pid == task->tid)
        snprintf(process->comm, sizeof process->comm, "%s", task->name);
}

/* A child begins with its parent's mappings. */
static void import_on_fork(void *to, const struct lwp_perf_task *task)
{
    struct import *import = to;
    if (task->pid == task->parent_pid)
        return;
    uint32_t parent = lwp_map_get(import->process_of, task->parent_pid);
    struct import_process *child = import_new_process(import, task->pid);
    if (!child || parent == LWP_MAP_NONE)
        return;
    const struct import_process *from = &import->processes[parent];
    memcpy(child->comm, from->comm, sizeof child->comm);
    for (size_t i = 0; i < from->mapping_count; i++)
        if (from->mappings[i].end_time == UINT64_MAX)
            import_keep_mapping(child, &from->mappings[i]);
}

static void import_on_lost(void *to, uint64_t records)
{
    ((struct import *)to)->imported->lost += records;
}

static void import_on_throttled(void *to)
{
    ((struct import *)to)->throttled++;
}

/* ---- what was counted ---- */

struct import_events {
    bool weights, clocks_only, any;
    uint64_t first_time;
    char names[256];
};

static void import_look(void *to, const struct lwp_perf_event *event, const struct lwp_perf_sample *sample)
{
    struct import_events *events = to;
    const struct perf_event_attr *attr = &event->attr;
    bool clock = attr->type == PERF_TYPE_SOFTWARE &&
                 (attr->config == PERF_COUNT_SW_CPU_CLOCK || attr->config == PERF_COUNT_SW_TASK_CLOCK);
    events->clocks_only = (!events->any || events->clocks_only) && clock;
    events->weights |= sample->has_weight && sample->weight > 0;
    if (!events->any || sample->time < events->first_time)
        events->first_time = sample->time;
    events->any = true;
    const char *name = event->name ? event->name : "an event without a name";
    size_t used = strlen(events->names);
    if (!strstr(events->names, name) && used + strlen(name) + 3 < sizeof events->names)
        snprintf(events->names + used, sizeof events->names - used, "%s%s", used ? ", " : "", name);
}

static void import_notes(const struct import *import, struct lwps_writer *file, const char *path)
{
    char text[5000], words[4096];
    size_t used = 0;
    const struct lwp_perf_about *about = &import->about;
    for (size_t i = 0; i + 1 < about->command_bytes && used + 1 < sizeof words; i++)
        words[used++] = about->command[i] ? about->command[i] : ' ';
    words[used] = '\0';
    snprintf(text, sizeof text, "Imported from %s%s%s%s%s.", path, used ? ", recorded by: " : "", words,
             about->host[0] ? " on " : "", about->host);
    lwps_put_note(file, &(struct lwps_note){.text = text});
    lwps_put_note(file, &(struct lwps_note){
                            .text = "perf does not record heap blocks: large arrays that malloc maps by "
                                    "themselves are told apart, smaller blocks are not. lwp collect knows them."});
    if (import->unit == LWPS_WEIGHT_CYCLES && import->stores_without_latency) {
        snprintf(text, sizeof text, "%llu samples carry no latency (stores) and weigh one cycle for each event.",
                 (unsigned long long)import->stores_without_latency);
        lwps_put_note(file, &(struct lwps_note){.text = text});
    }
    if (import->imported->kernel) {
        snprintf(text, sizeof text, "%llu samples in the kernel were left out.",
                 (unsigned long long)import->imported->kernel);
        lwps_put_note(file, &(struct lwps_note){.text = text});
    }
    if (import->imported->lost || import->throttled) {
        snprintf(text, sizeof text,
                 "The kernel lost %llu records and throttled sampling %llu times: record with a longer period.",
                 (unsigned long long)import->imported->lost, (unsigned long long)import->throttled);
        lwps_put_note(file, &(struct lwps_note){.text = text});
    }
    if (about->torn || about->bad_records) {
        snprintf(text, sizeof text, "The file is damaged or cut (%llu records could not be read); the rest was used.",
                 (unsigned long long)about->bad_records);
        lwps_put_note(file, &(struct lwps_note){.text = text});
    }
}

static void import_put_process(struct import *import, const struct import_process *process, const char *notes_of)
{
    struct lwps_writer file = {.fd = -1};
    struct lwps_paths paths = {.file = &file};
    uint32_t modules = 0, blocks = 0;
    if (!import_open(import, &file, process->folder, "process.lwps", process->pid, 0))
        return;
    lwps_put_process(&file, &(struct lwps_process){.pid = process->pid,
                                                   .command = process->comm,
                                                   .command_bytes = (uint32_t)strlen(process->comm) + 1});
    for (size_t i = 0; i < process->mapping_count; i++)
        if (process->mappings[i].module)
            import_put_module(&file, ++modules, &process->mappings[i]);
        else
            import_put_block(&file, &paths, ++blocks, &process->mappings[i]);
    if (notes_of)
        import_notes(import, &file, notes_of);
    lwps_paths_free(&paths);
    lwps_writer_close(&file);
}

static int import_run_json(const struct import *import, const struct import_process *busiest, struct lwp_error *err)
{
    char *command[] = {(char *)(busiest && busiest->comm[0] ? busiest->comm : "unknown"), NULL};
    char host[256] = "";
    struct lwp_run run = {.command = command,
                          .cwd = "",
                          .host = import->about.host,
                          .engine = "pmu",
                          .event = import->imported->event,
                          .weight_unit = import->imported->weight_unit,
                          .options = json_object()};
    gethostname(host, sizeof host - 1);
    if (strcmp(host, import->about.host) == 0)
        lwp_machine_read(&run.machine, "");
    else
        snprintf(run.machine.cpu, sizeof run.machine.cpu, "%.127s", import->about.cpu);
    int status = lwp_run_json_write(&run, import->dir, "run.json", err);
    json_decref(run.options);
    return status;
}

int lwp_import_perf(const char *path, const char *dir, struct lwp_imported *imported, struct lwp_error *err)
{
    static const struct lwp_perf_visitor look = {.sample = import_look};
    static const struct lwp_perf_visitor take = {.mapping = import_on_mapping,
                                                 .comm = import_on_comm,
                                                 .fork = import_on_fork,
                                                 .sample = import_on_sample,
                                                 .lost = import_on_lost,
                                                 .throttled = import_on_throttled};
    struct import import = {.dir = dir, .imported = imported, .err = err};
    struct import_events events = {0};
    *imported = (struct lwp_imported){0};
    int status = lwp_perf_read(path, &look, &events, &import.about, err);
    if (status)
        return status;
    if (!events.any)
        return lwp_error_set(err, LWP_ERR_MISSING,
                             "%s holds no sample; record some with: perf mem record -o %s -- PROGRAM", path, path);
    import.unit = events.weights ? LWPS_WEIGHT_CYCLES : events.clocks_only ? LWPS_WEIGHT_NS : LWPS_WEIGHT_EVENTS;
    imported->weight_unit = events.weights ? "cycles" : events.clocks_only ? "ns" : "events";
    snprintf(imported->event, sizeof imported->event, "%s", events.names);
    import.first_time = events.first_time;
    import.process_of = lwp_map_new();
    import.thread_of = lwp_map_new();
    status = lwp_perf_read(path, &take, &import, &import.about, err);
    if (!status)
        status = import.status;
    imported->bad_records = import.about.bad_records;

    size_t busiest = 0;
    for (size_t i = 0; i < import.process_count; i++)
        if (import.processes[i].samples > import.processes[busiest].samples)
            busiest = i;
    for (size_t i = 0; i < import.thread_count; i++)
        import_close_thread(&import, &import.threads[i]);
    for (size_t i = 0; i < import.process_count; i++) {
        struct import_process *process = &import.processes[i];
        if (process->samples && !import.status) {
            import_put_process(&import, process, i == busiest ? path : NULL);
            imported->processes++;
        }
        for (size_t k = 0; k < process->mapping_count; k++)
            free(process->mappings[k].path);
        free(process->mappings);
    }
    if (!status)
        status = import.status;
    if (!status)
        status = import_run_json(&import, import.process_count ? &import.processes[busiest] : NULL, err);
    free(import.processes);
    free(import.threads);
    lwp_map_free(import.process_of);
    lwp_map_free(import.thread_of);
    return status;
}
