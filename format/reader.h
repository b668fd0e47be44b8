/* Reads one sample file, sealed or live, and trusts nothing: no input makes it crash, hang, or allocate more than
 * a fixed bound. Damage is reported and everything sound before and after it is used. */
#ifndef LWP_FORMAT_READER_H
#define LWP_FORMAT_READER_H

#include "base/error.h"
#include "format/record.h"

/* Callbacks may be NULL. Records and the strings in them are valid during the call only. A callback that returns
 * non-zero stops the reading with that status. Within a file records arrive in the order written. */
#define RECORD(tag, name, room, fields) int (*name)(void *to, const struct lwps_##name *record);
struct lwps_visitor {
    int (*file)(void *to, const struct lwps_file *file); /* first; `complete` and `sealed` are already known */
#include "format/fields.h"
    int (*sample)(void *to, const struct lwps_sample *record);
    int (*position)(void *to, uint64_t done, uint64_t all); /* bytes of the file, now and then */
};
#undef RECORD

/* What was wrong with a file that could still be read in part. All zero: sound. */
struct lwps_damage {
    uint64_t unknown_blocks;  /* types of a newer lwp, skipped */
    uint64_t bad_blocks;      /* checksum or contents wrong, skipped */
    uint64_t torn_bytes;      /* at the end, not a whole block */
    bool incomplete;          /* no trailer: the program was killed, or the file was cut */
};

/* 0, or LWP_ERR_FORMAT (not a sample file at all: the header is damaged), LWP_ERR_NEWER, LWP_ERR_SYSTEM,
 * LWP_ERR_LIMIT, or what a callback returned; `err` says it with the file's name and what to do. */
int lwps_read(const char *path, const struct lwps_visitor *visitor, void *to, struct lwps_damage *damage,
              struct lwp_error *err);

/* The same over bytes in memory (tests, fuzzing); `name` is for messages. */
int lwps_read_memory(const char *name, const uint8_t *bytes, size_t size, const struct lwps_visitor *visitor, void *to,
                     struct lwps_damage *damage, struct lwp_error *err);

#endif
