/* The processor's name. */
#ifndef LWP_BASE_CPU_H
#define LWP_BASE_CPU_H

#include <stddef.h>

enum { LWP_CPU_NAME = 128 }; /* room for one, as run.json has it */

/* "model name" of ROOT/proc/cpuinfo, cut to the room; "" where that has none. */
void lwp_cpu_name(const char *root, char *name, size_t room);

#endif
