/* How a speed-up is printed, and how many of something there are about. */
#ifndef LWP_ANALYSIS_STATISTICS_SPEEDUP_H
#define LWP_ANALYSIS_STATISTICS_SPEEDUP_H

#include <math.h>

/* The digits behind the point: three in all, as none is known better. */
static inline int lwp_speedup_digits(double speedup)
{
    return speedup < 9.995 ? 2 : speedup < 99.95 ? 1 : 0;
}

/* Both arguments of "%.*f", "1.24" or "15.3". */
#define LWP_SPEEDUP(speedup) lwp_speedup_digits(speedup), (speedup)

/* An estimated number with two digits: more would be more than is known. */
static inline double lwp_two_digits(double value)
{
    const double unit = value < 100 ? 1 : pow(10, floor(log10(value)) - 1);
    return unit * round(value / unit);
}

#endif
