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
#ifndef LWP_EXACT_COMM_SHADOW_H
#define LWP_EXACT_COMM_SHADOW_H

#include "collector/exact/comm_sets.h"

enum {
    LWP_COMM_PIECE = 8,
    LWP_COMM_LEAF_BITS = 16, /* bytes of the program that a leaf is for */
    LWP_COMM_NEAR = 256,
};

struct lwp_comm_near {
    uint64_t tag; /* of the leaf: its address >> LWP_COMM_LEAF_BITS; ~0: none */
    uint32_t *cells;
};

struct lwp_comm_shadow {
    const struct lwp_comm_port *port;
    struct lwp_comm_near near[LWP_COMM_NEAR]; /* the leaves used last */
    uint32_t thread;                          /* that runs: lwp_comm_run() */
    uint64_t written, read;                   /* two cells it has written; only read, by it alone */
    unsigned granule_bits;
    unsigned thinned;
    struct lwp_comm_sets sets;
    uint32_t ***top;                          /* leaves by the address's bits 47..32, 31..16 */
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

/* The cells of the 8 bytes at `address`, NULL: they are elsewhere. */
static inline uint32_t *lwp_comm_cells(const struct lwp_comm_shadow *shadow, uint64_t address)
{
    const struct lwp_comm_near *near = &shadow->near[(address >> LWP_COMM_LEAF_BITS) % LWP_COMM_NEAR];
    uint64_t offset = address & (((uint64_t)1 << LWP_COMM_LEAF_BITS) - 1);
    bool there = near->tag == address >> LWP_COMM_LEAF_BITS && offset <= ((uint64_t)1 << LWP_COMM_LEAF_BITS) - 8;
    return there ? near->cells + (offset >> 2) : NULL;
}

static inline uint64_t lwp_comm_two(const uint32_t *cells)
{
    uint64_t two;
    __builtin_memcpy(&two, cells, sizeof two);
    return two;
}

/* True: done, and nothing came of it. For words, when nothing is thinned. */
static inline bool lwp_comm_load_fast(const struct lwp_comm_shadow *shadow, uint64_t address, unsigned bytes)
{
    static const uint64_t writers = (uint64_t)((1u << LWP_COMM_THREAD_BITS) - 1) << LWP_COMM_WRITER_AT;
    const uint32_t *cells = lwp_comm_cells(shadow, address);
    if (!cells)
        return false;
    if (bytes == 8 && !(address & 3)) {
        uint64_t two = lwp_comm_two(cells);
        return (two & (writers << 32 | writers)) == shadow->written || two == shadow->read;
    }
    return (address & 3) + bytes <= 4 &&
           ((*cells & writers) == (uint32_t)shadow->written || *cells == (uint32_t)shadow->read);
}

static inline bool lwp_comm_store_fast(const struct lwp_comm_shadow *shadow, uint64_t address, unsigned bytes)
{
    const uint32_t *cells = lwp_comm_cells(shadow, address);
    if (!cells)
        return false;
    if (bytes == 8 && !(address & 3))
        return (lwp_comm_two(cells) & ~((uint64_t)LWP_COMM_SHARED << 32 | LWP_COMM_SHARED)) == shadow->written;
    return (address & 3) + bytes <= 4 && (*cells & ~(uint32_t)LWP_COMM_SHARED) == (uint32_t)shadow->written;
}

#endif
