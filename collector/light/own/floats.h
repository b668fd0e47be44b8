/* What lwp computes with floating point between the program's instructions leaves no flag behind, traps no exception that the
 * program wants trapped (feenableexcept), and rounds as lwp expects. In handlers of signals the kernel sees to that. The compiler may
 * move computations over these calls: what computes is a function of another file. */
#ifndef LWP_COLLECTOR_LIGHT_OWN_FLOATS_H
#define LWP_COLLECTOR_LIGHT_OWN_FLOATS_H

#include <stdint.h>

/* To be given to lwp_floats_end. */
static inline uint32_t lwp_floats_begin(void)
{
    const uint32_t ours = 0x1f80; /* what a process begins with */
    uint32_t theirs;
    __asm__ volatile("stmxcsr %0\n\tldmxcsr %1" : "=m"(theirs) : "m"(ours) : "memory");
    return theirs;
}

static inline void lwp_floats_end(uint32_t theirs)
{
    __asm__ volatile("ldmxcsr %0" : : "m"(theirs) : "memory");
}

#endif
