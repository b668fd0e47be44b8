/* Writes the result when Valgrind runs out of memory. */
#ifndef LWP_COLLECTOR_EXACT_VALGRIND_OUT_OF_MEMORY_H
#define LWP_COLLECTOR_EXACT_VALGRIND_OUT_OF_MEMORY_H

/* `write` is then called once, before the process ends. */
void lwp_out_of_memory_start(void (*write)(void));

#endif
