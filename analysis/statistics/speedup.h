/* How a speed-up is printed. */
#ifndef LWP_ANALYSIS_STATISTICS_SPEEDUP_H
#define LWP_ANALYSIS_STATISTICS_SPEEDUP_H

/* The digits behind the point: three in all, as none is known better. */
static inline int lwp_speedup_digits(double speedup)
{
    return speedup < 9.995 ? 2 : speedup < 99.95 ? 1 : 0;
}

/* Both arguments of "%.*f", "1.24" or "15.3". */
#define LWP_SPEEDUP(speedup) lwp_speedup_digits(speedup), (speedup)

#endif
