/* Which accesses of a nest are to one array, and how far apart are they in it?
 *
 * A data object may hold several arrays: planes of one block, or rows that were allocated at one place in the code for two matrices. And
 * one instruction may be seen on several objects, where its function is called with one after the other: it goes to one of them at a time.
 * The code says it where accesses use the same registers; samples do that saw both in one iteration, or on which objects each is. */
#include "analysis/advice/locality/loop_order_internal.h"

#include "analysis/profile/regions.h"
#include "analysis/program/flow/machine_code.h"
#include "base/order.h"

#include <stdlib.h>

enum { SIBLINGS = 64, VOTES = 2 * LWP_PAIR_KEPT, VOTES_LEAST = 3, PLACES_LEAST = 8 };

static const double missed_least = 5; /* accesses that would have been seen: by chance there is none in one of 150 cases */

/* By the code. */
static bool arrays_related(const struct lwp_order *order, const struct lwp_stream *from, const struct lwp_stream *to, int64_t *apart)
{
    struct lwp_sibling siblings[SIBLINGS];
    const size_t count = lwp_code_siblings(order->profile->code, from->module, from->address, siblings, SIBLINGS);
    *apart = 0;
    for (size_t i = 0; i < count && i < SIBLINGS; i++)
        if (siblings[i].address == to->address) {
            *apart = siblings[i].delta;
            return true;
        }
    return from->address == to->address;
}

/* By the samples that saw both; most of them have to agree. What stands earlier in the code and was seen later is of the next iteration. */
static bool arrays_seen(const struct lwp_order *order, const struct lwp_order_access *from, const struct lwp_order_access *to,
                        int64_t *apart)
{
    const struct lwp_moves *moves = &order->profile->moves;
    int64_t votes[VOTES];
    size_t count = 0, agreeing = 0;
    for (size_t i = 0; i < moves->pair_count; i++) {
        const struct lwp_code_pair *pair = &moves->pairs[i];
        const bool forward = pair->from == from->stream->address && pair->code == to->stream->address;
        if (pair->object != from->stream->object ||
            (!forward && (pair->from != to->stream->address || pair->code != from->stream->address)) ||
            lwp_regions_final(order->profile, pair->region) != order->region)
            continue;
        for (size_t k = 0; k < pair->count && count < VOTES; k++) {
            const int64_t d = pair->bytes[k] - (pair->code < pair->from ? from->step.bytes : 0);
            votes[count++] = forward ? d : -d;
        }
    }
    if (count < VOTES_LEAST)
        return false;
    qsort(votes, count, sizeof *votes, lwp_compare_i64);
    *apart = votes[count / 2];
    for (size_t i = 0; i < count; i++)
        agreeing += votes[i] == *apart;
    return 2 * agreeing > count;
}

bool lwp_order_apart(const struct lwp_order *order, const struct lwp_order_access *from, const struct lwp_order_access *to, int64_t *apart)
{
    return arrays_related(order, from->stream, to->stream, apart) ||
           (from->stream->object == to->stream->object && from->step.bytes == to->step.bytes && !from->step.blocks &&
            arrays_seen(order, from, to, apart));
}

static double arrays_count(const struct lwp_order_access *access)
{
    return (double)(access->stream->loads + access->stream->stores);
}

/* Accesses of an instruction, to one object or to all (LWP_NONE). */
static double arrays_seen_on(const struct lwp_order *order, uint64_t address, uint32_t object)
{
    double count = 0;
    for (size_t i = 0; i < order->count; i++)
        if (order->accesses[i].stream->address == address && (object == LWP_NONE || order->accesses[i].stream->object == object))
            count += arrays_count(&order->accesses[i]);
    return count;
}

/* Whether `one` is seen on an object on which `other` would have been seen, too, if it went to the same arrays. */
static bool arrays_misses(const struct lwp_order *order, uint64_t one, uint64_t other)
{
    const double all = arrays_seen_on(order, one, LWP_NONE), of_other = arrays_seen_on(order, other, LWP_NONE);
    for (size_t i = 0; i < order->count && all > 0; i++) {
        const struct lwp_stream *stream = order->accesses[i].stream;
        if (stream->address == one && arrays_seen_on(order, other, stream->object) <= 0 &&
            arrays_seen_on(order, one, stream->object) / all * of_other >= missed_least)
            return true;
    }
    return false;
}

static void arrays_range(const struct lwp_offsets *offsets, uint64_t *low, uint64_t *high)
{
    *low = UINT64_MAX;
    *high = 0;
    for (uint32_t i = 0; i < offsets->count; i++) {
        LWP_LOWER(*low, offsets->items[i]);
        LWP_RAISE(*high, offsets->items[i]);
    }
}

/* By chance, if they went over the same array, in one of 6,435 cases. */
bool lwp_order_disjoint(const struct lwp_stream *one, const struct lwp_stream *other)
{
    uint64_t low[2], high[2];
    if (one->object != other->object || one->offsets.count < PLACES_LEAST || other->offsets.count < PLACES_LEAST)
        return false;
    arrays_range(&one->offsets, &low[0], &high[0]);
    arrays_range(&other->offsets, &low[1], &high[1]);
    return high[0] < low[1] || high[1] < low[0];
}

bool lwp_order_other_array(const struct lwp_order *order, const struct lwp_order_access *one, const struct lwp_order_access *other)
{
    int64_t apart;
    if (arrays_related(order, one->stream, other->stream, &apart))
        return false;
    if (lwp_order_disjoint(one->stream, other->stream))
        return true;
    if (lwp_order_apart(order, one, other, &apart))
        return one->step.kind == LWP_ORDER_COLUMN && 2.0 * (double)llabs(apart) >= order->rows * (double)llabs(one->step.bytes);
    return arrays_misses(order, one->stream->address, other->stream->address) ||
           arrays_misses(order, other->stream->address, one->stream->address);
}

/* How often the instruction, and those that go to the same array, are seen on its object. */
static double arrays_together(const struct lwp_order *order, const struct lwp_order_access *access)
{
    double count = 0;
    for (size_t i = 0; i < order->count; i++) {
        const struct lwp_order_access *other = &order->accesses[i];
        if (other->stream->object == access->stream->object && other->step.kind == access->step.kind &&
            other->step.bytes == access->step.bytes && !lwp_order_other_array(order, access, other))
            count += arrays_count(other);
    }
    return count;
}

bool lwp_order_stands(const struct lwp_order *order, size_t access)
{
    const struct lwp_order_access *own = &order->accesses[access];
    double together = -1;
    for (size_t i = 0; i < order->count; i++) {
        const struct lwp_order_access *other = &order->accesses[i];
        if (i == access || other->stream->address != own->stream->address || other->stream->module != own->stream->module)
            continue;
        together = together < 0 ? arrays_together(order, own) : together;
        const double of_other = arrays_together(order, other);
        if (of_other > together || (of_other >= together && i < access))
            return false;
    }
    return true;
}
