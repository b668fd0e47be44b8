/* How many cache lines does a loop go to, when fields lie so? */
#ifndef LWP_ANALYSIS_ADVICE_PLACEMENT_LINES_H
#define LWP_ANALYSIS_ADVICE_PLACEMENT_LINES_H

#include "analysis/advice/placement/placement.h"

/* The mean count of cache lines of `line` bytes fetched for a visit of one element that touches the fields in `uses`, once the
 * traversal is under way. Sequential visits share lines with the next element, random ones share nothing. Of a field longer than
 * two lines two are counted. */
double lwp_placement_lines(const struct lwp_placement *placement, const bool *uses, uint64_t line, bool random);

/* What a loop wants of memory for each element it visits, in one layout. */
struct lwp_placement_need {
    double lines;   /* fetched for a visit, sequentially (lwp_placement_lines) */
    double random;  /* ... randomly */
    double busy;    /* bytes of the lines it touches, each counted once */
    double spread;  /* bytes from the first to the last of them */
    double spacing; /* from one element to the next */
    double places;  /* far from each other that one visit goes to; 0: one */
};

/* Of a loop that visits so many elements, and uses these fields of each. */
struct lwp_placement_need lwp_placement_needs(const struct lwp_placement *placement, const bool *uses, double elements, uint64_t line);

#endif
