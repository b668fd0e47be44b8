/* Reads result directories (DIR/run.json, DIR/p<PID>[.<n>]/process.lwps and t<TID>.lwps) into a profile.
 *
 * One process at a time: first what its process.lwps says (modules, blocks, pools), then each thread's samples, which
 * are attributed as they come and forgotten. What is damaged, cut or newer is noted and left out. */
#include "analysis/load.h"

#include "analysis/contexts.h"
#include "analysis/objects.h"
#include "analysis/regions.h"
#include "analysis/space.h"
#include "analysis/streams.h"
#include "base/log.h"
#include "format/reader.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PROCESSES_MAX = 1 << 16, CONTEXTS_PER_THREAD_MAX = 1 << 22, CALLERS_MAX = 8 };

struct load_context {
    uint32_t parent, module;
    uint64_t address;
    uint32_t functions; /* function-level node of the whole path, LWP_NONE: not made yet */
};

struct load_process {
    struct lwp_profile *profile;
    struct lwp_space *space;
    struct lwp_process_summary *summary;
    struct lwps_totals totals;
    bool has_totals;
    struct lwps_file file;
};

struct load_thread {
    struct lwp_profile *profile;
    struct load_process *process;
    struct load_context *contexts;
    size_t context_count, context_room;
    struct lwp_map *callers; /* (function region, context) -> region of the loop that calls it */
    uint64_t stack_low, stack_high;
    struct lwps_file file;
    struct lwp_walker walker;
    uint64_t samples, with_address;
};

/* ---- process.lwps ---- */

static int load_process_file(void *to, const struct lwps_file *file)
{
    ((struct load_process *)to)->file = *file;
    lwp_space_start(((struct load_process *)to)->space, file->start_ns);
    return 0;
}

static int load_process_record(void *to, const struct lwps_process *record)
{
    struct load_process *process = to;
    size_t size = record->command_bytes;
    char *command = lwp_arena_strndup(process->profile->arena, "", 0);
    if (size) {
        command = lwp_arena_alloc(process->profile->arena, size + 1, 1);
        memcpy(command, record->command, size);
        while (size && command[size - 1] == '\0')
            size--;
        for (size_t i = 0; i < size; i++)
            if (command[i] == '\0')
                command[i] = ' ';
    }
    process->summary->command = command;
    process->summary->pid = record->pid;
    return 0;
}

static int load_module(void *to, const struct lwps_module *record)
{
    lwp_space_module(((struct load_process *)to)->space, record);
    return 0;
}

static int load_module_end(void *to, const struct lwps_module_end *record)
{
    lwp_space_module_end(((struct load_process *)to)->space, record);
    return 0;
}

static int load_process_context(void *to, const struct lwps_context *record)
{
    lwp_space_context(((struct load_process *)to)->space, record);
    return 0;
}

static int load_pool(void *to, const struct lwps_pool *record)
{
    lwp_space_pool(((struct load_process *)to)->space, record);
    return 0;
}

static int load_pool_count(void *to, const struct lwps_pool_count *record)
{
    lwp_space_pool_count(((struct load_process *)to)->space, record);
    return 0;
}

static int load_block(void *to, const struct lwps_block *record)
{
    lwp_space_block(((struct load_process *)to)->space, record);
    return 0;
}

static int load_block_end(void *to, const struct lwps_block_end *record)
{
    lwp_space_block_end(((struct load_process *)to)->space, record);
    return 0;
}

static int load_totals(void *to, const struct lwps_totals *record)
{
    struct load_process *process = to;
    process->totals = *record;
    process->has_totals = true;
    return 0;
}

static int load_note(void *to, const struct lwps_note *record)
{
    lwp_profile_note(((struct load_process *)to)->profile, "%s", record->text);
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
                                                    .note = load_note};

/* ---- t<TID>.lwps ---- */

static int load_thread_file(void *to, const struct lwps_file *file)
{
    struct load_thread *thread = to;
    thread->file = *file;
    struct lwp_profile *profile = thread->profile;
    if (!profile->engine) {
        profile->engine = file->engine;
        profile->weight_unit = file->weight_unit;
    } else if (profile->weight_unit != file->weight_unit) {
        lwp_profile_note(profile,
                         "Results of engines with different units are mixed here: their shares cannot be added.");
    }
    return 0;
}

static int load_thread_record(void *to, const struct lwps_thread *record)
{
    struct load_thread *thread = to;
    thread->stack_low = record->stack_low;
    thread->stack_high = record->stack_high;
    return 0;
}

static int load_thread_context(void *to, const struct lwps_context *record)
{
    struct load_thread *thread = to;
    if (record->id == 0 || record->id >= CONTEXTS_PER_THREAD_MAX)
        return 0;
    while (thread->context_count <= record->id) {
        LWP_GROW(&thread->contexts, thread->context_count, &thread->context_room);
        thread->contexts[thread->context_count++] = (struct load_context){.module = LWP_NONE};
    }
    struct load_context *context = &thread->contexts[record->id];
    context->parent = record->parent < record->id ? record->parent : 0;
    context->functions = LWP_NONE;
    lwp_space_code(thread->process->space, record->ip - 1, 0, &context->module, &context->address);
    return 0;
}

/* The path as functions: what the common context of an object is made of. */
static uint32_t load_functions(struct load_thread *thread, uint32_t context)
{
    if (context == 0 || context >= thread->context_count)
        return 0;
    if (thread->contexts[context].functions != LWP_NONE)
        return thread->contexts[context].functions;
    uint32_t path[1024];
    size_t depth = 0;
    uint32_t at = context;
    while (at && depth < sizeof path / sizeof *path && thread->contexts[at].functions == LWP_NONE) {
        path[depth++] = at;
        at = thread->contexts[at].parent;
    }
    uint32_t node = at && thread->contexts[at].functions != LWP_NONE ? thread->contexts[at].functions : 0;
    while (depth--) {
        struct load_context *frame = &thread->contexts[path[depth]];
        uint64_t function = lwp_contexts_function(thread->profile, frame->module, frame->address);
        node = lwp_contexts_child(thread->profile, node, frame->module, function, true);
        frame->functions = node;
    }
    return node;
}

/* Code outside of any loop belongs to the loop that calls it, unless it calls itself: then its body is the loop. */
static uint32_t load_calling_loop(struct load_thread *thread, uint32_t region, uint32_t module, uint64_t function,
                                  uint32_t context)
{
    uint32_t *known = lwp_map_at(thread->callers, lwp_hash_mix(region, context));
    if (*known != LWP_MAP_NONE)
        return *known;
    uint32_t found = region, at = context;
    for (int i = 0; i < 64 && at && at < thread->context_count; i++, at = thread->contexts[at].parent) {
        const struct load_context *caller = &thread->contexts[at];
        if (caller->module == module &&
            lwp_contexts_function(thread->profile, caller->module, caller->address) == function) {
            found = region; /* recursion */
            break;
        }
        bool is_loop;
        uint32_t outer = i < CALLERS_MAX && found == region
                             ? lwp_regions_at(thread->profile, caller->module, caller->address, &is_loop)
                             : LWP_NONE;
        if (outer != LWP_NONE && is_loop)
            found = outer;
    }
    *lwp_map_at(thread->callers, lwp_hash_mix(region, context)) = found;
    return found;
}

static uint32_t load_region(struct load_thread *thread, uint32_t module, uint64_t address, uint32_t context)
{
    bool is_loop;
    uint32_t region = lwp_regions_at(thread->profile, module, address, &is_loop);
    if (region == LWP_NONE || is_loop || context == 0)
        return region;
    return load_calling_loop(thread, region, module, lwp_contexts_function(thread->profile, module, address), context);
}

static uint32_t load_object(struct load_thread *thread, const struct lwps_access *access, uint64_t time,
                            uint64_t *offset)
{
    struct lwp_profile *profile = thread->profile;
    struct lwp_space *space = thread->process->space;
    *offset = access->address;
    if (!(access->flags & LWPS_ACCESS_KNOWN))
        return lwp_objects_unknown(profile);
    uint32_t object = LWP_NONE;
    if (access->home == LWPS_HOME_POOL) {
        object = lwp_space_pool_object(space, access->home_id);
        *offset = access->address - access->home_base;
    } else if (access->home == LWPS_HOME_STACK) {
        if (access->home_id == 0 || access->home_id >= thread->context_count)
            return lwp_objects_other_stack(profile);
        const struct load_context *owner = &thread->contexts[access->home_id];
        return lwp_objects_stack(profile, owner->module, owner->address, (int64_t)(access->address - access->home_base),
                                 offset);
    } else {
        object = lwp_space_object(space, access->address, time, offset);
        if (object == LWP_NONE && access->address >= thread->stack_low && access->address < thread->stack_high)
            return lwp_objects_other_stack(profile);
    }
    return object == LWP_NONE ? lwp_objects_unowned(profile) : object;
}

static void load_access_seen(struct load_thread *thread, uint32_t index, const struct lwps_access *access,
                             const struct lwps_sample *sample, uint32_t functions)
{
    struct lwp_object *object = &thread->profile->objects[index];
    object->accesses++;
    object->loads += (access->flags & LWPS_ACCESS_LOAD) != 0;
    object->stores += (access->flags & LWPS_ACCESS_STORE) != 0;
    uint64_t time = lwp_space_time(thread->process->space, sample->time);
    if (time < object->first_ns)
        object->first_ns = time;
    if (time > object->last_ns)
        object->last_ns = time;
    if (access->flags & LWPS_ACCESS_WEIGHTED)
        lwp_tally_add(&object->weight, (double)sample->weight);
    if (!object->accessed) {
        object->accessed = true;
        object->common = functions;
    } else if (functions != object->last_access) {
        object->common = lwp_contexts_common(thread->profile, object->common, functions);
    }
    object->last_access = functions;
}

/* Among themselves these follow each other in the program without a gap. */
static bool load_follows(const struct lwps_access *access)
{
    return access->source == LWPS_SOURCE_DITHERED || access->source == LWPS_SOURCE_TRACE;
}

static int load_sample(void *to, const struct lwps_sample *sample)
{
    struct load_thread *thread = to;
    struct lwp_profile *profile = thread->profile;
    double weight = (double)sample->weight;
    uint32_t module, weighted_region = LWP_NONE, stream_before = LWP_NONE, object_before = LWP_NONE;
    uint64_t address, address_before = 0;
    bool weighted = false, known = false;
    struct lwp_walk_access walk[LWPS_ACCESSES_MAX];
    int walk_count = 0;

    lwp_space_code(thread->process->space, sample->ip, sample->time, &module, &address);
    uint64_t function = lwp_contexts_function(profile, module, address);
    uint32_t callers = load_functions(thread, sample->context);
    int count = sample->access_count <= LWPS_ACCESSES_MAX ? sample->access_count : LWPS_ACCESSES_MAX;
    for (int i = 0; i < count; i++) {
        const struct lwps_access *access = &sample->access[i];
        bool is_weighted = (access->flags & LWPS_ACCESS_WEIGHTED) && !weighted;
        struct lwps_access seen = *access;
        if (!is_weighted)
            seen.flags &= (uint8_t)~LWPS_ACCESS_WEIGHTED;
        if (!is_weighted && !(access->flags & LWPS_ACCESS_KNOWN))
            continue;
        uint32_t at_module;
        uint64_t at, offset;
        lwp_space_code(thread->process->space, access->ip, sample->time, &at_module, &at);
        /* The context is that of the interrupted function; an access the walk met elsewhere has another one. */
        uint64_t at_function = lwp_contexts_function(profile, at_module, at);
        bool same = at_module == module && at_function == function;
        uint32_t region = load_region(thread, at_module, at, same ? sample->context : 0);
        uint32_t object = load_object(thread, access, sample->time, &offset);
        uint32_t functions = lwp_contexts_child(profile, callers, at_module, at_function, true);
        known |= (access->flags & LWPS_ACCESS_KNOWN) != 0;
        load_access_seen(thread, object, &seen, sample, same ? functions : callers);
        uint32_t stream = lwp_streams_add(profile, object, region, at_module, at, &seen, offset, weight);
        if ((access->flags & LWPS_ACCESS_KNOWN) && region != LWP_NONE && lwp_objects_is_array(profile, object))
            walk[walk_count++] = (struct lwp_walk_access){.object = object,
                                                          .region = region,
                                                          .code = access->ip,
                                                          .offset = offset,
                                                          .close = i > 0 && load_follows(&sample->access[i - 1]) &&
                                                                   load_follows(access)};
        if (stream_before != LWP_NONE && object == object_before && (access->flags & LWPS_ACCESS_KNOWN))
            lwp_streams_distance(profile, stream_before,
                                 access->address > address_before ? access->address - address_before
                                                                  : address_before - access->address);
        if (i == 0) {
            stream_before = stream;
            object_before = object;
            address_before = access->address;
        }
        if (is_weighted) {
            weighted = true;
            weighted_region = region;
        }
    }
    lwp_walks_sample(&profile->walks, &thread->walker, walk, walk_count,
                     lwp_space_time(thread->process->space, sample->time));
    lwp_tally_add(&profile->total, weight);
    if (weighted)
        lwp_tally_add(&profile->stalled, weight);
    else if (sample->kind != LWPS_SAMPLE_COMPUTE)
        profile->unknown_weight += weight;
    uint32_t region = weighted ? weighted_region : load_region(thread, module, address, sample->context);
    if (region != LWP_NONE)
        lwp_tally_add(&profile->regions[region].weight, weight);
    thread->samples++;
    thread->with_address += known;
    return 0;
}

static const struct lwps_visitor thread_visitor = {
    .file = load_thread_file, .thread = load_thread_record, .context = load_thread_context, .sample = load_sample};

/* ---- directories ---- */

static void load_damage(struct lwp_profile *profile, const char *path, const struct lwps_damage *damage)
{
    if (damage->unknown_blocks)
        lwp_profile_note(profile, "%s: %llu blocks of a newer lwp were skipped.", path,
                         (unsigned long long)damage->unknown_blocks);
    if (damage->bad_blocks)
        lwp_profile_note(profile, "%s: %llu damaged blocks were skipped; the rest was used.", path,
                         (unsigned long long)damage->bad_blocks);
    if (damage->torn_bytes)
        lwp_profile_note(profile, "%s: the last %llu bytes are no whole block and were left out.", path,
                         (unsigned long long)damage->torn_bytes);
    else if (damage->incomplete)
        lwp_profile_note(profile, "%s was not closed in order: the program was killed, or the file was cut.", path);
}

static int load_thread_name(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return entry->d_name[0] == 't' && length > 6 && strcmp(entry->d_name + length - 5, ".lwps") == 0;
}

static int load_process_name(const struct dirent *entry)
{
    return entry->d_name[0] == 'p' && entry->d_name[1] >= '0' && entry->d_name[1] <= '9';
}

/* 0, or the status of a file that could not be used at all (noted). */
static int load_file(struct lwp_profile *profile, const char *path, const char *shown,
                     const struct lwps_visitor *visitor, void *to)
{
    struct lwps_damage damage = {0};
    struct lwp_error err = {0};
    int status = lwps_read(path, visitor, to, &damage, &err);
    if (status)
        lwp_profile_note(profile, "Not used: %s", err.text);
    load_damage(profile, shown, &damage);
    return status;
}

static void load_one_process(struct lwp_profile *profile, const char *dir, const char *name)
{
    char path[4096], shown[600];
    struct dirent **entries = NULL;
    if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path)
        return;
    int count = scandir(path, &entries, load_thread_name, alphasort);
    LWP_GROW(&profile->processes, profile->process_count, &profile->process_room);
    struct lwp_process_summary *summary = &profile->processes[profile->process_count++];
    *summary = (struct lwp_process_summary){.pid = (uint32_t)strtoul(name + 1, NULL, 10), .command = ""};

    struct load_process process = {.profile = profile, .space = lwp_space_new(profile), .summary = summary};
    snprintf(path, sizeof path, "%s/%s/process.lwps", dir, name);
    snprintf(shown, sizeof shown, "%s/process.lwps", name);
    load_file(profile, path, shown, &process_visitor, &process);
    lwp_space_ready(process.space);

    uint64_t lost = process.file.lost_records, samples = 0, with_address = 0;
    for (int i = 0; i < count; i++) {
        struct load_thread thread = {.profile = profile, .process = &process, .callers = lwp_map_new()};
        LWP_GROW(&thread.contexts, thread.context_count, &thread.context_room);
        thread.contexts[thread.context_count++] = (struct load_context){.module = LWP_NONE};
        thread.walker.thread = (uint32_t)lwp_hash_mix(lwp_hash_text(dir), lwp_hash_mix(summary->pid, (uint64_t)i));
        snprintf(path, sizeof path, "%s/%s/%s", dir, name, entries[i]->d_name);
        snprintf(shown, sizeof shown, "%s/%s", name, entries[i]->d_name);
        load_file(profile, path, shown, &thread_visitor, &thread);
        lost += thread.file.lost_records;
        samples += thread.samples;
        with_address += thread.with_address;
        summary->threads++;
        free(thread.contexts);
        lwp_map_free(thread.callers);
        free(entries[i]);
    }
    free(entries);
    lwp_space_free(process.space);
    if (lost)
        lwp_profile_note(profile, "%s: %llu records could not be written (disk full, or a file limit) and are missing.",
                         name, (unsigned long long)lost);
    profile->samples += samples;
    profile->samples_with_address += with_address;
    profile->samples_lost += lost;
    if (process.has_totals) {
        profile->user_ns += process.totals.user_ns;
        profile->system_ns += process.totals.system_ns;
        profile->own_ns += process.totals.own_ns;
        profile->samples_lost += process.totals.samples_lost;
    }
}

static uint64_t load_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) && json_number_value(value) > 0 ? (uint64_t)json_number_value(value) : 0;
}

static void load_machine(struct lwp_profile *profile)
{
    const json_t *machine = json_object_get(profile->run, "machine");
    profile->machine.line_bytes = load_number(machine, "line_bytes");
    size_t i;
    json_t *cache;
    json_array_foreach(json_object_get(machine, "caches"), i, cache)
    {
        uint64_t level = load_number(cache, "level"), bytes = load_number(cache, "bytes");
        const char *type = json_string_value(json_object_get(cache, "type"));
        if (type && (type[0] == 'I' || type[0] == 'i'))
            continue;
        if (level == 1)
            profile->machine.l1_bytes = bytes;
        else if (level == 2)
            profile->machine.l2_bytes = bytes;
        else if (level == 3)
            profile->machine.l3_bytes = bytes;
    }
}

static void load_run(struct lwp_profile *profile, const char *dir)
{
    char path[4096];
    json_error_t problem;
    if (profile->run || snprintf(path, sizeof path, "%s/run.json", dir) >= (int)sizeof path)
        return;
    profile->run = json_load_file(path, 0, &problem);
    if (!json_is_object(profile->run)) {
        lwp_profile_note(profile, "run.json is missing or damaged: command, host and machine are not known.");
        json_decref(profile->run);
        profile->run = json_object();
    }
    load_machine(profile);
}

static int load_directory(struct lwp_profile *profile, const char *dir, struct lwp_error *err)
{
    struct dirent **entries = NULL;
    int count = scandir(dir, &entries, load_process_name, alphasort);
    if (count < 0) {
        if (errno == ENOENT)
            return lwp_error_set(err, LWP_ERR_MISSING, "there is no '%s'; name a folder that 'lwp collect' has written",
                                 dir);
        if (errno == ENOTDIR)
            return lwp_error_set(err, LWP_ERR_USAGE, "'%s' is a file; name the folder that 'lwp collect' has written",
                                 dir);
        return lwp_error_errno(err, "cannot read the folder '%s'", dir);
    }
    if (count == 0) {
        free(entries);
        return lwp_error_set(err, LWP_ERR_MISSING,
                             "'%s' holds no recorded process; record one with: lwp collect -o DIR -- PROGRAM", dir);
    }
    load_run(profile, dir);
    for (int i = 0; i < count; i++) {
        lwp_log_progress("reading %s (%d of %d)", entries[i]->d_name, i + 1, count);
        if (i < PROCESSES_MAX)
            load_one_process(profile, dir, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    lwp_log_progress(NULL);
    return LWP_OK;
}

int lwp_load(struct lwp_profile *profile, const char *const *dirs, size_t count, struct lwp_error *err)
{
    for (size_t i = 0; i < count; i++) {
        int status = load_directory(profile, dirs[i], err);
        if (status)
            return status;
    }
    if (profile->streams_refused)
        lwp_profile_note(profile, "There were too many different accesses; %llu were counted on their objects only.",
                         (unsigned long long)profile->streams_refused);
    return LWP_OK;
}
