/* What a superblock does to numbers, as steps: which values it computes, of which, where they come from and go to. All
 * that can be told when it is translated has been; a step is what depends on the run. Steps work on slots: those of the
 * thread's registers first, then the superblock's own. Freestanding. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_VALUES_VALUE_STEPS_H
#define LWP_COLLECTOR_EXACT_DETECT_VALUES_VALUE_STEPS_H

#include "collector/exact/detect/values/value_memory.h"
#include "collector/exact/detect/values/value_table.h"

enum {
    LWP_VALUE_REGISTERS = 84, /* slots of registers, 8 bytes each */
    LWP_VALUE_SLOTS = 4096,
};

/* a and b are slots, `to` is one. */
enum lwp_value_code {
    LWP_VALUE_UNARY,     /* of all 8 bytes of a: mix(key + a) */
    LWP_VALUE_UNARY_32,  /* of 4 bytes or fewer */
    LWP_VALUE_BINARY,    /* mix(key + a + b * second) */
    LWP_VALUE_BINARY_32,
    LWP_VALUE_EITHER,    /* the same whichever is which: mix(key + either(a) + either(b)) */
    LWP_VALUE_EITHER_32,
    LWP_VALUE_WITH,      /* the same with a constant, which is in the key: mix(key + either(a)) */
    LWP_VALUE_WITH_32,
    LWP_VALUE_OPERATORS = LWP_VALUE_WITH_32, /* the last of them */
    LWP_VALUE_COPY,
    LWP_VALUE_WIDEN,     /* 4 bytes, and zeros */
    LWP_VALUE_TO_8,
    LWP_VALUE_TO_16,
    LWP_VALUE_TO_HIGH,   /* the upper 4 bytes */
    LWP_VALUE_PAIR,      /* the lower 4 of a, then of b */
    LWP_VALUE_SET_LOW,   /* the lower 4 bytes of a, the upper ones of b */
    LWP_VALUE_CONSTANT,  /* key: of at most 4 bytes, zeros above */
    LWP_VALUE_NEW,       /* nothing is known of it */
    LWP_VALUE_LOAD_1,    /* b: number of the access; key: bytes from its start */
    LWP_VALUE_LOAD_2,
    LWP_VALUE_LOAD_4,
    LWP_VALUE_LOAD_8,
    LWP_VALUE_STORE_1,   /* of a */
    LWP_VALUE_STORE_2,
    LWP_VALUE_STORE_4,
    LWP_VALUE_STORE_8,
    LWP_VALUE_FORGET,    /* key: so many bytes */
    LWP_VALUE_COMPUTED,  /* a was computed; to: the computation's number in the superblock, key: its instruction */
    LWP_VALUE_CODES,
};

struct lwp_value_step {
    uint8_t code;       /* enum lwp_value_code */
    uint8_t width : 2;  /* LWP_NUMBER_8, _16 or 0, of what is computed */
    bool narrow : 1;    /* what is computed has 4 bytes or fewer */
    bool counted : 1;   /* an operator, whose LWP_VALUE_COMPUTED is the next step */
    uint16_t to, a, b;
    uint64_t key;       /* in place of which LWP_VALUE_COMPUTED has an index into `places` */
};
_Static_assert(sizeof(struct lwp_value_step) == 16, "large programs have millions");

struct lwp_value_steps {
    uint32_t count;
    uint32_t exits;       /* side exits */
    const uint32_t *ends; /* for each exit, and for none, how many steps are done before */
    struct lwp_value_step *step;
};

/* Everything there is of a process. */
struct lwp_values {
    struct lwp_numbering numbering;
    struct lwp_value_memory memory;
    struct lwp_value_table table;
    struct lwp_shadow_pairs pairs; /* kind LWP_SHADOW_VALUES; `same` are computations */
    struct lwp_value_place *places; /* of instructions; the caller's */
    uint64_t computed, redundant;   /* computations */
    uint64_t path;                  /* value_code.c: the call path that superblocks run on */
    uint64_t low[LWP_VALUE_SLOTS], high[LWP_VALUE_SLOTS]; /* numbers of slots */
};

/* `last`: numbers kept of each instruction; `bytes`: words told byte by byte at most; `pairs_bits` as in
 * shadow_pairs.h. False: no memory. */
bool lwp_values_init(struct lwp_values *values, const struct lwp_shadow_port *port, uint32_t last, uint32_t bytes,
                     unsigned pairs_bits);
void lwp_values_fini(struct lwp_values *values);

/* The superblock runs until it has passed so many exits. `addresses`: of its accesses, 0: it did not happen; `context`:
 * of its first computation, from 1. */
void lwp_values_run(struct lwp_values *values, const struct lwp_value_steps *steps, const uint64_t *addresses,
                    uint32_t passed, uint32_t context);

/* Nothing is known of slots from `first` on. */
void lwp_values_lose(struct lwp_values *values, unsigned first, unsigned count);

/* A window begins: nothing is known, of registers, memory or what was computed before. */
void lwp_values_begin(struct lwp_values *values);

/* ---- what steps do beside operators ---- */

/* `width`: as in the step. */
static inline uint64_t lwp_values_new(struct lwp_values *values, uint64_t width)
{
    return lwp_number_new(&values->numbering) | width;
}

/* `address` 0: it did not happen. */
static inline struct lwp_number lwp_values_load(struct lwp_values *values, uint64_t address, uint64_t offset, unsigned bytes)
{
    if (__builtin_expect(address != 0, 1))
        return lwp_value_load(&values->memory, address + offset, bytes);
    return (struct lwp_number){lwp_values_new(values, bytes == 1 ? LWP_NUMBER_8 : bytes == 2 ? LWP_NUMBER_16 : 0),
                               bytes == 8 ? 0 : lwp_number_constant(0) | values->numbering.epoch};
}

static inline void lwp_values_store(struct lwp_values *values, uint64_t address, uint64_t offset, unsigned bytes,
                                    struct lwp_number number)
{
    if (__builtin_expect(address != 0, 1))
        lwp_value_store(&values->memory, address + offset, bytes, number);
}

static inline void lwp_values_forget_bytes(struct lwp_values *values, uint64_t address, uint64_t bytes)
{
    if (address)
        lwp_value_forget(&values->memory, address, bytes);
}

void lwp_values_redundant(struct lwp_values *values, uint32_t first, uint32_t second);

static inline void lwp_values_computed(struct lwp_values *values, uint64_t number, uint32_t place, uint32_t context)
{
    uint32_t first = lwp_value_table_add(&values->table, &values->places[place], number, context);
    if (first)
        lwp_values_redundant(values, first, context);
}

#endif
