/* The functions that come after the ones interposed here, looked up at the start: dlsym is not for signal handlers. */
#ifndef LWP_COLLECTOR_LIGHT_OWN_REAL_CALLS_H
#define LWP_COLLECTOR_LIGHT_OWN_REAL_CALLS_H

struct lwp_next {
    void *function; /* NULL or a stub that asks: not looked up yet */
    const char *name;
};

/* Declares `next`, one of those that lwp_next_start finds. */
#define LWP_NEXT(name) static struct lwp_next next __attribute__((section("lwp_next"), used)) = {(void *)0, name}

void lwp_next_start(void);

/* Also before that, for other libraries' constructors. Never NULL. */
void *lwp_next_find(struct lwp_next *next) __attribute__((visibility("hidden")));

#endif
