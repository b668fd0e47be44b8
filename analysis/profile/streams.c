/* Streams once all samples are in. */
#include "analysis/profile/streams.h"

#include "analysis/profile/contexts.h"
#include "analysis/profile/moves.h"
#include "analysis/profile/objects.h"
#include "base/arena.h"
#include "base/pages.h"

#include <stdlib.h>
#include <string.h>

enum { FAIR_ENOUGH = 8 };

/* Accesses of one instruction: all, those to the pool that has most of them, or to several pools of one size, and the stream that has most
 * of these. */
struct stream_site {
    uint64_t all, most, pools;
    uint32_t object;
    size_t stream;
};

static bool stream_is_pooled(const struct lwp_profile *profile, uint32_t object)
{
    return profile->objects[object].kind == LWP_OBJECT_HEAP && profile->objects[object].pool_size;
}

/* What an instruction goes to in the same way: an object, or pools of blocks of one size that one function of the program allocates, as
 * where it puts something into two sets. */
static uint64_t stream_pools(struct lwp_profile *profile, uint32_t object)
{
    uint32_t node = profile->objects[object].context;
    while (node && (profile->contexts[node].module == LWP_NONE || lwp_objects_library_code(profile, profile->contexts[node].module)))
        node = profile->contexts[node].parent;
    if (!stream_is_pooled(profile, object) || !node)
        return lwp_hash_mix(0, object);
    const struct lwp_context_node *call = &profile->contexts[node];
    return lwp_hash_mix(profile->objects[object].pool_size,
                        lwp_hash_mix(call->module, lwp_contexts_function(profile, call->module, call->address)));
}

void lwp_stream_move(struct lwp_profile *profile, struct lwp_stream *stream, uint32_t to)
{
    struct lwp_object *from = &profile->objects[stream->object], *object = &profile->objects[to];
    from->weight.weight -= stream->weight.weight;
    from->weight.squares -= stream->weight.squares;
    from->weight.samples -= stream->weight.samples;
    from->accesses -= stream->accesses;
    from->loads -= stream->loads;
    from->stores -= stream->stores;
    lwp_tally_merge(&object->weight, &stream->weight);
    object->accesses += stream->accesses;
    object->loads += stream->loads;
    object->stores += stream->stores;
    lwp_moves_give(profile, stream, to);
    stream->object = to;
}

/* Which blocks are left out is drawn: few accesses show it where all of them are to one pool. */
static bool stream_shows(const struct lwp_profile *profile, const struct stream_site *site)
{
    enum { ENOUGH = 20, FEW = 10 }; /* of two pools alike, all of 10 go to one by chance in one of 500 cases */
    const bool shows = site->all >= ENOUGH ? site->most * 20 >= site->all * 19 : site->all >= FEW && site->most == site->all;
    return shows && stream_is_pooled(profile, site->object);
}

/* Where in its block each access fell is not known, but that is where the instruction goes to in recorded ones. */
static void stream_place_as(struct lwp_profile *profile, struct lwp_stream *stream, const struct lwp_offsets *known)
{
    stream->offsets = *known;
    stream->offsets.items = lwp_arena_alloc(profile->arena, known->count + 1, sizeof *known->items);
    if (known->count)
        memcpy(stream->offsets.items, known->items, known->count * sizeof *known->items);
}

/* When a program allocates very fast, the collector leaves small blocks out to stay within its budget. Their accesses have an
 * address and no object, although the same instruction is seen on recorded blocks of the same pool. */
double lwp_streams_adopt(struct lwp_profile *profile, uint32_t unowned)
{
    size_t first = 0;
    while (first < profile->stream_count && profile->streams[first].object != unowned)
        first++;
    if (first == profile->stream_count)
        return 0;
    struct lwp_map *sites = lwp_map_new(), *pairs = lwp_map_new();
    struct stream_site *seen = NULL;
    uint64_t *counts = NULL;
    size_t seen_count = 0, seen_room = 0, pair_count = 0, pair_room = 0;
    double moved = 0;
    for (size_t i = 0; i < profile->stream_count; i++) {
        const struct lwp_stream *stream = &profile->streams[i];
        if (stream->object == unowned || profile->objects[stream->object].kind == LWP_OBJECT_UNKNOWN)
            continue;
        uint64_t code = lwp_hash_mix(stream->module, stream->address);
        uint32_t *at = lwp_map_at(sites, code);
        if (lwp_number_new(at, seen_count))
            LWP_APPEND(&seen, &seen_count, &seen_room, (struct stream_site){.object = LWP_NONE});
        struct stream_site *site = &seen[*at];
        const uint64_t pools = stream_pools(profile, stream->object);
        uint32_t *pair = lwp_map_at(pairs, lwp_hash_mix(code, pools));
        if (lwp_number_new(pair, pair_count))
            LWP_APPEND(&counts, &pair_count, &pair_room, 0);
        counts[*pair] += stream->accesses; // NOLINT(clang-analyzer-core.NullDereference): a number that was there has its item
        site->all += stream->accesses;     // NOLINT(clang-analyzer-core.NullDereference)
        const bool same = site->pools == pools && site->object != LWP_NONE;
        if (counts[*pair] > site->most && (!same || stream->accesses > profile->streams[site->stream].accesses)) {
            site->object = stream->object;
            site->stream = i;
        }
        if (counts[*pair] > site->most) {
            site->most = counts[*pair];
            site->pools = pools;
        }
    }
    for (size_t i = 0; i < profile->stream_count; i++) {
        struct lwp_stream *stream = &profile->streams[i];
        if (stream->object != unowned)
            continue;
        uint32_t at = lwp_map_get(sites, lwp_hash_mix(stream->module, stream->address));
        if (at == LWP_MAP_NONE || !stream_shows(profile, &seen[at])) // NOLINT(clang-analyzer-core.NullDereference)
            continue;
        moved += stream->weight.weight;
        lwp_stream_move(profile, stream, seen[at].object);
        stream_place_as(profile, stream, &profile->streams[seen[at].stream].offsets);
    }
    free(seen);
    free(counts);
    lwp_map_free(sites);
    lwp_map_free(pairs);
    return moved;
}

static bool stream_is_on_stack(const struct lwp_profile *profile, uint64_t address)
{
    for (size_t i = 0; i < profile->interaction.thread_count; i++) {
        const struct lwp_interaction_thread *thread = &profile->interaction.threads[i];
        if (address >= thread->stack_low && address < thread->stack_high)
            return true;
    }
    return false;
}

void lwp_streams_on_stacks(struct lwp_profile *profile, uint32_t unowned)
{
    for (size_t i = 0; i < profile->stream_count; i++) {
        struct lwp_stream *stream = &profile->streams[i];
        bool on_stack = stream->object == unowned && stream->offsets.count; /* their addresses */
        for (uint32_t k = 0; k < stream->offsets.count && on_stack; k++)
            on_stack = stream_is_on_stack(profile, stream->offsets.items[k]);
        if (!on_stack)
            continue;
        const uint32_t stack = lwp_objects_special(profile, LWP_OBJECT_OTHER_STACK);
        if (!profile->objects[stack].accessed)
            profile->objects[stack].common = profile->objects[unowned].common;
        profile->objects[stack].accessed = true;
        lwp_stream_move(profile, stream, stack);
    }
}

void lwp_streams_link(struct lwp_profile *profile)
{
    free(profile->object_streams);
    profile->object_streams = lwp_zeroed(profile->object_count, sizeof *profile->object_streams);
    for (size_t i = 0; i < profile->object_count; i++)
        profile->object_streams[i] = LWP_NONE;
    for (size_t i = profile->stream_count; i--;) {
        profile->streams[i].next_of_object = profile->object_streams[profile->streams[i].object];
        profile->object_streams[profile->streams[i].object] = (uint32_t)i;
    }
}

size_t lwp_streams_offsets(const struct lwp_stream *stream, uint64_t *offsets, size_t room)
{
    const struct lwp_offsets *kept = &stream->offsets;
    size_t count = kept->fair >= FAIR_ENOUGH ? kept->fair : kept->count;
    if (count > room)
        count = room;
    if (count)
        memcpy(offsets, kept->items, count * sizeof *offsets);
    return count;
}

void lwp_streams_decode(struct lwp_profile *profile)
{
    for (size_t i = 0; i < profile->stream_count; i++) {
        struct lwp_stream *stream = &profile->streams[i];
        if (stream->module == LWP_NONE || (stream->bytes && stream->loads + stream->stores))
            continue;
        struct lwp_memory_operand operand = lwp_code_operand(profile->code, stream->module, stream->address);
        if (!operand.exists)
            continue;
        if (!stream->bytes) {
            stream->bytes = operand.bytes;
            stream->vector = operand.vector;
        }
        if (stream->loads + stream->stores == 0) {
            stream->loads = operand.load ? stream->accesses : 0;
            stream->stores = operand.store ? stream->accesses : 0;
            profile->objects[stream->object].loads += stream->loads;
            profile->objects[stream->object].stores += stream->stores;
        }
    }
}
