#include "collector/light/process/start_functions.h"

#include <stddef.h>
#include <string.h>

enum { FUNCTIONS = 16, KNOWN = 256 };

struct lwp_start_function {
    const void *run;
    uint32_t ended; /* soon, since one ran long */
};

static struct lwp_start_function functions[FUNCTIONS];

struct lwp_start_function *lwp_start_function(const void *run)
{
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        const void *none = NULL;
        if (__atomic_load_n(&functions[i].run, __ATOMIC_RELAXED) == run ||
            __atomic_compare_exchange_n(&functions[i].run, &none, run, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) || none == run)
            return &functions[i];
    }
    return NULL;
}

void lwp_start_function_ended(struct lwp_start_function *function)
{
    if (function && __atomic_load_n(&function->ended, __ATOMIC_RELAXED) < KNOWN)
        __atomic_fetch_add(&function->ended, 1, __ATOMIC_RELAXED);
}

void lwp_start_function_runs_long(struct lwp_start_function *function)
{
    if (function)
        __atomic_store_n(&function->ended, 0, __ATOMIC_RELAXED);
}

bool lwp_start_function_ends_soon(const struct lwp_start_function *function)
{
    return function && __atomic_load_n(&function->ended, __ATOMIC_RELAXED) >= KNOWN;
}

void lwp_start_functions_forget(void)
{
    memset(functions, 0, sizeof functions);
}
