/* Reads one sample file, sealed or live, and trusts nothing: no input makes it crash, hang, or allocate more than
 * a fixed bound. Damage is reported and everything sound before and after it is used. */
#ifndef LWP_FORMAT_READER_H
#define LWP_FORMAT_READER_H

#include "base/error.h"
#include "format/record.h"

/* Callbacks may be NULL. Records and the strings in them are valid during the call only. A callback that returns
 * non-zero stops the reading with that status. Within a file records arrive in the order written. */
struct lwps_visitor {
    int (*file)(void *to, const struct lwps_file *file); /* first; `complete` and `sealed` are already known */
    int (*process)(void *to, const struct lwps_process *record);
    int (*module)(void *to, const struct lwps_module *record);
    int (*module_end)(void *to, const struct lwps_module_end *record);
    int (*context)(void *to, const struct lwps_context *record);
    int (*pool)(void *to, const struct lwps_pool *record);
    int (*pool_count)(void *to, const struct lwps_pool_count *record);
    int (*block)(void *to, const struct lwps_block *record);
    int (*block_end)(void *to, const struct lwps_block_end *record);
    int (*totals)(void *to, const struct lwps_totals *record);
    int (*note)(void *to, const struct lwps_note *record);
    int (*thread)(void *to, const struct lwps_thread *record);
    int (*thread_end)(void *to, const struct lwps_thread_end *record);
    int (*watch)(void *to, const struct lwps_watch *record);
    int (*candidates)(void *to, const struct lwps_candidates *record);
    int (*pair)(void *to, const struct lwps_pair *record);
    int (*registers)(void *to, const struct lwps_registers *record);
    int (*trace)(void *to, const struct lwps_trace *record);
    int (*flows)(void *to, const struct lwps_flows *record);
    int (*party)(void *to, const struct lwps_party *record);
    int (*flow)(void *to, const struct lwps_flow *record);
    int (*flow_distance)(void *to, const struct lwps_flow_distance *record);
    int (*flow_pieces)(void *to, const struct lwps_flow_pieces *record);
    int (*sample)(void *to, const struct lwps_sample *record);
    int (*position)(void *to, uint64_t done, uint64_t all); /* bytes of the file, now and then */
};

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
