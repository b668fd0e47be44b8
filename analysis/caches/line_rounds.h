/* Cache lines that several threads use side by side. A trace has one thread's turn after the other's, as long as the engine lets it run;
 * on several cores they run at once. A round is one turn of each thread: its accesses are taken to come in any order, with the threads'
 * accesses to a line evenly mixed, so that counts do not depend on how long turns are. */
#ifndef LWP_ANALYSIS_CACHES_LINE_ROUNDS_H
#define LWP_ANALYSIS_CACHES_LINE_ROUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LWP_ROUND_THREADS = 8 /* of a line; more are not looked at */ };

/* What one thread did with a line in its turn. */
struct lwp_round_part {
    uint32_t thread, turn;
    uint32_t accesses, stores;
    uint64_t loaded, stored; /* bytes of the line, a bit each */
    uint32_t what;           /* the caller's, of its last access; of the last store, if there is one */
};

struct lwp_round_line {
    uint64_t line;
    uint32_t round, count;
    struct lwp_round_part part[LWP_ROUND_THREADS];
};

/* How often a core has to take a line from another: on average of all orders, and at least (turn by turn) and at most. */
struct lwp_round_conflicts {
    double mean, least, most;
};

/* Starts from zero. */
struct lwp_rounds {
    struct lwp_round_line *lines; /* open addressing; a line of an earlier round is free */
    uint32_t *used;               /* places of this round's lines */
    size_t room, count, used_room;
    uint32_t round;
    struct lwp_round_thread {
        uint32_t round, turn; /* of its last turn */
        uint64_t whole, kept; /* its accesses, and the last ones of them that count */
    } * threads;
    size_t thread_count, thread_room;
    uint32_t now; /* the thread whose turn it is, plus one; 0: none had one */
    uint32_t turns;
    uint64_t longest; /* accesses of a turn of another thread than `now`, in this round and the last one */
    bool several;
};

void lwp_rounds_free(struct lwp_rounds *rounds);

/* The thread goes on, for so many accesses. `visit` gets the lines of a round that ends with that, if more than one thread used them and
 * one of these stored. */
void lwp_rounds_turn(struct lwp_rounds *rounds, unsigned thread, uint64_t accesses, void (*visit)(void *, const struct lwp_round_line *),
                     void *to);

/* The last round ends. */
void lwp_rounds_end(struct lwp_rounds *rounds, void (*visit)(void *, const struct lwp_round_line *), void *to);

/* An access of the thread whose turn it is to bytes [from, from + bytes) of the line of 64. */
void lwp_rounds_access(struct lwp_rounds *rounds, uint64_t line, unsigned from, unsigned bytes, bool store, uint32_t what);

/* MACPO 5.4: stores of the part that find the line with another core that stores to it. */
struct lwp_round_conflicts lwp_round_conflicts(const struct lwp_round_line *line, const struct lwp_round_part *part);

/* Accesses of the part that find the line with a core that uses other bytes of it, one of the two storing, on average. */
double lwp_round_false(const struct lwp_round_line *line, const struct lwp_round_part *part);

#endif
