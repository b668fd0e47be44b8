/* Numbers of lwp's own open files: out of the program's way. */
#ifndef LWP_COLLECTOR_LIGHT_OWN_OWN_FILES_H
#define LWP_COLLECTOR_LIGHT_OWN_OWN_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the process has one thread. */
void lwp_own_files_alone(bool alone);

/* Whether there is such a number as lwp_own_files_raise() gives: a file has one of the program's until then. */
bool lwp_own_files_room(void);

/* A duplicate of `fd`, which is closed, with a number that the program is not likely to use; or -1, and `fd` stays as it is. */
int lwp_own_files_raise(int fd);

/* The kernel's number of the perf event behind `fd`, 0: none. Where the program has closed lwp's files, another event of lwp's may have
 * the same `fd` since: only with the same number as when it was opened it is the same event. */
uint64_t lwp_own_files_event(int fd);

/* The beginning of a file of /proc as text; returns its bytes, 0: none. Async-signal-safe. */
size_t lwp_own_files_read(const char *path, char *text, size_t room);

#endif
