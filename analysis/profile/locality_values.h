/* What values come often of an object in a part of the code, over all files: how far apart accesses lie, and what used lines
 * before. Each file gives its own (heavy_hitters.h); here they only add up, so that it does not matter who read which first. */
#ifndef LWP_ANALYSIS_PROFILE_LOCALITY_VALUES_H
#define LWP_ANALYSIS_PROFILE_LOCALITY_VALUES_H

#include <stddef.h>
#include <stdint.h>

enum lwp_locality_value_of {
    LWP_LOCALITY_STRIDE, /* bytes between an instruction's accesses */
    LWP_LOCALITY_OUTER,  /* bytes between where two of its walks in even steps began; each counts its accesses */
    LWP_LOCALITY_BEFORE, /* part (settled: region) that used the line before, of lines used again beyond the caches of a core; of some */
    LWP_LOCALITY_VALUES
};

struct lwp_locality_value {
    uint32_t object, part; /* as in locality_counts.h */
    enum lwp_locality_value_of of;
    int64_t value;
    uint64_t count;
};

/* Starts from zero. At most LWP_HEAVY_HITTERS a file, object, part and kind; equal ones are one. */
struct lwp_locality_values {
    struct lwp_locality_value *items;
    size_t count, room;
    size_t joined; /* of which no two are equal, in order; the others are new */
};

void lwp_locality_values_free(struct lwp_locality_values *values);
void lwp_locality_values_add(struct lwp_locality_values *values, const struct lwp_locality_value *value);

/* Sorts them and makes one of equal ones; also after what they are of was given other numbers. */
void lwp_locality_values_join(struct lwp_locality_values *values);

/* Those of an object, part and kind, of joined ones. */
const struct lwp_locality_value *lwp_locality_values_of(const struct lwp_locality_values *values, uint32_t object, uint32_t part,
                                                        enum lwp_locality_value_of of, size_t *count);

/* The most frequent of `count`, the least of equally frequent ones; NULL: there are none. */
const struct lwp_locality_value *lwp_locality_values_most(const struct lwp_locality_value *values, size_t count);

#endif
