/* Where a chain goes from each element, and when it ends, as samples saw it. */
#include "analysis/advice/gain/chain.h"

#include "analysis/profile/regions.h"

#include <math.h>

enum { MOVES_LEAST = 8, MOVES_MOST = 256 };

static const double far_elements = 128, few_steps = 0.05, /* of all: back to where memory was freed */
    nearly_all = 0.95;

struct chain_moves {
    double near[MOVES_MOST]; /* in elements */
    size_t count, far, stays, leaves;
    bool next; /* all of them from one visit to the very next one; else some visits on */
};

static void chain_moves_of(const struct lwp_profile *profile, const struct lwp_gain_visit *visit, double spacing, struct chain_moves *moves)
{
    for (size_t i = 0; i < profile->moves.count; i++) {
        const struct lwp_code_moves *of = &profile->moves.items[i];
        bool mine = false;
        for (size_t k = 0; k < visit->object_count; k++)
            mine |= visit->objects[k] == of->object;
        if (!mine || lwp_regions_final(profile, of->region) != visit->region)
            continue;
        moves->stays += of->stays;
        moves->leaves += of->leaves;
        for (size_t k = 0; k < of->count; k++) {
            double elements = (double)of->kept[k].bytes / spacing;
            if ((moves->next && !of->kept[k].next) || fabs(elements) < 0.5)
                continue;
            if (fabs(elements) > far_elements)
                moves->far++;
            else if (moves->count < MOVES_MOST)
                moves->near[moves->count++] = elements;
        }
    }
}

/* Of a chain, in the mean; INFINITY: not known. */
static double chain_visits(const struct chain_moves *moves)
{
    return moves->leaves < MOVES_LEAST ? INFINITY : 1 + (double)moves->stays / (double)moves->leaves;
}

/* Of so many visits, as the code can repeat them: 1, 2, 4; 0: more, or not known. The next chain begins without waiting for this one. */
static unsigned chain_search(const struct chain_moves *moves)
{
    const double visits = chain_visits(moves);
    return visits < M_SQRT2 ? 1 : visits < 2 * M_SQRT2 ? 2 : visits < 4 * M_SQRT2 ? 4 : 0;
}

/* A search that ends after 1 to n visits, each as likely, is guessed right once in n at best. In eighths of the pattern's searches, which
 * are of a few visits more or less: as many wrong guesses a visit. */
unsigned lwp_gain_endings(double visits, unsigned search)
{
    const double most = fmax(1, 2 * visits - 1), wrong = (1 - 1 / most) * search / visits;
    return search ? (unsigned)lround(fmin(8 * wrong, 7)) : 0;
}

enum lwp_gain_pattern lwp_gain_chain(const struct lwp_profile *profile, const struct lwp_gain_visit *visit, double spacing)
{
    struct chain_moves moves = {0};
    chain_moves_of(profile, visit, spacing, &moves);
    return moves.count + moves.far < MOVES_LEAST ? LWP_GAIN_UNKNOWN
           : moves.far >= moves.count            ? LWP_GAIN_RANDOM
           : chain_search(&moves)                ? LWP_GAIN_UNKNOWN
                                                 : LWP_GAIN_SEQUENTIAL;
}

/* Neighbours are visited in disorder, window by window: two of one window are a third of its size and one apart in the mean, and steps
 * back are of such two, however many visits on. */
void lwp_gain_chain_pattern(const struct lwp_profile *profile, const struct lwp_gain_visit *visit, double spacing,
                            struct lwp_pattern *pattern)
{
    struct chain_moves moves = {.next = true};
    double back = 0;
    size_t steps = 0, before = 0;
    pattern->far = visit->far < 0 ? 1 : visit->far;
    chain_moves_of(profile, visit, spacing, &moves);
    pattern->search = chain_search(&moves);
    pattern->endings = lwp_gain_endings(chain_visits(&moves), pattern->search);
    if (moves.count + moves.far < MOVES_LEAST) {
        moves = (struct chain_moves){.next = false};
        chain_moves_of(profile, visit, spacing, &moves);
    }
    if (moves.count + moves.far < MOVES_LEAST)
        return;
    pattern->far = (double)moves.far / (double)(moves.count + moves.far);
    if (moves.count < MOVES_LEAST)
        return;
    for (size_t i = 0; i < moves.count; i++)
        if (moves.near[i] < 0) {
            back -= moves.near[i];
            before += moves.near[i] > -1.5;
            steps++;
        }
    if ((double)before >= nearly_all * (double)moves.count) /* from the last to the first, as a list is whose newest node is its head */
        return;
    if ((double)steps > few_steps * (double)moves.count)
        pattern->window = (uint64_t)lround(3 * back / (double)steps - 1);
}

/* What leads to each search of a chain is not run: the key, and the table that the chain begins in. As far as the loop may take longer than
 * its run, that is alike in both layouts. */
void lwp_gain_begun(struct lwp_gain_measured *measured)
{
    const double more = measured->paces.high - measured->pattern;
    if (measured->pace > 0 || more <= 0)
        return;
    lwp_gain_lies_between(measured, (measured->ratio * measured->pattern + more) / measured->paces.high);
}
