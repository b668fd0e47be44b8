/* The detectors that --detect names. run.json has them as text; the engines get the mask. */
#ifndef LWP_FORMAT_DETECT_H
#define LWP_FORMAT_DETECT_H

#include <stdbool.h>

enum lwp_detect {
    LWP_DETECT_LAYOUT = 1 << 0,        /* hot data, its layout and use: what is sampled */
    LWP_DETECT_REDUNDANCY = 1 << 1,    /* dead and silent stores, silent loads */
    LWP_DETECT_SHARING = 1 << 2,       /* cache lines that bounce between threads */
    LWP_DETECT_COMMUNICATION = 1 << 3, /* which thread reads what which other one stored */
    LWP_DETECT_VALUES = 1 << 4,        /* computations repeated on the same values */
    LWP_DETECT_REGISTERS = 1 << 5,     /* register writes that leave the value as it was */
    LWP_DETECT_SPATIAL = 1 << 6,       /* array elements that equal their neighbour */
    LWP_DETECT_LOCALITY = 1 << 7,      /* traces, for reuse distances and strides */
};

/* ROW(bit, name) and separators: the detectors of all engines, which are the default, and those of the exact engine only. */
#define LWP_DETECT_OF_ALL_ENGINES(ROW, separator)                                              \
    ROW(LAYOUT, "layout") separator ROW(REDUNDANCY, "redundancy") separator                    \
    ROW(SHARING, "sharing") separator ROW(COMMUNICATION, "communication")
#define LWP_DETECT_OF_EXACT_ENGINE(ROW, separator, last)                                       \
    ROW(VALUES, "values") separator ROW(REGISTERS, "registers") separator                      \
    ROW(SPATIAL, "spatial") last ROW(LOCALITY, "locality")
#define LWP_DETECT_NAME(bit, name) name

struct lwp_detect_name {
    const char *name; /* NULL ends the table */
    enum lwp_detect bit;
    bool exact_only;
};

extern const struct lwp_detect_name lwp_detect_names[];

/* The mask of a list separated by commas (NULL: none). Names from a newer lwp are skipped. */
unsigned lwp_detect_parse(const char *list);

#endif
