/* In what pieces an instruction reads, for the first time, what other threads wrote: a piece goes on as long as each read
 * is at most some lines from the one before, as columns of a small block are. Many short pieces that lie evenly apart are
 * parts of rows whose rest is another thread's. Freestanding. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_COMMUNICATION_COMM_FRAGMENTS_H
#define LWP_COLLECTOR_EXACT_DETECT_COMMUNICATION_COMM_FRAGMENTS_H

#include <stdint.h>

struct lwp_comm_pieces {
    uint64_t last, begin;         /* of the piece that is read: addresses */
    int64_t step, votes;          /* from one begin to the next: the one that most have, by majority vote */
    uint64_t count, lines, bytes; /* of all pieces */
};

enum { LWP_COMM_PIECE_LINE_BITS = 6, LWP_COMM_PIECE_REACH = 8 };

static inline void lwp_comm_pieces_read(struct lwp_comm_pieces *pieces, uint64_t address, unsigned bytes)
{
    uint64_t line = address >> LWP_COMM_PIECE_LINE_BITS, last = pieces->last >> LWP_COMM_PIECE_LINE_BITS;
    pieces->bytes += bytes;
    if (line - last + LWP_COMM_PIECE_REACH > 2 * LWP_COMM_PIECE_REACH) {
        int64_t step = (int64_t)(address - pieces->begin);
        pieces->step = pieces->votes ? pieces->step : step;
        pieces->votes += step == pieces->step ? 1 : -1;
        pieces->begin = address;
        pieces->count++;
    }
    pieces->lines += line != last;
    pieces->last = address;
}

#endif
