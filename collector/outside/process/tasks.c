#include "collector/outside/process/tasks.h"

#include "base/arena.h"
#include "base/path.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROCESSES_MAX = 1 << 16 };

void lwp_tasks_free(struct lwp_tasks *tasks)
{
    free(tasks->items);
    *tasks = (struct lwp_tasks){0};
}

static bool tasks_have(const struct lwp_tasks *tasks, pid_t task)
{
    for (size_t i = 0; i < tasks->count; i++)
        if (tasks->items[i] == task)
            return true;
    return false;
}

bool lwp_tasks_of_process(struct lwp_tasks *tasks, pid_t pid)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *folder = opendir(path);
    if (!folder)
        return false;
    for (struct dirent *entry; (entry = readdir(folder));)
        if (entry->d_name[0] != '.')
            LWP_APPEND(&tasks->items, &tasks->count, &tasks->room, (pid_t)atoi(entry->d_name));
    closedir(folder);
    return true;
}

static void tasks_add_children(struct lwp_tasks *processes, pid_t pid)
{
    struct lwp_tasks threads = {0};
    lwp_tasks_of_process(&threads, pid);
    for (size_t i = 0; i < threads.count; i++) {
        char path[64];
        int child;
        snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)threads.items[i]);
        FILE *list = fopen(path, "re");
        while (list && fscanf(list, "%d", &child) == 1)
            if (processes->count < PROCESSES_MAX && !tasks_have(processes, child))
                LWP_APPEND(&processes->items, &processes->count, &processes->room, child);
        if (list)
            fclose(list);
    }
    lwp_tasks_free(&threads);
}

void lwp_tasks_processes(struct lwp_tasks *processes, pid_t pid, bool children)
{
    LWP_APPEND(&processes->items, &processes->count, &processes->room, pid);
    for (size_t i = processes->count - 1; children && i < processes->count; i++)
        tasks_add_children(processes, processes->items[i]);
}

pid_t lwp_tasks_living(pid_t pid)
{
    struct lwp_tasks threads = {0};
    pid_t living = 0;
    lwp_tasks_of_process(&threads, pid);
    for (size_t i = 0; i < threads.count && !living; i++) {
        char path[64], program[8];
        snprintf(path, sizeof path, "/proc/%d/task/%d/exe", (int)pid, (int)threads.items[i]);
        if (readlink(path, program, sizeof program) > 0)
            living = threads.items[i];
    }
    lwp_tasks_free(&threads);
    return living;
}

/* The line of /proc/TID/status that begins with the key and a colon; what follows them in it, or NULL. */
static const char *tasks_status(pid_t tid, const char *key, char line[256])
{
    char path[32];
    const char *value = NULL;
    size_t length = strlen(key);
    snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
    FILE *status = fopen(path, "re");
    while (status && !value && fgets(line, 256, status))
        if (strncmp(line, key, length) == 0 && line[length] == ':')
            value = line + length + 1;
    if (status)
        fclose(status);
    return value;
}

pid_t lwp_tasks_number(pid_t tid, const char *key)
{
    char line[256];
    const char *value = tasks_status(tid, key, line);
    return value ? atoi(value) : 0;
}

pid_t lwp_tasks_own_number(pid_t pid)
{
    char line[256];
    const char *value = tasks_status(pid, "NSpid", line), *last = value ? strrchr(value, '\t') : NULL; /* from the outermost namespace on */
    return value ? atoi(last ? last : value) : 0;
}

const char *lwp_tasks_stat(pid_t pid, char text[LWP_TASKS_STAT])
{
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *stat = fopen(path, "re");
    size_t got = stat ? fread(text, 1, LWP_TASKS_STAT - 1, stat) : 0;
    if (stat)
        fclose(stat);
    text[got] = '\0';
    const char *behind = strrchr(text, ')'); /* the name may hold anything */
    return behind ? behind + 1 : NULL;
}

bool lwp_tasks_names(pid_t pid, char file[LWP_TASKS_NAME], char name[LWP_TASKS_NAME])
{
    char path[32], program[PATH_MAX];
    pid_t living = lwp_tasks_living(pid);
    snprintf(path, sizeof path, "/proc/%d/exe", (int)living);
    ssize_t length = living ? readlink(path, program, sizeof program - 1) : 0;
    if (length <= 0)
        return false;
    program[length] = '\0';
    snprintf(file, LWP_TASKS_NAME, "%.255s", lwp_path_last(program));
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    FILE *comm = fopen(path, "re");
    name[0] = '\0';
    if (comm && fgets(name, LWP_TASKS_NAME, comm))
        name[strcspn(name, "\n")] = '\0';
    if (comm)
        fclose(comm);
    return true;
}

int lwp_tasks_check(pid_t *pid, struct lwp_error *err)
{
    char path[32];
    unsigned char head[EI_NIDENT] = {0};
    pid_t process = lwp_tasks_number(*pid, "Tgid");
    if (!process)
        return lwp_error_set(err, LWP_ERR_MISSING, "collect: there is no process %d", (int)*pid);
    *pid = process;
    if (process == getpid())
        return lwp_error_set(err, LWP_ERR_USAGE, "collect: process %d is lwp itself", (int)process);
    pid_t living = lwp_tasks_living(process);
    snprintf(path, sizeof path, "/proc/%d/exe", (int)(living ? living : process));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return lwp_error_set(err, LWP_ERR_USAGE, "collect: process %d has no program: it has ended, or is a thread of the kernel",
                             (int)process);
    ssize_t got = fd >= 0 ? read(fd, head, sizeof head) : 0;
    if (fd >= 0)
        close(fd);
    if (got == sizeof head && memcmp(head, ELFMAG, SELFMAG) == 0 && head[EI_CLASS] != ELFCLASS64)
        return lwp_error_set(err, LWP_ERR_USAGE, "collect: process %d is a 32-bit program; lwp profiles 64-bit x86 programs", (int)process);
    return LWP_OK;
}
