/* Decisions on watched accesses (debug registers), and what an exact engine counted instead, added up while records are read. */
#ifndef LWP_ANALYSIS_PROFILE_WATCHPOINTS_H
#define LWP_ANALYSIS_PROFILE_WATCHPOINTS_H

#include "analysis/statistics/share.h"
#include "analysis/tables/redundancy_kinds.h"
#include "base/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a verdict on an access ended. */
enum lwp_watchpoint_outcome {
    LWP_WATCHPOINT_OPEN,    /* undecided: not watched, or given up for another access */
    LWP_WATCHPOINT_DROPPED, /* undecidable: freed, overwritten, a system call came between */
    LWP_WATCHPOINT_VOID,    /* the access chosen never came */
    LWP_WATCHPOINT_USE,
    LWP_WATCHPOINT_WASTE,
    LWP_WATCHPOINT_CLOSE, /* waste with a value that is only nearly the same */
};

/* One verdict. `first`, `second`: contexts whose innermost node is the access itself; `second` and `object` may be
 * LWP_NONE. */
struct lwp_watchpoint_verdict {
    enum lwp_watchpoint_kind kind;
    enum lwp_watchpoint_outcome outcome;
    uint32_t first, second, object;
    uint64_t address; /* of the first access */
    uint64_t weight;  /* that the access stands for */
    uint64_t count;   /* accesses that were chosen; 1, but LWP_WATCHPOINT_OPEN may be of any number */
    uint16_t bytes;   /* of the first access */
    uint64_t ns;      /* from the first access to the second; 0: not known */
    uint64_t own_ns;  /* that the collector took beside it, from the sample on */
};

/* What an exact engine counted of two accesses, in bytes. `first` and `second` as in a verdict; `object` may be LWP_NONE. */
struct lwp_watchpoint_count {
    enum lwp_watchpoint_kind kind;
    uint32_t first, second, object;
    uint64_t use, waste, close, open;
    uint64_t times, again; /* of waste and close */
    uint16_t bytes;
};

/* All candidates of one first context: what it was sampled for and what was decided of it. */
struct lwp_watchpoint_origin {
    enum lwp_watchpoint_kind kind;
    uint32_t first;
    struct lwp_sum sampled;
    uint64_t decided_weight, dropped_weight, decided;
    uint32_t file, course; /* its number in `courses`, if `file` is the one being read */
};

enum { LWP_WATCHPOINT_GAPS = 4 };

/* How densely an origin is being decided in the file being read. */
struct lwp_watchpoint_course {
    uint64_t pending;       /* sampled since the last decision (Witch's mu - eta) */
    uint64_t first, others; /* sampled before the first decision, and from there to the last */
    uint64_t decided;
    uint64_t gap[LWP_WATCHPOINT_GAPS]; /* before each of the last ones, in a ring; once all are known */
    unsigned gap_count;
};

/* One in the file being read: what it stands for is known when all are. */
struct lwp_watchpoint_decision {
    uint64_t gap; /* sampled since the origin's last one */
    uint32_t origin, course;
    uint32_t pair; /* LWP_NONE: dropped */
    enum lwp_watchpoint_outcome outcome;
};

struct lwp_watchpoint_pair {
    enum lwp_watchpoint_kind kind;
    uint32_t first, second, object;
    struct lwp_sum use, waste, close; /* close: not part of waste */
    uint64_t times;                   /* wasted; exact engines only, others count them in the sums */
    uint64_t again, moved;            /* wasted where the thread's last wasted one was, and elsewhere */
    uint64_t returns, returned_us, returned_us2; /* where both are one access: how often, after what time, and the sum of squares */
    uint64_t returned_own_us;                  /* that the collector took beside these times */
    uint64_t address;                 /* of the last one in the file being read */
    uint32_t file;
    uint16_t bytes;
};

/* What was written to registers of one class, and what of it was there already, in bytes; instructions that wrote such
 * values, and all there were. */
struct lwp_watchpoint_registers {
    uint64_t bytes, same, close, instructions, of_instructions;
};

/* What one thread contributed to the waste of a kind, in bytes or computations; or to the loads or stores that RVN found needless. */
struct lwp_watchpoint_contribution {
    uint8_t kind;               /* enum lwp_watchpoint_kind */
    uint8_t moves;              /* LWPS_ACCESS_LOAD, LWPS_ACCESS_STORE: of such instructions; 0: of the kind itself */
    uint32_t thread;            /* 1, 2, ... of its process, in the order they ran */
    uint64_t all, waste, close; /* all: of moves */
};

/* Start from zero. */
struct lwp_watchpoints {
    struct lwp_watchpoint_contribution *contributions;
    size_t contribution_count, contribution_room;
    struct lwp_watchpoint_registers registers[2][2]; /* [loaded][floating point] */
    struct lwp_watchpoint_registers stored[2];       /* [floating point]: of bytes stored over a known value; no instructions */
    struct lwp_watchpoint_origin *origins;
    size_t origin_count, origin_room;
    struct lwp_watchpoint_pair *pairs;
    size_t pair_count, pair_room;
    struct lwp_watchpoint_course *courses;
    size_t course_count, course_room;
    struct lwp_watchpoint_decision *decisions;
    size_t decision_count, decision_room;
    struct lwp_map origin_index, pair_index, object_index;
    uint32_t *read_elsewhere; /* objects that a thread loaded from what another had stored; sorted when renumbered */
    size_t read_count, read_room;
    struct lwp_map read_index;
    uint32_t file;
    uint64_t beyond; /* accesses and pairs without room: a million are distinguished */
    bool exact;      /* everything was counted: nothing is an estimate */
};

/* Around the records of one thread, in order. What its decisions stand for is known at the end, and counted then. */
void lwp_watchpoint_begin(struct lwp_watchpoints *watchpoints);
void lwp_watchpoint_end(struct lwp_watchpoints *watchpoints);
void lwp_watchpoint_add(struct lwp_watchpoints *watchpoints, const struct lwp_watchpoint_verdict *verdict);

/* Instead of verdicts. */
void lwp_watchpoint_count(struct lwp_watchpoints *watchpoints, const struct lwp_watchpoint_count *count);

/* Of a pair of silent stores. */
void lwp_watchpoint_stored(struct lwp_watchpoints *watchpoints, bool is_float, const struct lwp_watchpoint_registers *more);

void lwp_watchpoint_registers(struct lwp_watchpoints *watchpoints, bool loaded, bool is_float, const struct lwp_watchpoint_registers *more);

/* Added to what the same thread is known to have contributed. */
void lwp_watchpoint_contribute(struct lwp_watchpoints *watchpoints, const struct lwp_watchpoint_contribution *more);

/* A thread loaded what another one had stored in the object: the stores are of use although their own thread never loads them.
 * Which of them is unknown. */
void lwp_watchpoint_read_elsewhere(struct lwp_watchpoints *watchpoints, uint32_t object);

/* Once renumbered. */
bool lwp_watchpoint_is_read_elsewhere(const struct lwp_watchpoints *watchpoints, uint32_t object);

/* Adds `from` to `into` and frees it. */
void lwp_watchpoint_merge(struct lwp_watchpoints *into, struct lwp_watchpoints *from);

/* contexts[old] and objects[old] are the new numbers; sorts by them. */
void lwp_watchpoints_renumber(struct lwp_watchpoints *watchpoints, const uint32_t *contexts, const uint32_t *objects);
void lwp_watchpoint_free(struct lwp_watchpoints *watchpoints);

#endif
