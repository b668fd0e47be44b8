/* Sample files while the program runs: chunks of memory that the program shares with lwp collect, which writes them to the files. So
 * the program has no file open or mapped, whatever becomes of their file system, and what was recorded outlives it.
 *
 * A page with this head, then chunks at multiples of LWPS_SPOOL_UNIT. Each holds whole blocks (layout.h) of one file, up to a block of
 * type 0. Both sides may write the same chunk to its file, with the same result. */
#ifndef LWP_FORMAT_SPOOL_H
#define LWP_FORMAT_SPOOL_H

#include "format/layout.h"
#include "format/writer.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    LWPS_SPOOL_HEAD = 4096,
    LWPS_SPOOL_UNIT = 1024,
    LWPS_SPOOL_SLAB = 1 << 22, /* no chunk crosses a multiple of it */
    LWPS_SPOOL_SLABS = 4096,
};

struct lwps_spool_head {
    uint32_t magic;
    uint32_t generation;      /* set by lwp collect: 1 + the n of the folder p<PID>.<n>, 1: p<PID>; 0: none yet */
    uint64_t bytes;           /* of all */
    uint64_t used;            /* the next chunk begins here, or later */
    uint64_t collected_ns;    /* CLOCK_MONOTONIC when lwp collect last looked; 0: it never did, or does no more */
    uint32_t paused;          /* set by lwp collect: no samples are wanted at present */
};

struct lwps_spool_chunk {
    uint32_t magic;           /* written last */
    uint32_t bytes;           /* with this header */
    uint32_t tid, again;      /* the file: 0, 0: process.lwps; t<TID>[.<again>].lwps */
    uint64_t offset;          /* of its first block among those of the file */
    uint32_t first;           /* the file's header (struct lwps_disk_header) comes before the blocks */
    uint32_t quiet;           /* nothing but a thread's begin and end is in it: no file needs to be made for that */
    uint32_t complete;        /* nothing more comes */
    uint32_t written;         /* and all of it is in the file */
    uint64_t kept;            /* lwps_spool_state() of what lwp collect has written */
    uint32_t reserved[4];
};
_Static_assert(sizeof(struct lwps_spool_chunk) == 64, "a part of the memory that both sides know");

/* The program's side. All zero: none. */
struct lwps_spool {
    struct lwps_spool_head *head;
    uint8_t *slab[LWPS_SPOOL_SLABS];
};

/* Makes the memory, of at most `most` bytes, and returns a descriptor of it for the other side, or -errno. */
int lwps_spool_make(struct lwps_spool *spool, const char *name, uint64_t most);

/* Lets go of another process's. */
void lwps_spool_abandon(struct lwps_spool *spool);

/* The writer's next chunk, in which blocks of `need` bytes have room; its last one is complete then. *size: bytes from the place
 * returned on. NULL: no memory. Async-signal-safe, for all threads. */
uint8_t *lwps_spool_take(struct lwps_spool *spool, struct lwps_writer *writer, uint32_t need, uint32_t *size);

/* The chunk at *at or after it, and *at behind it; NULL: none so far. For the program's side. */
struct lwps_spool_chunk *lwps_spool_next(struct lwps_spool *spool, uint64_t *at);

/* Grows with what is in the chunk; never 0. `bytes` as below. */
uint64_t lwps_spool_state(const struct lwps_spool_chunk *chunk, uint32_t bytes);

/* Writes what is in the chunk to its file in `folder`. `bytes`: as much of it as can be read. 0 or -errno. */
int lwps_spool_write(const struct lwps_spool_chunk *chunk, uint32_t bytes, int folder);

#endif
