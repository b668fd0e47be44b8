/* The engines and the units of their weights: one row each. What measures, in which unit, and what follows for what may be
 * said. Everybody who asks looks here, whether a number of a sample file or a name in analysis.json is at hand. */
#ifndef LWP_ANALYSIS_TABLES_ENGINES_H
#define LWP_ANALYSIS_TABLES_ENGINES_H

#include "format/record.h"

#include <stdbool.h>
#include <stdint.h>

struct lwp_engine_row {
    const char *name;            /* in analysis.json; NULL: not known */
    bool exact;                  /* counts all accesses: nothing is an estimate, and there is no overhead to measure */
    bool cpu_time;               /* samples CPU time, outside of the kernel */
    const char *note;            /* about every run, or NULL */
    const char *note_of_weights; /* about runs that have samples, or NULL */
};

struct lwp_unit_row {
    const char *name;     /* in analysis.json; NULL: not known */
    const char *words;    /* in a sentence */
    const char *wasted;   /* the unit of redundancy totals */
    bool seconds;         /* weights are CPU time: a share of them is a share of the seconds */
    bool whole_run;       /* weights cover what accesses no memory, too, so that the stalled part of the run is known */
    bool gain;            /* what another layout saves can be computed */
    const char *gain_of;  /* what expected speed-ups are of */
    const char *note;     /* or NULL */
};

/* By enum lwps_engine, enum lwps_weight_unit; by name (NULL: not known). Never NULL: the first row stands for what is not known. */
const struct lwp_engine_row *lwp_engine_row(uint8_t engine);
const struct lwp_engine_row *lwp_engine_named(const char *name);
const struct lwp_unit_row *lwp_unit_row(uint8_t unit);
const struct lwp_unit_row *lwp_unit_named(const char *name);

#endif
