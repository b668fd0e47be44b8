/* What a result says about where and by whom it was made, taken out before it is shared. */
#ifndef LWP_ANALYSIS_OUTPUT_REDACT_H
#define LWP_ANALYSIS_OUTPUT_REDACT_H

#include <jansson.h>

/* `data` holds the texts to go through: `analysis` (an analysis.json) itself, or something around it, such as a page's data.
 * Source paths become relative to `source_root`; NULL: it is found (names.h). */
void lwp_redact_paths(json_t *data, json_t *analysis, const char *source_root);

/* Takes out, in addition: the host; users and their home directories; the program's arguments and the folder it ran in;
 * what lwp collect's options were given; folders of files that are neither the source's nor the system's. */
void lwp_redact(json_t *data, json_t *analysis, const char *source_root);

#endif
