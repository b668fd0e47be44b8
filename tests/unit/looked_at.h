/* The test itself as the program that is looked at, though lwp's code is in it. */
#ifndef LWP_TESTS_UNIT_LOOKED_AT_H
#define LWP_TESTS_UNIT_LOOKED_AT_H

#include "collector/light/code/own_program.h"

static bool looked_at_bounds(const struct lwp_program *program, uint64_t ip, uint64_t *low, uint64_t *high)
{
    (void)program;
    return lwp_function_bounds(ip, low, high);
}

static const struct lwp_program *looked_at(void)
{
    static struct lwp_program program;
    program = lwp_own_program;
    program.bounds = looked_at_bounds;
    return &program;
}

#endif
