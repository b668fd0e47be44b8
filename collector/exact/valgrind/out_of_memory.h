/* What is to be done when memory runs out. */
#ifndef LWP_COLLECTOR_EXACT_VALGRIND_OUT_OF_MEMORY_H
#define LWP_COLLECTOR_EXACT_VALGRIND_OUT_OF_MEMORY_H

/* `say` is called once, then, before the process ends. */
void lwp_last_words(void (*say)(void));

#endif
