#include "collector/outside/process/recorded_mappings.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static struct lwp_recorded_process *recorded_at(const struct lwp_recorded_mappings *recorded, pid_t pid)
{
    uint32_t at = lwp_map_get(&recorded->index, (uint64_t)pid);
    return at == LWP_MAP_NONE ? NULL : recorded->processes[at];
}

static struct lwp_recorded_process *recorded_new(struct lwp_recorded_mappings *recorded, pid_t pid)
{
    lwp_recorded_end(recorded, pid);
    struct lwp_recorded_process *process = lwp_zeroed(1, sizeof *process);
    *lwp_map_at(&recorded->index, (uint64_t)pid) = (uint32_t)recorded->process_count;
    LWP_GROW(&recorded->processes, recorded->process_count, &recorded->process_room);
    recorded->processes[recorded->process_count++] = process;
    return process;
}

void lwp_recorded_end(struct lwp_recorded_mappings *recorded, pid_t pid)
{
    uint32_t at = lwp_map_get(&recorded->index, (uint64_t)pid);
    if (at == LWP_MAP_NONE || !recorded->processes[at])
        return;
    lwp_mappings_free(&recorded->processes[at]->mappings);
    free(recorded->processes[at]);
    recorded->processes[at] = NULL;
}

void lwp_recorded_free(struct lwp_recorded_mappings *recorded)
{
    for (size_t i = 0; i < recorded->process_count; i++) {
        if (!recorded->processes[i])
            continue;
        lwp_mappings_free(&recorded->processes[i]->mappings);
        free(recorded->processes[i]);
    }
    free(recorded->processes);
    lwp_map_fini(&recorded->index);
    *recorded = (struct lwp_recorded_mappings){0};
}

void lwp_recorded_fork(struct lwp_recorded_mappings *recorded, pid_t parent, pid_t child, const struct lwp_mappings *known)
{
    struct lwp_recorded_process *process = recorded_new(recorded, child);
    const struct lwp_recorded_process *from = recorded_at(recorded, parent);
    process->fresh = true;
    if (from || known)
        lwp_mappings_copy(&process->mappings, from ? &from->mappings : known);
}

void lwp_recorded_exec(struct lwp_recorded_mappings *recorded, pid_t pid, bool sampled_before)
{
    const struct lwp_recorded_process *before = recorded_at(recorded, pid);
    bool fresh = before && before->fresh && !sampled_before;
    recorded_new(recorded, pid)->fresh = fresh;
}

bool lwp_recorded_read(const uint8_t *bytes, size_t size, struct lwp_mapping *mapping, pid_t *pid)
{
    struct {
        uint32_t pid, tid;
        uint64_t address, length, offset;
        uint8_t file[24]; /* device, inode, generation; or a build id */
        uint32_t protection, flags;
    } head;
    if (size <= sizeof head || !memchr(bytes + sizeof head, '\0', size - sizeof head))
        return false;
    memcpy(&head, bytes, sizeof head);
    const char *path = (const char *)bytes + sizeof head;
    *pid = (pid_t)head.pid;
    *mapping = (struct lwp_mapping){.start = head.address,
                                    .end = head.address + head.length,
                                    .offset = head.offset,
                                    .read = head.protection & PROT_READ,
                                    .write = head.protection & PROT_WRITE,
                                    .execute = head.protection & PROT_EXEC,
                                    .shared = head.flags & MAP_SHARED,
                                    .path = (char *)(strcmp(path, "//anon") ? path : "")};
    return mapping->start < mapping->end;
}

void lwp_recorded_map(struct lwp_recorded_mappings *recorded, pid_t pid, const struct lwp_mapping *mapping)
{
    struct lwp_recorded_process *process = recorded_at(recorded, pid);
    if (process)
        lwp_mappings_put(&process->mappings, mapping);
}

const struct lwp_recorded_process *lwp_recorded_of(const struct lwp_recorded_mappings *recorded, pid_t pid)
{
    return recorded_at(recorded, pid);
}
