/* Process images and what is mapped in them. */
#include "collector/import/state.h"

#include "base/arena.h"
#include "collector/outside/process/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROCESSES_MAX = 1 << 16, MAPPINGS_MAX = 1 << 16, PAGE = 4096, INTERPRETERS_MAX = 64 };

static struct import_process *import_new_process(struct import *import, uint32_t pid)
{
    if (import->process_count >= PROCESSES_MAX)
        return NULL;
    LWP_GROW(&import->processes, import->process_count, &import->process_room);
    struct import_process *process = &import->processes[import->process_count];
    *process = (struct import_process){.pid = pid};
    *lwp_map_at(&import->process_of, pid) = (uint32_t)import->process_count++;
    return process;
}

struct import_process *import_process(struct import *import, uint32_t pid)
{
    uint32_t index = lwp_map_get(&import->process_of, pid);
    return index != LWP_MAP_NONE ? &import->processes[index] : import_new_process(import, pid);
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
    LWP_GROW(&process->mappings, process->mapping_count, &process->mapping_room);
    struct import_mapping *kept = &process->mappings[process->mapping_count++];
    *kept = *mapping;
    kept->path = lwp_allocated(strdup(mapping->path));
}

static bool import_is_file(const char *path)
{
    return path[0] == '/' && path[1] != '/' && strncmp(path, "/dev/zero", 9) && strncmp(path, "/memfd:", 7) &&
           strncmp(path, "/SYSV", 5) && strncmp(path, "/anon_hugepage", 14);
}

static bool image_is_same(const struct lwp_image *image, const struct lwp_perf_mapping *from)
{
    return !from->build_id_bytes ||
           (image->build_id_bytes == from->build_id_bytes && memcmp(image->build_id, from->build_id, from->build_id_bytes) == 0);
}

void import_on_mapping(void *to, const struct lwp_perf_mapping *from)
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
        bool found = lwp_image_of(from->path, from->start, from->bytes, from->file_offset, &image);
        mapping.module = found || !from->data;
        mapping.elf = found && image_is_same(&image, from);
        if (mapping.module) { /* else a file that holds data, mapped as such */
            mapping.unwind_table = image.unwind_table;
            mapping.bias = image.bias;
            mapping.start = image.start;
            mapping.end = image.end;
        }
    }
    import_keep_mapping(process, &mapping);
}

/* ---- tasks ---- */

void import_on_comm(void *to, const struct lwp_perf_task *task)
{
    struct import *import = to;
    uint32_t index = lwp_map_get(&import->process_of, task->pid);
    if (task->exec && index != LWP_MAP_NONE && import->processes[index].mapping_count)
        import_new_process(import, task->pid);
    struct import_process *process = import_process(import, task->pid);
    if (process && task->pid == task->tid)
        snprintf(process->comm, sizeof process->comm, "%s", task->name);
}

/* A child begins with its parent's mappings. */
void import_on_fork(void *to, const struct lwp_perf_task *task)
{
    struct import *import = to;
    if (task->pid == task->parent_pid)
        return;
    uint32_t parent = lwp_map_get(&import->process_of, task->parent_pid);
    struct import_process *child = import_new_process(import, task->pid);
    if (!child || parent == LWP_MAP_NONE)
        return;
    const struct import_process *from = &import->processes[parent];
    memcpy(child->comm, from->comm, sizeof child->comm);
    for (size_t i = 0; i < from->mapping_count; i++)
        if (from->mappings[i].end_time == UINT64_MAX)
            import_keep_mapping(child, &from->mappings[i]);
}

static void import_free_interpreter(struct import *import)
{
    struct import_process *oldest = NULL;
    for (size_t i = 0; i < import->process_count; i++) {
        struct import_process *process = &import->processes[i];
        if (process->interpreter && (!oldest || process->interpreted_turn < oldest->interpreted_turn))
            oldest = process;
    }
    if (!oldest)
        return;
    lwp_interpreter_free(oldest->interpreter);
    oldest->interpreter = NULL;
    oldest->interpreted = 0;
    import->interpreters--;
}

struct lwp_interpreter *import_interpreter(struct import *import, struct import_process *process)
{
    process->interpreted_turn = import->turn;
    if (!process->interpreter) {
        if (import->interpreters >= INTERPRETERS_MAX)
            import_free_interpreter(import);
        process->interpreter = lwp_interpreter_new((pid_t)process->pid);
        if (!process->interpreter)
            return NULL;
        process->interpreter->remote.past = true;
        import->interpreters++;
    }
    for (; process->interpreted < process->mapping_count; process->interpreted++) {
        const struct import_mapping *mapping = &process->mappings[process->interpreted];
        if (!mapping->module)
            continue;
        const struct lwp_image image = {
            .bias = mapping->bias, .start = mapping->start, .end = mapping->end, .unwind_table = mapping->unwind_table};
        lwp_remote_put_module(&process->interpreter->remote, &image, mapping->path, mapping->elf);
        lwp_interpreter_forget(process->interpreter);
    }
    return process->interpreter;
}

/* ---- the file ---- */

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

void import_put_process(struct lwps_writer *file, const struct import_process *process)
{
    struct lwps_paths paths = {.file = file};
    uint32_t modules = 0, blocks = 0;
    lwps_put_process(file, &(struct lwps_process){.pid = process->pid,
                                                  .command = process->comm,
                                                  .command_bytes = (uint32_t)strlen(process->comm) + 1});
    for (size_t i = 0; i < process->mapping_count; i++)
        if (process->mappings[i].module)
            import_put_module(file, ++modules, &process->mappings[i]);
        else
            import_put_block(file, &paths, ++blocks, &process->mappings[i]);
    lwps_paths_free(&paths);
}

void import_process_free(struct import_process *process)
{
    lwp_interpreter_free(process->interpreter);
    for (size_t k = 0; k < process->mapping_count; k++)
        free(process->mappings[k].path);
    free(process->mappings);
    free(process->folder);
}
