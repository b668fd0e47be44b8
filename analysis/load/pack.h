/* Serializes what one rank has gathered for another rank. First the tables of what has numbers (modules, code locations, call paths,
 * objects), then all that refers to it by number.
 *
 * One function for each structure packs and unpacks it, so that the two cannot differ. Unpacking renumbers everything for the own
 * profile, and merges. Bytes are as in memory: both ranks run the same lwp. */
#ifndef LWP_ANALYSIS_LOAD_PACK_H
#define LWP_ANALYSIS_LOAD_PACK_H

#include "analysis/load/shard.h"

enum lwp_pack_kind { LWP_PACK_MODULE, LWP_PACK_LOCATION, LWP_PACK_PART, LWP_PACK_CONTEXT, LWP_PACK_OBJECT, LWP_PACK_KINDS };

struct lwp_pack {
    struct lwp_profile *profile;
    bool unpacking, bad; /* bad: it ended early, or a number is out of range */
    uint8_t *bytes;      /* the caller's to free */
    size_t size, room, at;
    uint32_t *numbers[LWP_PACK_KINDS]; /* unpacking: the own number of what the sender calls i */
    size_t counts[LWP_PACK_KINDS];
};

void lwp_pack_begin(struct lwp_pack *pack, struct lwp_profile *profile);
void lwp_unpack_begin(struct lwp_pack *pack, struct lwp_profile *profile, const void *bytes, size_t size);
void lwp_pack_end(struct lwp_pack *pack);

/* Any bytes, in or out. */
void lwp_pack_bytes(struct lwp_pack *pack, void *value, size_t size);
#define LWP_PACK(pack, value) lwp_pack_bytes(pack, &(value), sizeof(value))

/* A text; unpacked into the profile's arena. */
void lwp_pack_text(struct lwp_pack *pack, const char **text);

/* An array on the heap; unpacked into a new one. */
void *lwp_pack_array(struct lwp_pack *pack, void *items, size_t *count, size_t *room, size_t size);
#define LWP_PACK_ARRAY(pack, items, count, room) (*(items) = lwp_pack_array(pack, *(items), count, room, sizeof **(items)))

/* The number of something in the tables; LWP_NONE stays. */
void lwp_pack_number(struct lwp_pack *pack, enum lwp_pack_kind kind, uint32_t *number);

/* The numbers in a field of all items of an array. */
#define LWP_PACK_NUMBERS(pack, kind, items, count, field)                                                                                  \
    do {                                                                                                                                   \
        for (size_t i_ = 0; i_ < (count); i_++)                                                                                            \
            lwp_pack_number(pack, kind, &(items)[i_].field);                                                                               \
    } while (0)

/* All that has numbers: comes first. */
void lwp_pack_tables(struct lwp_pack *pack);

/* What was gathered with these numbers; unpacking adds it to `shard`. */
void lwp_pack_shard(struct lwp_pack *pack, struct lwp_shard *shard);

/* Part of it (sample_windows.c). */
void lwp_sample_windows_pack(struct lwp_sample_windows *windows, struct lwp_pack *pack);

#endif
