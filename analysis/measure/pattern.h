/* What does a pattern of accesses cost on this machine? It is run as a small program of its own, with memory of its own. */
#ifndef LWP_ANALYSIS_MEASURE_PATTERN_H
#define LWP_ANALYSIS_MEASURE_PATTERN_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LWP_PATTERN_ARRAYS = 8, LWP_PATTERN_ACCESSES = 64, LWP_PATTERN_UNROLLED = 4 };

/* How a visit finds its element of an array. */
enum lwp_pattern_walk {
    LWP_PATTERN_STEPS,   /* the next one */
    LWP_PATTERN_INDEXED, /* another one, by a list of indices that is read in order, or by one of the arrays (`leads`) */
    LWP_PATTERN_CHAINED, /* the one whose address the element before has (array 0 only) */
    LWP_PATTERN_LINKED,  /* the one whose address array 0's element has */
    LWP_PATTERN_NESTED,  /* `spacing` on, in a loop that is run again and again, each time from `outer` on (all arrays or none), and so many
                          * runs of it, each time from `plane` on */
};

/* Which pages the arrays lie on. */
enum lwp_pattern_pages {
    LWP_PATTERN_AS_GIVEN, /* what the system gives a program that does not ask */
    LWP_PATTERN_SMALL,
    LWP_PATTERN_HUGE, /* where the system has some */
};

struct lwp_pattern_array {
    enum lwp_pattern_walk walk;
    uint64_t spacing; /* bytes from one element to the next */
    uint64_t start;   /* of the first element, in bytes past the beginning of a page */
    uint64_t link; /* chained: where in its element the address is, of a tree the first of two; linked: where in that of an array before it;
                      leads: where in its own the index is */
    size_t from;   /* linked: that array */
    bool leads;       /* indexed: its element has the index of the next visit's elements, 4 bytes; no list does then (one array at most) */
    uint64_t outer;   /* nested: bytes from where one run of the inner loop begins to where the next does */
    uint64_t plane;   /* nested, with `runs`: bytes from where that many runs begin to where the next ones do */
    uint64_t extent;  /* bytes from its first to its last, most of which may never be touched; 0: of its elements */
    size_t within;    /* 1 + the array that it begins with and is a part of, as one column of many; 0: its memory is its own */
};

struct lwp_pattern_access {
    size_t array;
    uint64_t offset; /* in the element */
    unsigned bytes;
    bool store;
    bool by_index; /* steps: an index moves on, not a register of the array's own; some processors take less time for such addresses */
    bool adds;   /* what is loaded is added to what the round has loaded before, as far as that is in a general register */
    bool vector; /* through a vector register, where floating-point numbers are: some processors make fewer of those at one time */
    bool found;  /* made only at the element that a search ends at, of a tree or by halves */
};

/* A loop: each round visits one element of each array. */
struct lwp_pattern {
    struct lwp_pattern_array arrays[LWP_PATTERN_ARRAYS];
    size_t array_count;
    /* Array by array; those to one array in the order in which they are made, by which prefetchers guess what comes next. */
    struct lwp_pattern_access accesses[LWP_PATTERN_ACCESSES];
    size_t access_count;
    uint64_t elements; /* of each array */
    /* Indexed and chained: the part of the visits that goes anywhere; the others go to the next element, or to one of `window`
     * neighbours until all of them were visited. 1 and indexed: each index is drawn anew, and some are there more than once. */
    double far;
    bool draws;          /* indexed, anywhere: each index is worked out when it is needed, and no list of them is read */
    uint64_t jump;       /* indexed, anywhere: so many elements on from the one before, round and round; 0: drawn */
    bool bisects; /* indexed, anywhere: the visits are those of searches by halves, most of them to a few elements; no list is read */
    uint64_t window;     /* 0: as 1 */
    unsigned passes; /* ... go through the elements in so many passes, each of them in one by chance; 0: as 1. No window is there then */
    bool even;       /* ... not by chance: each pass has every so many-th */
    unsigned search;     /* chained: visits until the next chain begins anywhere, without waiting for this one: 1, 2 or 4; 0: never */
    uint64_t heads; /* ... which one it is says a table of as many addresses as there are searches, so many bytes apart; 0: no table does */
    bool tree; /* chained: each element leads to one of two others, as good as drawn; at the bottom the next search begins at the root */
    unsigned endings;    /* ... of so many eighths of them the end is guessed wrong, once the last element has come: 0 to 7 */
    unsigned unrolled;   /* rounds that the loop's code has one after the other; 0: one. Prefetchers go by an instruction's own steps */
    uint64_t inner;      /* nested: rounds of each run of the inner loop; `elements` are those of all */
    uint64_t runs;       /* ... of each run of a third loop, around all; 0: there is none */
    double instructions; /* of a round; what the accesses do not need is filled up */
    double flags;        /* of them: those that write the processor's flags, */
    double sums, products; /* ... of floating-point numbers */
    double depth;          /* cycles from what a round loads to the last of these: more than one wait for each other */
    double chain;        /* cycles that a round waits for the round before, beside memory, through what is loaded */
    unsigned scaled;     /* ... and for so many sums with a factor (lea) beside these cycles, unless it is floating: of one cycle or two,
                          * as the processor has it */
    double apart;        /* ... and through registers that get nothing of it: many rounds ahead of what is loaded */
    bool floating;       /* the chain: in floating-point registers */
    bool through_memory; /* ... and is stored at the end of a round and loaded again in the next one, */
    bool at_address;     /* ... by an address of its own, not by a register that stays the same */
    bool guesses;        /* a round has a jump that goes either way, as good as drawn, once its first access has come; of searches of a tree
                          * and by halves: that is how the next element is chosen */
    enum lwp_pattern_pages pages;
    unsigned threads; /* that run it beside each other, each on a part of the elements; 0: one */
};

/* Of so many rounds those that are whole blocks. */
static inline uint64_t lwp_pattern_whole(uint64_t rounds)
{
    return rounds / LWP_PATTERN_UNROLLED * LWP_PATTERN_UNROLLED;
}

/* How far from its first element a search by halves begins. */
static inline uint64_t lwp_pattern_half(const struct lwp_pattern *pattern)
{
    return lwp_pattern_whole(pattern->elements) / 2;
}

/* Nanoseconds of CPU time a round, medians of several turns. */
struct lwp_pattern_times {
    double before, after;
    double core;             /* of `before` with all elements in the nearest cache */
    double ratio, low, high; /* of after to before: the median of turns, and the quartiles */
    double least[2];         /* of before and after: the fastest turn, when others left most of the caches to them */
    double cold[2];          /* ... when others want all of what cores share (lwp_pattern_compare_cold); 0: not timed */
    double near[2];          /* ... with all of it in the caches that are a core's own; cold ones only, 0: not timed */
    double both_fit;         /* of the lines that `before` touches: the part that fits where those of `after` just fit; cold ones only */
    unsigned runs;           /* how often both were run, each time anew; 0: once */
    double spread;           /* standard deviation of log(ratio) of these runs */
    double today;            /* ... of log(before) */
    double huge;             /* the part of what was asked for on huge pages that the system gave; 1: nothing was, or it is not known */
};

/* Runs both in turns, for about so many seconds. Both have the same number of elements; the same pattern may be given twice. Fails when
 * they are too large for this machine's free memory or for the code that runs them. */
int lwp_pattern_compare(const struct lwp_pattern *before, const struct lwp_pattern *after, double seconds, struct lwp_pattern_times *times,
                        struct lwp_error *err);

/* The same, once more: `core` is not timed again. */
int lwp_pattern_compare_again(const struct lwp_pattern *before, const struct lwp_pattern *after, double seconds,
                              struct lwp_pattern_times *times, struct lwp_error *err);

/* The same, but caches have nothing of either pattern beyond the last `kept` bytes that it went to: so do those that cores share, when
 * others want all of them. Sets the times but `core`. */
int lwp_pattern_compare_cold(const struct lwp_pattern *before, const struct lwp_pattern *after, double kept, double seconds,
                             struct lwp_pattern_times *times, struct lwp_error *err);

/* The same of a part of larger arrays, whose lines are in no cache but by chance: sets `core`, too. */
int lwp_pattern_compare_part(const struct lwp_pattern *before, const struct lwp_pattern *after, double kept, double seconds,
                             struct lwp_pattern_times *times, struct lwp_error *err);

/* Whether fewer elements are visited in the same way. */
bool lwp_pattern_has_parts(const struct lwp_pattern *pattern);

/* After so many seconds no other turn begins, where it took `made` to set both up and each is to be timed for `seconds`; and after so many
 * it is given up. */
double lwp_pattern_turns_until(double made, double seconds);
double lwp_pattern_patience(double seconds);

/* Bytes of all arrays that are touched. */
double lwp_pattern_bytes(const struct lwp_pattern *pattern);

/* ... of the cache lines among them that accesses go to. */
double lwp_pattern_busy(const struct lwp_pattern *pattern);

/* ---- pattern_code.c ---- */

/* What the code reads and writes: where it stands in each array, and in the list of indices. */
struct lwp_pattern_place {
    uint64_t at[LWP_PATTERN_ARRAYS];
    uint64_t first; /* array 0's first element; a tree's root; the element that what is left of a search by halves begins at */
    uint64_t index; /* of the next visit's elements, where an array leads */
    uint64_t drawn; /* what jumps that are guessed go by; odd */
    uint64_t kept;  /* a chain that goes through memory */
    uint64_t next;  /* the address of what is next in the list of indices; what the last index was drawn from, odd; what is left of an inner
                     * loop's run; a half of what is left of a search */
    uint64_t runs;  /* what is left of them before the third loop of a nest goes on */
    uint64_t rounds; /* a multiple of LWP_PATTERN_UNROLLED, not 0 */
};

struct lwp_pattern_code {
    void (*run)(struct lwp_pattern_place *place);
    void *memory;
    size_t bytes;
    unsigned unrolled; /* rounds that it has one after the other: 1, 2 or 4 */
};

int lwp_pattern_code_make(const struct lwp_pattern *pattern, struct lwp_pattern_code *code, struct lwp_error *err);
void lwp_pattern_code_free(struct lwp_pattern_code *code);

/* The array that leads the visits; array_count: none. */
size_t lwp_pattern_leader(const struct lwp_pattern *pattern);

/* ---- pattern_memory.c ---- */

struct lwp_pattern_memory {
    uint8_t *first[LWP_PATTERN_ARRAYS]; /* the first element of each array */
    void *mapped[LWP_PATTERN_ARRAYS];
    size_t mapped_bytes[LWP_PATTERN_ARRAYS];
    uint32_t *order; /* the element of each visit; NULL: nested, or drawn. With heads: of a search's first one the place in their table */
    uint8_t *heads;  /* the table; NULL: there is none */
    size_t heads_bytes;
    uint64_t elements;
    uint64_t visits; /* a multiple of LWP_PATTERN_UNROLLED if that is; where they go anywhere no more than are ever made */
    double huge;     /* as in lwp_pattern_times */
};

/* Maps and fills the arrays of `elements` elements. */
int lwp_pattern_memory_make(const struct lwp_pattern *pattern, uint64_t elements, struct lwp_pattern_memory *memory, struct lwp_error *err);
void lwp_pattern_memory_free(struct lwp_pattern_memory *memory);

#endif
