/* The profiled program's machine code: its loops, and what instructions do to memory. */
#ifndef LWP_ANALYSIS_PROGRAM_FLOW_MACHINE_CODE_H
#define LWP_ANALYSIS_PROGRAM_FLOW_MACHINE_CODE_H

#include "analysis/program/binary/modules.h"
#include "analysis/program/debug/frame.h"

/* Natural loops of the decoded control flow, nested as Havlak does (irreducible ones included). */
struct lwp_loop {
    uint32_t module;
    uint32_t parent;      /* enclosing loop or LWP_NONE */
    uint32_t depth;       /* 1: outermost */
    uint64_t header;      /* ELF address of the header block */
    const char *function; /* the innermost inlined function that holds the whole loop */
    const char *file;
    uint32_t first_line, last_line; /* 0: unknown */
    const struct lwp_frame *calls;  /* that inlined that function, innermost first: what they stand in, and where */
    uint32_t call_count;            /* 0: it is not inlined */
    uint32_t source;                /* see lwp_code_source_loop() */
};

const struct lwp_loop *lwp_code_loop(const struct lwp_code *code, uint32_t loop);

/* Compilers make several machine loops out of one source loop (vector loop and remainder, unswitched, peeled). They
 * get the same function, file and lines; this is the first of them, the same for all, itself when there is one only.
 * Nested loops written on one line have equal lines too, but are different source loops. */
uint32_t lwp_code_source_loop(const struct lwp_code *code, uint32_t loop);

/* What a loop that stores nothing looks for with an access: such loops carry nothing from one iteration to the next but where they are,
 * and what they have found. */
enum lwp_loop_search {
    LWP_LOOP_SEARCH_NONE,      /* it computes something, or the code does not show it */
    LWP_LOOP_SEARCH_SCAN,      /* one element after the other, until it is found */
    LWP_LOOP_SEARCH_SCAN_ALL,  /* ... to the end in any case */
    LWP_LOOP_SEARCH_LIST,      /* along a list, until it is found */
    LWP_LOOP_SEARCH_TREE,      /* from a node to one of several others */
    LWP_LOOP_SEARCH_BISECTION, /* by halves */
};

enum { CODE_SCALED_CYCLES = 2 }; /* of a sum with a factor */

/* Where a chain's value is from one iteration to the next. Processors may have what was stored at hand, where both instructions say its
 * place by a register that is still the same. */
enum lwp_loop_kept { LWP_LOOP_KEPT_IN_REGISTER, LWP_LOOP_KEPT_BY_REGISTER, LWP_LOOP_KEPT_AT_ADDRESS };

/* What an iteration of a machine loop computes, and how long that takes. */
struct lwp_loop_work {
    uint32_t instructions;   /* without those of loops in it, and without what takes no time of its own */
    uint32_t flags;          /* of them: those that write the processor's flags */
    uint32_t sums, products; /* ... those of floating-point numbers, of which processors have units of their own */
    double chain;            /* cycles that an iteration waits for the one before through registers, loads from memory aside */
    double loaded_chain;     /* ... through those only that get something from what is loaded, from one place after another */
    uint32_t scaled;         /* instructions of the latter that add with a factor (lea): of two cycles there, of one on some processors */
    double depth;            /* cycles that an iteration takes through vector registers from what it loads and starts with to its end */
    double tail;             /* ... until all of it is done, in whatever registers; 0: it calls something, which goes on as well */
    enum lwp_loop_kept kept; /* the chain through what is loaded: between two iterations in memory */
    bool chain_of_vectors;   /* ... through vector registers, where floating-point numbers are */
};

/* What a machine loop is made of, and whether its loads wait for each other. */
struct lwp_loop_shape {
    struct lwp_loop_work work;
    uint32_t accesses;      /* of its instructions: loads and stores */
    uint32_t loads, stores; /* one instruction may be both */
    uint32_t exits;         /* ways out of it */
    uint32_t branches;      /* conditional jumps, the one that closes it among them */
    uint32_t computed_calls; /* ... calls of what an object, or a variable, says: virtual functions */
    bool chained;           /* a load's address depends on what it, or another one, loaded an iteration before */
    bool apart;             /* no load's address does, in whatever it, what it calls or what it holds does */
    bool steps;             /* the access at the address moves on by a constant each time round; */
    int64_t step;           /* ... by so many bytes; 0: not known, as it does so in several places */
    bool stays;             /* ... is to the same place each time round */
    bool led;               /* ... is to where a pointer leads that the loop loads, from an array of them that it steps through */
    bool drawn;             /* ... is to a place that the loop works out from nothing that it, or what it calls or holds, loads */
    bool hands_on;          /* the loop calls something with a pointer that it loads, from an array of them that it steps through */
    enum lwp_loop_search search;
    bool selects;       /* by conditional moves: which way it goes on no jump says */
    bool repeats_value; /* ... stores a constant, the loop's counter, or else what is not changed in it */
    bool copies_value;  /* ... stores what was loaded, as it was, or whether a condition holds */
};

/* Of the innermost loop that holds the address; false when there is none or its code cannot be read. */
bool lwp_loop_shape(struct lwp_code *code, uint32_t module, uint64_t address, struct lwp_loop_shape *shape);

/* A block of a loop that an iteration may go past, and the instructions in it. */
struct lwp_loop_part {
    uint64_t low, high;
    uint32_t instructions;
};

/* Those of the innermost loop that holds the address, without those of loops in it. */
size_t lwp_loop_parts(struct lwp_code *code, uint32_t module, uint64_t address, struct lwp_loop_part *parts, size_t room);

/* What the loop would do without some of them; as it is in *work where that cannot be read. */
void lwp_loop_work_without(struct lwp_code *code, uint32_t module, uint64_t address, const struct lwp_loop_part *parts, size_t count,
                           struct lwp_loop_work *work);

/* What the innermost loop that holds the call at the address looks for: in an array when the loop has a counter. All that it calls has to
 * be free of side effects (pure.c). */
enum lwp_loop_search lwp_loop_search_by_call(struct lwp_code *code, uint32_t module, uint64_t address);

/* Whether the load at the address goes, in the next iteration of the innermost loop that holds it, to where this one's number says:
 * a chain, of addresses or of indices. */
bool lwp_loop_leads(struct lwp_code *code, uint32_t module, uint64_t address);

/* Whether the access at the address may go to where the load at `from` has led, in the same function: that is where a chain begins. */
bool lwp_code_begins(struct lwp_code *code, uint32_t module, uint64_t from, uint64_t address);

/* A jump of a loop that goes one of two ways by what was loaded, each to instructions that are reached in no other way: from low to
 * before high; both 0: there are none, the jump is past those of the other way. */
struct lwp_loop_choice {
    uint64_t low[2], high[2];
};

/* Those of which a way leads into the innermost loop that holds the address, the other one perhaps into a loop around it or inside it. */
size_t lwp_loop_choices(struct lwp_code *code, uint32_t module, uint64_t address, struct lwp_loop_choice *choices, size_t room);

/* Who calls a function: addresses of functions of the same module, as far as is known. */
struct lwp_callers {
    size_t (*find)(void *of, uint32_t module, uint64_t function, uint64_t *callers, size_t room); /* how many it put there */
    void *of;
};

struct lwp_sibling;

/* What is accessed behind the innermost loop that holds the access at the address, through the pointer or index that the loop goes on
 * with, as it was when the loop was left: the element that a search has found, also by those who called the function that returns it
 * (`callers`; NULL: nobody). `delta` is from the place of the given access. Whether it is done each time the code does not say. Returns
 * how many it put into `found`; 0 when the loop stays at one place. *kept is set where the pointer is also stored: what is accessed
 * through that later is not known. */
size_t lwp_loop_found(struct lwp_code *code, uint32_t module, uint64_t address, const struct lwp_callers *callers,
                      struct lwp_sibling *found, size_t room, bool *kept);

/* How the place where an access begins in one iteration of a loop differs from that in the next. */
enum lwp_loop_step_kind {
    LWP_LOOP_STEP_NO_LOOP,  /* there is no such loop */
    LWP_LOOP_STEP_UNKNOWN,  /* the code does not show it */
    LWP_LOOP_STEP_CONSTANT, /* by so many bytes, 0: it does not */
    LWP_LOOP_STEP_VARIABLE, /* by a value that is in a register */
};

/* Of the loop `level` levels around the innermost one that holds the address (0: that one itself); its number goes to *loop.
 * `loaded_rows`: the base, or index, that is loaded is the start of another row each time, and only the other one matters. */
enum lwp_loop_step_kind lwp_code_loop_step(struct lwp_code *code, uint32_t module, uint64_t address, unsigned level, bool loaded_rows,
                                           uint32_t *loop, int64_t *step);

/* Whether the innermost loop goes on by no sum, but comes back to places between those where it was: its index is a remainder, or the sum
 * less the length where it is past the end. */
bool lwp_code_loop_folds(struct lwp_code *code, uint32_t module, uint64_t address);

/* Whether an iteration of the loop `level` around moves the access by a whole number of rows, -1 to 1, and a constant: a row is what the
 * innermost loop moves the access at `row` by, of the same nest, perhaps a value in a register that is known only while the program runs.
 */
bool lwp_code_loop_rows(struct lwp_code *code, uint32_t module, uint64_t address, uint64_t row, unsigned level, int64_t *rows,
                        int64_t *bytes);

/* Whether a value goes through all iterations of the innermost loop that holds the address and of the one `level` levels around it in
 * an order that matters (a check sum, a generator of random numbers): the two cannot be interchanged. */
bool lwp_code_loop_ordered(struct lwp_code *code, uint32_t module, uint64_t address, unsigned level);

/* Whether the sums that the innermost loop keeps in vector registers are those of all iterations of the loop `level` levels around it, too,
 * which does not begin them anew. */
bool lwp_code_loop_sums_on(struct lwp_code *code, uint32_t module, uint64_t address, unsigned level);

/* Whether the store keeps the smaller or the larger of a new value and of what is there (loop_extreme.c). `stays`: its loop stores to one
 * place again and again. */
bool lwp_code_keeps_extreme(struct lwp_code *code, uint32_t module, uint64_t address, bool stays);

enum { CODE_RIP = -2 };

/* What an instruction does to memory, decoded from the module's file. */
struct lwp_memory_operand {
    bool exists, load, store, vector;
    bool string; /* of an instruction that goes on by itself: copies and fills */
    bool gather; /* at several addresses: gathers and scatters */
    bool adds;   /* loads, and works out with it what is in a general register */
    bool packed; /* may hold several numbers: not the scalar kind of a vector instruction */
    uint16_t bytes;
    int32_t displacement;
    int8_t base, index; /* 0..15 as in the ModRM encoding (rax=0 .. r15=15), -1: none, CODE_RIP */
    uint8_t scale;
};
struct lwp_memory_operand lwp_code_operand(struct lwp_code *code, uint32_t module, uint64_t address);

/* Whether its address is the stack pointer, or the frame pointer of a function that has one, and a constant. */
bool lwp_code_by_stack(struct lwp_code *code, uint32_t module, uint64_t address);

/* Whether the loop around the innermost one that holds the address calls a function whose symbol begins so, itself or in another loop in
 * it; no: none is around in the function, too. */
bool lwp_code_around_calls(struct lwp_code *code, uint32_t module, uint64_t address, const char *begins);

/* Other accesses of the same loop through the same base and index values (base and index registers hold the same
 * value plus a known constant, same scale), within one iteration: exact on every path, calls and redefinitions end
 * it. So one sampled field tells which other fields of the same element the loop touches. */
struct lwp_sibling {
    uint64_t address; /* of the instruction */
    int64_t delta;    /* its data address minus that of the given instruction */
    uint16_t bytes;
    bool load, store;
    uint32_t loop; /* innermost loop of that instruction: the given one's, or one inside it */
};
/* At most `room`, the given instruction (delta 0) among them, in order of address; returns how many there are in
 * all. 0 when the address is in no loop or accesses no memory through registers. */
size_t lwp_code_siblings(struct lwp_code *code, uint32_t module, uint64_t address, struct lwp_sibling *siblings, size_t room);

/* Those in the loops inside that loop, in the first iteration of these: what is done with the element at which they begin. */
size_t lwp_code_siblings_inside(struct lwp_code *code, uint32_t module, uint64_t address, struct lwp_sibling *siblings, size_t room);

#endif
