/* The detectors of the engine, and which of them were asked for. */
#ifndef LWP_COLLECTOR_EXACT_DETECTORS_H
#define LWP_COLLECTOR_EXACT_DETECTORS_H

#include "collector/exact/valgrind/tool.h"

#include <stdbool.h>

/* Takes an option of a detector; false: it is none. */
bool lwp_detectors_option(const HChar *argument);
/* What all that were asked for need: enum lwp_detector_needs. */
unsigned lwp_detectors_needs(void);
/* Starts those that were asked for. */
void lwp_detectors_start(void);

#endif
