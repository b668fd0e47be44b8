/* The stride of one stream: the distance all its addresses are multiples of. */
#ifndef LWP_ANALYSIS_STATISTICS_STRIDE_H
#define LWP_ANALYSIS_STATISTICS_STRIDE_H

#include <stddef.h>
#include <stdint.h>

struct lwp_stride {
    uint64_t bytes;     /* 0: one address only (or none) */
    double probability; /* that it is the stride itself, no multiple or part of it (eq. 4); 0 when bytes is 0 */
};

/* From addresses (or offsets) in any order, repeats allowed. */
struct lwp_stride lwp_stride_estimate(const uint64_t *addresses, size_t count);

uint64_t lwp_stride_gcd(uint64_t a, uint64_t b);

/* How far an offset is behind the last multiple of the stride, which is not 0; before the first one, too. */
static inline uint64_t lwp_stride_residue(int64_t offset, uint64_t stride)
{
    const int64_t size = (int64_t)stride;
    return (uint64_t)((offset % size + size) % size);
}

/* The largest distance above `least` that most of those given are multiples of, `least` where there is none: the ends of rows and strays
 * are not. A dozen of them are tried. */
uint64_t lwp_stride_common(const uint64_t *distances, size_t count, uint64_t least);

#endif
