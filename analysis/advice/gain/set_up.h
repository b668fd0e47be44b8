/* Loops that set memory up: what they take is not at stake when its layout changes. */
#ifndef LWP_ANALYSIS_ADVICE_GAIN_SET_UP_H
#define LWP_ANALYSIS_ADVICE_GAIN_SET_UP_H

#include "analysis/advice/gain/gain.h"
#include "analysis/advice/placement/layout.h"

/* Whether the loop (of layout->loops) is the first to touch the elements, and goes over them once, before all others: it pays for new pages
 * and for lines that nobody has, as it will in any layout. */
bool lwp_gain_sets_up(const struct lwp_profile *profile, const struct lwp_layout *layout, size_t loop);

/* Whether all that samples saw in a region comes before anything that they saw in another one. */
bool lwp_gain_comes_before(const struct lwp_profile *profile, uint32_t region, uint32_t other);

/* Bytes of the elements' pages that the system does not make any more in a new layout, as nobody touches the parts that lie there: the
 * rest of an element on a page that is touched needs that page today. *sure: samples saw the elements being set up, and that was all. */
double lwp_gain_untouched(const struct lwp_profile *profile, const struct lwp_layout *layout, const struct lwp_placement *after,
                          double elements, bool *sure);

/* ... and of what lies between blocks of malloc's that come to lie side by side: its headers, and what it rounds up. */
double lwp_gain_apart(const struct lwp_layout *layout, const struct lwp_placement *after, double elements);

/* What as many calls of malloc take, of all time, where one block for many elements takes their place: as this machine takes for them, and
 * no more than all that the program does beside the layout's loops. All 0: none are saved, or it is not known. */
struct lwp_share lwp_gain_calls(const struct lwp_profile *profile, const struct lwp_layout *layout, const struct lwp_placement *after,
                                double elements);

#endif
