/* The instructions and call paths that one thread's file names. */
#ifndef LWP_ANALYSIS_LOAD_FILE_LOCATIONS_H
#define LWP_ANALYSIS_LOAD_FILE_LOCATIONS_H

#include "analysis/load/resolver.h"

enum { LWP_FILE_LOCATIONS_BITS = 12, LWP_COMMONS = 1 << 12 };

/* An instruction below a call path: the path with its function, and the loop it counts for (locations.h). */
struct lwp_file_location {
    uint64_t ip;
    uint32_t context, round; /* entries of other rounds are outdated */
    const struct lwp_location *location;
    uint32_t functions, part; /* functions LWP_NONE: not looked up yet */
};

/* A call path as functions (what the common context of an object is made of) or as calls. */
enum lwp_call_path { LWP_PATH_FUNCTIONS, LWP_PATH_CALLS };

struct lwp_file_context {
    uint32_t parent;
    uint64_t ip; /* 0: `location` is known, NULL for a hole; else it is looked up at the first use, since modules come and go */
    const struct lwp_location *location;
    uint32_t node[2]; /* of the whole path, by enum lwp_call_path; LWP_NONE: not made yet */
};

/* The context above two. */
struct lwp_file_common {
    uint32_t a, b, common; /* all 0: the root is above itself */
};

/* Start from zero but for the resolver. */
struct lwp_file_locations {
    struct lwp_resolver *resolver;
    struct lwp_file_context *contexts;
    size_t context_count, context_room;
    struct lwp_file_location known[1 << LWP_FILE_LOCATIONS_BITS];
    struct lwp_file_common commons[LWP_COMMONS];
    uint32_t round;
    uint64_t time; /* of the current record */
};

void lwp_file_locations_free(struct lwp_file_locations *locations);

/* Another file. */
void lwp_file_locations_begin(struct lwp_file_locations *locations);

/* Whether a context is new; else it replaces one before (damage). */
static inline bool lwp_file_locations_is_new(const struct lwp_file_locations *locations, const struct lwps_context *record)
{
    return record->id >= locations->context_count;
}

void lwp_file_locations_context(struct lwp_file_locations *locations, const struct lwps_context *record);

/* The instruction at the context itself, NULL when it is not known. */
static inline const struct lwp_location *lwp_file_locations_frame(struct lwp_file_locations *locations, uint32_t context)
{
    if (!context || context >= locations->context_count)
        return NULL;
    struct lwp_file_context *frame = &locations->contexts[context];
    if (frame->ip)
        frame->location = lwp_resolver_location(locations->resolver, frame->ip, locations->time);
    frame->ip = 0;
    return frame->location;
}

uint32_t lwp_file_locations_path(struct lwp_file_locations *locations, uint32_t context, enum lwp_call_path kind);

/* Functions and part are those of the sample's own function only: they take `context` for its caller. */
void lwp_file_locations_find(struct lwp_file_locations *locations, struct lwp_file_location *at, uint64_t time);
void lwp_file_locations_find_below(struct lwp_file_locations *locations, struct lwp_file_location *at);

static inline struct lwp_file_location *lwp_file_locations_at(struct lwp_file_locations *locations, uint32_t context, uint64_t ip,
                                                              uint64_t time)
{
    uint64_t hash = ip * 0x9e3779b97f4a7c15u ^ context * 0xd6e8feb86659fd93u;
    struct lwp_file_location *at = &locations->known[hash >> (64 - LWP_FILE_LOCATIONS_BITS)];
    if (at->ip != ip || at->context != context || at->round != locations->round) {
        *at = (struct lwp_file_location){.ip = ip, .context = context, .round = locations->round};
        lwp_file_locations_find(locations, at, time);
    }
    return at;
}

/* With functions and part. */
static inline struct lwp_file_location *lwp_file_locations_below(struct lwp_file_locations *locations, struct lwp_file_location *at)
{
    if (at->functions == LWP_NONE)
        lwp_file_locations_find_below(locations, at);
    return at;
}

static inline uint32_t lwp_file_locations_common(struct lwp_file_locations *locations, uint32_t a, uint32_t b)
{
    struct lwp_file_common *known = &locations->commons[(a * 0x9e3779b9u ^ b) % LWP_COMMONS];
    if (known->a != a || known->b != b)
        *known = (struct lwp_file_common){a, b, lwp_resolver_common(locations->resolver, a, b)};
    return known->common;
}

#endif
