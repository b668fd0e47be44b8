/* The streams of one object, as the questions about its elements need them. */
#ifndef LWP_ANALYSIS_ELEMENTS_ELEMENT_STREAMS_H
#define LWP_ANALYSIS_ELEMENTS_ELEMENT_STREAMS_H

#include "analysis/profile/profile.h"

enum { LWP_ELEMENT_STREAMS = 512 };
#define LWP_ELEMENT_SURE        0.95 /* a stride's probability from which it is believed */
#define LWP_ELEMENT_PART_COUNTS 0.01 /* the share of the accesses from which a stream is heard */

struct lwp_element_stream {
    const struct lwp_stream *stream;
    uint64_t low, high; /* of its offsets, without the outermost few: those may be strays */
};

struct lwp_element_streams {
    struct lwp_element_stream items[LWP_ELEMENT_STREAMS]; /* by `low` */
    size_t count;
    double accesses;
};

/* Those of the program's own code; of more than LWP_ELEMENT_STREAMS the first. */
void lwp_element_streams_collect(const struct lwp_profile *profile, uint32_t object,
                                 struct lwp_element_streams *streams);

/* For qsort. */
int lwp_element_offset_compare(const void *a, const void *b);

#endif
