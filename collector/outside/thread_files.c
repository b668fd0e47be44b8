#include "collector/outside/thread_files.h"

#include "base/arena.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { OPEN_FILES = 200, THREADS_MAX = 1 << 20, GENERATIONS = 100000 };

char *lwp_thread_files_folder(const char *dir, pid_t pid)
{
    for (unsigned generation = 0; generation < GENERATIONS; generation++) {
        char *folder = generation ? lwp_format("%s/p%d.%u", dir, (int)pid, generation) : lwp_format("%s/p%d", dir, (int)pid);
        if (mkdir(folder, 0777) == 0)
            return folder;
        free(folder);
        if (errno != EEXIST)
            break;
    }
    return NULL;
}

bool lwp_thread_files_open(struct lwps_writer *file, const char *folder, const char *name, const struct lwps_file *head)
{
    char path[sizeof file->path];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path) {
        errno = ENAMETOOLONG;
        return false;
    }
    int status = lwps_writer_open(file, path, head);
    errno = -status;
    return status == 0;
}

void lwp_thread_files_close(struct lwp_thread_files *files, struct lwp_thread_file *thread)
{
    if (!thread->open)
        return;
    lwps_paths_free(&thread->paths);
    lwps_writer_close(&thread->file);
    thread->open = false;
    files->open--;
}

static void close_oldest(struct lwp_thread_files *files)
{
    struct lwp_thread_file *oldest = NULL;
    for (size_t i = 0; i < files->thread_count; i++)
        if (files->threads[i].open && (!oldest || files->threads[i].used < oldest->used))
            oldest = &files->threads[i];
    if (oldest)
        lwp_thread_files_close(files, oldest);
}

struct lwp_thread_file *lwp_thread_files_find(struct lwp_thread_files *files, uint64_t key)
{
    uint32_t at = lwp_map_get(&files->index, key);
    return at != LWP_MAP_NONE ? &files->threads[at] : NULL;
}

struct lwp_thread_file *lwp_thread_files_use(struct lwp_thread_files *files, uint64_t key, const char *folder, const struct lwps_file *head,
                                             bool *fresh)
{
    uint32_t *at = lwp_map_at(&files->index, key);
    *fresh = false;
    errno = 0;
    if (*at == LWP_MAP_NONE) {
        if (files->thread_count >= THREADS_MAX)
            return NULL;
        *at = (uint32_t)files->thread_count;
        LWP_PUSH(files->thread, (struct lwp_thread_file){.tid = (pid_t)head->tid});
    }
    struct lwp_thread_file *thread = &files->threads[*at];
    thread->used = ++files->turn;
    thread->paths.file = &thread->file; /* the array may have moved */
    if (thread->open)
        return thread;
    if (files->open >= OPEN_FILES)
        close_oldest(files);
    char name[64];
    snprintf(name, sizeof name, thread->generation ? "t%u.%u.lwps" : "t%u.lwps", head->tid, thread->generation);
    thread->generation++;
    thread->file = (struct lwps_writer){0};
    if (!lwp_thread_files_open(&thread->file, folder, name, head))
        return NULL;
    thread->paths = (struct lwps_paths){.file = &thread->file};
    thread->open = *fresh = true;
    files->open++;
    return thread;
}

void lwp_thread_files_free(struct lwp_thread_files *files)
{
    for (size_t i = 0; i < files->thread_count; i++)
        lwp_thread_files_close(files, &files->threads[i]);
    free(files->threads);
    lwp_map_fini(&files->index);
    *files = (struct lwp_thread_files){0};
}
