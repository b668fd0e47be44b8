/* Programs that run others by translating their code. */
#ifndef LWP_COLLECTOR_TRANSLATOR_H
#define LWP_COLLECTOR_TRANSLATOR_H

#include <stdbool.h>

/* Whether the file of this path is one, by its name. */
bool lwp_is_translator(const char *path);

#endif
