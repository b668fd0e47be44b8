/* Is this the machine that the program ran on? */
#ifndef LWP_ANALYSIS_MEASURE_HERE_H
#define LWP_ANALYSIS_MEASURE_HERE_H

#include <jansson.h>
#include <stdbool.h>

/* By the host's name, the processor and the number of cores in a run.json. */
bool lwp_measure_is_here(const json_t *run);

#endif
