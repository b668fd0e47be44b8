/* A folder that is being written, told to other processes by a lock that ends with its holder, however that ends. */
#ifndef LWP_BASE_BUSY_H
#define LWP_BASE_BUSY_H

#include <stdbool.h>

/* Marks `dir`; several may. Closing the descriptor returned ends it; -1: this file system has no locks. */
int lwp_busy_begin(const char *dir);

/* Whether anyone has it marked. Takes no lock itself, so that askers never see each other. */
bool lwp_busy(const char *dir);

#endif
