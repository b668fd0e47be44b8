/* Patterns that are run on this machine: their code visits each element as it should, and their times have the order that caches give
 * them. Times themselves are not held: other work on the machine changes them. */
#include "analysis/measure/pattern.h"

#include <Zydis/Zydis.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

static struct lwp_pattern pattern_of(enum lwp_pattern_walk walk, uint64_t spacing, uint64_t elements)
{
    struct lwp_pattern pattern = {.array_count = 1, .access_count = 1, .elements = elements, .far = 1, .instructions = 6, .chain = 1};
    pattern.arrays[0] = (struct lwp_pattern_array){.walk = walk, .spacing = spacing, .start = 16};
    pattern.accesses[0] = (struct lwp_pattern_access){.offset = 8, .bytes = 8};
    return pattern;
}

/* As many rounds as there are elements; each is stored to, but for those that are drawn by chance. `leader`: of the arrays, which has the
 * next visit's index. */
static void visits_all(enum lwp_pattern_walk walk, enum lwp_pattern_walk others, size_t arrays, double far, size_t leader, bool draws)
{
    enum { ELEMENTS = 1000 };
    struct lwp_pattern pattern = pattern_of(walk, 32, ELEMENTS);
    struct lwp_pattern_memory memory;
    struct lwp_pattern_code code;
    struct lwp_pattern_place place = {.rounds = ELEMENTS};
    pattern.chain = 4;
    pattern.far = far;
    pattern.draws = draws;
    pattern.unrolled = walk == LWP_PATTERN_STEPS ? 4 : 1;
    pattern.array_count = pattern.access_count = arrays;
    for (size_t a = 0; a < arrays; a++) {
        pattern.arrays[a] = (struct lwp_pattern_array){.walk = a ? others : walk,
                                                       .spacing = 32 + 8 * a,
                                                       .link = a == leader ? 20
                                                               : a         ? 8 + 8 * a
                                                                           : 0,
                                                       .leads = a == leader};
        pattern.accesses[a] = (struct lwp_pattern_access){.array = a, .offset = 8, .bytes = 4, .store = true};
    }
    assert_int_equal(lwp_pattern_code_make(&pattern, &code, NULL), LWP_OK);
    assert_int_equal(lwp_pattern_memory_make(&pattern, ELEMENTS, &memory, NULL), LWP_OK);
    for (size_t a = 0; a < arrays; a++)
        place.at[a] =
            (uint64_t)(uintptr_t)memory.first[a] + (walk == LWP_PATTERN_CHAINED ? memory.order[0] * pattern.arrays[a].spacing : 0);
    assert_true(!memory.order == draws);
    place.next = leader < arrays ? 0 : draws ? 1 : (uint64_t)(uintptr_t)memory.order;
    place.index = memory.order ? memory.order[0] : 0;
    code.run(&place);
    if (leader < arrays)
        assert_int_equal(place.index, memory.order[0]);
    size_t left = 0;
    for (size_t a = 0; a < arrays; a++)
        for (size_t i = 0; i < ELEMENTS; i++) { /* memory is filled with ones, and no chain ends with them */
            uint32_t stored;
            memcpy(&stored, memory.first[a] + i * pattern.arrays[a].spacing + 8, sizeof stored);
            left += stored == 0x01010101;
        }
    /* Of n places drawn n times (1 - 1/n)^n, 1 / e, are never drawn: 368 of 1000, with a standard deviation of 10. */
    if (walk == LWP_PATTERN_INDEXED && far >= 1 && leader >= arrays)
        assert_in_range(left, 328 * arrays, 408 * arrays);
    else
        assert_int_equal(left, 0);
    lwp_pattern_memory_free(&memory);
    lwp_pattern_code_free(&code);
}

static void test_visits_each_element(void **state)
{
    (void)state;
    visits_all(LWP_PATTERN_STEPS, LWP_PATTERN_STEPS, 1, 0, SIZE_MAX, false);
    visits_all(LWP_PATTERN_INDEXED, LWP_PATTERN_INDEXED, 1, 0.5, SIZE_MAX, false);
    visits_all(LWP_PATTERN_INDEXED, LWP_PATTERN_INDEXED, 1, 1, SIZE_MAX, false);
    visits_all(LWP_PATTERN_INDEXED, LWP_PATTERN_INDEXED, 1, 1, SIZE_MAX, true);
    visits_all(LWP_PATTERN_INDEXED, LWP_PATTERN_INDEXED, 3, 1, SIZE_MAX, true);
    visits_all(LWP_PATTERN_CHAINED, LWP_PATTERN_LINKED, 1, 1, SIZE_MAX, false);
    visits_all(LWP_PATTERN_CHAINED, LWP_PATTERN_LINKED, 3, 1, SIZE_MAX, false);
    visits_all(LWP_PATTERN_INDEXED, LWP_PATTERN_INDEXED, 1, 1, 0, false);
    visits_all(LWP_PATTERN_INDEXED, LWP_PATTERN_INDEXED, 3, 1, 1, false);
    visits_all(LWP_PATTERN_STEPS, LWP_PATTERN_LINKED, 3, 0, SIZE_MAX, false);
    visits_all(LWP_PATTERN_INDEXED, LWP_PATTERN_LINKED, 3, 0.5, SIZE_MAX, false);
    visits_all(LWP_PATTERN_INDEXED, LWP_PATTERN_LINKED, 3, 1, SIZE_MAX, true);
}

/* Some accesses by an index, as the loop has them, and others by a register of the array's own: all come to each element, also when the run
 * goes on. */
static void test_by_index(void **state)
{
    (void)state;
    enum { ELEMENTS = 1000, ARRAYS = 2 };
    struct lwp_pattern pattern = pattern_of(LWP_PATTERN_STEPS, 32, ELEMENTS);
    struct lwp_pattern_memory memory;
    struct lwp_pattern_code code;
    pattern.unrolled = 2;
    pattern.array_count = ARRAYS;
    pattern.access_count = 2 * ARRAYS;
    for (size_t i = 0; i < 2 * ARRAYS; i++) {
        pattern.arrays[i / 2] = pattern.arrays[0];
        pattern.accesses[i] =
            (struct lwp_pattern_access){.array = i / 2, .offset = 8 * (i % 2), .bytes = 8, .store = true, .by_index = i % 2};
    }
    assert_int_equal(lwp_pattern_code_make(&pattern, &code, NULL), LWP_OK);
    assert_int_equal(lwp_pattern_memory_make(&pattern, ELEMENTS, &memory, NULL), LWP_OK);
    struct lwp_pattern_place place = {.rounds = ELEMENTS / 2,
                                      .at = {(uint64_t)(uintptr_t)memory.first[0], (uint64_t)(uintptr_t)memory.first[1]}};
    for (int half = 0; half < 2; half++) {
        code.run(&place);
        for (size_t a = 0; a < ARRAYS; a++)
            for (size_t i = 0; i < ELEMENTS; i++)
                for (size_t at = 0; at < 16; at += 8) {
                    uint64_t stored;
                    memcpy(&stored, memory.first[a] + 32 * i + at, sizeof stored);
                    assert_int_equal(stored == 0x0101010101010101, half == 0 && i >= ELEMENTS / 2);
                }
    }
    lwp_pattern_memory_free(&memory);
    lwp_pattern_code_free(&code);
}

/* `far` 0: the elements in their order; 1: no order; between: runs of it. */
static void test_order(void **state)
{
    (void)state;
    enum { ELEMENTS = 10000 };
    const double fars[] = {0, 0.1, 1};
    for (size_t i = 0; i < sizeof fars / sizeof *fars; i++) {
        struct lwp_pattern pattern = pattern_of(LWP_PATTERN_CHAINED, 8, ELEMENTS);
        struct lwp_pattern_memory memory;
        bool seen[ELEMENTS] = {false};
        size_t next = 0;
        pattern.far = fars[i];
        assert_int_equal(lwp_pattern_memory_make(&pattern, ELEMENTS, &memory, NULL), LWP_OK);
        for (size_t k = 0; k < ELEMENTS; k++) {
            assert_in_range(memory.order[k], 0, ELEMENTS - 1);
            assert_false(seen[memory.order[k]]);
            seen[memory.order[k]] = true;
            next += k > 0 && memory.order[k] == memory.order[k - 1] + 1;
        }
        assert_true(fabs((double)next - (ELEMENTS - 1) * (1 - fars[i])) < 300);
        lwp_pattern_memory_free(&memory);
    }
}

/* One column of many lies in the memory of them all. */
static void test_within(void **state)
{
    (void)state;
    enum { ELEMENTS = 1 << 12 };
    struct lwp_pattern pattern = pattern_of(LWP_PATTERN_NESTED, 4 * 64, ELEMENTS);
    struct lwp_pattern_memory memory;
    pattern.inner = ELEMENTS / 64;
    pattern.array_count = 2;
    pattern.arrays[0].extent = pattern.arrays[1].extent = 4 * ELEMENTS;
    pattern.arrays[0].within = 2;
    pattern.arrays[1].walk = LWP_PATTERN_NESTED;
    pattern.arrays[1].spacing = 4 * 64;
    pattern.arrays[1].outer = 4;
    assert_true(lwp_pattern_bytes(&pattern) <= 4 * ELEMENTS);
    assert_int_equal(lwp_pattern_memory_make(&pattern, ELEMENTS, &memory, NULL), LWP_OK);
    assert_ptr_equal(memory.first[0], memory.first[1]);
    assert_null(memory.mapped[0]);
    lwp_pattern_memory_free(&memory);
}

/* Down the columns of 20 rows of 40 numbers, and along the rows: each is stored to, and nothing beside them. */
static void test_nested(void **state)
{
    (void)state;
    enum { ROWS = 20, COLUMNS = 40, ELEMENTS = ROWS * COLUMNS };
    for (int along = 0; along < 2; along++) {
        struct lwp_pattern pattern = pattern_of(LWP_PATTERN_NESTED, along ? 4 : 4 * COLUMNS, ELEMENTS);
        struct lwp_pattern_memory memory;
        struct lwp_pattern_code code;
        pattern.far = 0;
        pattern.inner = along ? COLUMNS : ROWS;
        pattern.arrays[0].outer = along ? 4 * COLUMNS : 4;
        pattern.arrays[0].extent = 4 * ELEMENTS;
        pattern.accesses[0] = (struct lwp_pattern_access){.bytes = 4, .store = true};
        assert_int_equal(lwp_pattern_code_make(&pattern, &code, NULL), LWP_OK);
        assert_int_equal(lwp_pattern_memory_make(&pattern, ELEMENTS, &memory, NULL), LWP_OK);
        struct lwp_pattern_place place = {
            .rounds = ELEMENTS, .at = {(uint64_t)(uintptr_t)memory.first[0]}, .next = pattern.inner / code.unrolled};
        code.run(&place);
        for (size_t i = 0; i < ELEMENTS + 8; i++) {
            uint32_t stored;
            memcpy(&stored, memory.first[0] + 4 * i, sizeof stored);
            assert_true((stored == 0x01010101) == (i >= ELEMENTS));
        }
        lwp_pattern_memory_free(&memory);
        lwp_pattern_code_free(&code);
    }
}

/* Three loops: down the rows of each column of a plane, then the next plane's. A plane's numbers are stored to before any of the next. */
static void test_three_loops(void **state)
{
    (void)state;
    enum { ROWS = 4, COLUMNS = 6, PLANES = 5, ELEMENTS = ROWS * COLUMNS * PLANES };
    struct lwp_pattern pattern = pattern_of(LWP_PATTERN_NESTED, 4 * COLUMNS * PLANES, ELEMENTS);
    struct lwp_pattern_memory memory;
    struct lwp_pattern_code code;
    pattern.far = 0;
    pattern.inner = ROWS;
    pattern.runs = COLUMNS;
    pattern.arrays[0].outer = 4 * PLANES;
    pattern.arrays[0].plane = 4;
    pattern.arrays[0].extent = 4 * ELEMENTS;
    pattern.accesses[0] = (struct lwp_pattern_access){.bytes = 4, .store = true};
    assert_int_equal(lwp_pattern_code_make(&pattern, &code, NULL), LWP_OK);
    assert_int_equal(lwp_pattern_memory_make(&pattern, ELEMENTS, &memory, NULL), LWP_OK);
    struct lwp_pattern_place place = {
        .at = {(uint64_t)(uintptr_t)memory.first[0]}, .next = pattern.inner / code.unrolled, .runs = pattern.runs};
    for (size_t plane = 0; plane < PLANES; plane++) {
        place.rounds = ROWS * COLUMNS;
        code.run(&place);
        for (size_t i = 0; i < ELEMENTS; i++) {
            uint32_t stored;
            memcpy(&stored, memory.first[0] + 4 * i, sizeof stored);
            assert_true((stored == 0x01010101) == (i % PLANES > plane));
        }
    }
    lwp_pattern_memory_free(&memory);
    lwp_pattern_code_free(&code);
}

/* The instructions of the loop: from where the last jump back that is near leads to it. Returns how many; those with memory go to
 * `places`, other jumps are counted. */
static size_t loop_of(const struct lwp_pattern_code *code, int64_t *places, size_t *jumps)
{
    enum { LONGEST = 512 };
    ZydisDecoder decoder;
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    size_t begin = 0, end = 0, found = 0;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    for (size_t at = 0; !end; at += instruction.length) {
        assert_true(
            ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, (const uint8_t *)code->memory + at, code->bytes - at, &instruction, operands)));
        const size_t to = at + instruction.length + (size_t)operands[0].imm.value.s;
        if (instruction.mnemonic == ZYDIS_MNEMONIC_JNZ && operands[0].imm.value.s < 0 && at - to < LONGEST) {
            begin = to;
            end = at;
        }
    }
    *jumps = 0;
    for (size_t at = begin; at < end; at += instruction.length) {
        ZydisDecoderDecodeFull(&decoder, (const uint8_t *)code->memory + at, code->bytes - at, &instruction, operands);
        *jumps += instruction.meta.category == ZYDIS_CATEGORY_COND_BR;
        for (int k = 0; k < instruction.operand_count_visible; k++)
            if (operands[k].type == ZYDIS_OPERAND_TYPE_MEMORY && instruction.mnemonic != ZYDIS_MNEMONIC_LEA)
                places[found++] = operands[k].mem.disp.value;
    }
    return found;
}

/* An inner loop has one jump, as in the program, however often it is run, and may be left and entered anywhere. */
static void test_inner_loop(void **state)
{
    (void)state;
    enum { ROWS = 6, COLUMNS = 20, ELEMENTS = ROWS * COLUMNS };
    struct lwp_pattern pattern = pattern_of(LWP_PATTERN_NESTED, 4, ELEMENTS);
    struct lwp_pattern_memory memory;
    struct lwp_pattern_code code;
    int64_t places[16];
    size_t jumps;
    pattern.far = 0;
    pattern.inner = COLUMNS;
    pattern.arrays[0].outer = 4 * COLUMNS;
    pattern.arrays[0].extent = 4 * ELEMENTS;
    pattern.accesses[0] = (struct lwp_pattern_access){.bytes = 4, .store = true};
    assert_int_equal(lwp_pattern_code_make(&pattern, &code, NULL), LWP_OK);
    loop_of(&code, places, &jumps);
    assert_int_equal(jumps, 0); /* beside the last one */
    assert_int_equal(lwp_pattern_memory_make(&pattern, ELEMENTS, &memory, NULL), LWP_OK);
    struct lwp_pattern_place place = {.at = {(uint64_t)(uintptr_t)memory.first[0]}, .next = pattern.inner / code.unrolled};
    for (uint64_t done = 0; done < ELEMENTS; done += place.rounds) {
        place.rounds = ELEMENTS - done < 28 ? ELEMENTS - done : 28;
        code.run(&place);
        for (size_t i = 0; i < ELEMENTS; i++) {
            uint32_t stored;
            memcpy(&stored, memory.first[0] + 4 * i, sizeof stored);
            assert_true((stored == 0x01010101) == (i >= done + place.rounds));
        }
    }
    lwp_pattern_memory_free(&memory);
    lwp_pattern_code_free(&code);
}

/* A chain's own link is loaded once, and last; the others in their order. */
static void test_link_once(void **state)
{
    (void)state;
    static const uint64_t offsets[] = {24, 8, 0, 16};
    static const int64_t wanted[] = {24, 8, 16, 0};
    struct lwp_pattern pattern = pattern_of(LWP_PATTERN_CHAINED, 32, 1000);
    struct lwp_pattern_code code;
    int64_t places[16];
    size_t jumps;
    pattern.access_count = sizeof offsets / sizeof *offsets;
    for (size_t i = 0; i < pattern.access_count; i++)
        pattern.accesses[i] = (struct lwp_pattern_access){.offset = offsets[i], .bytes = 8};
    assert_int_equal(lwp_pattern_code_make(&pattern, &code, NULL), LWP_OK);
    assert_int_equal(loop_of(&code, places, &jumps), pattern.access_count);
    assert_memory_equal(places, wanted, sizeof wanted);
    lwp_pattern_code_free(&code);
}

/* Neighbours in disorder stay within their window. */
static void test_window(void **state)
{
    (void)state;
    enum { ELEMENTS = 1000, WINDOW = 8 };
    struct lwp_pattern pattern = pattern_of(LWP_PATTERN_CHAINED, 8, ELEMENTS);
    struct lwp_pattern_memory memory;
    size_t moved = 0;
    pattern.far = 0;
    pattern.window = WINDOW;
    assert_int_equal(lwp_pattern_memory_make(&pattern, ELEMENTS, &memory, NULL), LWP_OK);
    for (size_t k = 0; k < ELEMENTS; k++) {
        assert_int_equal(memory.order[k] / WINDOW, k / WINDOW);
        moved += memory.order[k] != k;
    }
    assert_true(moved > ELEMENTS / 2);
    lwp_pattern_memory_free(&memory);
}

/* However near each other a chain's elements lie, what its visits go to beside them may be anywhere. */
static void test_beside_a_chain(void **state)
{
    (void)state;
    enum { ELEMENTS = 1024 };
    struct lwp_pattern pattern = {
        .arrays = {{LWP_PATTERN_CHAINED, .spacing = 16}, {LWP_PATTERN_INDEXED, .spacing = 8}}, .array_count = 2, .elements = ELEMENTS};
    struct lwp_pattern_memory memory;
    size_t near = 0;
    assert_int_equal(lwp_pattern_memory_make(&pattern, ELEMENTS, &memory, NULL), LWP_OK);
    for (size_t i = 0; i + 1 < ELEMENTS; i++) {
        uint64_t next;
        memcpy(&next, memory.first[0] + i * 16, sizeof next);
        assert_int_equal(next, (uintptr_t)memory.first[0] + (i + 1) * 16);
        near += memory.order[i + 1] - memory.order[i] == 1;
    }
    assert_in_range(near, 0, ELEMENTS / 10);
    lwp_pattern_memory_free(&memory);
}

/* A chain that goes on in one direction, pass after pass: each element once, in steps of as many on as there are passes, in the mean. */
static void test_passes(void **state)
{
    (void)state;
    enum { ELEMENTS = 1000, PASSES = 8 };
    for (int even = 0; even < 2; even++) {
        struct lwp_pattern pattern = pattern_of(LWP_PATTERN_CHAINED, 8, ELEMENTS);
        struct lwp_pattern_memory memory;
        bool seen[ELEMENTS] = {false};
        size_t back = 0, regular = 0;
        pattern.far = 0;
        pattern.passes = PASSES;
        pattern.even = even;
        assert_int_equal(lwp_pattern_memory_make(&pattern, ELEMENTS, &memory, NULL), LWP_OK);
        for (size_t k = 0; k < ELEMENTS; k++) {
            assert_false(seen[memory.order[k]]);
            seen[memory.order[k]] = true;
            back += k && memory.order[k] < memory.order[k - 1];
            regular += k && memory.order[k] == memory.order[k - 1] + PASSES;
        }
        assert_int_equal(back, PASSES - 1);
        assert_true(even ? regular == ELEMENTS - PASSES : regular < ELEMENTS / 4);
        lwp_pattern_memory_free(&memory);
    }
}

/* Of very many elements only some are visited, anywhere among all of them, and those of a chain once. */
static void test_many_elements(void **state)
{
    (void)state;
    enum { ELEMENTS = 3 << 20 };
    struct lwp_pattern pattern = pattern_of(LWP_PATTERN_CHAINED, 16, ELEMENTS);
    struct lwp_pattern_memory memory;
    uint64_t half = 0, at = 0;
    assert_int_equal(lwp_pattern_memory_make(&pattern, ELEMENTS, &memory, NULL), LWP_OK);
    assert_true(memory.visits < ELEMENTS && memory.visits % LWP_PATTERN_UNROLLED == 0);
    uint8_t *seen = calloc(ELEMENTS, 1);
    const uint8_t *element = memory.first[0] + (uint64_t)memory.order[0] * 16;
    for (uint64_t i = 0; i < memory.visits; i++) {
        at = (uint64_t)(element - memory.first[0]) / 16;
        assert_true(at < ELEMENTS && at == memory.order[i] && !seen[at]++);
        half += at < ELEMENTS / 2;
        memcpy(&element, element, sizeof element);
    }
    assert_ptr_equal(element, memory.first[0] + (uint64_t)memory.order[0] * 16); /* and again from the first */
    assert_in_range(half, memory.visits * 45 / 100, memory.visits * 55 / 100);
    free(seen);
    lwp_pattern_memory_free(&memory);
}

/* Runs the comparison until `holds`: another process may have the processor, or the caches, again and again. */
#define COMPARED(holds, compare, ...)                                                                                                      \
    do {                                                                                                                                   \
        int tries = 20, status;                                                                                                            \
        do                                                                                                                                 \
            status = compare(__VA_ARGS__, NULL);                                                                                           \
        while ((status != LWP_OK || !(holds)) && --tries);                                                                                 \
        assert_int_equal(status, LWP_OK);                                                                                                  \
        assert_true(holds);                                                                                                                \
    } while (0)

/* A chain over far more than the caches hold, and over what the nearest one holds: tens of times apart on every machine. */
static void test_memory_is_slower(void **state)
{
    (void)state;
    struct lwp_pattern far = pattern_of(LWP_PATTERN_CHAINED, 256, 1 << 19), near = pattern_of(LWP_PATTERN_CHAINED, 16, 1 << 19);
    struct lwp_pattern_times times;
    near.far = 0; /* step by step through its memory */
    COMPARED(times.before > 2 * times.core && times.after < times.before && times.ratio < 1, lwp_pattern_compare, &far, &near, 0.1, &times);
    assert_true(times.low <= times.ratio && times.ratio <= times.high);
}

/* Without the caches that cores share, what only they hold comes from memory; what fits the rest of them does not. */
static void test_cold(void **state)
{
    (void)state;
    struct lwp_pattern large = pattern_of(LWP_PATTERN_CHAINED, 64, 1 << 16), small = pattern_of(LWP_PATTERN_CHAINED, 64, 1 << 16);
    struct lwp_pattern_times times;
    small.far = 0;
    small.arrays[0].spacing = 16; /* step by step, four elements a line */
    assert_true(lwp_pattern_busy(&large) == 64 << 16);
    assert_true(lwp_pattern_busy(&small) == 16 << 16);
    /* near: all of it in the 64 KiB */
    COMPARED(times.after < times.before && times.near[0] < times.before, lwp_pattern_compare_cold, &large, &small, 1 << 16, 0.05, &times);
    assert_true(times.before > 0 && times.least[0] <= times.before && times.near[0] > 0 && times.near[1] > 0);
    COMPARED(times.core > 0, lwp_pattern_compare_part, &large, &small, 1 << 16, 0.05, &times);
}

static void test_parts(void **state)
{
    (void)state;
    struct lwp_pattern pattern = pattern_of(LWP_PATTERN_STEPS, 64, 1 << 10);
    assert_true(lwp_pattern_has_parts(&pattern));
    pattern.jump = 17; /* round and round: of fewer elements other ones */
    assert_false(lwp_pattern_has_parts(&pattern));
    pattern.jump = 0;
    pattern.inner = 32;
    assert_false(lwp_pattern_has_parts(&pattern));
}

/* Searches of two visits do not wait for each other, and go to the same elements as one long chain. */
static void test_searches(void **state)
{
    (void)state;
    enum { ELEMENTS = 1 << 18 };
    struct lwp_pattern chain = pattern_of(LWP_PATTERN_CHAINED, 128, ELEMENTS), searches = chain;
    struct lwp_pattern_times times;
    struct lwp_pattern_memory memory;
    struct lwp_pattern_code code;
    searches.search = 2;
    COMPARED(times.ratio < 0.8, lwp_pattern_compare, &chain, &searches, 0.1, &times);
    assert_int_equal(lwp_pattern_memory_make(&searches, ELEMENTS, &memory, NULL), LWP_OK);
    assert_int_equal(lwp_pattern_code_make(&searches, &code, NULL), LWP_OK);
    struct lwp_pattern_place place = {
        .first = (uint64_t)(uintptr_t)memory.first[0], .next = (uint64_t)(uintptr_t)memory.order, .rounds = 8};
    code.run(&place); /* the last two visits: the second is where the first one leads */
    assert_int_equal(place.at[0], place.first + (uint64_t)memory.order[7] * 128);
    lwp_pattern_code_free(&code);
    lwp_pattern_memory_free(&memory);
    for (searches.heads = 8; searches.heads <= 24; searches.heads += 16) {
        assert_int_equal(lwp_pattern_memory_make(&searches, ELEMENTS, &memory, NULL), LWP_OK);
        assert_int_equal(lwp_pattern_code_make(&searches, &code, NULL), LWP_OK);
        place =
            (struct lwp_pattern_place){.first = (uint64_t)(uintptr_t)memory.heads, .next = (uint64_t)(uintptr_t)memory.order, .rounds = 8};
        code.run(&place); /* from what the table has */
        assert_int_equal(place.at[0], (uint64_t)(uintptr_t)memory.first[0] + (uint64_t)memory.order[7] * 128);
        lwp_pattern_code_free(&code);
        lwp_pattern_memory_free(&memory);
    }
    searches.array_count = LWP_PATTERN_ARRAYS; /* no register is left */
    assert_true(lwp_pattern_code_make(&searches, &code, NULL) != LWP_OK);
}

/* A loop may store to the pointer that it follows; the pattern goes on to all elements all the same. */
static void test_links_stay(void **state)
{
    (void)state;
    enum { ELEMENTS = 1000, SPACING = 32 };
    struct lwp_pattern pattern = pattern_of(LWP_PATTERN_CHAINED, SPACING, ELEMENTS);
    struct lwp_pattern_memory memory;
    struct lwp_pattern_code code;
    pattern.access_count = 3;
    pattern.accesses[0] = (struct lwp_pattern_access){.offset = 0, .bytes = 8, .store = true};
    pattern.accesses[1] = (struct lwp_pattern_access){.offset = 4, .bytes = 16, .store = true};
    pattern.accesses[2] = (struct lwp_pattern_access){.offset = 20, .bytes = 4, .store = true};
    assert_int_equal(lwp_pattern_memory_make(&pattern, ELEMENTS, &memory, NULL), LWP_OK);
    assert_int_equal(lwp_pattern_code_make(&pattern, &code, NULL), LWP_OK);
    const uint64_t first = (uint64_t)(uintptr_t)memory.first[0];
    struct lwp_pattern_place place = {.at[0] = first + memory.order[0] * SPACING, .rounds = ELEMENTS};
    code.run(&place);
    assert_int_equal(place.at[0], first + memory.order[0] * SPACING); /* once round */
    for (size_t i = 0; i < ELEMENTS; i++) {
        uint32_t stored;
        memcpy(&stored, memory.first[0] + i * SPACING + 20, sizeof stored);
        assert_true(stored != 0x01010101);
    }
    lwp_pattern_code_free(&code);
    lwp_pattern_memory_free(&memory);
}

/* Half of the jumps are guessed wrong, also where all data is in the nearest cache and is visited again and again. */
static void test_guesses(void **state)
{
    (void)state;
    struct lwp_pattern straight = pattern_of(LWP_PATTERN_STEPS, 16, 1 << 12), guesses = straight;
    struct lwp_pattern_times times, core;
    struct lwp_pattern_code code;
    guesses.guesses = true;
    COMPARED(times.ratio > 1.5, lwp_pattern_compare, &straight, &guesses, 0.05, &times);
    COMPARED(core.core > 1.5 * times.core, lwp_pattern_compare, &guesses, &straight, 0.05, &core);
    guesses.array_count = LWP_PATTERN_ARRAYS; /* no register is left */
    assert_true(lwp_pattern_code_make(&guesses, &code, NULL) != LWP_OK);
}

/* Searches by halves begin in the middle, go on to a quarter, and end at any element: there what is done with what was found is done. A
 * right guess of the next half does not wait for the element. */
static void test_bisects(void **state)
{
    (void)state;
    enum { ELEMENTS = 1 << 10, DEEP = 10, FOUND = 40 };
    struct lwp_pattern bisects = pattern_of(LWP_PATTERN_INDEXED, 64, ELEMENTS);
    struct lwp_pattern_memory memory;
    bisects.bisects = true;
    bisects.access_count = 2;
    bisects.accesses[0] = (struct lwp_pattern_access){.offset = 8, .bytes = 4, .store = true};
    bisects.accesses[1] = (struct lwp_pattern_access){.offset = FOUND, .bytes = 4, .store = true, .found = true};
    for (int guesses = 0; guesses < 2; guesses++) {
        struct lwp_pattern_code code;
        size_t visited[3] = {0}, found = 0;
        bisects.guesses = guesses;
        assert_int_equal(lwp_pattern_code_make(&bisects, &code, NULL), LWP_OK);
        assert_int_equal(lwp_pattern_memory_make(&bisects, ELEMENTS, &memory, NULL), LWP_OK);
        struct lwp_pattern_place place = {.at = {(uintptr_t)memory.first[0]}, .drawn = 1, .next = lwp_pattern_half(&bisects), .rounds = 8};
        assert_null(memory.order);
        code.run(&place);
        for (int i = 0; i < 3; i++) { /* 512; 256 or 768; one of four */
            uint32_t seen;
            for (size_t e = ELEMENTS >> (i + 1); e < ELEMENTS; e += ELEMENTS >> i) {
                memcpy(&seen, memory.first[0] + e * 64 + 8, sizeof seen);
                visited[i] += seen != 0x01010101;
            }
            assert_int_equal(visited[i], 1);
        }
        place.rounds = 100 * DEEP * ELEMENTS;
        code.run(&place);
        for (size_t e = 0; e < ELEMENTS; e++) {
            uint32_t end;
            memcpy(&end, memory.first[0] + e * 64 + FOUND, sizeof end);
            found += end != 0x01010101;
            assert_true(end == 0x01010101 || e % 2 == 1);
        }
        assert_int_equal(found, ELEMENTS / 2);
        lwp_pattern_memory_free(&memory);
        lwp_pattern_code_free(&code);
    }
}

/* Where it is a jump that says which half is next, right guesses do not wait for elements. */
static void test_bisects_by_guesses(void **state)
{
    (void)state;
    struct lwp_pattern waits = pattern_of(LWP_PATTERN_INDEXED, 64, 1 << 21), guesses = waits;
    struct lwp_pattern_times times;
    waits.bisects = guesses.bisects = guesses.guesses = true;
    COMPARED(times.ratio < 1, lwp_pattern_compare, &waits, &guesses, 0.05, &times);
}

/* From the root each element is come to in one way; searches end at those that lead to the root again, and only there what is done with
 * the element that was found is done. */
static void tree_is_searched(bool guesses, double far)
{
    enum { ELEMENTS = 1000, ROUNDS = 100 * ELEMENTS, KEY = 4, FOUND = 40, LINK = 16 };
    struct lwp_pattern pattern = pattern_of(LWP_PATTERN_CHAINED, 64, ELEMENTS);
    struct lwp_pattern_memory memory;
    struct lwp_pattern_code code;
    uint8_t *waiting[ELEMENTS];
    size_t count = 0, bottom = 0, visited = 0, found = 0;
    pattern.tree = true;
    pattern.guesses = guesses;
    pattern.far = far;
    pattern.arrays[0].link = LINK;
    pattern.access_count = 2;
    pattern.accesses[0] = (struct lwp_pattern_access){.offset = KEY, .bytes = 4, .store = true};
    pattern.accesses[1] = (struct lwp_pattern_access){.offset = FOUND, .bytes = 4, .store = true, .found = true};
    assert_int_equal(lwp_pattern_code_make(&pattern, &code, NULL), LWP_OK);
    assert_int_equal(lwp_pattern_memory_make(&pattern, ELEMENTS, &memory, NULL), LWP_OK);
    uint8_t *const root = memory.first[0] + 64ull * memory.order[0];
    struct lwp_pattern_place place = {.first = (uintptr_t)root, .at = {(uintptr_t)root}, .drawn = 1, .rounds = ROUNDS};
    code.run(&place);
    for (waiting[count++] = root; visited < count; visited++)
        for (int which = 0; which < 2; which++) {
            uint8_t *next;
            memcpy(&next, waiting[visited] + LINK + 8 * which, sizeof next);
            if (next == root)
                continue;
            assert_true(count < ELEMENTS);
            if (far < 1) /* in order, from the leftmost to the rightmost */
                assert_int_equal(next > waiting[visited], which);
            waiting[count++] = next;
        }
    assert_int_equal(count, ELEMENTS);
    for (size_t i = 0; i < count; i++) {
        uint32_t key, end;
        memcpy(&key, waiting[i] + KEY, sizeof key);
        memcpy(&end, waiting[i] + FOUND, sizeof end);
        assert_int_not_equal(key, 0x01010101);
        bottom += 2 * i + 2 >= ELEMENTS;
        found += end != 0x01010101;
        assert_true(end == 0x01010101 || 2 * i + 2 >= ELEMENTS);
    }
    assert_int_equal(found, bottom);
    lwp_pattern_memory_free(&memory);
    lwp_pattern_code_free(&code);
}

static void test_trees(void **state)
{
    (void)state;
    tree_is_searched(false, 1);
    tree_is_searched(true, 1);
    tree_is_searched(true, 0);
    struct lwp_pattern pattern = pattern_of(LWP_PATTERN_CHAINED, 64, 1000);
    struct lwp_pattern_code code;
    pattern.tree = true;
    pattern.array_count = 2;
    pattern.arrays[1] = (struct lwp_pattern_array){.walk = LWP_PATTERN_INDEXED, .spacing = 8}; /* no list of indices is read */
    assert_true(lwp_pattern_code_make(&pattern, &code, NULL) != LWP_OK);
}

/* Those that visit the top of a tree again and again find it in the caches: a visit takes less than along a chain. */
static void test_tree_near_root(void **state)
{
    (void)state;
    struct lwp_pattern chain = pattern_of(LWP_PATTERN_CHAINED, 64, 1 << 18), tree = chain;
    struct lwp_pattern_times times;
    tree.tree = true;
    COMPARED(times.ratio < 0.8, lwp_pattern_compare, &chain, &tree, 0.05, &times);
}

static void test_threads(void **state)
{
    (void)state;
    struct lwp_pattern pattern = pattern_of(LWP_PATTERN_STEPS, 64, 1 << 16);
    struct lwp_pattern_times times;
    pattern.threads = 2;
    assert_int_equal(lwp_pattern_compare(&pattern, &pattern, 0.05, &times, NULL), LWP_OK);
    assert_true(times.before > 0 && times.after > 0);
}

static void test_refused(void **state)
{
    (void)state;
    struct lwp_pattern pattern = pattern_of(LWP_PATTERN_STEPS, 1 << 20, 1 << 27);
    struct lwp_pattern_times times;
    struct lwp_error err = {0};
    assert_int_equal(lwp_pattern_compare(&pattern, &pattern, 0.05, &times, &err), LWP_ERR_LIMIT);
    assert_non_null(strstr(err.text, "too large"));
    pattern.elements = 0;
    assert_int_equal(lwp_pattern_compare(&pattern, &pattern, 0.05, &times, NULL), LWP_ERR_LIMIT);
}

/* 24 lines of one set of a first-level cache, whatever its ways, and each in a set of its own. */
static void test_conflicts(void **state)
{
    (void)state;
    enum { STREAMS = 24, WAY = 4096, ROOM = 4 * WAY };
    struct lwp_pattern before = {.elements = 1024, .array_count = 1, .access_count = STREAMS, .instructions = 30, .chain = 1};
    struct lwp_pattern_times times;
    before.arrays[0] = (struct lwp_pattern_array){.walk = LWP_PATTERN_STEPS, .spacing = 8, .extent = (STREAMS + 1) * ROOM};
    struct lwp_pattern after = before;
    for (size_t i = 0; i < STREAMS; i++) {
        before.accesses[i] = (struct lwp_pattern_access){.offset = i * ROOM, .bytes = 8};
        after.accesses[i] = (struct lwp_pattern_access){.offset = i * (ROOM + 64), .bytes = 8};
    }
    assert_true(lwp_pattern_bytes(&before) == STREAMS * (1024 * 8 + 8)); /* what lies between them is not touched */
    COMPARED(times.ratio < 0.8, lwp_pattern_compare, &before, &after, 0.1, &times);
}

/* What lies between the parts of an array that are gone over stays as it was mapped. */
static void test_gaps(void **state)
{
    (void)state;
    struct lwp_pattern pattern = pattern_of(LWP_PATTERN_STEPS, 8, 512);
    struct lwp_pattern_memory memory;
    unsigned char resident[64] = {0};
    pattern.arrays[0].extent = 64 * 4096;
    pattern.arrays[0].start = 0;
    pattern.access_count = 3;
    pattern.accesses[1] = (struct lwp_pattern_access){.offset = 16, .bytes = 8}; /* most of it once more */
    pattern.accesses[2] = (struct lwp_pattern_access){.offset = 32 * 4096, .bytes = 8};
    assert_true(lwp_pattern_bytes(&pattern) == 512 * 8 + 8 + 8 + 512 * 8 + 8);
    assert_int_equal(lwp_pattern_memory_make(&pattern, 512, &memory, NULL), LWP_OK);
    assert_int_equal(mincore(memory.first[0], sizeof resident * 4096, resident), 0);
    assert_true(resident[0] & 1 && resident[1] & 1 && resident[32] & 1);
    for (int page = 3; page < 32; page++)
        assert_false(resident[page] & 1);
    lwp_pattern_memory_free(&memory);
}

/* Instructions of the pattern's code, from its beginning to its end. */
static unsigned code_instructions(const struct lwp_pattern *pattern)
{
    struct lwp_pattern_code code;
    ZydisDecoder decoder;
    ZydisDecodedInstruction instruction = {0};
    unsigned count = 0;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    assert_int_equal(lwp_pattern_code_make(pattern, &code, NULL), LWP_OK);
    for (size_t at = 0; instruction.mnemonic != ZYDIS_MNEMONIC_RET; at += instruction.length) {
        assert_true(
            ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, (const uint8_t *)code.memory + at, code.bytes - at, &instruction)));
        count += instruction.mnemonic != ZYDIS_MNEMONIC_NOP;
    }
    lwp_pattern_code_free(&code);
    return count;
}

/* Each instruction of the pattern's loop, as far as its first branch. */
struct loop_code {
    struct lwp_pattern_code code;
    ZydisDecoder decoder;
    size_t at;
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

static void loop_begin(struct loop_code *loop, const struct lwp_pattern *pattern)
{
    enum { HEAD = 64 }; /* the loop begins a line of code */
    *loop = (struct loop_code){.at = HEAD};
    ZydisDecoderInit(&loop->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    assert_int_equal(lwp_pattern_code_make(pattern, &loop->code, NULL), LWP_OK);
}

/* False: the last one was the branch. */
static bool loop_next(struct loop_code *loop)
{
    if (loop->instruction.meta.category == ZYDIS_CATEGORY_COND_BR)
        return false;
    assert_true(ZYAN_SUCCESS(ZydisDecoderDecodeFull(&loop->decoder, (const uint8_t *)loop->code.memory + loop->at,
                                                    loop->code.bytes - loop->at, &loop->instruction, loop->operands)));
    loop->at += loop->instruction.length;
    return true;
}

/* What is stored is worked out from what all arrays have: of arrays that the loop goes over in order, also of the first one. */
static void test_stores_last(void **state)
{
    (void)state;
    struct lwp_pattern pattern = pattern_of(LWP_PATTERN_STEPS, 8, 1000);
    pattern.array_count = pattern.access_count = 3;
    pattern.unrolled = 2;
    for (size_t a = 0; a < 3; a++) { /* for (...) c[i] = a[i] + b[i] */
        pattern.arrays[a] = pattern.arrays[0];
        pattern.accesses[a] = (struct lwp_pattern_access){.array = a, .bytes = 8, .store = a == 0};
    }
    struct loop_code loop;
    loop_begin(&loop, &pattern);
    unsigned loads = 0, stores = 0;
    while (loop_next(&loop)) {
        loads += loop.operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY && loop.operands[1].mem.type == ZYDIS_MEMOP_TYPE_MEM;
        if (loop.operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY)
            assert_int_equal(loads, 2 * ++stores);
    }
    assert_int_equal(stores, 2);
    lwp_pattern_code_free(&loop.code);
}

/* What the loop has in vector registers is loaded and stored in those, by as many instructions, whatever its chain is of. */
static void test_vectors(void **state)
{
    (void)state;
    struct lwp_pattern pattern = pattern_of(LWP_PATTERN_STEPS, 8, 1000);
    pattern.array_count = pattern.access_count = 3;
    pattern.chain = 0;
    pattern.instructions = 12;
    for (int vector = 0; vector < 2; vector++) { /* for (...) c[i] = a[i] + b[i] */
        for (size_t a = 0; a < 3; a++) {
            pattern.arrays[a] = pattern.arrays[0];
            pattern.accesses[a] = (struct lwp_pattern_access){.array = a, .bytes = 8, .store = a == 0, .vector = vector};
        }
        struct loop_code loop;
        loop_begin(&loop, &pattern);
        unsigned in_vectors = 0, all = 0;
        ZydisRegister sum = ZYDIS_REGISTER_NONE;
        for (; loop_next(&loop); all++) {
            const int stores = loop.operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY;
            if (ZydisRegisterGetClass(loop.operands[stores].reg.value) != ZYDIS_REGCLASS_XMM)
                continue;
            in_vectors++;
            assert_true(!stores || loop.operands[1].reg.value == sum); /* what was loaded */
            sum = loop.operands[stores].reg.value;
        }
        assert_int_equal(in_vectors, vector ? 3 : 0);
        assert_int_equal(all, 12 + 1);
        lwp_pattern_code_free(&loop.code);
    }
}

/* Where the loop sums up what it loads before its chain gets it, each sum waits for the load before. */
static void test_sums(void **state)
{
    (void)state;
    struct lwp_pattern pattern = pattern_of(LWP_PATTERN_STEPS, 32, 1000);
    pattern.access_count = 4;
    pattern.chain = 1;
    pattern.instructions = 20;
    for (int adds = 0; adds < 2; adds++) { /* for (...) sum += p[i].a + p[i].b + p[i].c + p[i].d */
        for (size_t a = 0; a < 4; a++)
            pattern.accesses[a] = (struct lwp_pattern_access){.offset = 8 * a, .bytes = 8, .adds = a && adds};
        struct loop_code loop;
        loop_begin(&loop, &pattern);
        unsigned loads = 0, summed = 0, carried = 0;
        ZydisRegister sum = ZYDIS_REGISTER_NONE;
        while (loop_next(&loop)) {
            const bool load = loop.operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY && loop.operands[1].mem.type == ZYDIS_MEMOP_TYPE_MEM;
            const bool works_out = loop.operands[0].actions & ZYDIS_OPERAND_ACTION_MASK_READ;
            loads += load;
            summed += load && works_out && loop.operands[0].reg.value == sum;
            carried += loads == 4 && !load && works_out && sum != ZYDIS_REGISTER_NONE && loop.operands[1].reg.value == sum;
            if (load && !works_out)
                sum = loop.operands[0].reg.value;
        }
        assert_int_equal(loads, 4);
        assert_int_equal(summed, adds ? 3 : 0);
        assert_int_equal(carried, adds);
        lwp_pattern_code_free(&loop.code);
    }
}

/* As many sums and products of floating-point numbers as the loop has; as many of them wait for each other as there. */
static void test_depth(void **state)
{
    (void)state;
    struct lwp_pattern pattern = pattern_of(LWP_PATTERN_STEPS, 32, 1000);
    pattern.access_count = 5;
    pattern.chain = 0;
    pattern.instructions = 16;
    pattern.sums = 5;
    pattern.products = 1;
    for (size_t a = 0; a < 5; a++) /* the last one is stored */
        pattern.accesses[a] = (struct lwp_pattern_access){.offset = a == 4 ? 0 : 8 * a, .bytes = 8, .store = a == 4, .vector = true};
    for (int deep = 0; deep < 2; deep++) {
        pattern.depth = deep ? 20 : 4;
        struct loop_code loop;
        loop_begin(&loop, &pattern);
        unsigned begun = 0, further = 0, idle = 0;
        while (loop_next(&loop)) {
            const bool loads = loop.operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY;
            begun += loop.instruction.mnemonic == ZYDIS_MNEMONIC_MOVSD && loads;
            further += loop.instruction.mnemonic == ZYDIS_MNEMONIC_ADDSD;
            idle += loop.instruction.mnemonic == ZYDIS_MNEMONIC_VADDSD || loop.instruction.mnemonic == ZYDIS_MNEMONIC_VMULSD;
        }
        assert_int_equal(begun, deep ? 1 : 2);
        assert_int_equal(further, deep ? 5 : 2);
        assert_int_equal(idle, __builtin_cpu_supports("avx") ? 6 - further : 0);
        lwp_pattern_code_free(&loop.code);
    }
}

/* What is loaded of two arrays becomes one number, which a sum that is stored each time gets: all of it is awaited then. */
static void test_joins(void **state)
{
    (void)state;
    enum { ELEMENTS = 1000 };
    struct lwp_pattern pattern = pattern_of(LWP_PATTERN_NESTED, 8, ELEMENTS);
    struct lwp_pattern_code code;
    static double numbers[2][ELEMENTS], sum;
    pattern.array_count = pattern.access_count = 3;
    pattern.arrays[1] = pattern.arrays[0];
    pattern.arrays[2] = (struct lwp_pattern_array){.walk = LWP_PATTERN_NESTED};
    for (size_t a = 0; a < 3; a++)
        pattern.accesses[a] = (struct lwp_pattern_access){.array = a, .bytes = 8, .store = a == 2, .vector = true};
    pattern.inner = ELEMENTS;
    pattern.instructions = 7;
    pattern.sums = pattern.products = 1;
    pattern.depth = 8;
    pattern.chain = 4;
    pattern.floating = true;
    for (size_t i = 0; i < ELEMENTS; i++) {
        numbers[0][i] = 1;
        numbers[1][i] = 2;
    }
    assert_int_equal(lwp_pattern_code_make(&pattern, &code, NULL), LWP_OK);
    struct lwp_pattern_place place = {.rounds = ELEMENTS, .next = ELEMENTS / code.unrolled};
    for (size_t a = 0; a < 3; a++)
        place.at[a] = (uint64_t)(uintptr_t)(a == 2 ? &sum : numbers[a]);
    code.run(&place);
    assert_true(sum == 3.0 * ELEMENTS);
    lwp_pattern_code_free(&code);
}

/* No array is gone over by the register that programs find their stack by: some processors fetch less ahead then. */
static void test_registers(void **state)
{
    (void)state;
    struct lwp_pattern pattern = pattern_of(LWP_PATTERN_STEPS, 8, 1000);
    pattern.array_count = pattern.access_count = LWP_PATTERN_ARRAYS;
    pattern.instructions = 40;
    for (size_t a = 0; a < LWP_PATTERN_ARRAYS; a++) {
        pattern.arrays[a] = pattern.arrays[0];
        pattern.accesses[a] = (struct lwp_pattern_access){.array = a, .bytes = 8};
    }
    struct loop_code loop;
    size_t found = 0;
    loop_begin(&loop, &pattern);
    while (loop_next(&loop))
        for (int k = 0; k < loop.instruction.operand_count_visible; k++)
            if (loop.operands[k].type == ZYDIS_OPERAND_TYPE_MEMORY && loop.instruction.mnemonic != ZYDIS_MNEMONIC_LEA) {
                assert_true(loop.operands[k].mem.base != ZYDIS_REGISTER_RBP && loop.operands[k].mem.base != ZYDIS_REGISTER_RSP);
                found++;
            }
    assert_true(found >= LWP_PATTERN_ARRAYS);
    lwp_pattern_code_free(&loop.code);
}

/* With as few instructions as compilers need: how many are under way decides how many loads are awaited at one time. */
static void test_instructions(void **state)
{
    (void)state;
    struct lwp_pattern pattern = pattern_of(LWP_PATTERN_INDEXED, 8, 1000);
    pattern.array_count = pattern.access_count = 4;
    for (size_t a = 0; a < 4; a++) {
        pattern.arrays[a] = pattern.arrays[0];
        pattern.accesses[a] = (struct lwp_pattern_access){.array = a, .bytes = 8};
    }
    for (int floating = 0; floating < 2; floating++) { /* for (...) sum += a[i[k]] + b[i[k]] + c[i[k]] + d[i[k]] */
        pattern.floating = floating;
        pattern.chain = floating ? 16 : 4;
        pattern.instructions = 7;
        const unsigned few = code_instructions(&pattern);
        pattern.instructions = 20;
        assert_int_equal(code_instructions(&pattern) - few, 13);
    }
}

/* As many rounds one after the other as the loop has: each instruction goes on by the loop's own step. More only where counting each would
 * take more instructions than the loop has. */
static void test_unrolled(void **state)
{
    (void)state;
    struct lwp_pattern pattern = pattern_of(LWP_PATTERN_STEPS, 256, 1000);
    const unsigned around = code_instructions(&pattern) - 7; /* 6 a round; the jump is one with the instruction before it */
    for (unsigned unrolled = 1; unrolled <= LWP_PATTERN_UNROLLED; unrolled *= 2) {
        pattern.unrolled = unrolled;
        assert_int_equal(code_instructions(&pattern) - around, 6 * unrolled + 1);
    }
    pattern.unrolled = 0;
    pattern.instructions = 2; /* a load; a step and the counter */
    assert_int_equal(code_instructions(&pattern) - around, 2 * 2 + 1);
    struct lwp_pattern_code code;
    assert_int_equal(lwp_pattern_code_make(&pattern, &code, NULL), LWP_OK);
    assert_int_equal(code.unrolled, 2);
    lwp_pattern_code_free(&code);
}

/* A chain's sums with a factor are run as they are: of how many cycles they are is the processor's. */
static void test_scaled(void **state)
{
    (void)state;
    static const uint8_t ninefold[] = {0x4f, 0x8d, 0x3c, 0xff}; /* lea (%r15,%r15,8),%r15 */
    for (unsigned floating = 0; floating < 2; floating++) {
        struct lwp_pattern pattern = pattern_of(LWP_PATTERN_STEPS, 256, 1000);
        struct lwp_pattern_code code;
        pattern.unrolled = 2;
        pattern.scaled = 3;
        pattern.instructions = 8;
        pattern.floating = floating;
        assert_int_equal(lwp_pattern_code_make(&pattern, &code, NULL), LWP_OK);
        unsigned found = 0;
        const uint8_t *at = code.memory, *end = at + code.bytes;
        while ((at = memmem(at, (size_t)(end - at), ninefold, sizeof ninefold))) {
            found++;
            at += sizeof ninefold;
        }
        assert_int_equal(found, floating ? 0 : 3 * code.unrolled);
        lwp_pattern_code_free(&code);
    }
}

/* A chain of sums is one of numbers as wide as those that are loaded: others would be subnormal in it, and take a hundred cycles each. */
static void test_float_sums(void **state)
{
    (void)state;
    static const uint8_t sums[][4] = {{0xf3, 0x0f, 0x58, 0xc8}, {0xf2, 0x0f, 0x58, 0xc8}}; /* addss %xmm0,%xmm1; addsd */
    for (unsigned doubles = 0; doubles < 2; doubles++) {
        struct lwp_pattern pattern = pattern_of(LWP_PATTERN_STEPS, 256, 1000);
        struct lwp_pattern_code code;
        pattern.instructions = 12;
        pattern.floating = true;
        pattern.chain = 12;
        pattern.accesses[0].bytes = doubles ? 8 : 4;
        assert_int_equal(lwp_pattern_code_make(&pattern, &code, NULL), LWP_OK);
        assert_non_null(memmem(code.memory, code.bytes, sums[doubles], sizeof sums[doubles]));
        assert_null(memmem(code.memory, code.bytes, sums[!doubles], sizeof sums[!doubles]));
        lwp_pattern_code_free(&code);
    }
}

/* What ends a search of few visits is hardly ever guessed, also where the same searches are made again and again. */
static void test_endings(void **state)
{
    (void)state;
    struct lwp_pattern straight = pattern_of(LWP_PATTERN_CHAINED, 32, 1 << 9), ends = straight;
    struct lwp_pattern_times times;
    struct lwp_pattern_code code;
    straight.search = ends.search = 2;
    ends.endings = 7;
    COMPARED(times.ratio > 1.5, lwp_pattern_compare, &straight, &ends, 0.05, &times);
    straight.endings = 1; /* and the more the longer it takes */
    COMPARED(times.ratio > 1.2, lwp_pattern_compare, &straight, &ends, 0.05, &times);
    ends.array_count = LWP_PATTERN_ARRAYS - 1; /* no register is left */
    assert_true(lwp_pattern_code_make(&ends, &code, NULL) != LWP_OK);
}

/* A chain that gets nothing of what is loaded goes on beside the other one: their times do not add up. */
static void test_apart(void **state)
{
    (void)state;
    struct lwp_pattern through = pattern_of(LWP_PATTERN_STEPS, 8, 256), apart = through, both, counter = through;
    struct lwp_pattern_times times;
    through.chain = apart.apart = 40;
    both = through;
    both.apart = 40;
    counter.apart = 1;
    COMPARED(times.ratio < 1.5, lwp_pattern_compare, &through, &both, 0.1, &times);
    COMPARED(times.ratio > 0.4 && times.ratio < 2.5, lwp_pattern_compare, &through, &apart, 0.1, &times);
    apart.apart = 0;
    assert_int_equal(code_instructions(&counter), code_instructions(&apart));
}

/* An index that is drawn takes the units that it takes in the loop: it is moved once, and what is counted comes behind what is begun first.
 */
static void test_drawn(void **state)
{
    (void)state;
    struct lwp_pattern pattern = pattern_of(LWP_PATTERN_INDEXED, 32, 1 << 16);
    pattern.draws = true;
    pattern.instructions = 8; /* for (...) { at = at * a + b; sum += p[at >> 48].first; } */
    pattern.apart = 4;
    struct loop_code loop;
    loop_begin(&loop, &pattern);
    unsigned all = 0, moves = 0;
    ZydisMnemonic before = ZYDIS_MNEMONIC_INVALID;
    for (; loop_next(&loop); all++) {
        moves += loop.instruction.mnemonic == ZYDIS_MNEMONIC_MOV;
        assert_false(before == ZYDIS_MNEMONIC_IMUL && loop.instruction.mnemonic == ZYDIS_MNEMONIC_ADD);
        before = loop.instruction.mnemonic;
    }
    assert_int_equal(moves, 1);
    assert_int_equal(all, 8 + 1);
    lwp_pattern_code_free(&loop.code);
}

/* What the chain came to is in memory at the end of each round. */
static void test_through_memory(void **state)
{
    (void)state;
    enum { ELEMENTS = 1000, BEFORE = 77 };
    for (int i = 0; i < 8; i++) {
        struct lwp_pattern pattern = pattern_of(LWP_PATTERN_STEPS, 8, ELEMENTS);
        struct lwp_pattern_memory memory;
        struct lwp_pattern_code code;
        struct lwp_pattern_place place = {.rounds = ELEMENTS, .kept = BEFORE};
        pattern.floating = i % 2;
        pattern.chain = 4;
        pattern.through_memory = i / 2 % 2;
        pattern.at_address = i / 4;
        assert_int_equal(lwp_pattern_code_make(&pattern, &code, NULL), LWP_OK);
        assert_int_equal(lwp_pattern_memory_make(&pattern, ELEMENTS, &memory, NULL), LWP_OK);
        place.at[0] = (uint64_t)(uintptr_t)memory.first[0];
        code.run(&place);
        assert_int_equal(place.kept != BEFORE, pattern.through_memory);
        lwp_pattern_memory_free(&memory);
        lwp_pattern_code_free(&code);
    }
}

/* Large arrays, whose pages come slowly: there is time for a turn, and to take them down, before it is given up. */
static void test_long_to_set_up(void **state)
{
    (void)state;
    assert_true(lwp_pattern_turns_until(0.01, 0.1) == 0.01 + 0.1);
    assert_true(lwp_pattern_turns_until(0.5, 0.1) == 0.5 + 0.5);
    assert_true(lwp_pattern_turns_until(4, 0.1) + 1 < lwp_pattern_patience(0.1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_conflicts),
                                       cmocka_unit_test(test_visits_each_element),
                                       cmocka_unit_test(test_order),
                                       cmocka_unit_test(test_inner_loop),
                                       cmocka_unit_test(test_link_once),
                                       cmocka_unit_test(test_window),
                                       cmocka_unit_test(test_beside_a_chain),
                                       cmocka_unit_test(test_passes),
                                       cmocka_unit_test(test_within),
                                       cmocka_unit_test(test_nested),
                                       cmocka_unit_test(test_three_loops),
                                       cmocka_unit_test(test_memory_is_slower),
                                       cmocka_unit_test(test_parts),
                                       cmocka_unit_test(test_searches),
                                       cmocka_unit_test(test_threads),
                                       cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_gaps),
                                       cmocka_unit_test(test_instructions),
                                       cmocka_unit_test(test_many_elements),
                                       cmocka_unit_test(test_cold),
                                       cmocka_unit_test(test_guesses),
                                       cmocka_unit_test(test_bisects),
                                       cmocka_unit_test(test_bisects_by_guesses),
                                       cmocka_unit_test(test_trees),
                                       cmocka_unit_test(test_tree_near_root),
                                       cmocka_unit_test(test_links_stay),
                                       cmocka_unit_test(test_through_memory),
                                       cmocka_unit_test(test_apart),
                                       cmocka_unit_test(test_unrolled),
                                       cmocka_unit_test(test_scaled),
                                       cmocka_unit_test(test_float_sums),
                                       cmocka_unit_test(test_long_to_set_up),
                                       cmocka_unit_test(test_endings),
                                       cmocka_unit_test(test_stores_last),
                                       cmocka_unit_test(test_vectors),
                                       cmocka_unit_test(test_sums),
                                       cmocka_unit_test(test_depth),
                                       cmocka_unit_test(test_joins),
                                       cmocka_unit_test(test_registers),
                                       cmocka_unit_test(test_by_index),
                                       cmocka_unit_test(test_drawn)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
