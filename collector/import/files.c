/* Where a process's and its threads' records go: folders and files. */
#include "collector/import/state.h"

#include "base/arena.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { OPEN_MAX_FILES = 200, THREADS_MAX = 1 << 20 };

bool import_open(struct import *import, struct lwps_writer *file, const char *folder, const char *name,
                        uint32_t pid, uint32_t tid)
{
    char path[512];
    struct lwps_file head = {
        .engine = import->engine, .weight_unit = import->unit, .pid = pid, .tid = tid, .start_ns = import->first_time};
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

bool import_make_folder(struct import *import, struct import_process *process)
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

void import_close_thread(struct import *import, struct import_thread *thread)
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

struct import_thread *import_thread(struct import *import, uint32_t process, uint32_t tid)
{
    uint32_t *at = lwp_map_at(&import->thread_of, lwp_hash_mix(process, tid));
    if (*at == LWP_MAP_NONE) {
        if (import->thread_count >= THREADS_MAX)
            return NULL;
        LWP_GROW(&import->threads, import->thread_count, &import->thread_room);
        *at = (uint32_t)import->thread_count;
        import->threads[import->thread_count++] = (struct import_thread){.tid = tid, .process = process};
        import->imported->threads++;
    }
    struct import_thread *thread = &import->threads[*at];
    thread->used = ++import->turn;
    thread->paths.file = &thread->file; /* the array may have moved */
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
