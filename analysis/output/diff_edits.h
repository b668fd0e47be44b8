/* What a unified diff says, as replacements of lines. */
#ifndef LWP_ANALYSIS_OUTPUT_DIFF_EDITS_H
#define LWP_ANALYSIS_OUTPUT_DIFF_EDITS_H

#include <jansson.h>

/* [{"file", "edits": [{"line": first that goes, "lines": how many, "text": what comes in their place}]}], files by the path after "b/".
 * NULL: it is no such diff, or it adds a file. */
json_t *lwp_diff_edits(const char *diff);

#endif
