/* Files of the threads of processes that are looked at from outside, now (lwp collect -p) or later (lwp import), and their processes'
 * folders. Few are open at a time: a thread whose file was closed meanwhile gets another one. */
#ifndef LWP_COLLECTOR_OUTSIDE_THREAD_FILES_H
#define LWP_COLLECTOR_OUTSIDE_THREAD_FILES_H

#include "base/hash.h"
#include "format/paths.h"
#include "format/writer.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct lwp_thread_file {
    pid_t tid;
    unsigned generation; /* of its file */
    bool open;
    uint64_t used; /* turn of its last use: the longest unused is closed first */
    struct lwps_writer file;
    struct lwps_paths paths;
    unsigned base_tries;
    uint64_t base; /* of FS, which only the living have; 0: not known */
};

/* Start from zero. */
struct lwp_thread_files {
    struct lwp_thread_file *threads;
    size_t thread_count, thread_room;
    struct lwp_map index; /* the caller's key -> threads[] */
    unsigned open;
    uint64_t turn;
};

/* Makes DIR/p<PID>, or DIR/p<PID>.<n> where there is one. Owned; NULL: errno says why. */
char *lwp_thread_files_folder(const char *dir, pid_t pid);

/* Opens FOLDER/NAME. False: errno says why. */
bool lwp_thread_files_open(struct lwps_writer *file, const char *folder, const char *name, const struct lwps_file *head);

/* The thread `head` names, with its file in `folder` open; `key`: its number among all. *fresh: the file is new, and nothing in it yet.
 * NULL: there are too many (errno 0), or errno says why. Until the next call. */
struct lwp_thread_file *lwp_thread_files_use(struct lwp_thread_files *files, uint64_t key, const char *folder, const struct lwps_file *head,
                                             bool *fresh);

/* NULL: never used. */
struct lwp_thread_file *lwp_thread_files_find(struct lwp_thread_files *files, uint64_t key);

void lwp_thread_files_close(struct lwp_thread_files *files, struct lwp_thread_file *thread);
void lwp_thread_files_free(struct lwp_thread_files *files);

#endif
