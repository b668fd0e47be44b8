/* The program's environment is that without lwp. */
#ifndef LWP_COLLECTOR_EXACT_VALGRIND_ENVIRONMENT_H
#define LWP_COLLECTOR_EXACT_VALGRIND_ENVIRONMENT_H

/* Before the program's first instruction: takes what Valgrind put into its environment out of it. What Valgrind's library
 * for it would do (LD_PRELOAD) is only wanted by tools that replace functions. */
void lwp_environment_hide(void);

#endif
