/* Where does a chain go from each element, and when does it end? */
#ifndef LWP_ANALYSIS_ADVICE_GAIN_CHAIN_H
#define LWP_ANALYSIS_ADVICE_GAIN_CHAIN_H

#include "analysis/advice/gain/visit.h"
#include "analysis/measure/pattern.h"

/* Accesses that a sample passes before it keeps some, fewer than these (LWP_DITHER_MOST in collector/code/charge.h). */
enum { LWP_GAIN_PASSED_MOST = 48 };

/* Where samples saw a chain go: to neighbours, and so for many elements, which only then share the lines that it waits for; or anywhere.
 * Not known: too few steps were seen, or it is soon at its end, and the next one begins elsewhere (a search of a tree whose nodes lie near
 * each other). */
enum lwp_gain_pattern lwp_gain_chain(const struct lwp_profile *profile, const struct lwp_gain_visit *visit, double spacing);

/* Where its pattern's visits go, in a chain. */
void lwp_gain_chain_pattern(const struct lwp_profile *profile, const struct lwp_gain_visit *visit, double spacing,
                            struct lwp_pattern *pattern);

/* The part of the visits at which another chain begins, anywhere; 0: hardly any, not known, or the loop around steps through an array of
 * pointers to where they begin: then each chain follows the one before, if all are laid down so. */
double lwp_gain_chain_begins(const struct lwp_profile *profile, const struct lwp_gain_visit *visit, double spacing);

/* Ends of chains a visit, of which each is guessed wrong; 0: of searches, which have `endings`, or not known. */
double lwp_gain_chain_ends(const struct lwp_profile *profile, const struct lwp_gain_visit *visit, double spacing);

/* The array of pointers that the region's code steps through, with about so many of them (0: however many); LWP_NONE: none is known. */
uint32_t lwp_gain_pointers(const struct lwp_profile *profile, uint32_t region, double count);

/* Whether the access loads addresses of a table, in no order, around the region's loop: of where its chains begin. */
bool lwp_gain_leads_chains(const struct lwp_profile *profile, uint32_t region, const struct lwp_stream *stream);

/* Neighbours that are visited in disorder, window by window: of how many, by the steps back that were seen, in elements. These are of two
 * of one window, however many visits on: of n elements n - d are d apart. The most likely number, or the `least`; 0: no steps. */
unsigned lwp_gain_window(const double *back, size_t count, bool least);

/* ... by steps from one visit to the very next one, forward ones too: most likely so many, where a few steps lead elsewhere. */
unsigned lwp_gain_window_of_next(const double *steps, size_t count);

/* Where those of a search of a tree go. */
void lwp_gain_tree_pattern(const struct lwp_profile *profile, const struct lwp_gain_visit *visit, double spacing,
                           struct lwp_pattern *pattern);

/* Visits of each of a pattern's searches, for so many in the mean, as its code can repeat them: 1, 2, 4; 0: more, or not known. The next
 * chain begins without waiting for this one. */
unsigned lwp_gain_search(double visits);

/* Of a pattern's searches of `search` visits (0: of very many) those whose end is guessed wrong, in eighths, where searches make so many
 * `visits` on average. */
unsigned lwp_gain_endings(double visits, unsigned search);

/* Widens what was measured of searches along chains, and takes its middle: what leads to them is not run. */
void lwp_gain_begun(struct lwp_gain_measured *measured);

#endif
