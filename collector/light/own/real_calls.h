/* The functions behind the ones interposed here, looked up at the start: dlsym is not for signal handlers. */
#ifndef LWP_COLLECTOR_LIGHT_OWN_REAL_CALLS_H
#define LWP_COLLECTOR_LIGHT_OWN_REAL_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#define LWP_EXPORT __attribute__((visibility("default")))
#define LWP_HIDDEN __attribute__((visibility("hidden")))

struct lwp_real_call {
    void *function; /* NULL, or a stub that looks it up: not known yet */
    const char *name;
};

#define LWP_REAL_CALL(variable, name)                                                                                                      \
    static struct lwp_real_call variable __attribute__((section("lwp_real_calls"), used)) = {(void *)0, #name}

#define LWP_REAL_OF(variable, name) ((__typeof__(&name))(variable.function ? variable.function : lwp_real_call_find(&variable)))

/* The function behind the one that is called `name` here; has its type. */
#define LWP_REAL(name)                                                                                                                     \
    (*({                                                                                                                                   \
        LWP_REAL_CALL(real_##name, name);                                                                                                  \
        LWP_REAL_OF(real_##name, name);                                                                                                    \
    }))

void lwp_real_calls_start(void);

/* Before the start, for other libraries' constructors. Never NULL. */
LWP_HIDDEN void *lwp_real_call_find(struct lwp_real_call *call);

/* The C library's `syscall`; until the start, one that does the same. */
LWP_HIDDEN extern long (*lwp_real_syscall)(long number, ...);

/* Whether a call came from this library and not from the program. `caller`: __builtin_return_address(0), or any code. */
static inline bool lwp_is_ours(const void *caller)
{
    extern const char __ehdr_start[] LWP_HIDDEN, _end[] LWP_HIDDEN;
    return (uintptr_t)caller >= (uintptr_t)__ehdr_start && (uintptr_t)caller < (uintptr_t)_end;
}

#endif
