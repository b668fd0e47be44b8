/* perf.data in, result directory out: one folder for each process image, one file for each thread.
 *
 * What perf knows and lwp's own collector does too: instruction, address, latency, data source, call path, mappings; instead of
 * addresses, registers and a part of the stack (collector/outside/process/interpreter.c).
 * What it does not know: heap blocks (a mapping of its own, as malloc makes for large arrays, is one object; all
 * smaller blocks are the heap, one object) and how wide an access was (the analysis decodes the instruction). The
 * cost of a sample is its latency times the events it stands for; without latencies, the events; of clocks, ns. */
#include "collector/import/import.h"

#include "collector/import/state.h"
#include "collector/launch/run_json.h"
#include "collector/perf/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- samples ---- */

/* perf knows no address of it, but what the registers were. */
static bool import_from_registers(struct import *import, struct import_process *process, const struct lwp_perf_event *event,
                                  const struct lwp_perf_sample *from, struct lwps_paths *paths, struct lwps_sample *sample)
{
    const uint64_t weight = sample->weight;
    bool wanted = from->registers && !from->has_address && !from->exact_ip;
    struct lwp_interpreter *interpreter = wanted ? import_interpreter(import, process) : NULL;
    if (!interpreter)
        return false;
    bool known = lwp_interpret(interpreter, &event->attr, from, 0, paths, sample);
    sample->weight = weight;
    return known;
}

static struct lwps_file import_head(const struct import *import, const struct import_process *process, uint32_t tid)
{
    return (struct lwps_file){
        .engine = import->engine, .weight_unit = import->unit, .pid = process->pid, .tid = tid, .start_ns = import->first_time};
}

/* With its file open, ready for a sample; NULL: there are too many, or it cannot be written, which ends the import. */
static struct lwp_thread_file *import_thread(struct import *import, struct import_process *process, uint32_t tid)
{
    const struct lwps_file head = import_head(import, process, tid);
    uint64_t key = lwp_hash_mix((uint64_t)(process - import->processes), tid);
    bool fresh = false;
    if (!process->folder)
        process->folder = lwp_thread_files_folder(import->dir, (pid_t)process->pid);
    struct lwp_thread_file *thread = process->folder ? lwp_thread_files_use(&import->threads, key, process->folder, &head, &fresh) : NULL;
    if (!thread && errno && !import->status)
        import->status = lwp_error_errno(import->err, "cannot write samples to %s", process->folder ? process->folder : import->dir);
    if (fresh)
        lwps_put_thread(&thread->file, &(struct lwps_thread){.tid = tid, .name = process->comm});
    return thread;
}

static void import_on_sample(void *to, const struct lwp_perf_event *event, const struct lwp_perf_sample *from)
{
    struct import *import = to;
    if (!from->user) {
        import->imported->kernel++;
        return;
    }
    struct import_process *process = import_process(import, from->pid);
    struct lwp_thread_file *thread = process ? import_thread(import, process, from->tid) : NULL;
    if (!thread)
        return;
    struct lwps_sample sample;
    lwp_perf_record(from, import->unit, &sample);
    bool found = import_from_registers(import, process, event, from, &thread->paths, &sample);
    if (!sample.context)
        sample.context = lwps_paths_intern(&thread->paths, from->callers, from->caller_count);
    import->stores_without_latency += from->weight == 0;
    import->imported->with_address += from->has_address || found;
    lwps_put_sample(&thread->file, &sample);
    process->samples++;
    import->imported->samples++;
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
    bool weights, clocks_only, any, registers;
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
    events->registers |= sample->registers != NULL;
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
                                    "themselves are distinguished, smaller blocks are not. lwp collect knows them."});
    if (import->unit == LWPS_WEIGHT_CYCLES && import->stores_without_latency) {
        snprintf(text, sizeof text, "%llu samples carry no latency (stores) and weigh one cycle for each event.",
                 (unsigned long long)import->stores_without_latency);
        lwps_put_note(file, &(struct lwps_note){.text = text});
    }
    if (import->imported->kernel) {
        snprintf(text, sizeof text, "%llu samples in the kernel were left out.", (unsigned long long)import->imported->kernel);
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

static void import_put(struct import *import, const struct import_process *process, const char *notes_of)
{
    struct lwps_writer file = {.fd = -1};
    const struct lwps_file head = import_head(import, process, 0);
    if (!process->folder || !lwp_thread_files_open(&file, process->folder, "process.lwps", &head)) {
        if (!import->status)
            import->status = lwp_error_errno(import->err, "cannot write %s/process.lwps", process->folder ? process->folder : import->dir);
        return;
    }
    import_put_process(&file, process);
    if (notes_of)
        import_notes(import, &file, notes_of);
    lwps_writer_close(&file);
}

static int import_run_json(const struct import *import, const struct import_process *busiest, struct lwp_error *err)
{
    char *command[] = {(char *)(busiest && busiest->comm[0] ? busiest->comm : "unknown"), NULL};
    char host[256] = "";
    struct lwp_run run = {.command = command,
                          .huge_pages_kib = -1,
                          .looked_at_kib = -1,
                          .cwd = "",
                          .host = import->about.host,
                          .engine = import->engine == LWPS_ENGINE_TIMER ? "timer" : "pmu",
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
    import.engine = events.clocks_only && events.registers && !events.weights ? LWPS_ENGINE_TIMER : LWPS_ENGINE_PMU;
    import.unit = events.weights ? LWPS_WEIGHT_CYCLES : events.clocks_only ? LWPS_WEIGHT_NS : LWPS_WEIGHT_EVENTS;
    imported->weight_unit = events.weights ? "cycles" : events.clocks_only ? "ns" : "events";
    snprintf(imported->event, sizeof imported->event, "%s", events.names);
    import.first_time = events.first_time;
    status = lwp_perf_read(path, &take, &import, &import.about, err);
    if (!status)
        status = import.status;
    imported->bad_records = import.about.bad_records;

    size_t busiest = 0;
    for (size_t i = 0; i < import.process_count; i++)
        if (import.processes[i].samples > import.processes[busiest].samples)
            busiest = i;
    imported->threads = (unsigned)import.threads.thread_count;
    lwp_thread_files_free(&import.threads);
    for (size_t i = 0; i < import.process_count; i++) {
        struct import_process *process = &import.processes[i];
        if (process->samples && !import.status) {
            import_put(&import, process, i == busiest ? path : NULL);
            imported->processes++;
        }
        import_process_free(process);
    }
    if (!status)
        status = import.status;
    if (!status)
        status = import_run_json(&import, import.process_count ? &import.processes[busiest] : NULL, err);
    free(import.processes);
    lwp_map_fini(&import.process_of);
    return status;
}
