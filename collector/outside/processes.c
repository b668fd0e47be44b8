/* A process is followed from its first sample on; those that run already from the beginning. The wanted ones are known by their name, which
 * an exec changes. */
#include "collector/outside/processes.h"

#include "base/arena.h"
#include "base/log.h"
#include "base/path.h"
#include "base/pattern.h"
#include "collector/outside/marks.h"
#include "collector/outside/process/tasks.h"

#include <stdlib.h>
#include <string.h>

/* One that has ended is called after the first file with code that was mapped there. */
static bool processes_wants(const struct lwp_processes *processes, pid_t pid, const struct lwp_mappings *recorded)
{
    const char *only = processes->wish->only;
    char file[LWP_TASKS_NAME], name[LWP_TASKS_NAME];
    if (!only)
        return true;
    if (lwp_tasks_names(pid, file, name))
        return lwp_pattern_lists(only, file) || lwp_pattern_lists(only, name);
    for (size_t i = 0; recorded && i < recorded->count; i++)
        if (recorded->items[i].execute && recorded->items[i].path[0] == '/')
            return lwp_pattern_lists(only, lwp_path_last(recorded->items[i].path));
    return false;
}

/* `followed` may be NULL: it is left out. */
static void processes_put(struct lwp_processes *processes, pid_t pid, struct lwp_followed *followed)
{
    if (followed)
        lwp_marks_follow(processes->events, followed, processes->wish->region, pid == processes->wish->pid);
    *lwp_map_at(&processes->index, (uint64_t)pid) = (uint32_t)processes->item_count;
    LWP_PUSH(processes->item, followed);
}

struct lwp_followed *lwp_processes_find(const struct lwp_processes *processes, pid_t pid)
{
    const uint32_t at = lwp_map_get(&processes->index, (uint64_t)pid);
    return at != LWP_MAP_NONE ? processes->items[at] : NULL;
}

struct lwp_followed *lwp_processes_at(struct lwp_processes *processes, pid_t pid)
{
    if (lwp_map_get(&processes->index, (uint64_t)pid) != LWP_MAP_NONE)
        return lwp_processes_find(processes, pid);
    struct lwp_error err;
    const struct lwp_recorded_process *recorded = lwp_recorded_of(&processes->recorded, pid);
    const struct lwp_mappings *mappings = recorded ? &recorded->mappings : NULL;
    if (lwp_map_get(&processes->unwanted, (uint64_t)pid) == processes->phase)
        return NULL;
    if (!processes_wants(processes, pid, mappings)) {
        *lwp_map_at(&processes->unwanted, (uint64_t)pid) = processes->phase;
        return NULL;
    }
    struct lwp_followed *followed = lwp_followed_new(processes->dir, pid, mappings, recorded && recorded->fresh, &err);
    if (!followed)
        lwp_log(LWP_LOG_WARNING, "%s; process %d is left out", err.text, (int)pid);
    processes_put(processes, pid, followed);
    return followed;
}

int lwp_processes_begin(struct lwp_processes *processes, struct lwp_error *err)
{
    const pid_t pid = processes->wish->pid;
    if (!processes_wants(processes, pid, NULL))
        return LWP_OK;
    struct lwp_followed *first = lwp_followed_new(processes->dir, pid, NULL, false, err);
    if (!first)
        return err->status;
    processes_put(processes, pid, first);
    return LWP_OK;
}

void lwp_processes_begin_children(struct lwp_processes *processes)
{
    struct lwp_tasks running = {0};
    lwp_tasks_processes(&running, processes->wish->pid, processes->wish->children);
    for (size_t i = 0; i < running.count; i++)
        lwp_processes_at(processes, running.items[i]);
    lwp_tasks_free(&running);
}

/* While it was followed. */
static uint64_t processes_cpu_ns(const struct lwp_followed *followed)
{
    return lwp_followed_user_ns(followed) + followed->system_ns - followed->system_first_ns;
}

static void processes_close(struct lwp_processes *processes, pid_t pid, uint64_t time, uint64_t own_ns)
{
    struct lwp_followed *followed = lwp_processes_find(processes, pid);
    if (!followed)
        return;
    processes->samples += followed->samples;
    processes->cpu_ns += processes_cpu_ns(followed);
    processes->items[lwp_map_get(&processes->index, (uint64_t)pid)] = NULL;
    lwp_followed_close(followed, time, own_ns + followed->samples * processes->sample_ns);
}

void lwp_processes_fork(struct lwp_processes *processes, pid_t parent, pid_t child)
{
    const struct lwp_followed *known = lwp_processes_find(processes, parent);
    *lwp_map_at(&processes->index, (uint64_t)child) = LWP_MAP_NONE; /* another process had the number */
    *lwp_map_at(&processes->unwanted, (uint64_t)child) = LWP_MAP_NONE;
    lwp_recorded_fork(&processes->recorded, parent, child, known ? &known->interpreter->remote.mappings : NULL);
}

void lwp_processes_exec(struct lwp_processes *processes, pid_t pid, uint64_t time)
{
    const bool sampled = lwp_map_get(&processes->index, (uint64_t)pid) != LWP_MAP_NONE;
    const struct lwp_followed *followed = lwp_processes_find(processes, pid);
    if (!followed || followed->looked_ns <= time) { /* else it was for a sample from before, but what was seen is what it became */
        processes_close(processes, pid, time, 0);
        *lwp_map_at(&processes->unwanted, (uint64_t)pid) = LWP_MAP_NONE;
        if (sampled)
            *lwp_map_at(&processes->index, (uint64_t)pid) = LWP_MAP_NONE;
    }
    lwp_recorded_exec(&processes->recorded, pid, sampled);
}

void lwp_processes_thread_end(struct lwp_processes *processes, pid_t pid, pid_t tid, uint64_t time)
{
    struct lwp_followed *followed = lwp_processes_find(processes, pid);
    if (followed)
        lwp_followed_thread_end(followed, tid, time);
    if (pid == tid)
        lwp_recorded_end(&processes->recorded, pid);
}

void lwp_processes_map(struct lwp_processes *processes, pid_t pid, const struct lwp_mapping *mapping)
{
    struct lwp_followed *followed = lwp_processes_find(processes, pid);
    lwp_recorded_map(&processes->recorded, pid, mapping);
    if (!followed || !mapping->execute || mapping->path[0] != '/')
        return;
    const struct lwp_remote_module *module = lwp_remote_module_at(&followed->interpreter->remote, mapping->start);
    followed->stale |= module && strcmp(module->path, mapping->path); /* a library where another one was */
}

void lwp_processes_refresh(struct lwp_processes *processes, uint64_t now, bool all)
{
    for (size_t i = 0; i < processes->item_count; i++)
        if (processes->items[i] && (all || lwp_followed_is_old(processes->items[i], now)))
            lwp_followed_refresh(processes->items[i], now);
}

struct lwp_followed *lwp_processes_first(const struct lwp_processes *processes)
{
    for (size_t i = 0; i < processes->item_count; i++)
        if (processes->items[i])
            return processes->items[i];
    return NULL;
}

void lwp_processes_sum(const struct lwp_processes *processes, uint64_t *cpu_ns, uint64_t *samples)
{
    *cpu_ns = processes->cpu_ns;
    *samples = processes->samples;
    for (size_t i = 0; i < processes->item_count; i++) {
        const struct lwp_followed *followed = processes->items[i];
        if (!followed)
            continue;
        *cpu_ns += processes_cpu_ns(followed);
        *samples += followed->samples;
    }
}

void lwp_processes_end(struct lwp_processes *processes, uint64_t time, uint64_t own_ns)
{
    for (size_t i = 0; i < processes->item_count; i++)
        if (processes->items[i]) {
            const pid_t pid = processes->items[i]->pid;
            processes_close(processes, pid, time, pid == processes->wish->pid ? own_ns : 0);
        }
}

void lwp_processes_free(struct lwp_processes *processes)
{
    free(processes->items);
    lwp_map_fini(&processes->index);
    lwp_map_fini(&processes->unwanted);
    lwp_recorded_free(&processes->recorded);
}
