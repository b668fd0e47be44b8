/* What lwp collect was asked for: its option rows, and their values as numbers. */
#ifndef LWP_LAUNCH_COLLECT_OPTIONS_H
#define LWP_LAUNCH_COLLECT_OPTIONS_H

#include "base/command.h"
#include "base/error.h"
#include "format/detect.h"

#include <jansson.h>
#include <stdint.h>

#define LWP_REGION_MARKS "LWP_BEGIN" /* as --region: of LWP_BEGIN() and LWP_END() */

extern const struct lwp_option lwp_collect_options[];

struct lwp_settings {
    const struct lwp_options *options; /* as given, for what lwp collect itself does */
    bool exact;              /* the exact engine was asked for */
    unsigned detect;         /* enum lwp_detect; of the exact engine what it counts and, for LWP_DETECT_LAYOUT, whether it samples */
    bool follow;             /* child processes, too */
    uint64_t heap_threshold; /* bytes: smaller blocks are pooled by calling context and size */

    /* of the engines that sample */
    double frequency, period; /* samples a second of a thread's CPU time; events between samples; 0: not given */
    double max_overhead;      /* percent of CPU time */
    double delay, duration;   /* seconds; duration 0: to the end */

    /* of the exact engine */
    uint64_t window_on, window_off; /* instructions traced, and not traced after; off 0: all are traced */
    bool windows;            /* windows were asked for: redundancies and registers are counted in them only, too */
    bool window_grows;       /* window_off is the first gap; they grow as Fibonacci's numbers do */
    bool counts_all;         /* something is counted over the whole run, without samples */
    const char *allocators;  /* FUNC:ARGUMENT,..., NULL: none */
    const char *region;      /* function, or LWP_BEGIN; NULL: all */
    double approx;           /* floating point values this close count as equal; relative */
    unsigned value_history;  /* computations kept of each instruction */
    unsigned granule_bytes;  /* communication is tracked at this granularity */
};

/* LWP_OK; or LWP_ERR_USAGE, where a value is wrong or options exclude each other. */
int lwp_settings_read(struct lwp_settings *settings, const struct lwp_options *options, struct lwp_error *err);

/* Whether all that was asked for is possible from outside, of a program that `why` ("is statically linked"); LWP_ERR_USAGE: not. */
int lwp_settings_outside(const struct lwp_options *options, const char *program, const char *why, struct lwp_error *err);

/* The options as run.json has them: each with its value, null where the engine chooses. New reference. */
json_t *lwp_collect_options_json(const struct lwp_options *options);

#endif
