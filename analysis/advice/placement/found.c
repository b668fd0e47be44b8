/* What is read of the element that a search has found is on the lines that the search brought: it costs nothing today, so no sample shows
 * it, and it would cost a line of its own elsewhere. So it counts as used by the search.
 *
 * The code shows what is read (loop_found.c), and not how often. A search of a hash table reads it of nearly every element that it visits,
 * one along a list of hundreds of nearly none. Where all accesses are counted that is known. Samples look some instructions ahead: where
 * many of these looks end in the loop, and (nearly) none at what was found, it is not for many visits. Where the pointer is kept in
 * memory, what is read through that later is not known (a cursor), and how often not either, unless searches are long. */
#include "analysis/advice/placement/found.h"

#include "analysis/elements/element_place.h"
#include "analysis/profile/moves.h"
#include "analysis/profile/objects.h"
#include "analysis/profile/streams.h"
#include "analysis/statistics/stride.h"
#include "analysis/tables/engines.h"

static const double often = 0.1;      /* of the visits */
static const double looks_stay = 0.5; /* of those that samples of the loop took ahead */
static const double nearly_all = 0.9; /* of a loop's accesses */
static const uint64_t counts = 20;

enum { FOUND_MOST = 64 };

/* Functions of the module that samples saw call it. */
static size_t found_callers(void *of, uint32_t module, uint64_t function, uint64_t *callers, size_t room)
{
    const struct lwp_profile *profile = of;
    size_t count = 0;
    for (size_t i = 1; i < profile->context_count && count < room; i++) {
        const struct lwp_context_node *node = &profile->contexts[i], *caller = &profile->contexts[node->parent];
        if (!node->is_function || node->module != module || node->address != function || !caller->is_function || caller->module != module)
            continue;
        size_t k = 0;
        while (k < count && callers[k] != caller->address)
            k++;
        if (k == count)
            callers[count++] = caller->address;
    }
    return count;
}

/* What was seen of a loop on the elements. */
struct found_visits {
    uint64_t accesses, stalled, most; /* of its accesses; ... chosen for what they cost; of one instruction */
};

static struct found_visits found_visits(const struct lwp_profile *profile, const struct lwp_layout *layout, uint32_t region)
{
    struct found_visits visits = {0};
    for (size_t k = 0; k < layout->object_count; k++)
        for (uint32_t i = profile->object_streams[layout->objects[k]]; i != LWP_NONE; i = profile->streams[i].next_of_object) {
            const struct lwp_stream *stream = &profile->streams[i];
            if (stream->region != region)
                continue;
            visits.accesses += stream->accesses;
            visits.stalled += stream->weight.samples;
            visits.most = stream->accesses > visits.most ? stream->accesses : visits.most;
        }
    return visits;
}

/* How often an instruction accesses the elements; in samples, without being chosen for its cost. `behind`: by loop, all its accesses. */
static uint64_t found_accesses(const struct lwp_profile *profile, const struct lwp_layout *layout, uint32_t module, uint64_t address,
                               bool exact, uint64_t *behind)
{
    uint64_t accesses = 0;
    for (size_t k = 0; k < layout->object_count; k++)
        for (uint32_t i = profile->object_streams[layout->objects[k]]; i != LWP_NONE; i = profile->streams[i].next_of_object) {
            const struct lwp_stream *stream = &profile->streams[i];
            if (stream->module != module || stream->address != address)
                continue;
            accesses += exact ? stream->accesses : stream->accesses - stream->weight.samples;
            for (size_t l = 0; l < layout->loop_count; l++)
                behind[l] += layout->loops[l].region == stream->region ? stream->accesses : 0;
        }
    return accesses;
}

/* Whether what is done so often is done for few of the visits only. */
static bool found_rare(const struct found_visits *visits, bool exact, uint64_t times)
{
    const uint64_t ahead = visits->accesses - visits->stalled, all = exact ? visits->most : ahead;
    bool known = exact || (double)ahead >= looks_stay * (double)visits->stalled;
    return known && all >= counts && (double)times < often * (double)all;
}

/* Whether, of all accesses, so many are to other fields of the elements that it may be for many of the visits. */
static bool found_elsewhere(const struct lwp_layout *layout, uint32_t search, const struct found_visits *visits)
{
    uint64_t accesses = 0;
    for (size_t l = 0; l < layout->loop_count; l++)
        accesses += layout->loops[l].region == search ? 0 : layout->loops[l].accesses;
    return !found_rare(visits, true, accesses);
}

/* What is done behind it is done with the element that it came to last. */
static void found_join(struct lwp_layout *layout, const struct lwp_layout_loop *search, const uint64_t *behind)
{
    for (size_t l = 0; l < layout->loop_count; l++) {
        struct lwp_layout_loop *loop = &layout->loops[l];
        if (loop != search && behind[l] && (double)behind[l] >= nearly_all * (double)loop->accesses)
            loop->search = search;
    }
}

void lwp_layout_found(struct lwp_profile *profile, struct lwp_layout *layout, struct lwp_layout_loop *search)
{
    const struct lwp_callers callers = {.find = found_callers, .of = profile};
    const struct found_visits visits = found_visits(profile, layout, search->region);
    const bool exact = lwp_engine_row(profile->engine)->exact;
    struct lwp_sibling found[FOUND_MOST];
    uint64_t times[LWP_FIELDS_MAX] = {0}, behind[LWP_LAYOUT_LOOPS_MAX] = {0};
    bool read[LWP_FIELDS_MAX] = {false}, often_read = false, kept = false;
    for (size_t k = 0; k < layout->object_count; k++)
        for (uint32_t i = profile->object_streams[layout->objects[k]]; i != LWP_NONE; i = profile->streams[i].next_of_object) {
            const struct lwp_stream *stream = &profile->streams[i];
            uint64_t place;
            if (stream->region != search->region || stream->module == LWP_NONE || stream->vector ||
                lwp_objects_library_code(profile, stream->module) || lwp_element_stream_place(profile, stream, &place) < 0.8)
                continue;
            const size_t count = lwp_loop_found(profile->code, stream->module, stream->address, &callers, found, FOUND_MOST, &kept);
            for (size_t j = 0; j < count; j++)
                for (size_t f = 0; f < layout->field_count; f++) {
                    const struct lwp_layout_field *field = &layout->fields[f];
                    const int64_t from = (int64_t)place + found[j].delta; /* by halves: perhaps of the element behind it */
                    const int64_t at = layout->single ? from : (int64_t)lwp_stride_residue(from, layout->spacing);
                    if (at < (int64_t)(field->offset + field->bytes) && at + found[j].bytes > (int64_t)field->offset) {
                        read[f] = true;
                        times[f] += found_accesses(profile, layout, stream->module, found[j].address, exact, behind);
                    }
                }
        }
    for (size_t f = 0; f < layout->field_count; f++) {
        bool used = read[f] && (search->descends || !found_rare(&visits, exact, times[f]));
        (search->descends ? search->found : search->uses)[f] |= used;
        often_read |= used;
    }
    search->keeps =
        kept && (exact ? found_elsewhere(layout, search->region, &visits) : lwp_moves_length_least(profile, search->region) * often < 1);
    if (often_read)
        found_join(layout, search, behind);
}

/* ---- searches that come to few of many elements ----
 *
 * Of a tree, or by halves: the elements near the beginning are come to each time, so that these are in the caches, and one at the end once.
 * Neither visits that go anywhere nor the size of the whole say what such a search waits for. What is read of the element that it finds is
 * read once a search, not once a visit. */

bool lwp_layout_tree_links(const uint64_t *offsets, const uint64_t *bytes, const bool *uses, size_t count, uint64_t *link)
{
    const uint64_t address = sizeof(void *);
    for (size_t f = 0; f < count; f++) {
        bool pair = bytes[f] == 2 * address;
        for (size_t g = 0; g < count && bytes[f] == address; g++)
            pair |= uses[g] && bytes[g] == address && offsets[g] == offsets[f] + address;
        if (!uses[f] || !pair || offsets[f] % address)
            continue;
        *link = offsets[f];
        return true;
    }
    return false;
}

bool lwp_layout_descends(struct lwp_profile *profile, const struct lwp_layout *layout, const struct lwp_layout_loop *loop)
{
    uint64_t offsets[LWP_FIELDS_MAX], bytes[LWP_FIELDS_MAX], link;
    struct lwp_loop_shape shape;
    bool descends = false;
    for (size_t f = 0; f < layout->field_count; f++) {
        offsets[f] = layout->fields[f].offset;
        bytes[f] = layout->fields[f].bytes;
    }
    const bool links = lwp_layout_tree_links(offsets, bytes, loop->uses, layout->field_count, &link);
    for (size_t k = 0; k < layout->object_count && profile->code; k++)
        LWP_STREAMS_OF(profile, layout->objects[k], stream)
            if (stream->region == loop->region && stream->module != LWP_NONE &&
                !lwp_objects_library_code(profile, stream->module) && /* that goes through all of a std::set, node by node */
                lwp_loop_shape(profile->code, stream->module, stream->address, &shape))
                descends |= shape.search == LWP_LOOP_SEARCH_BISECTION || (links && shape.search == LWP_LOOP_SEARCH_TREE);
    return descends;
}
