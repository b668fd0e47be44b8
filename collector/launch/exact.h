/* Starting a program under the exact engine: lwp's Valgrind tool, without Valgrind's own launcher script. */
#ifndef LWP_LAUNCH_EXACT_H
#define LWP_LAUNCH_EXACT_H

#include "base/error.h"
#include "collector/launch/machine.h"

#include <stdbool.h>
#include <stdint.h>

/* What the tool is told. */
struct lwp_exact {
    const char *dir;         /* result directory, absolute */
    uint64_t heap_threshold; /* bytes */
    uint64_t on, off;        /* instructions traced, and not traced after; off 0: all are traced */
    bool windows;            /* they were asked for: redundancies and registers are counted in them only, too */
    bool grows;              /* off is the first gap; they grow as Fibonacci's numbers do */
    const char *region;      /* function, or LWP_BEGIN; NULL: all */
    double approx;           /* floating point numbers that are so close count as equal; part of the old one */
    bool follow;             /* children, too */
    bool redundancy;         /* dead and silent accesses are counted */
    bool sample;             /* what is traced is weighted and sampled, too */
    unsigned values;         /* redundant computations are counted, with so many kept of each instruction; 0: they are not */
    unsigned communication;  /* between threads is counted, memory told apart by so many bytes; 0: it is not */
    bool registers;          /* values written to registers that have them are counted */
    bool spatial;            /* elements stored in windows are compared with their neighbours */
    bool trace;              /* each access of a window is written, for locality */
    const struct lwp_machine *machine;
};

/* The folder of the tool: exact/ beside the lwp executable (a build folder) or in ../lib/lwp (installed). Owned. */
char *lwp_exact_find(struct lwp_error *err);

/* "ON:OFF" in instructions, with k, M or G, "ON:fibonacci" (gaps of ON, ON, 2 ON, 3 ON, 5 ON...), or "all"; NULL: about 1 %, or windows long enough to see
 * data used again, where `exact->trace` is set. */
int lwp_exact_window(const char *text, struct lwp_exact *exact, struct lwp_error *err);

/* "on" (1 %), "off", or percent below 50. */
int lwp_exact_approx(const char *text, double *approx, struct lwp_error *err);

/* The tool's command line for `command` (NULL-ended, borrowed), and the environment for it. Free the list with
 * lwp_exact_free. NULL: out of memory, or the machine's caches are unknown (which the error says). */
char **lwp_exact_command(const struct lwp_exact *exact, const char *folder, char *const *command, struct lwp_error *err);
char **lwp_exact_environment(char *const *from, const char *folder, const char *program);
void lwp_exact_free(char **list);

#endif
