/* What one rank has gathered, as bytes for another that goes on with it. First the tables of what is numbered (modules,
 * instructions, call paths, objects), then all that speaks of it by number.
 *
 * One function for each structure both gives and takes it, as `taking` says, so that the two cannot differ. Whoever takes gives
 * everything the number it has in its own profile, and merges. Bytes are as they lie in memory: both are the same lwp. */
#ifndef LWP_ANALYSIS_PARCEL_H
#define LWP_ANALYSIS_PARCEL_H

#include "analysis/shard.h"

enum lwp_parcel_kind { LWP_PARCEL_MODULE, LWP_PARCEL_SPOT, LWP_PARCEL_PART, LWP_PARCEL_CONTEXT, LWP_PARCEL_OBJECT, LWP_PARCEL_KINDS };

struct lwp_parcel {
    struct lwp_profile *profile;
    bool taking, bad; /* bad: it ended early, or a number in it is of nothing */
    uint8_t *bytes;   /* the caller's to free */
    size_t size, room, at;
    uint32_t *numbers[LWP_PARCEL_KINDS]; /* taking: of what the giver calls i */
    size_t counts[LWP_PARCEL_KINDS];
};

void lwp_parcel_give(struct lwp_parcel *parcel, struct lwp_profile *profile);
void lwp_parcel_take(struct lwp_parcel *parcel, struct lwp_profile *profile, const void *bytes, size_t size);
void lwp_parcel_end(struct lwp_parcel *parcel);

/* Any bytes, in or out. */
void lwp_parcel_bytes(struct lwp_parcel *parcel, void *value, size_t size);
#define LWP_PARCEL(parcel, value) lwp_parcel_bytes(parcel, &(value), sizeof(value))

/* A text; taken ones live in the profile's arena. */
void lwp_parcel_text(struct lwp_parcel *parcel, const char **text);

/* An array on the heap: taken, it is a new one. */
void *lwp_parcel_array(struct lwp_parcel *parcel, void *items, size_t *count, size_t *room, size_t size);
#define LWP_PARCEL_ARRAY(parcel, items, count, room) (*(items) = lwp_parcel_array(parcel, *(items), count, room, sizeof **(items)))

/* The number of something in the tables; LWP_NONE stays. */
void lwp_parcel_number(struct lwp_parcel *parcel, enum lwp_parcel_kind kind, uint32_t *number);

/* All that is numbered: comes first. */
void lwp_parcel_tables(struct lwp_parcel *parcel);

/* What was gathered with these numbers; taken, it is added to `shard`. */
void lwp_parcel_shard(struct lwp_parcel *parcel, struct lwp_shard *shard);

/* A part of it that its own file knows best. */
void lwp_windows_parcel(struct lwp_windows *windows, struct lwp_parcel *parcel);

#endif
