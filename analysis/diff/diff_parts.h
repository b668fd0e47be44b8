/* What the files that make up a comparison share; nobody else includes it. */
#ifndef LWP_ANALYSIS_DIFF_DIFF_PARTS_H
#define LWP_ANALYSIS_DIFF_DIFF_PARTS_H

#include "analysis/json/json_value.h"
#include "base/arena.h"
#include "base/error.h"

#include <stdint.h>

/* ---- diff_result.c: what an analysis.json says of each structure, in a form two of them can be compared in ---- */

enum { LWP_DIFF_NONE = UINT32_MAX };

struct lwp_diff_field {
    const char *name;
    uint64_t offset, bytes;
};

/* A structure's part of a loop. */
struct lwp_diff_use {
    uint32_t loop;
    double share;
    double lines[2]; /* fetched for each element visited: sequential, random; < 0: not known */
};

struct lwp_diff_loop {
    const char *function, *file;
    uint32_t first_line, last_line, depth;
    double share, stalled; /* stalled: the part of share that is stalled on some listed object */
    uint64_t samples;
    uint32_t match; /* in the other result */
};

/* All objects of one type, or one object when it has no structure type. */
struct lwp_diff_structure {
    const char *kind, *name, *type, *site; /* site: the allocating function; type and site may be NULL */
    const char *tag;                       /* of the type, or the variable: what parts take their names from */
    bool composite, single, offsets_only;  /* offsets_only: field names are made up */
    bool about;                            /* how many elements there are is known from samples only */
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
    unsigned runs, threads;
    uint64_t samples, line_bytes;
    const char *unit, *engine; /* "" when not known */
    struct lwp_diff_loop *loops;
    struct lwp_diff_structure *structures;
    size_t loop_count, structure_count, left_out; /* left_out: objects beyond the bound */
    struct lwp_diff_structure **of_object;
    size_t object_count;
};

/* `root` must outlive the result. Refuses what is no analysis.json of this version. */
int lwp_diff_result_read(struct lwp_diff_result *result, const json_t *root, const char *label, struct lwp_arena *arena,
                         struct lwp_error *err);

/* Seconds for a share of the weight when shares are of CPU time, otherwise < 0. */
double lwp_diff_seconds(const struct lwp_diff_result *result, double share);

/* ---- diff_match.c, diff_loops.c: which structure and loop of one result is which of the other ---- */

enum lwp_diff_status {
    LWP_DIFF_SAME,      /* same element size and fields */
    LWP_DIFF_CHANGED,   /* other size or fields */
    LWP_DIFF_SPLIT,     /* one became several, or a part of it is all that is left */
    LWP_DIFF_REGROUPED, /* several became one */
    LWP_DIFF_GONE,
    LWP_DIFF_NEW,
};

/* What belongs together: one structure, or a whole and its parts. */
struct lwp_diff_row {
    enum lwp_diff_status status;
    uint32_t *before, *after; /* structures, the heaviest first */
    size_t before_count, after_count;
};

struct lwp_diff_rows {
    struct lwp_diff_row *rows; /* the heaviest first, by what they were before or are now */
    size_t count;
};

/* Fills `match` of both results' loops. */
void lwp_diff_match_loops(struct lwp_diff_result *before, struct lwp_diff_result *after, struct lwp_arena *arena);

/* Matches the loops, too; fills `row` of their structures, and the rows. */
void lwp_diff_match(struct lwp_diff_result *before, struct lwp_diff_result *after, struct lwp_arena *arena, struct lwp_diff_rows *rows);

/* The group of the advised split that holds most of the part's fields: 0 and up, -1 the cold one, -2 none. */
int lwp_diff_group(const struct lwp_diff_structure *whole, const struct lwp_diff_structure *part);

/* ---- diff_doubts.c: can two results be compared at all? ---- */

enum { LWP_DIFF_DOUBTS_MAX = 16 };

struct lwp_diff_doubts {
    struct {
        const char *kind, *text;
        bool serious; /* then no prediction can be judged */
    } list[LWP_DIFF_DOUBTS_MAX];
    size_t count;
    const char *reason; /* the first serious one's text, NULL: comparable */
    /* Loops that the change does not touch, found in both: their seconds, and the ratio's 95 % interval from the
     * samples; false: too few of them. */
    bool control;
    double before_s, after_s, low, high;
};

void lwp_diff_doubts_find(const struct lwp_diff_result *before, const struct lwp_diff_result *after, const struct lwp_diff_rows *rows,
                          struct lwp_arena *arena, struct lwp_diff_doubts *doubts);

/* ---- diff_prediction.c: what a finding predicted, and whether it was measured ---- */

/* A speed-up with its 95 % interval, low < 0 when there is none. */
struct lwp_diff_ratio {
    double value, low, high;
};

/* Of two mean times in s with their standard errors (< 0: not known); `runs`: of both. value < 0: not known. */
struct lwp_diff_ratio lwp_diff_time_ratio(double before, double before_error, double after, double after_error, unsigned runs);

/* The speed-up that a finding predicts; false: none. */
bool lwp_diff_prediction(const json_t *finding, double *low, double *high);

/* A word of the schema, and a sentence that lives as long as the arena. */
const char *lwp_diff_verdict(struct lwp_arena *arena, struct lwp_diff_ratio measured, double low, double high, const char **sentence);

/* ---- the answer ---- */

struct lwp_diff {
    struct lwp_diff_result before, after;
    struct lwp_diff_rows rows;
    struct lwp_arena *arena;
    struct lwp_diff_doubts doubts;
    bool seconds; /* the shares of both are of CPU time */
};

/* diff_redundancy.c: the shares of redundant accesses in both; null when neither looked for them. */
json_t *lwp_diff_redundancies(const struct lwp_diff *diff);

/* diff_scaling.c: how communication that was counted moves, what will stop scaling first; null unless both have it. */
json_t *lwp_diff_communication(const struct lwp_diff *diff);

/* The same of reuse distances of structures in loops; null unless both have a trace. */
json_t *lwp_diff_locality(const struct lwp_diff *diff);

/* diff_agreement.c: how far sampling is off; null unless one result is the exact engine's and the other is not. */
json_t *lwp_diff_agreement(const struct lwp_diff *diff);

/* diff_rows.c: the structure of a row that BEFORE gives advice on, or NULL; the row's entry; whether it needs one. */
const struct lwp_diff_structure *lwp_diff_advised(const struct lwp_diff *diff, const struct lwp_diff_row *row);
json_t *lwp_diff_row_json(struct lwp_diff *diff, const struct lwp_diff_row *row);
bool lwp_diff_row_matters(const struct lwp_diff *diff, const struct lwp_diff_row *row);

#endif
