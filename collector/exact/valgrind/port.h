/* Port of the freestanding parts of lwp to Valgrind: port.c has what they call of the C library. */
#ifndef LWP_COLLECTOR_EXACT_VALGRIND_PORT_H
#define LWP_COLLECTOR_EXACT_VALGRIND_PORT_H

#include <sys/types.h>

struct rusage;

int mkdir(const char *path, mode_t mode);

#endif
