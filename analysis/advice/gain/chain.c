/* Where a chain goes from each element, and when it ends, as samples saw it. */
#include "analysis/advice/gain/chain.h"

#include "analysis/elements/element_count.h"
#include "analysis/profile/regions.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>

enum { MOVES_LEAST = 8, MOVES_MOST = 256, PASS_LEAST = 16 };

static const double far_elements = 128, few_steps = 0.05, /* of all: back to where memory was freed */
    nearly_all = 0.95, few_lost = 0.1, elsewhere = 8, anywhere = 0.9, as_many = 1.25;

struct chain_moves {
    double near[MOVES_MOST]; /* in elements */
    double all[MOVES_MOST];  /* ... and the others */
    size_t count, far, stays, leaves, lost;
    double visits, begins; /* accesses of an instruction in the loop, and of one around it, that were as likely to be seen */
    bool next; /* all of them from one visit to the very next one; else some visits on */
};

static void chain_move(struct chain_moves *moves, double elements)
{
    if (fabs(elements) < 0.5)
        return;
    if (moves->count + moves->far < MOVES_MOST)
        moves->all[moves->count + moves->far] = elements;
    if (fabs(elements) > far_elements)
        moves->far++;
    else if (moves->count < MOVES_MOST)
        moves->near[moves->count++] = elements;
}

static bool chain_has(const struct lwp_gain_visit *visit, uint32_t object)
{
    bool has = false;
    for (size_t k = 0; k < visit->object_count; k++)
        has |= visit->objects[k] == object;
    return has;
}

/* Where the function begins that an address is in, whatever was inlined there; 0: not known. */
static uint64_t chain_function(const struct lwp_profile *profile, uint32_t module, uint64_t address)
{
    const struct lwp_symbolized *place = module == LWP_NONE ? NULL : lwp_code_symbolize(profile->code, module, address);
    return place ? place->function_low : 0;
}

/* Whether the access is made around the loop: in a loop around it, or in its function where that has none. */
static bool chain_around(const struct lwp_profile *profile, uint32_t chained, const struct lwp_stream *stream)
{
    const struct lwp_region *loop = &profile->regions[chained];
    const uint32_t region = lwp_regions_final(profile, stream->region), parent = lwp_regions_final(profile, loop->parent);
    if (region == chained || stream->module != loop->module)
        return false;
    if (parent != LWP_NONE)
        return region != LWP_NONE && lwp_regions_within(profile, chained, region);
    const uint64_t function = chain_function(profile, loop->module, loop->address);
    return function && function == chain_function(profile, stream->module, stream->address);
}

/* ... but in another loop of that function. */
static bool chain_beside(const struct lwp_profile *profile, const struct lwp_gain_visit *visit, const struct lwp_stream *stream)
{
    const uint32_t region = lwp_regions_final(profile, stream->region);
    return region == LWP_NONE || !(profile->regions[region].is_function || lwp_regions_within(profile, visit->region, region));
}

/* Accesses that no stall chose; both ends of a loop's round are as likely to be among them. */
static double chain_fair(const struct lwp_stream *stream)
{
    return (double)(stream->accesses - stream->weight.samples);
}

static void chain_moves_of(const struct lwp_profile *profile, const struct lwp_gain_visit *visit, double spacing, struct chain_moves *moves)
{
    for (size_t i = 0; i < profile->moves.count; i++) {
        const struct lwp_code_moves *of = &profile->moves.items[i];
        if (!chain_has(visit, of->object) || lwp_regions_final(profile, of->region) != visit->region)
            continue;
        moves->stays += of->stays;
        moves->leaves += of->leaves;
        moves->lost += of->lost;
        for (size_t k = 0; k < of->count; k++)
            if (!moves->next || of->kept[k].next)
                chain_move(moves, (double)of->kept[k].bytes / spacing);
    }
    for (size_t i = 0; i < profile->stream_count; i++) {
        const struct lwp_stream *stream = &profile->streams[i];
        if (chain_has(visit, stream->object) && lwp_regions_final(profile, stream->region) == visit->region)
            moves->visits = fmax(moves->visits, chain_fair(stream));
        else if (chain_around(profile, visit->region, stream) && !chain_beside(profile, visit, stream))
            moves->begins = fmax(moves->begins, chain_fair(stream));
    }
}

/* Of a chain, in the mean; INFINITY: not known. A look that goes on some visits later may have passed its end. Where looks come to theirs,
 * each execution is as likely to be in one as any other, and tells better. */
static double chain_visits(const struct chain_moves *moves)
{
    if (moves->begins >= MOVES_LEAST && (double)moves->lost <= few_lost * moves->visits)
        return fmax(1, moves->visits / moves->begins);
    return moves->leaves < MOVES_LEAST ? INFINITY : 1 + (double)moves->stays / (double)moves->leaves;
}

uint32_t lwp_gain_pointers(const struct lwp_profile *profile, uint32_t region, double count)
{
    for (size_t i = 0; i < profile->stream_count; i++) {
        const struct lwp_stream *stream = &profile->streams[i];
        const double pointers = (double)lwp_element_used(&profile->objects[stream->object]) / sizeof(void *);
        const bool as_many_as = count <= 0 || (pointers <= as_many * count && count <= as_many * pointers);
        struct lwp_loop_shape shape;
        if (lwp_regions_final(profile, stream->region) == region && stream->bytes == sizeof(void *) && !stream->stores && !stream->vector &&
            as_many_as && stream->module != LWP_NONE && lwp_loop_shape(profile->code, stream->module, stream->address, &shape) &&
            shape.steps && shape.step && shape.step % (int64_t)sizeof(void *) == 0)
            return stream->object;
    }
    return LWP_NONE;
}

double lwp_gain_chain_begins(const struct lwp_profile *profile, const struct lwp_gain_visit *visit, double spacing)
{
    struct chain_moves moves = {0};
    const uint32_t around = lwp_regions_final(profile, profile->regions[visit->region].parent);
    if (around != LWP_NONE && !profile->regions[around].is_function && lwp_gain_pointers(profile, around, 0) != LWP_NONE)
        return 0;
    chain_moves_of(profile, visit, spacing, &moves);
    return 1 / chain_visits(&moves);
}

unsigned lwp_gain_search(double visits)
{
    return visits < M_SQRT2 ? 1 : visits < 2 * M_SQRT2 ? 2 : visits < 4 * M_SQRT2 ? 4 : 0;
}

double lwp_gain_chain_ends(const struct lwp_profile *profile, const struct lwp_gain_visit *visit, double spacing)
{
    struct chain_moves moves = {0};
    if (visit->whole)
        return 0;
    chain_moves_of(profile, visit, spacing, &moves);
    return lwp_gain_search(chain_visits(&moves)) ? 0 : 1 / chain_visits(&moves);
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
    return moves.count + moves.far < MOVES_LEAST                    ? LWP_GAIN_UNKNOWN
           : moves.far >= moves.count                               ? LWP_GAIN_RANDOM
           : !visit->whole && lwp_gain_search(chain_visits(&moves)) ? LWP_GAIN_UNKNOWN
                                                                    : LWP_GAIN_SEQUENTIAL;
}

/* Visits from one access that a sample saw to a later one, in the mean: it passes fewer than so many accesses, each number as likely,
 * before it keeps some, and each access of the loop is as likely to be kept as it is made. 0: not known. */
static double chain_visits_on(const struct lwp_profile *profile, const struct lwp_gain_visit *visit)
{
    double all = 0, own = 0;
    for (size_t i = 0; i < profile->stream_count; i++) {
        const struct lwp_stream *stream = &profile->streams[i];
        if (stream->region != visit->region)
            continue;
        all += stream->fair_seen;
        own = chain_has(visit, stream->object) ? fmax(own, stream->fair_seen) : own;
    }
    return own >= MOVES_LEAST ? (floor(LWP_GAIN_PASSED_MOST / (all / own)) + 1) / 2 : 0;
}

/* A chain that goes on in one direction (from the first, or from the last, as a list does whose newest node is its head) and passes over
 * elements comes to these another time: of a list that is sorted by what has few values, say. It has as many passes as it goes on, in the
 * mean; without the few steps that lead elsewhere. False: it goes both ways. */
static bool chain_passes(const struct lwp_profile *profile, const struct lwp_gain_visit *visit, const struct chain_moves *moves,
                         struct lwp_pattern *pattern)
{
    double steps[MOVES_MOST], sum = 0;
    const size_t count = moves->count + moves->far < MOVES_MOST ? moves->count + moves->far : MOVES_MOST;
    const double visits = moves->next ? 1 : chain_visits_on(profile, visit);
    size_t back = 0, kept = 0, even = 0;
    for (size_t i = 0; i < count; i++) {
        back += moves->all[i] < 0;
        steps[i] = fabs(moves->all[i]);
    }
    if (fmin((double)back, (double)(count - back)) > few_steps * (double)count)
        return false;
    qsort(steps, count, sizeof *steps, lwp_compare_double);
    for (size_t i = 0; i < count && steps[i] <= elsewhere * steps[count / 2]; i++, kept++)
        sum += steps[i];
    const double passes = visits > 0 ? round(sum / (double)kept / visits) : 0;
    if (passes < 2 || PASS_LEAST * passes > (double)pattern->elements) /* of a few elements each goes anywhere */
        return true;
    for (size_t i = 0; i < count; i++)
        even += fabs(steps[i] - passes) < 0.5;
    pattern->far = 0;
    pattern->passes = (unsigned)passes;
    pattern->even = moves->next && (double)even >= nearly_all * (double)count;
    return true;
}

unsigned lwp_gain_window(const double *back, size_t count, bool least)
{
    enum { SIZES = 4 }; /* times the least */
    double farthest = 0, best = -INFINITY;
    unsigned window = 0;
    for (size_t i = 0; i < count; i++)
        farthest = fmax(farthest, round(back[i]));
    const double most = (least ? 1 : SIZES) * (farthest + 1);
    for (double size = farthest + 1; count && size <= most; size++) {
        double likely = 0;
        for (size_t i = 0; i < count; i++)
            likely += log((size - fmax(1, round(back[i]))) / (size * (size - 1) / 2));
        if (likely > best) {
            best = likely;
            window = (unsigned)size;
        }
    }
    return window;
}

bool lwp_gain_leads_chains(const struct lwp_profile *profile, uint32_t region, const struct lwp_stream *stream)
{
    struct lwp_loop_shape shape;
    return stream->bytes == sizeof(void *) && stream->loads && !stream->stores && chain_around(profile, region, stream) &&
           !(lwp_loop_shape(profile->code, stream->module, stream->address, &shape) && (shape.steps || shape.stays));
}

/* How likely a visit and the very next one are so far apart: both of one window, or the last of one and the first of the next. */
static double chain_step_likely(double step, double size)
{
    const double within = fmax(0, size - fabs(step)), on = fmax(0, size - fabs(step - size));
    return (within + on / size) / (size * size);
}

unsigned lwp_gain_window_of_next(const double *steps, size_t count)
{
    double sum = 0, best = -INFINITY;
    unsigned window = 0;
    for (size_t i = 0; i < count; i++)
        sum += steps[i];
    const double forward = sum < 0 ? -1 : 1; /* or from the last window to the first */
    for (double size = 1; count && size <= far_elements; size++) {
        double likely = 0;
        for (size_t i = 0; i < count; i++)
            likely += log((1 - few_steps) * chain_step_likely(forward * round(steps[i]), size) + few_steps / (2 * far_elements));
        if (likely > best) {
            best = likely;
            window = (unsigned)size;
        }
    }
    return window;
}

/* `back`: the steps back among the moves to neighbours. `most`: no more than the steps back need; 0: any. */
static unsigned chain_window(const struct chain_moves *moves, const double *back, size_t steps, unsigned most)
{
    const unsigned likely = moves->next ? lwp_gain_window_of_next(moves->near, moves->count) : lwp_gain_window(back, steps, false),
                   least = lwp_gain_window(back, steps, true), room = most > least ? most : least;
    return most && room < likely ? room : likely;
}

/* Addresses that each search of so many loads one of, in no order: bytes from one to the next; 0: none are known. */
static uint64_t chain_heads(const struct lwp_profile *profile, const struct lwp_gain_visit *visit, double searches)
{
    static const double apart_most = 4096;
    for (size_t k = 0; k < profile->stream_count; k++) {
        const struct lwp_stream *stream = &profile->streams[k];
        const double bytes = (double)profile->objects[stream->object].largest;
        if (!chain_has(visit, stream->object) && bytes >= lwp_gain_large_object && lwp_gain_leads_chains(profile, visit->region, stream))
            return (uint64_t)fmax(1, round(fmin(bytes / searches, apart_most) / sizeof(void *))) * sizeof(void *);
    }
    return 0;
}

void lwp_gain_chain_pattern(const struct lwp_profile *profile, const struct lwp_gain_visit *visit, double spacing,
                            struct lwp_pattern *pattern)
{
    struct chain_moves moves = {.next = true};
    double back[MOVES_MOST];
    size_t steps = 0;
    pattern->far = visit->far < 0 ? 1 : visit->far;
    chain_moves_of(profile, visit, spacing, &moves);
    pattern->search = visit->whole ? 0 : lwp_gain_search(chain_visits(&moves));
    if (pattern->search)
        pattern->heads = chain_heads(profile, visit, visit->elements / pattern->search);
    pattern->endings = lwp_gain_endings(chain_visits(&moves), pattern->search);
    if (moves.count + moves.far < MOVES_LEAST) {
        moves = (struct chain_moves){.next = false};
        chain_moves_of(profile, visit, spacing, &moves);
    }
    if (moves.count + moves.far < MOVES_LEAST)
        return;
    pattern->far = (double)moves.far / (double)(moves.count + moves.far);
    if ((!pattern->search && chain_passes(profile, visit, &moves, pattern)) || moves.count < MOVES_LEAST)
        return;
    for (size_t i = 0; i < moves.count; i++)
        if (moves.near[i] < 0)
            back[steps++] = -moves.near[i];
    if ((double)steps > few_steps * (double)moves.count)
        pattern->window = chain_window(&moves, back, steps, visit->window_most);
}

/* Of a tree whose nodes were put in anywhere hardly a step leads to a neighbour; of one that was filled in order the last few do. */
void lwp_gain_tree_pattern(const struct lwp_profile *profile, const struct lwp_gain_visit *visit, double spacing,
                           struct lwp_pattern *pattern)
{
    struct chain_moves moves = {.next = true};
    chain_moves_of(profile, visit, spacing, &moves);
    const size_t count = moves.count + moves.far;
    pattern->tree = true;
    pattern->far = count < MOVES_LEAST || (double)moves.far >= anywhere * (double)count ? 1 : 0;
}

/* Of what leads to each search of a chain only the table that it begins in is run, where that is known, and not its key. As far as the loop
 * may take longer than its run, that is alike in both layouts. */
void lwp_gain_begun(struct lwp_gain_measured *measured)
{
    const double more = measured->paces.high - measured->pattern;
    if (measured->pace > 0 || more <= 0)
        return;
    lwp_gain_lies_between(measured, (measured->ratio * measured->pattern + more) / measured->paces.high);
}
