/* The stack on which a thread's signals are handled, in place of its own. The kernel writes a signal's registers onto the stack
 * before the first instruction of a handler runs: a coroutine's stack may have no room for that, rsp may be in use as a general
 * register, an alternate stack of the program's may be shared, freed or unmapped. So each sampled thread has an alternate stack
 * of lwp's, and what the program asks of sigaltstack is kept here (process/alternate_stack.c acts as the kernel would have). */
#ifndef LWP_COLLECTOR_LIGHT_OWN_OWN_STACK_H
#define LWP_COLLECTOR_LIGHT_OWN_OWN_STACK_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { LWP_OWN_STACK_BITS = 17, LWP_OWN_STACK_REGION_BITS = 38, LWP_OWN_STACK_REGION = 0xd5 };

/* At the low end of each stack, below a page that cannot be written. */
struct lwp_own_stack {
    uint64_t magic;
    uint64_t fs_base; /* of the thread: with another one its variables are not there */
    stack_t theirs;   /* the program's alternate stack, as it believes */
    pid_t tid;
    int used; /* own_stack.c; a thread that has ended may keep it */
    int works; /* something runs on the part for lwp's own work */
    struct lwp_own_stack *next; /* of all */
};

extern __thread struct lwp_own_stack *lwp_own_stack_self;

extern uint8_t lwp_own_stack_first[1 << LWP_OWN_STACK_BITS]; /* one of them */

/* For the calling thread, from now on; what it had as an alternate stack is the program's. False: there is none. */
bool lwp_own_stack_begin(void);

/* From now on what would write below the stack in lwp's own image is stopped, as on each other one from its beginning: a process that is
 * never set up needs little of it. */
void lwp_own_stack_guard(void);

/* The calling thread ends, and is not interrupted by us any more: it gets the program's alternate stack, or keeps lwp's as long as it
 * is there. */
void lwp_own_stack_end(void);

/* It as the kernel knows it. */
stack_t lwp_own_stack_ours(const struct lwp_own_stack *stack);

/* In the child of a fork: those of the threads that it does not have are free. */
void lwp_own_stack_after_fork(void);

/* Whether a thread has one. */
bool lwp_own_stack_has(pid_t tid);

/* The stack that an address is on, NULL: of none. Needs no thread's variables. */
static inline struct lwp_own_stack *lwp_own_stack_at(const void *address)
{
    enum { MAGIC = 0x6c777073 };
    uint64_t at = (uint64_t)address, first = (uint64_t)lwp_own_stack_first;
    if (at - first < sizeof lwp_own_stack_first)
        return (struct lwp_own_stack *)first;
    if (at >> LWP_OWN_STACK_REGION_BITS != LWP_OWN_STACK_REGION)
        return NULL;
    struct lwp_own_stack *stack = (struct lwp_own_stack *)(at & ~(((uint64_t)1 << LWP_OWN_STACK_BITS) - 1));
    return stack->magic == MAGIC ? stack : NULL;
}

/* Whether the calling thread's variables can be used: programs may have another thread pointer for a while. `stack`: which the
 * caller runs on, or NULL. Uses none itself. */
bool lwp_own_stack_has_variables(const struct lwp_own_stack *stack);

/* Runs `run` on a part of it that signals leave alone, if the thread has one and does not use it already, else here. What it calls
 * must not unwind. */
void lwp_own_stack_run(void (*run)(void *), void *argument);

#endif
