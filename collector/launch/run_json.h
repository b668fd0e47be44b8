/* DIR/run.json: what was run, where, how, and how it ended. */
#ifndef LWP_LAUNCH_RUN_JSON_H
#define LWP_LAUNCH_RUN_JSON_H

#include "base/error.h"
#include "collector/machine/machine.h"

#include <jansson.h>
#include <stdbool.h>
#include <time.h>

struct lwp_run {
    char *const *command; /* NULL-ended */
    const char *cwd, *host;
    const char *engine, *event, *weight_unit;
    json_t *options; /* borrowed object */
    struct lwp_machine machine;
    struct timespec started; /* CLOCK_REALTIME */

    bool ended; /* the fields below are valid */
    struct timespec end;
    double wall_s, cpu_s;
    long huge_pages_kib; /* most of the program's memory on huge pages at one time; -1: not known */
    long looked_at_kib;  /* most of its memory on pages of any size when that was looked at; -1: not known */
    int exit_code;   /* -1: ended by a signal */
    int exit_signal; /* 0: none */
    bool exit_unknown; /* the process was not lwp's to wait for */
    json_t *source_roots; /* borrowed array of folders; NULL: not known */
    json_t *notes;   /* borrowed array of sentences for the report; NULL: none */

    bool overhead_known;
    double overhead_percent; /* what lwp cost, of what the run would have taken without */

    unsigned ranks; /* of the parallel job; 0: none */
    unsigned rank;
    json_t *folders; /* borrowed; NULL: not known. The process folders of this rank */
};

/* How the program ended: `wait_status` as of waitpid. */
void lwp_run_exited(struct lwp_run *run, int wait_status);

/* Writes DIR/`name` ("run.json") aside and renames it, so that there is always a whole one. */
int lwp_run_json_write(const struct lwp_run *run, const char *dir, const char *name, struct lwp_error *err);

/* A JSON string of any bytes: what is not UTF-8 becomes U+FFFD. New reference; NULL when memory is out. */
json_t *lwp_run_json_text(const char *text);

/* Absolute paths without links, the caller's; NULL when memory is out. `program` may be a script. Takes 5 s of processor time at most. */
json_t *lwp_source_roots_find(const char *program, const char *cwd);

#endif
