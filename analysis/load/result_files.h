/* What is in the result directories: processes, their files, and what run.json says of the run. */
#ifndef LWP_ANALYSIS_LOAD_RESULT_FILES_H
#define LWP_ANALYSIS_LOAD_RESULT_FILES_H

#include "analysis/profile/profile.h"
#include "format/record.h"

struct lwp_input {
    const char *path;   /* of the process's folder */
    const char *shown;  /* for notes: without what is the same for all */
    const char **files; /* names of its threads' files: those of none first, then as the threads were made */
    size_t file_count;
    uint32_t threads;     /* of these files; t0.* are of none */
    uint32_t pid, number; /* number: of process.lwps among all files; its threads' follow */
    int32_t rank;         /* -1: not one of several */
    bool replaced;        /* by exec, or by what exec began: the process has another image */
    bool ended;           /* the only process of a run that ended with a status, not by a signal */
};

struct lwp_inputs {
    struct lwp_input *items;
    size_t count, room;
    uint32_t files; /* in all */
};

/* Fills profile->run, runs and machine too. Fails when a directory cannot be read or holds no process. */
int lwp_inputs_find(struct lwp_profile *profile, const char *const *dirs, size_t count, struct lwp_inputs *inputs, struct lwp_error *err);
/* False: it is no sample file. */
bool lwp_input_header(const char *path, struct lwps_file *file);
void lwp_inputs_free(struct lwp_inputs *inputs);

#endif
