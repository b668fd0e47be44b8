/* What lwp diff says of communication and distances that move: entries "communication" and "locality" of its answer; null prints nothing. */
#ifndef LWP_ANALYSIS_DIFF_DIFF_TEXT_SCALING_H
#define LWP_ANALYSIS_DIFF_DIFF_TEXT_SCALING_H

#include <jansson.h>
#include <stdio.h>

void lwp_diff_print_communication(FILE *out, const json_t *regions);
void lwp_diff_print_locality(FILE *out, const json_t *rows);

#endif
