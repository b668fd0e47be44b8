/* How many different values an array has (RedSpy's unique elements; Wen's thesis, 3.4.2): S = (elements - unique) / elements.
 * Freestanding. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_REGISTERS_UNIQUE_H
#define LWP_COLLECTOR_EXACT_DETECT_REGISTERS_UNIQUE_H

#include "collector/exact/detect/redundancy/shadow_pairs.h"

enum { LWP_UNIQUE_MOST = 1 << 22 }; /* different values kept; of more, a half that their hash decides, and so on: estimates */

struct lwp_unique {
    uint64_t values; /* different ones */
    uint64_t groups; /* of floating point numbers those that are within the bound (collector/record/value.h) of their group's least one;
                        else as many as values */
};

/* `count` elements of `size` bytes at each `step` from `at` on. Elements of more than 8 bytes are distinguished by a hash of 64 bits.
 * False: no memory. */
bool lwp_unique_count(const struct lwp_shadow_port *port, const void *at, size_t count, size_t step, size_t size, bool is_float,
                      struct lwp_unique *unique);

#endif
