/* The program's alternate signal stacks, where lwp's take their place in the kernel (own_stack.h). */
#ifndef LWP_COLLECTOR_LIGHT_PROCESS_ALTERNATE_STACK_H
#define LWP_COLLECTOR_LIGHT_PROCESS_ALTERNATE_STACK_H

#include <signal.h>
#include <stdbool.h>
#include <ucontext.h>

/* A handler of the program's. */
struct lwp_handler {
    void *function;
    bool on_stack; /* SA_ONSTACK */
};

/* Calls the program's handler as the kernel would have, on the stack it would have chosen, and returns from the signal. Only
 * returns itself if the signal's frame is where it belongs: not on a stack of lwp's, or on one that the program takes for its own. */
void lwp_alternate_deliver(const struct lwp_handler *handler, int signal, ucontext_t *context);

#endif
