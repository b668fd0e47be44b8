/* What is to be done when memory runs out. */
#ifndef LWP_EXACT_LAST_WORDS_H
#define LWP_EXACT_LAST_WORDS_H

/* `say` is called once, then, before the process ends. */
void lwp_last_words(void (*say)(void));

#endif
