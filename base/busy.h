/* Marks a folder as being written, by a lock that other processes see and that ends with its holder, however that ends. */
#ifndef LWP_BASE_BUSY_H
#define LWP_BASE_BUSY_H

#include <stdbool.h>

/* Marks `dir`; several may. Closing the descriptor returned ends it; -1: this file system has no locks. */
int lwp_busy_begin(const char *dir);

/* Marks it for the caller alone: of several that try at once one does. False: another one has marked it. *fd as above. */
bool lwp_busy_take(const char *dir, int *fd);

/* Whether any process has marked it. Takes no lock itself: callers never see each other. */
bool lwp_busy(const char *dir);

#endif
