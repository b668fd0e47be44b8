/* Random numbers for sampling: the state is one number of the caller's. Async-signal-safe. Not for secrets. */
#ifndef LWP_BASE_RANDOM_H
#define LWP_BASE_RANDOM_H

#include <stdint.h>

/* Uniform in 0 … below - 1 (to 2^-28); 0 when there is none. A linear congruential generator: Knuth and
 * Lewis, as in Numerical Recipes; its high bits are the good ones. */
static inline uint32_t lwp_random_below(uint32_t *state, uint32_t below)
{
    *state = *state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)(*state >> 4) * below >> 28);
}

/* Marsaglia's xorshift: a sequence of all numbers but 0, from a state that is not 0. */
static inline uint32_t lwp_random_next(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    return *state ^= *state << 5;
}

#endif
