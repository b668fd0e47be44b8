/* Who communicates with whom through memory, exactly (Mazaheri et al., ICPP 2018, algorithm 1).
 *
 * For each granule of memory: which thread wrote it last, and who has read it since. The first read by another thread is
 * true communication from the writer to the reader, each further one reuse. Reads by the writer itself are nothing, reads
 * of what nobody has written neither. An access is taken in pieces of 8 bytes from its start (of a granule, where that is
 * more); a piece counts once for each writer that its granules have, as true communication if any of them is read for
 * the first time: a number counts once, whatever its width.
 *
 * A granule has a cell of 32 bits, in leaves that are made as memory is touched. When these take more than they may, every
 * second cache line of the rest is followed no more and its leaves are given back, again and again: then what is left is
 * to be counted 1 << thinned times. Freestanding; not reentrant. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_COMMUNICATION_COMM_SHADOW_H
#define LWP_COLLECTOR_EXACT_DETECT_COMMUNICATION_COMM_SHADOW_H

#include "collector/exact/detect/communication/comm_sets.h"

enum {
    LWP_COMM_PIECE = 8,
    LWP_COMM_LEAF_BITS = 16, /* bytes of the program that a leaf is for */
    LWP_COMM_MIDDLE_BITS = 16, /* of a leaf's number, the low ones */
};

struct lwp_comm_shadow {
    const struct lwp_comm_port *port;
    uint32_t thread;                          /* that runs: lwp_comm_run() */
    uint64_t written, read;                   /* two cells it has written; only read, by it alone */
    uint64_t seen;                            /* two that nobody wrote and others have read, too: as it found the last ones */
    unsigned granule_bits;
    unsigned thinned;
    struct lwp_comm_sets sets;
    uint32_t ***top;                          /* leaves by the address's bits 47..32, 31..16 */
    uint32_t ***direct;                       /* the same while cells are of words, and none are thinned; else NULL */
    void **spare;                             /* leaves that were given back, each holding the next */
    uint8_t *slab;                            /* where the next leaves are */
    size_t slab_left;
    size_t leaves, leaves_most;
    uint64_t touched, shared;                 /* granules in use, and those of them that several threads have used */
    uint64_t alone_most;                      /* the most that one thread each had used, at a time: bytes */
    bool full;                                /* something was not followed for want of memory */
};

/* What a piece that was loaded brought. */
struct lwp_comm_event {
    uint32_t writer;
    bool again; /* reuse */
};
enum { LWP_COMM_EVENTS = 8 };

/* `granule_bits`: 0 bytes, 2 words of 4 bytes, 6 lines. `most`: bytes that all leaves may take. False: no memory. */
bool lwp_comm_init(struct lwp_comm_shadow *shadow, const struct lwp_comm_port *port, unsigned granule_bits, size_t most);
void lwp_comm_fini(struct lwp_comm_shadow *shadow);

/* Accesses to come are those of this thread, 1 to LWP_COMM_THREADS. */
void lwp_comm_run(struct lwp_comm_shadow *shadow, uint32_t thread);

/* One piece: `bytes` at most LWP_COMM_PIECE, or the granule. Returns the number of events. */
unsigned lwp_comm_load_slowly(struct lwp_comm_shadow *shadow, uint64_t address, unsigned bytes,
                              struct lwp_comm_event events[LWP_COMM_EVENTS]);
void lwp_comm_store_slowly(struct lwp_comm_shadow *shadow, uint64_t address, unsigned bytes);

/* What was there is no more. */
void lwp_comm_forget(struct lwp_comm_shadow *shadow, uint64_t address, uint64_t bytes);

/* ---- the ways that nearly all accesses go ---- */

enum { LWP_COMM_SHARED = 1 << LWP_COMM_SET_BITS, LWP_COMM_WRITER_AT = LWP_COMM_SET_BITS + 1 };

/* The cells of the 8 bytes at `address`, of which only 48 bits are looked at; NULL: they are elsewhere. */
static inline uint32_t *lwp_comm_cells(const struct lwp_comm_shadow *shadow, uint64_t address)
{
    const uint64_t leaf_bytes = (uint64_t)1 << LWP_COMM_LEAF_BITS, middles = (uint64_t)1 << LWP_COMM_MIDDLE_BITS;
    uint64_t number = address >> LWP_COMM_LEAF_BITS, offset = address % leaf_bytes;
    if (!shadow->direct || offset > leaf_bytes - 8)
        return NULL;
    uint32_t **middle = shadow->direct[(uint16_t)(number >> LWP_COMM_MIDDLE_BITS)];
    uint32_t *leaf = middle ? middle[number % middles] : NULL;
    return leaf ? leaf + (offset >> 2) : NULL;
}

/* How the two cells at an access are compared with those of which nothing comes. */
struct lwp_comm_way {
    uint64_t written; /* bits that are to be as in `written`... */
    uint64_t read;    /* ...or of loads as in `read` or `seen`; 0: a store */
    unsigned places;  /* bit by bit: the address's low bits with which these are all its cells */
};
enum { LWP_COMM_WAYS = LWP_COMM_PIECE + 1 };
extern const struct lwp_comm_way lwp_comm_ways[2 * LWP_COMM_WAYS]; /* of loads, then of stores, by bytes */

static inline unsigned lwp_comm_way_of(unsigned bytes, bool store)
{
    return store * LWP_COMM_WAYS + (bytes <= LWP_COMM_PIECE ? bytes : 0);
}

/* True: done, and nothing came of it. Where nothing comes of a store, nothing does of a load before it. */
static inline bool lwp_comm_nothing(const struct lwp_comm_shadow *shadow, uint64_t address, unsigned way_of)
{
    const struct lwp_comm_way *way = &lwp_comm_ways[way_of];
    const uint32_t *cells = lwp_comm_cells(shadow, address);
    uint64_t two;
    if (!cells || !(way->places >> (address & 3) & 1))
        return false;
    __builtin_memcpy(&two, cells, sizeof two);
    if (__builtin_expect(!((two ^ shadow->written) & way->written), 1))
        return true;
    return way->read && (!((two ^ shadow->read) & way->read) || !((two ^ shadow->seen) & way->read));
}

#endif
