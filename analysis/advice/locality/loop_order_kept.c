/* Which loops must stay in their order.
 *
 * In one iteration a store goes to a place and another access to one d bytes away. With steps s of the inner loop and t of the one
 * around, d = x s + y t: the other access meets the store's place x iterations of the inner loop and y of the one around away. If x and
 * y have different signs, the one that comes first today comes second when the loops are interchanged (a dependence of direction
 * (<, >), Allen and Kennedy). d is known from the code, or where two accesses use different registers, from samples that saw both.
 * Limits: only accesses to one data object in the innermost loop itself; what code and samples do not show is taken to allow it. */
#include "analysis/advice/locality/loop_order_internal.h"
#include "analysis/profile/regions.h"
#include "analysis/program/flow/machine_code.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>

enum { SIBLINGS = 64, PLACES_LEAST = 16 };

/* What one iteration of the inner loop, and of the one around, adds to the access's address. False: not known. */
static bool kept_steps(const struct lwp_order *order, const struct lwp_order_access *access, int64_t *inner, int64_t *outer)
{
    *inner = access->step.bytes;
    const enum lwp_loop_step_kind kind = lwp_order_moves(order, access, order->outer.level, outer);
    if (kind == LWP_LOOP_STEP_NO_LOOP || kind == LWP_LOOP_STEP_UNKNOWN) /* that the loop around moves the column by */
        *outer = order->outer.by;
    return *inner != 0 && *outer != 0;
}

/* From the first to the last column that samples of the access saw: the loop around moves it by no more, as far as they say. */
static int64_t kept_across(const struct lwp_order_access *access, int64_t step)
{
    uint64_t low = UINT64_MAX, high = 0;
    for (uint32_t i = 0; i < access->stream->offsets.count; i++) {
        const uint64_t place = access->stream->offsets.items[i] % (uint64_t)llabs(step);
        LWP_LOWER(low, place);
        LWP_RAISE(high, place);
    }
    return access->stream->offsets.count >= PLACES_LEAST ? (int64_t)(high - low) : INT64_MAX;
}

/* d in whole steps of the longer one, the rest in the other, as far as that goes (`across`). */
static bool kept_crosses(int64_t d, int64_t inner, int64_t outer, int64_t across)
{
    const int64_t longer = llabs(inner) > llabs(outer) ? inner : outer, shorter = longer == inner ? outer : inner;
    const int64_t whole = llround((double)d / (double)longer), rest = d - whole * longer;
    return whole && rest && (longer != inner || llabs(rest) <= across) && (whole > 0) != ((rest > 0) == (shorter > 0));
}

/* From the store to the other access in one iteration, by the code; else by samples, each of which votes. */
static bool kept_pair(const struct lwp_order *order, const struct lwp_order_access *from, const struct lwp_order_access *to, int64_t inner,
                      int64_t outer)
{
    const struct lwp_stream *store = from->stream, *other = to->stream;
    const int64_t across = kept_across(from, inner);
    struct lwp_sibling siblings[SIBLINGS];
    size_t count = lwp_code_siblings(order->profile->code, store->module, store->address, siblings, SIBLINGS), votes = 0, crossing = 0;
    for (size_t i = 0; i < count && i < SIBLINGS; i++)
        if (siblings[i].address == other->address)
            return kept_crosses(siblings[i].delta, inner, outer, across);
    const struct lwp_moves *moves = &order->profile->moves;
    if (lwp_order_other_array(order, from, to))
        return false;
    for (size_t i = 0; i < moves->pair_count; i++) {
        const struct lwp_code_pair *pair = &moves->pairs[i];
        const bool forward = pair->from == store->address && pair->code == other->address;
        if (pair->object != store->object || (!forward && (pair->from != other->address || pair->code != store->address)) ||
            lwp_regions_final(order->profile, pair->region) != order->region)
            continue;
        for (size_t k = 0; k < pair->count; k++) {
            /* What stands earlier in the code and was seen later is of the next iteration. */
            int64_t d = pair->bytes[k] - (pair->code < pair->from ? inner : 0);
            votes++;
            crossing += kept_crosses(forward ? d : -d, inner, outer, across);
        }
    }
    return 2 * crossing > votes;
}

bool lwp_order_is_kept(const struct lwp_order *order, const struct lwp_order_access *column)
{
    int64_t inner, outer;
    if (!order->outer.level)
        return false;
    if (lwp_code_loop_ordered(order->profile->code, column->stream->module, column->stream->address, order->outer.level))
        return true;
    for (size_t i = 0; i < order->count; i++) {
        const struct lwp_order_access *store = &order->accesses[i];
        if (!store->stream->stores || store->step.blocks || !kept_steps(order, store, &inner, &outer))
            continue;
        for (size_t k = 0; k < order->count; k++)
            if (k != i && order->accesses[k].stream->object == store->stream->object &&
                order->accesses[k].step.bytes == store->step.bytes && kept_pair(order, store, &order->accesses[k], inner, outer))
                return true;
    }
    return false;
}
