/* Runtime value numbering against a reference that knows of each byte what it is, on random programs of a small machine.
 * The exact engine's files are included, as they are no part of lwp. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collector/exact/detect/redundancy/shadow_pairs.c"
#include "collector/exact/detect/values/value_memory.c"
#include "collector/exact/detect/values/value_steps.c"
#include "collector/exact/detect/values/value_table.c"
#include "tests/unit/amount.h"
#include "tests/unit/shadow_port.h"

#include <stdlib.h>
#include <string.h>

/* ---- the reference: a byte is one of a term's, a term an operator and the bytes that it was given ---- */

/* Around the border of two leaves. */
enum { STEPS_MOST = 8, REGISTERS = 6, BYTES = 64, INSTRUCTIONS = 12, MOVERS = 6, LAST = 3, TERMS = 1 << 15, ZERO = 0 };
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

static struct bytes high_bytes(struct bytes of)
{
    memcpy(of.byte, of.byte + 4, 4 * sizeof *of.byte);
    return low_bytes(of, 4);
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
    struct {
        struct bytes value[LAST];
        unsigned at[LAST], oldest, count;
    } moved[MOVERS]; /* the even ones load, the others store */
    uint64_t moves[2], again[2];
    uint64_t computed, redundant, pairs[INSTRUCTIONS][INSTRUCTIONS];
};

static void machine_begin(struct machine *machine)
{
    for (unsigned i = 0; i < REGISTERS; i++)
        machine->registers[i] = term_bytes(term_new(), 8);
    for (unsigned i = 0; i < BYTES; i++)
        machine->memory[i] = term_new() * 8;
    memset(machine->last, 0, sizeof machine->last);
    memset(machine->moved, 0, sizeof machine->moved);
}

/* Of 8 bytes from or to `at`, by instruction `mover`: again where any of its kind remembers the same. */
static void machine_moved(struct machine *machine, unsigned mover, struct bytes value, unsigned at)
{
    machine->moves[mover % 2]++;
    for (unsigned i = mover % 2; i < MOVERS; i += 2)
        for (unsigned k = 0; k < machine->moved[i].count; k++)
            if (machine->moved[i].at[k] == at && memcmp(&machine->moved[i].value[k], &value, sizeof value) == 0) {
                machine->again[mover % 2]++;
                return;
            }
    unsigned *oldest = &machine->moved[mover].oldest;
    machine->moved[mover].value[*oldest] = value;
    machine->moved[mover].at[*oldest] = at;
    *oldest = (*oldest + 1) % LAST;
    machine->moved[mover].count += machine->moved[mover].count < LAST;
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
static struct lwp_value_place places[INSTRUCTIONS + MOVERS];
static struct machine machine;

static unsigned random_below(unsigned bound)
{
    return (unsigned)(rand() >> 4) % bound;
}

/* Runs the steps and leaves by an exit, behind which another step would overwrite a register. */
static void run(const struct lwp_value_step *steps, uint32_t count, uint64_t address, uint32_t context)
{
    struct lwp_value_step all[STEPS_MOST + 1];
    const uint32_t ends[] = {count, count + 1};
    assert_true(count <= STEPS_MOST);
    memcpy(all, steps, count * sizeof *steps);
    all[count] = (struct lwp_value_step){.code = LWP_VALUE_NEW, .to = (uint16_t)random_below(REGISTERS)};
    struct lwp_value_steps block = {.count = count + 1, .exits = 1, .ends = ends, .step = all};
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
        {.code = codes[operator], .narrow = operator_bytes(operator) == 4, .to = (uint16_t)to, .a = (uint16_t)a,
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

/* A load or store of 8 bytes by an instruction that does nothing else. */
static void both_copy(unsigned mover, unsigned with, unsigned at)
{
    struct lwp_value_step step = {.code = LWP_VALUE_MOVED, .to = mover % 2, .a = (uint16_t)with, .key = INSTRUCTIONS + mover};
    if (mover % 2)
        both_store(with, at, 3);
    else
        both_load(with, at, 3);
    run(&step, 1, base + at, 0);
    machine_moved(&machine, mover, machine.registers[with], at);
}

/* Moves bytes between registers. */
static void both_move(enum lwp_value_code code, unsigned to, unsigned a, unsigned b)
{
    struct lwp_value_step step = {.code = (uint8_t)code, .to = (uint16_t)to, .a = (uint16_t)a, .b = (uint16_t)b};
    struct bytes moved = machine.registers[a], other = machine.registers[b];
    run(&step, 1, 0, 0);
    if (code == LWP_VALUE_WIDEN)
        moved = low_bytes(moved, 4);
    else if (code == LWP_VALUE_TO_16 || code == LWP_VALUE_TO_8)
        moved = low_bytes(moved, code == LWP_VALUE_TO_16 ? 2 : 1);
    else if (code == LWP_VALUE_TO_HIGH)
        moved = high_bytes(moved);
    else if (code == LWP_VALUE_PAIR)
        memcpy(moved.byte + 4, other.byte, 4 * sizeof *moved.byte);
    else if (code == LWP_VALUE_SET_LOW)
        memcpy(moved.byte + 4, other.byte + 4, 4 * sizeof *moved.byte);
    machine.registers[to] = moved;
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
    } else if (what < 55) {
        both_copy(random_below(MOVERS), random_below(REGISTERS), at & ~7u);
    } else if (what < 70) {
        both_load(random_below(REGISTERS), at, bytes_log);
    } else if (what < 92) {
        both_store(random_below(REGISTERS), at, bytes_log);
    } else if (what < 99) {
        static const enum lwp_value_code moves[] = {LWP_VALUE_COPY, LWP_VALUE_WIDEN,   LWP_VALUE_TO_HIGH, LWP_VALUE_TO_16,
                                                    LWP_VALUE_TO_8, LWP_VALUE_SET_LOW, LWP_VALUE_PAIR};
        both_move(moves[random_below(width == WORDS ? 3 : 7)], random_below(REGISTERS), random_below(REGISTERS), random_below(REGISTERS));
    } else {
        both_forget(at & ~3u, 4u << random_below(2));
    }
}

static void both_totals(void)
{
    assert_int_equal(values.computed, machine.computed);
    assert_int_equal(values.redundant, machine.redundant);
    assert_int_equal(values.sums[LWP_VALUE_SUM_REDUNDANT], machine.redundant);
    assert_int_equal(values.sums[LWP_VALUE_SUM_LOADS], machine.moves[0]);
    assert_int_equal(values.sums[LWP_VALUE_SUM_STORES], machine.moves[1]);
    assert_int_equal(values.sums[LWP_VALUE_SUM_LOADS_AGAIN], machine.again[0]);
    assert_int_equal(values.sums[LWP_VALUE_SUM_STORES_AGAIN], machine.again[1]);
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
    uint64_t redundant = 0, again[2] = {0};
    for (unsigned seed = 0; seed < LONG_AMOUNT(15, 3); seed++) {
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
        again[0] += machine.again[0];
        again[1] += machine.again[1];
        lwp_values_fini(&values);
    }
    assert_true(again[0] > LONG_AMOUNT(100, 15) && again[1] > LONG_AMOUNT(15, 2));
    assert_true(redundant > LONG_AMOUNT(500, 90));
}

/* Ten thousand short ones: each total and each pair is the same after every one of them. */
static void test_short(void **state)
{
    (void)state;
    enum { TABLES = AMOUNT(40, 2), PROGRAMS = 250, STEPS = 8 };
    uint64_t redundant = 0;
    for (unsigned table = 0; table < TABLES; table++) {
        srand(1000 + table);
        assert_true(lwp_values_init(&values, &port, LAST, 1 << 10, 12));
        both_begin();
        seen_count = 0;
        for (unsigned program = 0; program < PROGRAMS; program++) {
            lwp_values_begin(&values);
            machine_begin(&machine);
            for (unsigned i = 0; i < STEPS; i++)
                both_step(WORDS);
            both_compare(true);
            both_totals();
        }
        redundant += values.redundant;
        lwp_values_fini(&values);
    }
    assert_true(redundant > TABLES * PROGRAMS / 100);
}

/* Of any width anywhere: never redundant what is not; also when few words can be told byte by byte. */
static void test_all(void **state)
{
    (void)state;
    uint64_t redundant = 0;
    for (unsigned seed = 0; seed < LONG_AMOUNT(20, 3); seed++) {
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
    assert_true(redundant > LONG_AMOUNT(100, 12));
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

static uint64_t number_of(uint32_t which)
{
    struct lwp_numbering numbering = {.made = which};
    return lwp_number_new(&numbering);
}

/* Numbers of each instruction in the order they were added, the last ones remembered; then half as many, again and again. */
static void test_shorter(void **state)
{
    (void)state;
    enum { FIRST = 13, PLACES = 40, NUMBERS = 4000 };
    static uint32_t added[PLACES][NUMBERS], counts[PLACES];
    struct lwp_value_table table;
    struct lwp_value_place all[PLACES] = {{0, 0}};
    memset(counts, 0, sizeof counts);
    srand(5);
    assert_true(lwp_value_table_init(&table, &port, FIRST));
    uint32_t last = FIRST;
    for (uint32_t i = 1; i < NUMBERS; i++) {
        const unsigned at = random_below(i < NUMBERS / 8 ? PLACES / 2 : PLACES);
        assert_int_equal(lwp_value_table_add(&table, &all[at], number_of(i), i), 0);
        added[at][counts[at]++] = i;
        if (i % 700)
            continue;
        assert_int_equal(lwp_value_table_shorten(&table, all, PLACES), last > 1);
        last = last > 1 ? last / 2 : 1;
        assert_int_equal(table.last, last);
        for (unsigned k = 0; k < PLACES; k++)
            for (uint32_t n = counts[k] > last ? counts[k] - last : 0; n < counts[k]; n++)
                assert_int_equal(lwp_value_table_add(&table, &all[k], number_of(added[k][n]), 0), added[k][n]);
    }
    lwp_value_table_fini(&table);
}

/* Wherever memory ends, what is left goes on. */
static void test_no_memory(void **state)
{
    (void)state;
    unsigned begun = 0;
    assert_int_equal(mapped, 0);
    for (mapped_max = 0; mapped_max < (size_t)200 << 20; mapped_max += (size_t)LONG_AMOUNT(11, 33) << 20) {
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
    assert_true(begun > LONG_AMOUNT(5, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words), cmocka_unit_test(test_short),     cmocka_unit_test(test_all),     cmocka_unit_test(test_copies),
        cmocka_unit_test(test_exits),     cmocka_unit_test(test_halves),    cmocka_unit_test(test_constants),
        cmocka_unit_test(test_windows),   cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_shorter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
