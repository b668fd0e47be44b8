/* What a superblock does to value numbers, as steps of an interpreter: which values it computes from which, where they come
 * from and go to. Whatever can be decided at translation time has been decided then. Steps work on slots: those of the
 * thread's registers first, then temporaries of the superblock. Freestanding. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_VALUES_VALUE_STEPS_H
#define LWP_COLLECTOR_EXACT_DETECT_VALUES_VALUE_STEPS_H

#include "collector/exact/detect/values/value_memory.h"
#include "collector/exact/detect/values/value_table.h"

enum {
    LWP_VALUE_REGISTERS = 84, /* slots of registers, 8 bytes each */
    LWP_VALUE_SLOTS = 4096,
};

/* a, b and `to` are slots. */
enum lwp_value_code {
    LWP_VALUE_UNARY,    /* of all 8 bytes of a: mix(key + a) */
    LWP_VALUE_UNARY_32, /* of 4 bytes or fewer */
    LWP_VALUE_BINARY,   /* mix(key + a + b * second) */
    LWP_VALUE_BINARY_32,
    LWP_VALUE_EITHER, /* the same whichever is which: mix(key + either(a) + either(b)) */
    LWP_VALUE_EITHER_32,
    LWP_VALUE_WITH, /* the same with a constant, which is in the key: mix(key + either(a)) */
    LWP_VALUE_WITH_32,
    LWP_VALUE_COPY,
    LWP_VALUE_WIDEN, /* 4 bytes, and zeros */
    LWP_VALUE_TO_8,
    LWP_VALUE_TO_16,
    LWP_VALUE_TO_HIGH,  /* the upper 4 bytes */
    LWP_VALUE_PAIR,     /* the lower 4 of a, then of b */
    LWP_VALUE_SET_LOW,  /* the lower 4 bytes of a, the upper ones of b */
    LWP_VALUE_CONSTANT, /* key: of at most 4 bytes, zeros above */
    LWP_VALUE_NEW,      /* an unknown value */
    LWP_VALUE_LOAD_1,   /* b: number of the access; key: bytes from its start */
    LWP_VALUE_LOAD_2,
    LWP_VALUE_LOAD_4,
    LWP_VALUE_LOAD_8,
    LWP_VALUE_STORE_1, /* of a */
    LWP_VALUE_STORE_2,
    LWP_VALUE_STORE_4,
    LWP_VALUE_STORE_8,
    LWP_VALUE_FORGET,   /* key: so many bytes */
    LWP_VALUE_COMPUTED, /* a is the result of a computation; to: its number in the superblock, key: index into `places` */
    LWP_VALUE_MOVED,    /* a was loaded or (`to` not 0) stored by an instruction that computes nothing; b: the access, key as above */
    LWP_VALUE_CODES,
};

struct lwp_value_step {
    uint8_t code;       /* enum lwp_value_code */
    uint8_t width : 2;  /* LWP_NUMBER_8, _16 or 0, of what is computed */
    bool narrow : 1;    /* what is computed has 4 bytes or fewer */
    uint16_t to, a, b;
    uint64_t key;
};
_Static_assert(sizeof(struct lwp_value_step) == 16, "large programs have millions");

struct lwp_value_steps {
    uint32_t count;
    uint32_t exits;       /* side exits */
    const uint32_t *ends; /* for each exit, and for none, how many steps are done before */
    struct lwp_value_step *step;
};

/* How often; moves: instructions that only load or store. Again: the same value from, or to, the same place. */
enum lwp_value_sum {
    LWP_VALUE_SUM_REDUNDANT,
    LWP_VALUE_SUM_LOADS,
    LWP_VALUE_SUM_STORES,
    LWP_VALUE_SUM_LOADS_AGAIN,
    LWP_VALUE_SUM_STORES_AGAIN,
    LWP_VALUE_SUMS
};

/* The state of value numbering for one process. */
struct lwp_values {
    struct lwp_numbering numbering;
    struct lwp_value_memory memory;
    struct lwp_value_table table;
    struct lwp_shadow_pairs pairs; /* kind LWP_SHADOW_VALUES; `same` are computations */
    struct lwp_value_place *places; /* by number of the instruction; owned by the caller */
    uint64_t computed, redundant;   /* computations */
    uint64_t *sums;                 /* LWP_VALUE_SUMS of them, of the thread that runs; never NULL */
    uint64_t no_sums[LWP_VALUE_SUMS];                     /* where nobody asks for them */
    uint64_t low[LWP_VALUE_SLOTS], high[LWP_VALUE_SLOTS]; /* numbers of slots */
};

/* `last`: numbers remembered for each instruction; `bytes`: words tracked byte by byte at most; `pairs_bits` as in
 * shadow_pairs.h. False: out of memory. */
bool lwp_values_init(struct lwp_values *values, const struct lwp_shadow_port *port, uint32_t last, uint32_t bytes,
                     unsigned pairs_bits);
void lwp_values_fini(struct lwp_values *values);

/* Runs the steps of a superblock that has passed so many side exits. `addresses`: of its accesses, 0: the access did not
 * happen; `context`: number of its first computation, from 1. */
void lwp_values_run(struct lwp_values *values, const struct lwp_value_steps *steps, const uint64_t *addresses,
                    uint32_t passed, uint32_t context);

/* Gives slots from `first` on unknown values. */
void lwp_values_lose(struct lwp_values *values, unsigned first, unsigned count);

/* Begins a window: registers, memory and results of the last one are forgotten. */
void lwp_values_begin(struct lwp_values *values);

#endif
