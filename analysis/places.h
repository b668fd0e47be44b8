/* The instructions and call paths that one thread's file names. */
#ifndef LWP_ANALYSIS_PLACES_H
#define LWP_ANALYSIS_PLACES_H

#include "analysis/resolve.h"

enum { LWP_PLACES_BITS = 12, LWP_COMMONS = 1 << 12 };

/* An instruction below a call path: the path with its function, and the loop it counts for (spots.h). */
struct lwp_place_below {
    uint64_t ip;
    uint32_t context, round; /* another round: it may be something else by now */
    const struct lwp_spot *spot;
    uint32_t functions, part; /* functions LWP_NONE: not asked for yet */
};

/* A call path as functions (what the common context of an object is made of) or as calls. */
enum lwp_path { LWP_PATH_FUNCTIONS, LWP_PATH_CALLS };

struct lwp_place_context {
    uint32_t parent;
    uint64_t ip;                 /* 0: `spot` is known, NULL for a hole; else it is asked for when first used: code comes and goes */
    const struct lwp_spot *spot;
    uint32_t node[2];            /* of the whole path, by enum lwp_path; LWP_NONE: not made yet */
};

/* The context above two. */
struct lwp_place_common {
    uint32_t a, b, common; /* all 0: the root is above itself */
};

/* Start from zero but for the resolver. */
struct lwp_places {
    struct lwp_resolver *resolver;
    struct lwp_place_context *contexts;
    size_t context_count, context_room;
    struct lwp_place_below known[1 << LWP_PLACES_BITS];
    struct lwp_place_common commons[LWP_COMMONS];
    uint32_t round;
    uint64_t time; /* of the record that is looked at */
};

void lwp_places_free(struct lwp_places *places);

/* Another file. */
void lwp_places_begin(struct lwp_places *places);

/* Whether a context is new, and not another one in the place of one before (damage). */
static inline bool lwp_places_is_new(const struct lwp_places *places, const struct lwps_context *record)
{
    return record->id >= places->context_count;
}

void lwp_places_context(struct lwp_places *places, const struct lwps_context *record);

/* The instruction at the context itself, NULL when it is not known. */
static inline const struct lwp_spot *lwp_places_frame(struct lwp_places *places, uint32_t context)
{
    if (!context || context >= places->context_count)
        return NULL;
    struct lwp_place_context *frame = &places->contexts[context];
    if (frame->ip)
        frame->spot = lwp_resolver_spot(places->resolver, frame->ip, places->time);
    frame->ip = 0;
    return frame->spot;
}

uint32_t lwp_places_path(struct lwp_places *places, uint32_t context, enum lwp_path kind);

/* Functions and part are those of the sample's own function only: they take `context` for its caller. */
void lwp_places_find(struct lwp_places *places, struct lwp_place_below *place, uint64_t time);
void lwp_places_find_below(struct lwp_places *places, struct lwp_place_below *place);

static inline struct lwp_place_below *lwp_places_at(struct lwp_places *places, uint32_t context, uint64_t ip,
                                                    uint64_t time)
{
    uint64_t hash = ip * 0x9e3779b97f4a7c15u ^ context * 0xd6e8feb86659fd93u;
    struct lwp_place_below *place = &places->known[hash >> (64 - LWP_PLACES_BITS)];
    if (place->ip != ip || place->context != context || place->round != places->round) {
        *place = (struct lwp_place_below){.ip = ip, .context = context, .round = places->round};
        lwp_places_find(places, place, time);
    }
    return place;
}

/* With functions and part, once they are wanted. */
static inline struct lwp_place_below *lwp_places_below(struct lwp_places *places, struct lwp_place_below *place)
{
    if (place->functions == LWP_NONE)
        lwp_places_find_below(places, place);
    return place;
}

static inline uint32_t lwp_places_common(struct lwp_places *places, uint32_t a, uint32_t b)
{
    struct lwp_place_common *known = &places->commons[(a * 0x9e3779b9u ^ b) % LWP_COMMONS];
    if (known->a != a || known->b != b)
        *known = (struct lwp_place_common){a, b, lwp_resolver_common(places->resolver, a, b)};
    return known->common;
}

#endif
