/* Runtime value numbering against a reference that knows of each byte what it is, on random programs of a small machine.
 * The exact engine's files are included, as they are no part of lwp. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collector/exact/detect/redundancy/shadow_pairs.c"
#include "collector/exact/detect/values/machine_code.c"
#include "collector/exact/detect/values/value_code.c"
#include "collector/exact/detect/values/value_emit.c"
#include "collector/exact/detect/values/value_memory.c"
#include "collector/exact/detect/values/value_memory_code.c"
#include "collector/exact/detect/values/value_step_code.c"
#include "collector/exact/detect/values/value_steps.c"
#include "collector/exact/detect/values/value_table.c"
#include "tests/unit/shadow_port.h"

#include <stdlib.h>
#include <string.h>

/* ---- the reference: a byte is one of a term's, a term an operator and the bytes that it was given ---- */

/* Around the border of two leaves. */
enum { REGISTERS = 6, BYTES = 64, INSTRUCTIONS = 12, LAST = 3, TERMS = 1 << 15, ZERO = 0 };
static const uint64_t base = ((uint64_t)7 << LEAF_BITS) - BYTES / 2;

struct bytes {
    uint32_t byte[8]; /* term * 8 + which of its bytes */
};

enum operator { ADD, SUB, ADD_32, SUB_32, NOT, NOT_32, OPERATORS };

struct term {
    unsigned operator;
    struct bytes a, b;
};

static struct term terms[TERMS];
static uint32_t term_count;

static struct bytes term_bytes(uint32_t term, unsigned bytes)
{
    struct bytes made = {{0}};
    for (unsigned i = 0; i < bytes; i++)
        made.byte[i] = term * 8 + i;
    return made;
}

static struct bytes low_bytes(struct bytes of, unsigned bytes)
{
    for (unsigned i = bytes; i < 8; i++)
        of.byte[i] = ZERO;
    return of;
}

static uint32_t term_new(void)
{
    assert_true(term_count < TERMS);
    terms[term_count].operator = OPERATORS;
    return term_count++;
}

static unsigned operator_bytes(enum operator operator)
{
    return operator == ADD_32 || operator == SUB_32 || operator == NOT_32 ? 4 : 8;
}

static bool operator_is_unary(enum operator operator)
{
    return operator == NOT || operator == NOT_32;
}

static uint32_t term_of(enum operator operator, struct bytes a, struct bytes b)
{
    struct term term = {.operator = operator, .a = low_bytes(a, operator_bytes(operator))};
    if (!operator_is_unary(operator))
        term.b = low_bytes(b, operator_bytes(operator));
    if ((operator == ADD || operator == ADD_32) && memcmp(&term.a, &term.b, sizeof term.a) > 0) {
        struct bytes swapped = term.a;
        term.a = term.b;
        term.b = swapped;
    }
    for (uint32_t i = 1; i < term_count; i++)
        if (memcmp(&terms[i], &term, sizeof term) == 0)
            return i;
    uint32_t made = term_new();
    terms[made] = term;
    return made;
}

struct machine {
    struct bytes registers[REGISTERS];
    uint32_t memory[BYTES];
    struct {
        uint32_t term[LAST], by[LAST], oldest;
    } last[INSTRUCTIONS];
    uint64_t computed, redundant, pairs[INSTRUCTIONS][INSTRUCTIONS];
};

static void machine_begin(struct machine *machine)
{
    for (unsigned i = 0; i < REGISTERS; i++)
        machine->registers[i] = term_bytes(term_new(), 8);
    for (unsigned i = 0; i < BYTES; i++)
        machine->memory[i] = term_new() * 8;
    memset(machine->last, 0, sizeof machine->last);
}

static void machine_computed(struct machine *machine, unsigned instruction, uint32_t term)
{
    machine->computed++;
    for (unsigned i = 0; i < INSTRUCTIONS; i++) {
        for (unsigned k = 0; k < LAST; k++) {
            if (machine->last[i].term[k] != term)
                continue;
            machine->redundant++;
            machine->pairs[machine->last[i].by[k]][instruction]++;
            return;
        }
    }
    uint32_t *oldest = &machine->last[instruction].oldest;
    machine->last[instruction].term[*oldest] = term;
    machine->last[instruction].by[*oldest] = instruction;
    *oldest = (*oldest + 1) % LAST;
}

/* ---- both ---- */

static struct lwp_values values;
static struct lwp_value_place places[INSTRUCTIONS];
static struct machine machine;

static unsigned random_below(unsigned bound)
{
    return (unsigned)(rand() >> 4) % bound;
}

static void run(const struct lwp_value_step *steps, uint32_t count, uint64_t address, uint32_t context)
{
    struct lwp_value_steps block = {.count = count, .ends = &count, .step = (struct lwp_value_step *)steps};
    lwp_values_run(&values, &block, &address, 0, context);
}

static void both_begin(void)
{
    memset(&machine, 0, sizeof machine);
    memset(places, 0, sizeof places);
    term_count = 1;
    machine_begin(&machine);
    values.places = places;
}

static void both_compute(enum operator operator, unsigned instruction, unsigned to, unsigned a, unsigned b)
{
    static const uint8_t codes[OPERATORS] = {LWP_VALUE_EITHER,    LWP_VALUE_BINARY, LWP_VALUE_EITHER_32,
                                             LWP_VALUE_BINARY_32, LWP_VALUE_UNARY,  LWP_VALUE_UNARY_32};
    const struct lwp_value_step steps[] = {
        {.code = codes[operator], .narrow = operator_bytes(operator) == 4, .counted = instruction % 2, .to = (uint16_t)to, .a = (uint16_t)a,
         .b = (uint16_t)b, .key = lwp_number_key(LWP_NUMBER_KEY_OPERATORS + operator)},
        {.code = LWP_VALUE_COMPUTED, .a = (uint16_t)to, .to = 0, .key = instruction}};
    run(steps, 2, 0, instruction + 1);
    uint32_t term = term_of(operator, machine.registers[a], machine.registers[b]);
    machine.registers[to] = term_bytes(term, operator_bytes(operator));
    machine_computed(&machine, instruction, term);
}

static void both_load(unsigned to, unsigned at, unsigned bytes_log)
{
    struct lwp_value_step step = {.code = (uint8_t)(LWP_VALUE_LOAD_1 + bytes_log), .to = (uint16_t)to};
    run(&step, 1, base + at, 0);
    struct bytes loaded = {{0}};
    memcpy(loaded.byte, machine.memory + at, sizeof *machine.memory << bytes_log);
    machine.registers[to] = loaded;
}

static void both_store(unsigned from, unsigned at, unsigned bytes_log)
{
    struct lwp_value_step steps[] = {
        {.code = bytes_log ? LWP_VALUE_TO_16 : LWP_VALUE_TO_8, .to = REGISTERS, .a = (uint16_t)from},
        {.code = (uint8_t)(LWP_VALUE_STORE_1 + bytes_log), .a = (uint16_t)(bytes_log < 2 ? REGISTERS : from)}};
    run(steps, 2, base + at, 0);
    memcpy(machine.memory + at, machine.registers[from].byte, sizeof *machine.memory << bytes_log);
}

static void both_forget(unsigned at, unsigned bytes)
{
    struct lwp_value_step step = {.code = LWP_VALUE_FORGET, .key = bytes};
    run(&step, 1, base + at, 0);
    for (unsigned i = 0; i < bytes; i++)
        machine.memory[at + i] = term_new() * 8;
}

/* What has been seen to be what. */
static struct {
    struct lwp_number number;
    struct bytes bytes;
} seen[TERMS];
static size_t seen_count;

/* Equal numbers are equal values; with `exact` the other way round, too. */
static void both_compare(bool exact)
{
    unsigned at = random_below(REGISTERS);
    struct lwp_number number = {values.low[at], values.high[at]};
    for (size_t i = 0; i < seen_count; i++) {
        if (lwp_number_is_stale(seen[i].number.low, number.low & lwp_number_epoch_mask))
            continue;
        bool same = lwp_number_whole(seen[i].number) == lwp_number_whole(number);
        bool equal = memcmp(&seen[i].bytes, &machine.registers[at], sizeof seen[i].bytes) == 0;
        assert_true(!same || equal);
        assert_true(!exact || same == equal);
    }
    seen[seen_count].number = number;
    seen[seen_count++].bytes = machine.registers[at];
}

enum width { WORDS, ALL };

static void both_step(enum width width)
{
    unsigned bytes_log = width == WORDS ? 2 + random_below(2) : random_below(4);
    unsigned at = random_below(BYTES - 8), what = random_below(100);
    at &= width == WORDS ? ~((1u << bytes_log) - 1) : ~0u;
    if (what < 45) {
        unsigned instruction = random_below(INSTRUCTIONS); /* of which each does always the same */
        both_compute((enum operator)(instruction % OPERATORS), instruction, random_below(REGISTERS),
                     random_below(REGISTERS), random_below(REGISTERS));
    } else if (what < 70) {
        both_load(random_below(REGISTERS), at, bytes_log);
    } else if (what < 97) {
        both_store(random_below(REGISTERS), at, bytes_log);
    } else if (what < 99) {
        unsigned from = random_below(REGISTERS), to = random_below(REGISTERS);
        struct lwp_value_step step = {.code = LWP_VALUE_COPY, .to = (uint16_t)to, .a = (uint16_t)from};
        run(&step, 1, 0, 0);
        machine.registers[to] = machine.registers[from];
    } else {
        both_forget(at & ~3u, 4u << random_below(2));
    }
}

static void both_totals(void)
{
    assert_int_equal(values.computed, machine.computed);
    assert_int_equal(values.redundant, machine.redundant);
    for (uint32_t i = 0; i < INSTRUCTIONS; i++)
        for (uint32_t k = 0; k < INSTRUCTIONS; k++)
            if (machine.pairs[i][k])
                assert_int_equal(lwp_shadow_pairs_at(&values.pairs, LWP_SHADOW_VALUES, i + 1, k + 1, 0)->same,
                                 machine.pairs[i][k]);
}

/* Of 4 and 8 bytes, aligned: the same to the last computation. */
static void test_words(void **state)
{
    (void)state;
    uint64_t redundant = 0;
    for (unsigned seed = 0; seed < 15; seed++) {
        srand(seed);
        assert_true(lwp_values_init(&values, &port, LAST, 1 << 10, 12));
        both_begin();
        seen_count = 0;
        for (unsigned i = 0; i < 1500; i++) {
            if (i % 500 == 499) {
                lwp_values_begin(&values);
                machine_begin(&machine);
            }
            both_step(WORDS);
            both_compare(true);
        }
        both_totals();
        redundant += values.redundant;
        lwp_values_fini(&values);
    }
    assert_true(redundant > 500);
}

/* Of any width anywhere: never redundant what is not; also when few words can be told byte by byte. */
static void test_all(void **state)
{
    (void)state;
    uint64_t redundant = 0;
    for (unsigned seed = 0; seed < 20; seed++) {
        srand(seed);
        assert_true(lwp_values_init(&values, &port, LAST, seed % 2 ? 3 : 1 << 10, 12));
        both_begin();
        seen_count = 0;
        for (unsigned i = 0; i < 1500; i++) {
            both_step(ALL);
            both_compare(false);
        }
        assert_int_equal(values.computed, machine.computed);
        redundant += values.redundant;
        lwp_values_fini(&values);
    }
    assert_true(redundant > 100);
}

/* Copies keep what they are, a byte at a time and 8 bytes at a time. */
static void test_copies(void **state)
{
    (void)state;
    assert_true(lwp_values_init(&values, &port, LAST, 16, 12));
    both_begin();
    for (unsigned at = 0; at < 16; at++) {
        both_load(0, at, 0);
        both_store(0, at + 16, 0);
    }
    both_load(1, 3, 0);
    both_compute(NOT_32, 5, 2, 1, 1);
    both_load(1, 19, 0);
    both_compute(NOT_32, 11, 2, 1, 1);
    assert_int_equal(values.redundant, 1);
    both_load(4, 0, 2);
    both_load(5, 16, 2);
    assert_int_equal(values.low[4], values.low[5]);
    both_load(0, 32, 3);
    both_store(0, 48, 3);
    both_load(1, 36, 2);
    both_compute(NOT_32, 5, 2, 1, 1);
    both_load(1, 52, 2);
    both_compute(NOT_32, 11, 2, 1, 1);
    assert_int_equal(values.redundant, 2);
    both_load(0, 8, 2);
    both_store(0, 40, 2);
    both_load(0, 4, 2);
    both_store(0, 44, 2);
    both_load(1, 40, 3);
    both_compute(NOT, 4, 2, 1, 1);
    both_store(1, 48, 3);
    both_load(3, 52, 2);
    both_load(1, 4, 2);
    both_compute(NOT_32, 5, 2, 1, 1);
    both_compute(NOT_32, 11, 2, 3, 3);
    assert_int_equal(values.redundant, 3);
    both_totals();
    lwp_values_fini(&values);
}

/* Steps behind an exit that was taken are not done; accesses that did not happen neither. */
static void test_exits(void **state)
{
    (void)state;
    const uint64_t addresses[] = {base, 0};
    const uint32_t ends[] = {2, 4, 6};
    struct lwp_value_step steps[] = {{.code = LWP_VALUE_LOAD_8, .to = 0},
                                     {.code = LWP_VALUE_COMPUTED, .a = 0, .to = 0, .key = 0},
                                     {.code = LWP_VALUE_STORE_8, .a = 1, .b = 1},
                                     {.code = LWP_VALUE_COMPUTED, .a = 0, .to = 1, .key = 1},
                                     {.code = LWP_VALUE_LOAD_8, .to = 2, .b = 1},
                                     {.code = LWP_VALUE_COMPUTED, .a = 2, .to = 2, .key = 2}};
    const struct lwp_value_steps block = {.count = 6, .exits = 2, .ends = ends, .step = steps};
    assert_true(lwp_values_init(&values, &port, LAST, 16, 12));
    both_begin();
    lwp_values_run(&values, &block, addresses, 0, 1);
    assert_int_equal(values.computed, 1);
    assert_int_equal(values.redundant, 0);
    lwp_values_run(&values, &block, addresses, 1, 1);
    assert_int_equal(values.computed, 3);
    assert_int_equal(values.redundant, 2);
    lwp_values_run(&values, &block, addresses, 2, 1);
    assert_int_equal(values.computed, 6);
    assert_int_equal(values.redundant, 4);
    assert_int_equal(lwp_shadow_pairs_at(&values.pairs, LWP_SHADOW_VALUES, 1, 2, 0)->same, 2);
    lwp_values_fini(&values);
}

/* The high half of one with the low half of another is not the other way round, whichever operand is which; nor are
 * 4 bytes with zeros the 8 bytes. */
static void test_halves(void **state)
{
    (void)state;
    assert_true(lwp_values_init(&values, &port, LAST, 16, 12));
    both_begin();
    both_load(0, 0, 3);
    both_load(1, 8, 3);
    both_store(0, 0, 3);
    both_store(1, 8, 3);
    both_load(2, 4, 2);
    both_compute(ADD_32, 2, 4, 2, 1);
    both_load(3, 12, 2);
    both_compute(ADD_32, 2, 5, 3, 0);
    assert_int_equal(values.redundant, 0);
    both_compute(ADD_32, 2, 5, 1, 2);
    assert_int_equal(values.redundant, 1);
    both_load(2, 0, 2);
    both_load(3, 8, 2);
    both_compute(ADD, 0, 4, 2, 1);
    both_compute(ADD, 0, 5, 3, 0);
    assert_int_equal(values.redundant, 1);
    both_totals();
    lwp_values_fini(&values);
}

/* Constants are what they are in registers, in memory, or in an operator. */
static void test_constants(void **state)
{
    (void)state;
    assert_true(lwp_values_init(&values, &port, LAST, 16, 12));
    both_begin();
    uint64_t key = lwp_number_key(LWP_NUMBER_KEY_OPERATORS);
    struct lwp_number five = {lwp_number_constant(5), lwp_number_constant(0)};
    struct lwp_value_step steps[] = {
        {.code = LWP_VALUE_CONSTANT, .to = 1, .key = five.low},
        {.code = LWP_VALUE_STORE_8, .a = 1},
        {.code = LWP_VALUE_LOAD_1, .to = 2},
        {.code = LWP_VALUE_EITHER, .to = 3, .a = 0, .b = 2, .key = key},
        {.code = LWP_VALUE_COMPUTED, .a = 3, .to = 0, .key = 0},
        {.code = LWP_VALUE_WITH, .to = 4, .a = 0, .key = key + lwp_number_either(lwp_number_whole(five))},
        {.code = LWP_VALUE_COMPUTED, .a = 4, .to = 1, .key = 1}};
    run(steps, 7, base, 1);
    assert_int_equal(values.redundant, 1);
    lwp_values_fini(&values);
}

/* However many windows there are, nothing outlives its own. */
static void test_windows(void **state)
{
    (void)state;
    assert_true(lwp_values_init(&values, &port, LAST, 16, 12));
    both_begin();
    struct lwp_value_step steps[] = {{.code = LWP_VALUE_LOAD_4, .to = 0},
                                     {.code = LWP_VALUE_COMPUTED, .a = 0, .to = 0, .key = 0}};
    for (unsigned i = 0; i < 2 * LWP_NUMBER_EPOCHS; i++) {
        run(steps, 2, base, 1);
        lwp_values_begin(&values);
    }
    assert_int_equal(values.computed, 2 * LWP_NUMBER_EPOCHS);
    assert_int_equal(values.redundant, 0);
    lwp_values_fini(&values);
}

/* ---- machine code ---- */

/* Slots: of registers, and as many of the superblock's own; words: addresses, and the exits passed. */
enum { SLOTS = 8, STEPS = 24, LEAVES = 4, TRACED = 3, TIMES = 2 };

struct superblock {
    uint64_t ip;
    const struct lwp_value_runner *runner;
};

static uint16_t random_slot(unsigned written)
{
    unsigned slot = random_below(SLOTS);
    return (uint16_t)(written & 1u << slot && random_below(2) ? LWP_VALUE_REGISTERS + slot : slot);
}

static struct lwp_value_step random_step(unsigned written)
{
    static const uint8_t widths[] = {LWP_NUMBER_8, LWP_NUMBER_16, 0};
    struct lwp_value_step step = {.code = (uint8_t)random_below(LWP_VALUE_CODES), .a = random_slot(written), .b = random_slot(written),
                                  .to = (uint16_t)random_below(SLOTS)};
    if (random_below(2))
        step.to = (uint16_t)(step.to + LWP_VALUE_REGISTERS);
    step.narrow = random_below(2);
    step.width = widths[step.narrow ? random_below(3) : 2];
    step.key = lwp_number_key(random_below(3)) << 32 * random_below(2);
    if (step.code == LWP_VALUE_CONSTANT)
        step.key = lwp_number_constant(random_below(3) * 200);
    if (step.code >= LWP_VALUE_LOAD_1 && step.code < LWP_VALUE_COMPUTED) {
        step.b = (uint16_t)random_below(2);
        step.key = 1 + random_below(16);
    }
    if (step.code == LWP_VALUE_COMPUTED)
        step.key = random_below(INSTRUCTIONS);
    return step;
}

/* Does what steps do, left by any exit, with any access that did not happen. */
static void test_code(void **state)
{
    (void)state;
    static struct lwp_values coded;
    static struct lwp_value_place coded_places[INSTRUCTIONS];
    struct lwp_value_codes codes;
    srand(1);
    assert_true(lwp_values_init(&values, &port, LAST, 1 << 10, 12) && lwp_values_init(&coded, &port, LAST, 1 << 10, 12));
    assert_true(lwp_value_codes_init(&codes, &port, (size_t)64 << 20, offsetof(struct superblock, runner)));
    const struct superblock left = {.runner = &(struct lwp_value_runner){codes.leave}};
    memset(places, 0, sizeof places);
    values.places = places;
    coded.places = coded_places;
    for (unsigned block = 0; block < 3000; block++) {
        struct lwp_value_step steps[STEPS];
        uint32_t ends[LEAVES + 1], written = 0;
        for (unsigned i = 0; i < STEPS; i++) {
            steps[i] = random_step(written);
            bool writes = steps[i].code < LWP_VALUE_STORE_1;
            written |= writes && steps[i].to >= LWP_VALUE_REGISTERS ? 1u << (steps[i].to - LWP_VALUE_REGISTERS) : 0;
        }
        ends[LEAVES] = STEPS;
        for (unsigned i = 0; i < LEAVES; i++)
            ends[i] = i ? ends[i - 1] + random_below(STEPS + 1 - ends[i - 1]) : random_below(2);
        struct lwp_value_steps all = {.count = STEPS, .exits = LEAVES, .ends = ends, .step = steps};
        const uint32_t path[] = {block, 1 + block % 7};
        const struct lwp_value_words words = {.count = TRACED, .passed = TRACED - 1, .path = path, .first = block % 3};
        const struct superblock other = {.runner = &(struct lwp_value_runner){lwp_value_code(&codes, &all, &words)}};
        assert_non_null(other.runner->code);
        const uint64_t first = (uintptr_t)&other;
        coded.path = block + 1; /* another one */
        assert_ptr_equal(lwp_value_code_run(&coded, &codes, &first), &first);
        coded.path = block;
        for (unsigned runs = 0; runs < 2; runs++) {
            uint64_t trace[TIMES * (TRACED + 1) + 1 + LWP_VALUE_AHEAD] = {0}, *at = trace;
            for (unsigned i = 0; i < TIMES; i++, at += TRACED + 1) {
                uint64_t one[TRACED + 1] = {(uintptr_t)&other, random_below(4) ? base + random_below(BYTES) : 0, base,
                                             random_below(LEAVES + 1)};
                memcpy(at, one, sizeof one);
                lwp_values_run(&values, &all, &one[1], (uint32_t)one[TRACED], path[1] + words.first);
            }
            *at = (uintptr_t)&left;
            assert_ptr_equal(lwp_value_code_run(&coded, &codes, trace), at);
            assert_memory_equal(values.low, coded.low, SLOTS * sizeof *values.low);
            assert_memory_equal(values.high, coded.high, SLOTS * sizeof *values.high);
            assert_true(values.computed == coded.computed && values.redundant == coded.redundant);
            assert_int_equal(values.numbering.made, coded.numbering.made);
        }
    }
    assert_true(values.redundant > 1000 && values.computed > 2 * values.redundant);
    assert_memory_equal(values.pairs.entries, coded.pairs.entries, sizeof *values.pairs.entries << values.pairs.bits);
    assert_int_equal(values.memory.bytes_count, coded.memory.bytes_count);
    assert_int_equal(values.memory.bytes_free, coded.memory.bytes_free);
    codes.room = codes.used + STEPS;
    struct lwp_value_step step = {.code = LWP_VALUE_NEW};
    uint32_t end = 1;
    assert_null(lwp_value_code(&codes, &(struct lwp_value_steps){.count = 1, .ends = &end, .step = &step},
                               &(struct lwp_value_words){.count = 1}));
    port_unmap(codes.memory, (size_t)64 << 20);
    lwp_values_fini(&coded);
    lwp_values_fini(&values);
}

/* Wherever memory ends, what is left goes on. */
static void test_no_memory(void **state)
{
    (void)state;
    unsigned begun = 0;
    assert_int_equal(mapped, 0);
    for (mapped_max = 0; mapped_max < (size_t)200 << 20; mapped_max += (size_t)11 << 20) {
        memset(places, 0, sizeof places);
        if (!lwp_values_init(&values, &port, 1 << 16, 16, 6))
            continue;
        begun++;
        values.places = places;
        srand(1);
        for (unsigned i = 0; i < 200; i++) {
            struct lwp_value_step steps[] = {
                {.code = LWP_VALUE_LOAD_8, .to = 0},
                {.code = LWP_VALUE_STORE_8, .a = 1},
                {.code = LWP_VALUE_COMPUTED, .a = 0, .to = 0, .key = random_below(INSTRUCTIONS)}};
            run(steps, 3, (uint64_t)random_below(5) << LEAF_BITS, i + 1);
        }
        assert_int_equal(values.computed, 200);
        lwp_values_fini(&values);
        assert_int_equal(mapped, 0);
    }
    mapped_max = SIZE_MAX;
    assert_true(begun > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),     cmocka_unit_test(test_all),     cmocka_unit_test(test_copies),
        cmocka_unit_test(test_exits),     cmocka_unit_test(test_halves),    cmocka_unit_test(test_constants),
        cmocka_unit_test(test_windows),   cmocka_unit_test(test_code),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
