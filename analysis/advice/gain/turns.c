/* Nodes that a loop goes to in turn with others.
 *
 * An array of pointers to a base class leads to objects of several classes, each in memory of its own. The instruction that reads the
 * pointer to the virtual functions, or the node's kind, then goes to all of them: other nodes that an instruction of the loop goes to as
 * well are visited instead of these, not beside them. Each visit of these has as many iterations as there are nodes of all kinds for one of
 * these, and which function is called comes to a jump that goes either way as often as the kind is not the most common one. */
#include "analysis/advice/gain/turns.h"

#include "analysis/elements/element_count.h"
#include "analysis/profile/streams.h"

enum { TURNS_MOST = 16 };

bool lwp_gain_in_turn(const struct lwp_gain_visit *visit, uint32_t object)
{
    bool in_turn = false;
    for (size_t k = 0; k < visit->turn_count; k++)
        in_turn |= visit->turns[k] == object;
    return in_turn;
}

static bool turns_other(const struct lwp_profile *profile, const struct lwp_gain_visit *visit, uint32_t object)
{
    bool other = profile->objects[object].single && !lwp_gain_in_turn(visit, object);
    for (size_t k = 0; k < visit->object_count; k++)
        other &= visit->objects[k] != object;
    return other;
}

double lwp_gain_nodes(const struct lwp_profile *profile, uint32_t object)
{
    const struct lwp_object *of = &profile->objects[object];
    return of->largest ? (double)lwp_element_used(of) / (double)of->largest : 0;
}

void lwp_gain_turns(struct lwp_profile *profile, struct lwp_gain_visit *visit, double own)
{
    if (!visit->shape.led)
        return;
    uint32_t *turns = lwp_arena_alloc(profile->arena, TURNS_MOST, sizeof *turns);
    double all = own, most = own;
    visit->turns = turns;
    for (size_t k = 0; k < visit->object_count; k++)
        LWP_STREAMS_OF(profile, visit->objects[k], stream)
            for (size_t i = 0; i < profile->stream_count && stream->region == visit->region && stream->module != LWP_NONE; i++) {
                const struct lwp_stream *also = &profile->streams[i];
                if (also->region != visit->region || also->module != stream->module || also->address != stream->address ||
                    visit->turn_count == TURNS_MOST || !turns_other(profile, visit, also->object))
                    continue;
                const double nodes = lwp_gain_nodes(profile, also->object);
                turns[visit->turn_count++] = also->object;
                all += nodes;
                most = nodes > most ? nodes : most;
            }
    visit->turn_guesses = 2 * (1 - most / all);
    visit->visits *= own / all;
}

bool lwp_gain_calls_unseen(const struct lwp_profile *profile, const uint32_t *objects, size_t count, uint32_t region,
                           const struct lwp_loop_shape *shape)
{
    struct lwp_loop_shape found;
    bool unseen = shape->computed_calls > 0;
    for (size_t k = 0; k < count && unseen; k++)
        LWP_STREAMS_OF(profile, objects[k], stream)
            unseen &= stream->region != region || lwp_loop_shape(profile->code, stream->module, stream->address, &found);
    return unseen;
}
