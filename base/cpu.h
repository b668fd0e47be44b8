/* What is this machine's processor called, and how long does the kernel take for a page on it? */
#ifndef LWP_BASE_CPU_H
#define LWP_BASE_CPU_H

#include <stddef.h>
#include <stdint.h>

enum { LWP_CPU_NAME = 128 }; /* room for one, as run.json has it */

/* "model name" of ROOT/proc/cpuinfo, cut to the room; "" where that has none. */
void lwp_cpu_name(const char *root, char *name, size_t room);

/* CPU time of a page of 4 KiB that a program touches for the first time, and of giving it back, ns: the median of several mappings of so
 * many pages, or of as many as tell it. A few take less: the kernel has some at hand that are in the caches still. 0: not known. */
double lwp_cpu_page_fault_ns(uint64_t pages);

#endif
