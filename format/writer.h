/* Writes one sample file, in memory that lwp collect writes to the file (spool.h) or through an mmap'ed window of the file itself, so that what was recorded survives SIGKILL.
 * Callable from a signal handler: no malloc, no locks, no stdio, no errno left changed; one writer has one user at a
 * time (the owner blocks its signals, or each thread has its own file). After an error (disk full, file limit) the
 * writer stays usable and counts what it drops in the header's lost_records. */
#ifndef LWP_FORMAT_WRITER_H
#define LWP_FORMAT_WRITER_H

#include "format/layout.h"
#include "format/record.h"

struct lwps_writer;

/* Where a writer without a file of its own puts its blocks. */
struct lwps_memory {
    /* `need` bytes for blocks of the writer's file, all zero; *size gets how many there are. `*header`, if it is NULL, the place of the
     * file's header. NULL: there are none. Async-signal-safe. */
    uint8_t *(*take)(const struct lwps_memory *memory, struct lwps_writer *writer, uint32_t need, uint32_t *size);
};

/* Fields are private; the caller provides the storage (zeroed = closed). */
struct lwps_writer {
    int fd;                    /* -1 or 0 with window NULL: closed. Kept above 2 and close-on-exec */
    uint8_t *header;           /* the mapped first page */
    uint8_t *window;           /* the mapped part being written */
    uint64_t window_offset;    /* its place in the file */
    uint32_t window_size, used;
    uint32_t block_start;      /* of the open block in the window */
    uint32_t block_type, block_count;
    uint32_t crc;              /* running CRC-32C of the open block's payload */
    bool failed;
    uint32_t retry;
    uint32_t weight_scale, weight_rest;
    uint64_t device, inode;    /* of our file: the program may close our fd and reuse its number */
    struct lwps_delta delta;
    const struct lwps_memory *memory; /* NULL: a file of its own */
    uint32_t tid, again;       /* which of those in memory */
    void *chunk;               /* the memory's */
    uint32_t *quiet;           /* there: set while only the beginning and end of a thread were written */
    char path[512];
};

/* Creates `path` (never truncates an existing file: -EEXIST). `file` gives engine, weight_unit, pid, tid, start_ns and
 * start_wall_ns. Returns 0 or -errno. */
int lwps_writer_open(struct lwps_writer *writer, const char *path, const struct lwps_file *file);

/* The same in memory; `tid` and `again` name the file. */
int lwps_writer_open_memory(struct lwps_writer *writer, const struct lwps_memory *memory, uint32_t again, const struct lwps_file *file);

/* Each returns 0, or -1 when the record was dropped and counted. */
#define RECORD(tag, name, room, fields) int lwps_put_##name(struct lwps_writer *writer, const struct lwps_##name *record);
#include "format/fields.h"
#undef RECORD
int lwps_put_sample(struct lwps_writer *writer, const struct lwps_sample *record);

/* Adds records dropped elsewhere to lost_records. */
void lwps_writer_lost(struct lwps_writer *writer, uint64_t records);

/* Ends the open block, writes the trailer ("complete"), unmaps, closes. The file stays as long as was reserved. */
void lwps_writer_close(struct lwps_writer *writer);

/* In the child of a fork: lets go of the parent's file without touching it. */
void lwps_writer_abandon(struct lwps_writer *writer);

/* Makes sure that the open block has room for a record of `room` bytes. False: there is none, the record is lost. */
bool lwps_writer_ready(struct lwps_writer *writer, uint32_t room);

/* Adds one encoded record to the open block. */
void lwps_writer_append(struct lwps_writer *writer, const uint8_t *bytes, uint32_t size);

#endif
