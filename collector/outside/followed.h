/* A process that is sampled from outside, and what is written of it: DIR/p<PID>/. */
#ifndef LWP_COLLECTOR_OUTSIDE_FOLLOWED_H
#define LWP_COLLECTOR_OUTSIDE_FOLLOWED_H

#include "base/error.h"
#include "collector/outside/process/interpreter.h"
#include "collector/outside/thread_files.h"
#include "format/paths.h"
#include "format/writer.h"

#include <stdbool.h>
#include <stdint.h>

/* What is mapped but is no module: an object of the result. */
struct lwp_followed_block {
    uint64_t start, end;
    uint32_t id; /* 0: gone */
};

struct lwp_followed {
    struct lwp_interpreter *interpreter;
    pid_t pid;
    char *folder;
    struct lwps_writer file; /* process.lwps */
    struct lwps_paths paths; /* of mappings */
    size_t modules_written;
    bool *modules_ended; /* by module */
    struct lwp_followed_block *blocks;
    size_t block_count, block_room;
    uint32_t next_block;
    struct lwp_thread_files threads; /* by tid */
    uint64_t looked_ns;              /* when it was looked at first */
    uint64_t refreshed_ns, refresh_took_ns;
    uint64_t samples, with_address, lost;
    uint64_t user_ns, system_ns, user_first_ns, system_first_ns; /* CPU time; when it began to be followed */
    uint64_t weight_ns;                                          /* of the samples */
    double began;                                                /* seconds since 1970; 0: not known */
    unsigned threads_ended;                                      /* also those without a sample */
    bool marks;                                                  /* it says LWP_BEGIN() and LWP_END(), which are watched */
    bool outside_region;                                         /* of them */
    bool stale;                                                  /* there may be a new library */
};

/* Reads what is mapped and makes the files. NULL: `err` says why. `dir` is the result directory. `recorded`: what is mapped if the process
 * has ended already; `born`: it has begun since lwp samples. */
struct lwp_followed *lwp_followed_new(const char *dir, pid_t pid, const struct lwp_mappings *recorded, bool born, struct lwp_error *err);

/* Looks again at what is mapped, and at the CPU time. */
void lwp_followed_refresh(struct lwp_followed *followed, uint64_t time);

/* Whether to look again, though nothing says that anything has changed. */
bool lwp_followed_is_old(const struct lwp_followed *followed, uint64_t time);

/* With its file open; NULL: it cannot be written. */
struct lwp_thread_file *lwp_followed_thread(struct lwp_followed *followed, pid_t tid, uint64_t time);

/* The thread has ended. */
void lwp_followed_thread_end(struct lwp_followed *followed, pid_t tid, uint64_t time);

void lwp_followed_note(struct lwp_followed *followed, const char *text);

/* CPU time in user space while it was followed. */
uint64_t lwp_followed_user_ns(const struct lwp_followed *followed);

/* Writes the totals, with what lwp itself cost, closes the files and frees it. */
void lwp_followed_close(struct lwp_followed *followed, uint64_t time, uint64_t own_ns);

#endif
