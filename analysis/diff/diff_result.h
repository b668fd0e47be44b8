/* One side of a comparison: what an analysis.json says about each structure, in a form two of them can be compared in.
 */
#ifndef LWP_ANALYSIS_DIFF_DIFF_RESULT_H
#define LWP_ANALYSIS_DIFF_DIFF_RESULT_H

#include "base/arena.h"
#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LWP_DIFF_NONE = UINT32_MAX };

struct lwp_diff_field {
    const char *name;
    uint64_t offset, bytes;
};

/* A structure's part of a loop. */
struct lwp_diff_use {
    uint32_t loop;
    double share;
    double lines[2]; /* fetched for each element visited: going from each to the next, jumping; < 0: not known */
};

struct lwp_diff_loop {
    const char *function, *file;
    uint32_t first_line, last_line, depth;
    double share, waiting; /* waiting: the part of share that is waiting for some listed object */
    uint64_t samples;
    uint32_t match; /* on the other side */
};

/* All objects of one type, or one object when it has no structure type. */
struct lwp_diff_structure {
    const char *kind, *name, *type, *site; /* site: the allocating function; type and site may be NULL */
    const char *tag;                       /* of the type, or the variable: what parts take their names from */
    bool composite, single, offsets_only;  /* offsets_only: field names are made up */
    double share, low, high, time_share;
    uint64_t samples, element_bytes, elements, bytes;
    struct lwp_diff_field *fields;
    struct lwp_diff_use *uses;
    size_t field_count, use_count;
    uint32_t order;                 /* among those of the same identity */
    uint32_t row;                   /* of the comparison */
    const json_t *advice, *finding; /* its split or group of arrays, and the finding about it; NULL: none */
    bool advice_is_regroup;
};

struct lwp_diff_result {
    const json_t *root, *run;
    const char *label;            /* how the user called it */
    double cpu_s, wall_s, weight; /* of one run; < 0: not known */
    double cpu_error, wall_error; /* standard error of the means over several runs; < 0: one run only */
    unsigned runs, threads, processes;
    uint64_t samples, line_bytes;
    const char *unit, *engine; /* "" when not known */
    struct lwp_diff_loop *loops;
    struct lwp_diff_structure *structures;
    size_t loop_count, structure_count, left_out; /* left_out: objects beyond the bound */
    struct lwp_diff_structure **of_object;
    size_t object_count;
};

/* `root` must outlive the side. Refuses what is no analysis.json of this version. */
int lwp_diff_result_read(struct lwp_diff_result *side, const json_t *root, const char *label, struct lwp_arena *arena,
                       struct lwp_error *err);

/* Seconds for a share of the weight when shares are of CPU time, otherwise < 0. */
double lwp_diff_seconds(const struct lwp_diff_result *side, double share);

#endif
