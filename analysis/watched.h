/* What became of the accesses that were watched, added up while their records are read. */
#ifndef LWP_ANALYSIS_WATCHED_H
#define LWP_ANALYSIS_WATCHED_H

#include "analysis/hot.h"
#include "base/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lwp_watched_kind {
    LWP_WATCHED_DEAD_STORE,
    LWP_WATCHED_SILENT_STORE,
    LWP_WATCHED_SILENT_LOAD,
    LWP_WATCHED_COMPUTATION, /* this and the following: counted only, never sampled */
    LWP_WATCHED_REGISTER,
    LWP_WATCHED_SPATIAL,
    LWP_WATCHED_KINDS
};

/* How one verdict on one access ended. */
enum lwp_watched_outcome {
    LWP_WATCHED_OPEN,    /* it did not: not watched, given up for another */
    LWP_WATCHED_DROPPED, /* in a way that says nothing: freed, overwritten, a system call came between */
    LWP_WATCHED_VOID,    /* the access chosen never came */
    LWP_WATCHED_USE,
    LWP_WATCHED_WASTE,
    LWP_WATCHED_CLOSE, /* waste, but for the value being only about the same */
};

/* One verdict. `first`, `second`: contexts whose innermost node is the access itself; `second` and `object` may be
 * LWP_NONE. */
struct lwp_watched_verdict {
    enum lwp_watched_kind kind;
    enum lwp_watched_outcome outcome;
    uint32_t first, second, object;
    uint64_t address; /* of the first access */
    uint64_t weight;  /* that the access stands for */
    uint64_t count;   /* accesses that were chosen; 1, but LWP_WATCHED_OPEN may be of any number */
    uint16_t bytes;   /* of the first access */
};

/* What an exact engine counted of two accesses, in bytes. `first` and `second` as in a verdict; `object` may be LWP_NONE. */
struct lwp_watched_count {
    enum lwp_watched_kind kind;
    uint32_t first, second, object;
    uint64_t use, waste, close, open;
    uint64_t times, again; /* of waste and close */
    uint16_t bytes;
};

/* All candidates of one first context: what it was sampled for and what could be told of it. */
struct lwp_watched_origin {
    enum lwp_watched_kind kind;
    uint32_t first;
    struct lwp_sum sampled;
    uint64_t decided_weight, dropped_weight, decided;
    uint32_t file, course; /* its number in `courses`, if `file` is the one being read */
};

enum { LWP_WATCHED_GAPS = 4 };

/* How densely an origin is being decided in the file being read. */
struct lwp_watched_course {
    uint64_t pending;               /* sampled since the last decision (Witch's mu - eta) */
    uint64_t first, others;         /* sampled before the first decision, and from there to the last */
    uint64_t decided;
    uint64_t gap[LWP_WATCHED_GAPS]; /* before each of the last ones, in a ring; once all are known */
    unsigned gap_count;
};

/* One in the file being read: what it stands for is known when all are. */
struct lwp_watched_decision {
    uint64_t gap; /* sampled since the origin's last one */
    uint32_t origin, course;
    uint32_t pair; /* LWP_NONE: dropped */
    enum lwp_watched_outcome outcome;
};

struct lwp_watched_pair {
    enum lwp_watched_kind kind;
    uint32_t first, second, object;
    struct lwp_sum use, waste, close; /* close: not part of waste */
    uint64_t times;                   /* wasted; exact engines only, others count them in the sums */
    uint64_t again, moved;            /* wasted where the thread's last wasted one was, and elsewhere */
    uint64_t address;                 /* of the last one in the file being read */
    uint32_t file;
    uint16_t bytes;
};

/* What was written to registers of one class, and what of it was there already, in bytes; instructions that wrote such
 * values, and all there were. */
struct lwp_watched_registers {
    uint64_t bytes, same, close, instructions, of_instructions;
};

/* Start from zero. */
struct lwp_watched {
    struct lwp_watched_registers registers[2][2]; /* [loaded][floating point] */
    struct lwp_watched_origin *origins;
    size_t origin_count, origin_room;
    struct lwp_watched_pair *pairs;
    size_t pair_count, pair_room;
    struct lwp_watched_course *courses;
    size_t course_count, course_room;
    struct lwp_watched_decision *decisions;
    size_t decision_count, decision_room;
    struct lwp_table origin_index, pair_index, object_index;
    uint32_t *read_elsewhere; /* objects that a thread loaded from what another had stored; sorted when settled */
    size_t read_count, read_room;
    struct lwp_table read_index;
    uint32_t file;
    uint64_t beyond; /* accesses and pairs for which there was no room: a million are told apart */
    bool exact; /* everything was counted: nothing is an estimate */
};

/* What is added between the two was recorded one after the other by one thread. What its decisions stand for is known at the
 * end, and counted then. */
void lwp_watched_begin(struct lwp_watched *watched);
void lwp_watched_end(struct lwp_watched *watched);
void lwp_watched_add(struct lwp_watched *watched, const struct lwp_watched_verdict *verdict);

/* Instead of verdicts. */
void lwp_watched_count(struct lwp_watched *watched, const struct lwp_watched_count *count);

void lwp_watched_registers(struct lwp_watched *watched, bool loaded, bool is_float,
                           const struct lwp_watched_registers *more);

/* A thread was seen to load what another one had stored in the object: its stores are of use although their own thread
 * never loads them. Which of them cannot be told. */
void lwp_watched_read_elsewhere(struct lwp_watched *watched, uint32_t object);

/* Once settled. */
bool lwp_watched_is_read_elsewhere(const struct lwp_watched *watched, uint32_t object);

/* Adds `from` to `into` and frees it. */
void lwp_watched_merge(struct lwp_watched *into, struct lwp_watched *from);

/* contexts[old] and objects[old] are the new numbers; sorts by them. */
void lwp_watched_settle(struct lwp_watched *watched, const uint32_t *contexts, const uint32_t *objects);
void lwp_watched_free(struct lwp_watched *watched);

#endif
