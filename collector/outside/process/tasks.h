/* Which processes and threads there are, as /proc says. */
#ifndef LWP_COLLECTOR_OUTSIDE_PROCESS_TASKS_H
#define LWP_COLLECTOR_OUTSIDE_PROCESS_TASKS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Start from zero. */
struct lwp_tasks {
    pid_t *items;
    size_t count, room;
};

void lwp_tasks_free(struct lwp_tasks *tasks);

/* Adds the threads of a process. False: it has ended. */
bool lwp_tasks_of_process(struct lwp_tasks *tasks, pid_t pid);

/* Adds the process and, with `children`, its descendants. */
void lwp_tasks_processes(struct lwp_tasks *processes, pid_t pid, bool children);

/* A thread that still has the process's memory: the first one may have ended before the others. 0: there is none. */
pid_t lwp_tasks_living(pid_t pid);

/* What /proc says of a thread under the key: of "Tgid" its process, of "PPid" that one's parent. 0: it is gone. */
pid_t lwp_tasks_number(pid_t tid, const char *key);

/* The number that the process has in its own namespace. 0: it is gone. */
pid_t lwp_tasks_own_number(pid_t pid);

enum { LWP_TASKS_STAT = 1024 };

/* What /proc/PID/stat says behind the process's name, in `text`. NULL: it is gone. */
const char *lwp_tasks_stat(pid_t pid, char text[LWP_TASKS_STAT]);

enum { LWP_TASKS_NAME = 256 };

/* What it is called: its program's file, without the folder, and its first thread. False: it is gone. */
bool lwp_tasks_names(pid_t pid, char file[LWP_TASKS_NAME], char name[LWP_TASKS_NAME]);

/* Whether it is a 64-bit process that can be looked at; else the error says what is in the way. A thread's number stands for its process.
 */
int lwp_tasks_check(pid_t *pid, struct lwp_error *err);

#endif
