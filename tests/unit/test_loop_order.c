/* Loop order from samples: how far an instruction moves, which places it goes to within a step, what the code shows of the loops
 * around it, and what is advised for it, each against what the program was made to do. */
#include "programs.h"

#include "analysis/advice/locality/loop_order_internal.h"
#include "analysis/measure/pattern.h"
#include "analysis/profile/contexts.h"
#include "analysis/profile/moves.h"
#include "analysis/profile/objects.h"
#include "analysis/program/binary/module.h"
#include "analysis/program/flow/decode.h"
#include "analysis/program/flow/machine_code.h"
#include "format/record.h"

#include <math.h>

enum { LINE = 64, MOVES = 12 };

/* ---- what samples show ---- */

static void test_moves(void **state)
{
    (void)state;
    /* The sampled access, some iterations on two of the same instruction, one after the other, and one of another instruction. */
    static const struct lwp_traversal_access sample[] = {{1, 2, 0x100, 0, false, 0x10000, 0, 0, false},
                                                         {1, 2, 0x100, 5 * 4096, false, 0x10000 + 5 * 4096, 0, 0, false},
                                                         {1, 2, 0x104, 8, true, 0x10008, 0, 0, false},
                                                         {1, 2, 0x100, 6 * 4096, true, 0x10000 + 6 * 4096, 0, 0, false}};
    struct lwp_moves moves = {0};
    const struct lwp_profile none = {0};
    for (int i = 0; i < 100; i++)
        lwp_moves_sample(&moves, &none, sample, 4);
    assert_int_equal(moves.count, 1);
    assert_int_equal(moves.items[0].seen, 200);
    assert_int_equal(moves.items[0].count, LWP_MOVES_KEPT);
    size_t next = 0;
    for (size_t i = 0; i < moves.items[0].count; i++) {
        assert_int_equal(moves.items[0].kept[i].bytes, moves.items[0].kept[i].next ? 4096 : 5 * 4096);
        next += moves.items[0].kept[i].next;
    }
    assert_in_range(next, LWP_MOVES_KEPT / 4, LWP_MOVES_KEPT * 3 / 4);
    lwp_moves_fini(&moves);
}

static struct lwp_order_step step_of(const int64_t *bytes, int64_t within, int64_t by_code)
{
    struct lwp_move moves[MOVES];
    for (int i = 0; i < MOVES; i++)
        moves[i] = (struct lwp_move){.bytes = bytes[i], .within = within < 0 ? bytes[i] : within, .next = false};
    return lwp_order_step(moves, MOVES, by_code, false, LINE);
}

static void test_steps(void **state)
{
    (void)state;
    static const int64_t multiples[MOVES] = {8192,    3 * 8192, 17 * 8192, 8192,     5 * 8192,  2 * 8192,
                                             -700000, 9 * 8192, 8192,      4 * 8192, 40 * 8192, 6 * 8192};
    static const int64_t even[MOVES] = {2 * 8192, 4 * 8192,  16 * 8192, 2 * 8192, 6 * 8192,  2 * 8192,
                                        8192,     10 * 8192, 8192,      4 * 8192, 40 * 8192, 8192};
    static const int64_t down[MOVES] = {-96, -480, -96, -192, -288, -96, -960, -384, -96, -96, -192, -480};
    static const int64_t gather[MOVES] = {88888, -4096, 123456, 1600, -80000, 7777776, 64, -999992, 31415920, 2718288, -16, 5000};
    static const int64_t rows[MOVES] = {1040, 2080, 1056, 3120, 1040, 1072, 1040, 135168, 1040, 2080, 1040, 1056};
    static const int64_t still[MOVES] = {0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0};
    struct lwp_order_step step = step_of(multiples, -1, 0);
    assert_true(step.kind == LWP_ORDER_COLUMN && step.bytes == 8192 && !step.blocks);
    assert_int_equal(step_of(multiples, -1, 8192).bytes, 8192);
    assert_int_equal(step_of(even, -1, 0).bytes, 8192); /* three quarters are multiples of twice that by chance */
    step = step_of(down, -1, 0);
    assert_true(step.kind == LWP_ORDER_COLUMN && step.bytes == -96);
    assert_int_equal(step_of(gather, -1, 0).kind, LWP_ORDER_OTHER);
    step = step_of(rows, 0, 0); /* the same place of another row, which need not be evenly apart */
    assert_true(step.kind == LWP_ORDER_COLUMN && step.blocks && step.bytes == 1056);
    assert_int_equal(step_of(still, -1, 0).kind, LWP_ORDER_STAYS);
    assert_int_equal(lwp_order_step(NULL, 0, 16, false, LINE).kind, LWP_ORDER_ROW);
    assert_int_equal(lwp_order_step(NULL, 0, -4096, false, LINE).kind, LWP_ORDER_COLUMN);
    assert_int_equal(lwp_order_step(NULL, 0, 0, true, LINE).kind, LWP_ORDER_STAYS);
    assert_int_equal(lwp_order_step(NULL, 0, 0, false, LINE).kind, LWP_ORDER_OTHER);
}

/* Five iterations, then again a row further down: so many of the moves go back, and yet the loop goes down a column. */
static void test_window(void **state)
{
    (void)state;
    struct lwp_move moves[MOVES];
    for (int i = 0; i < MOVES; i++)
        moves[i] = (struct lwp_move){.bytes = (i % 5 - 2) * 6000, .within = (i % 5 - 2) * 6000};
    assert_int_equal(lwp_order_step(moves, MOVES, 0, false, LINE).kind, LWP_ORDER_OTHER);
    for (int i = 0; i < MOVES; i += 2)
        moves[i] = (struct lwp_move){.bytes = 6000, .within = 6000, .next = true};
    struct lwp_order_step step = lwp_order_step(moves, MOVES, 0, false, LINE);
    assert_true(step.kind == LWP_ORDER_COLUMN && step.window && step.bytes == 6000 && !step.blocks);
    /* It begins again in the next column: lines are used up while they are there. */
    for (int i = 1; i < MOVES; i += 2)
        moves[i].bytes = moves[i].within = 1 - 4 * 6000;
    assert_int_equal(lwp_order_step(moves, MOVES, 0, false, LINE).kind, LWP_ORDER_OTHER);
}

static void test_columns(void **state)
{
    (void)state;
    uint64_t places[64];
    const struct lwp_offsets offsets = {.items = places, .count = 64, .fair = 64};
    const struct lwp_order_step step = {LWP_ORDER_COLUMN, false, 4096, false}, blocks = {LWP_ORDER_COLUMN, true, 4096, false};
    for (uint64_t i = 0; i < 64; i++)
        places[i] = i * 37 % 1000 * 4096 + i * 101 % 512 * 8;
    struct lwp_order_columns columns = lwp_order_columns(&offsets, &step, LINE);
    assert_int_equal(columns.apart, 8);
    assert_float_equal(columns.lines, 1.0 / 8, 0.005);
    for (uint64_t i = 0; i < 64; i++)
        places[i] = i * 37 % 1000 * 4096 + 24; /* one member of structures */
    assert_int_equal(lwp_order_columns(&offsets, &step, LINE).apart, 0);
    for (uint64_t i = 0; i < 64; i++)
        places[i] = i * 5 % 16 * 4; /* rows of 16 floats: one line each */
    columns = lwp_order_columns(&offsets, &blocks, LINE);
    assert_int_equal(columns.apart, 4);
    assert_float_equal(columns.lines, 1.0 / 16, 1e-9);
    /* 1 MiB in lines of 64 bytes; steps of pages reach one set in 64, of half a page two, odd lines all */
    assert_float_equal(lwp_order_capacity(1 << 20, 4096, LINE), 16384 / 64, 1e-9);
    assert_float_equal(lwp_order_capacity(1 << 20, 2048, LINE), 16384 / 32, 1e-9);
    assert_float_equal(lwp_order_capacity(1 << 20, 4096 + 64, LINE), 16384, 1e-9);
    assert_float_equal(lwp_order_capacity(1 << 20, 5600, LINE), 16384, 1e-9);
}

static void test_column(void **state)
{
    (void)state;
    assert_float_equal(lwp_order_column(1812, 42, 1900), 1900, 0); /* what so few places miss */
    assert_float_equal(lwp_order_column(902, 42, 1900), 902 + 2 * 902.0 / 41, 1e-9);
    assert_float_equal(lwp_order_column(1812, 4, 1900), 1812, 0);
    assert_float_equal(lwp_order_column(1812, 42, 1000), 1812, 0); /* several blocks */
}

/* ---- what the code shows ---- */

/* The first load in loops so many deep, into a vector register or not. */
static uint64_t access_of(struct lwp_code *code, uint32_t module, const char *path, const char *function, unsigned depth, bool vector)
{
    const struct lwp_symbolized *location = lwp_code_symbolize(code, module, programs_symbol(path, function));
    struct code_module *in = code_module_at(code, module);
    for (uint64_t at = location->function_low; at < location->function_high;) {
        struct code_instruction instruction = code_decode_at(in, at, true);
        uint32_t loop;
        int64_t step;
        if (instruction.memory.load && instruction.memory.vector == vector && instruction.memory.base >= 0 &&
            lwp_code_loop_step(code, module, at, depth - 1, false, &loop, &step) != LWP_LOOP_STEP_NO_LOOP)
            return at;
        if (!instruction.length)
            break;
        at += instruction.length;
    }
    fail_msg("%s has no such access", function);
    return 0;
}

static void assert_step(struct lwp_code *code, uint32_t module, uint64_t at, unsigned level, bool rows, enum lwp_loop_step_kind kind,
                        int64_t bytes)
{
    uint32_t loop;
    int64_t step;
    assert_int_equal(lwp_code_loop_step(code, module, at, level, rows, &loop, &step), kind);
    if (kind == LWP_LOOP_STEP_CONSTANT)
        assert_int_equal(step, bytes);
    assert_int_equal(loop == LWP_NONE, kind == LWP_LOOP_STEP_NO_LOOP);
}

static void assert_rows(struct lwp_code *code, uint32_t module, const char *path, const char *function, double most, bool triangle)
{
    struct lwp_profile of = {.code = code};
    const struct lwp_stream stream = {.module = module, .address = access_of(code, module, path, function, 3, true)};
    const struct lwp_order_access column = {.stream = &stream, .step = {LWP_ORDER_COLUMN, false, 72, false}};
    const struct lwp_order order = {.profile = &of, .rows = 100, .outer = {.level = 1}};
    bool seen = false;
    assert_float_equal(lwp_order_rows(&order, &column, &seen), most, 0);
    assert_int_equal(seen, triangle);
}

/* Rows that samples saw say whether columns get longer each time; all of one length are half way on average. */
static void test_lengths(void **state)
{
    enum { PLACES = 100, ROWS = 200, STEP = 4096 };
    (void)state;
    struct lwp_order_length lengths[2];
    uint64_t places[PLACES];
    const struct lwp_stream stream = {.offsets = {.items = places, .count = PLACES}};
    const struct lwp_order order = {
        .count = 1, .accesses = {{.stream = &stream, .step = {LWP_ORDER_COLUMN, false, STEP, false}, .columns = {.apart = 8}}}};
    for (int kind = 0; kind < 3; kind++) { /* of one length; longer each time; and so are its rows */
        for (uint64_t i = 0; i < PLACES; i++) {
            const double part = ((double)i + 0.5) / PLACES, row = kind ? 1 - sqrt(1 - part) : part,
                         other = (double)(i * 37 % PLACES) / PLACES, across = kind == 2 ? 1 - sqrt(1 - other) : other;
            places[i] = (uint64_t)(row * ROWS) * STEP + (uint64_t)(across * STEP / 8) * 8;
        }
        const unsigned count = lwp_order_lengths(&order, order.accesses, false, false, lengths);
        assert_int_equal(count, kind ? 2 : 1);
        for (unsigned i = 0; i < count; i++)
            assert_true(kind == 2 ? lengths[i].rows < 1 && lengths[i].columns < 1 : lengths[i].columns >= 1);
        assert_true(!kind || lengths[0].visits + lengths[1].visits == 1);
    }
    assert_int_equal(lwp_order_lengths(&order, order.accesses, true, false, lengths), 1); /* rows of planes: not known */
    assert_int_equal(lwp_order_lengths(&order, order.accesses, true, true, lengths), 2);
    assert_true(lengths[0].visits > 2 * lengths[1].visits); /* LU: both loops are as much shorter */
    /* Rows as often above the middle as below it although columns begin further down each time: something else ends them sooner. */
    for (uint64_t i = 0; i < PLACES; i++)
        places[i] = i * ROWS / PLACES * STEP + (uint64_t)((1 - sqrt(1 - (double)(i * 37 % PLACES) / PLACES)) * STEP / 8) * 8;
    assert_int_equal(lwp_order_lengths(&order, order.accesses, false, true, lengths), 2);
    assert_float_equal(lengths[0].rows + lengths[1].rows, 1, 0.001);
}

/* A sum that a register holds and that is stored each time is loaded, added to and stored in the new order: not loaded right after. */
static void assert_loads_first(struct lwp_code *code, uint32_t module)
{
    struct lwp_profile of = {.code = code, .machine = {.line_bytes = LINE}};
    const struct lwp_stream sum = {.module = module, .object = 0, .bytes = 8, .vector = true, .stores = 1, .stride = {.bytes = 8}},
                            down = {.module = module, .address = 1, .object = 1, .bytes = 8, .loads = 1};
    const struct lwp_order order = {
        .profile = &of,
        .rows = 100,
        .shape.work = {.chain = 4, .instructions = 5},
        .count = 2,
        .accesses = {{.stream = &sum, .step = {LWP_ORDER_STAYS, false, 0, false}},
                     {.stream = &down, .step = {LWP_ORDER_COLUMN, false, 4096, false}, .columns = {.apart = 8}}}};
    struct lwp_pattern pattern;
    assert_true(lwp_order_pattern(&order, &order.accesses[1], false, &pattern));
    assert_int_equal(pattern.access_count, 2);
    assert_true(lwp_order_pattern(&order, &order.accesses[1], true, &pattern));
    assert_int_equal(pattern.access_count, 3);
    for (size_t i = 0; i < 2; i++)
        assert_true(pattern.accesses[i].array == 0 && pattern.accesses[i].store == (i == 1));
    for (size_t i = 0; i < 3; i++) /* in the registers that the loop uses */
        assert_true(pattern.accesses[i].vector == (i < 2));
}

/* A matrix is reduced by one of another's columns: that one stays where it is while the loop around goes from column to column. */
static void assert_nest(struct lwp_code *code, uint32_t module, const char *path, const char *function)
{
    struct lwp_profile of;
    lwp_profile_init(&of);
    of.code = code;
    of.machine.line_bytes = LINE;
    const struct code_module *in = code_module_at(code, module);
    const uint64_t first = access_of(code, module, path, function, 3, true);
    uint64_t next = first;
    uint32_t loop;
    int64_t step;
    do
        next += code_decode_at(in, next, true).length;
    while (!code_decode_at(in, next, true).memory.load);
    assert_int_equal(lwp_code_loop_step(code, module, first, 1, false, &loop, &step), LWP_LOOP_STEP_CONSTANT);
    const struct lwp_stream right = {.module = module, .weight = {900, 900, 900}, .address = step ? next : first},
                            left = {.module = module, .weight = {100, 100, 100}, .address = step ? first : next};
    struct lwp_order order = {
        .profile = &of,
        .count = 2,
        .accesses = {{.stream = &right, .step = {LWP_ORDER_COLUMN, false, 72, false}, .columns = {8, 0.125}, .now = 1},
                     {.stream = &left, .step = {LWP_ORDER_COLUMN, false, 72, false}, .columns = {8, 0.125}, .now = 1}}};
    assert_ptr_equal(lwp_order_nest(&order), &order.accesses[1]);
    assert_int_equal(order.outer.level, 1);
    assert_int_equal(order.outer.by, 8);
    order.rows = 64;
    order.shape.work.instructions = 6;
    struct lwp_pattern pattern; /* both are of one object: the pivot's column stays where it is, among the others */
    assert_true(lwp_order_pattern(&order, &order.accesses[1], false, &pattern));
    assert_int_equal(pattern.array_count, 2);
    for (size_t i = 0; i < 2; i++)
        assert_true(pattern.arrays[i].spacing == 72 && pattern.arrays[i].outer == (i ? 8 : 0) && pattern.arrays[i].within == (i ? 0 : 2));
    order.count = 1;
    const bool next_column = strcmp(function, "reduce") == 0; /* else the outermost loop moves the pivot's by a row, too */
    assert_ptr_equal(lwp_order_nest(&order), &order.accesses[0]);
    assert_int_equal(order.outer.level, next_column ? 2 : 0);
    of.code = NULL;
    lwp_profile_fini(&of);
}

/* Rows that were allocated one by one may lie evenly: which loop goes from column to column the code says all the same. What it adds up is
 * one sum in either order, unlike sums that begin with each column. */
static void assert_sums(struct lwp_code *code, uint32_t module, const char *path)
{
    struct lwp_profile of;
    lwp_profile_init(&of);
    of.code = code;
    of.machine.line_bytes = LINE;
    static const struct {
        const char *function;
        int64_t bytes;
        bool on;
    } nests[] = {{"pointers", 528, true}, {"columns", 512, true}, {"means", 72, false}};
    for (size_t i = 0; i < sizeof nests / sizeof *nests; i++) {
        const struct lwp_stream down = {
            .module = module, .bytes = 8, .loads = 1, .address = access_of(code, module, path, nests[i].function, 2, true)};
        struct lwp_order order = {
            .profile = &of,
            .rows = 64,
            .shape.work = {.instructions = 5, .chain = 4, .loaded_chain = 4},
            .count = 1,
            .accesses = {{.stream = &down, .step = {LWP_ORDER_COLUMN, false, nests[i].bytes, false}, .columns = {16, 0.25}, .now = 1}}};
        struct lwp_pattern pattern;
        assert_ptr_equal(lwp_order_nest(&order), &order.accesses[0]);
        assert_int_equal(order.outer.level, 1);
        assert_int_equal(order.outer.by, 8);
        assert_int_equal(order.accesses[0].columns.apart, 8);
        assert_int_equal(lwp_order_sums_on(&order, &order.accesses[0]), nests[i].on);
        assert_true(lwp_order_pattern(&order, &order.accesses[0], true, &pattern));
        assert_int_equal(pattern.array_count, nests[i].on ? 1 : 2); /* an array of the sums */
    }
    of.code = NULL;
    lwp_profile_fini(&of);
}

static void test_code(void **state)
{
    (void)state;
    static const char *const compilers[] = {"gcc", "clang"};
    char path[256];
    for (size_t i = 0; i < 2; i++) {
        if (!programs_build(compilers[i], i ? "-O2 -fno-vectorize -fno-unroll-loops -Dnoclone=noinline" : "-O1", "nests.c", path,
                            sizeof path))
            continue;
        struct lwp_arena *arena = lwp_arena_new();
        struct lwp_code *code = lwp_code_new(arena);
        uint32_t module = lwp_code_module(code, path, NULL, 0);
        uint64_t at = access_of(code, module, path, "columns", 2, true);
        assert_step(code, module, at, 0, false, LWP_LOOP_STEP_VARIABLE, 0);
        assert_step(code, module, at, 1, false, LWP_LOOP_STEP_CONSTANT, 8);
        assert_step(code, module, at, 2, false, LWP_LOOP_STEP_NO_LOOP, 0);
        assert_false(lwp_code_loop_folds(code, module, at));
        assert_true(lwp_code_loop_folds(code, module, access_of(code, module, path, "remainders", 1, true)));
        assert_true(lwp_code_loop_folds(code, module, access_of(code, module, path, "masked", 1, true)));
        at = access_of(code, module, path, "deep", 3, true);
        assert_step(code, module, at, 0, false, LWP_LOOP_STEP_CONSTANT, 72);
        assert_step(code, module, at, 1, false, LWP_LOOP_STEP_CONSTANT, 7 * 72);
        assert_step(code, module, at, 2, false, LWP_LOOP_STEP_CONSTANT, 8);
        at = access_of(code, module, path, "sparse", 2, true);
        assert_step(code, module, at, 0, false, LWP_LOOP_STEP_CONSTANT, 128);
        assert_step(code, module, at, 1, false, LWP_LOOP_STEP_VARIABLE, 0);
        at = access_of(code, module, path, "pointers", 2, true);
        assert_step(code, module, at, 1, false, LWP_LOOP_STEP_UNKNOWN, 0);
        assert_step(code, module, at, 1, true, LWP_LOOP_STEP_CONSTANT, 8);
        assert_false(lwp_code_loop_folds(code, module, at));
        at = access_of(code, module, path, "edges", 1, false);
        assert_step(code, module, at, 0, false, LWP_LOOP_STEP_CONSTANT, 72);
        assert_step(code, module, 0, 0, false, LWP_LOOP_STEP_NO_LOOP, 0);
        assert_rows(code, module, path, "triangle", 100, true);
        assert_rows(code, module, path, "planes", 7, false);
        assert_loads_first(code, module);
        assert_sums(code, module, path);
        lwp_code_free(code);
        lwp_arena_free(arena);
    }
}

/* Counters in memory, and loops that end where two registers are equal. */
static void test_code_otherwise(void **state)
{
    (void)state;
    static const char *const flags[] = {"-O0", "-O2 -fno-tree-vectorize"};
    char path[256];
    for (size_t i = 0; i < 4; i++) {
        if (!programs_build(i & 1 ? "clang" : "gcc", flags[i / 2], "nests.c", path, sizeof path))
            continue;
        struct lwp_arena *arena = lwp_arena_new();
        struct lwp_code *code = lwp_code_new(arena);
        uint32_t module = lwp_code_module(code, path, NULL, 0);
        if (i < 2) {
            uint64_t at = access_of(code, module, path, "deep", 3, true);
            assert_step(code, module, at, 0, false, LWP_LOOP_STEP_CONSTANT, 72);
            assert_step(code, module, at, 1, false, LWP_LOOP_STEP_CONSTANT, 7 * 72);
            assert_step(code, module, at, 2, false, LWP_LOOP_STEP_CONSTANT, 8);
        } else if (i == 2) { /* clang unrolls the inner loop */
            uint64_t at = access_of(code, module, path, "check", 2, false);
            assert_step(code, module, at, 0, false, LWP_LOOP_STEP_CONSTANT, 36);
            assert_step(code, module, at, 1, false, LWP_LOOP_STEP_CONSTANT, 4);
            assert_true(lwp_code_loop_ordered(code, module, at, 1));
            at = access_of(code, module, path, "filter", 2, true); /* an array of each of its values may take their place */
            assert_false(lwp_code_loop_ordered(code, module, at, 1));
            assert_nest(code, module, path, "reduce");
            assert_nest(code, module, path, "pivots");
            at = access_of(code, module, path, "columns", 2, true); /* a sum may be made in any order */
            assert_false(lwp_code_loop_ordered(code, module, at, 1));
            assert_false(lwp_code_loop_ordered(code, module, at, 2));
        }
        lwp_code_free(code);
        lwp_arena_free(arena);
    }
}

/* ---- what is advised ---- */

enum { FUNCTION, AROUND, INNER, REGIONS, ROWS = 2000, PITCH = 16384, PLACES = 64 };

static struct lwp_profile profile;
static uint32_t objects[2];
static uint64_t places[2][PLACES];
static struct lwp_sampled_row rows[2];
static struct lwp_sampled_locality sampled;
static struct lwp_locality_tips tips;

static void make_stream(uint32_t index, uint64_t code, double weight)
{
    LWP_GROW(&profile.streams, profile.stream_count, &profile.stream_room);
    profile.streams[profile.stream_count++] =
        (struct lwp_stream){.object = objects[index],
                            .region = INNER,
                            .next_of_object = LWP_NONE,
                            .bytes = 8,
                            .module = 7,
                            .address = code,
                            .accesses = PLACES,
                            .offsets = {.items = places[index], .count = PLACES, .fair = PLACES},
                            .weight = {.weight = weight, .squares = weight, .samples = (uint64_t)weight}};
}

/* Steps of a stream's instruction, as samples saw them. */
static void make_few_moves(uint32_t index, uint64_t code, int64_t step, int count)
{
    for (int i = 1; i <= count; i++) {
        struct lwp_traversal_access sample[2] = {{.object = objects[index], .region = INNER, .code = code},
                                                 {.object = objects[index], .region = INNER, .code = code}};
        sample[1].offset = sample[1].address = (uint64_t)(step * i);
        lwp_moves_sample(&profile.moves, &profile, sample, 2);
    }
}

static void make_moves(uint32_t index, uint64_t code, int64_t step)
{
    make_few_moves(index, code, step, MOVES);
}

/* 600 of 1000 ns wait for a matrix that is walked in steps of `step` bytes, 100 for a vector, in the inner loop. */
static int make(void **state)
{
    (void)state;
    lwp_profile_init(&profile);
    profile.weight_unit = LWPS_WEIGHT_NS;
    profile.engine = LWPS_ENGINE_TIMER;
    profile.machine = (struct lwp_caches){LINE, 32 << 10, 1 << 20, 16 << 20, 16, 0};
    profile.total = (struct lwp_tally){1000, 1000, 1000};
    for (uint32_t i = 0; i < REGIONS; i++) {
        LWP_GROW(&profile.regions, profile.region_count, &profile.region_room);
        profile.regions[profile.region_count++] = (struct lwp_region){.is_function = i == FUNCTION,
                                                                      .parent = i ? i - 1 : LWP_NONE,
                                                                      .module = LWP_NONE,
                                                                      .function = "work",
                                                                      .file = "work.c",
                                                                      .first_line = 10 * i + 1,
                                                                      .last_line = 40 - i,
                                                                      .same_as = i,
                                                                      .reported = LWP_NONE,
                                                                      .weight = {i == INNER ? 900 : 0, 900, 900}};
    }
    for (uint32_t i = 0; i < 2; i++) {
        objects[i] = lwp_objects_allocated(&profile, LWP_OBJECT_HEAP, lwp_contexts_child(&profile, 0, LWP_NONE, 0x4000 + i, false), 0);
        profile.objects[objects[i]].label = i ? "vector" : "matrix";
        profile.objects[objects[i]].allocations = 1;
        profile.objects[objects[i]].bytes = i ? ROWS * 8 : ROWS * PITCH;
        rows[i] = (struct lwp_sampled_row){.object = objects[i], .region = INNER, .share = i ? 0.1 : 0.6};
    }
    for (uint64_t i = 0; i < PLACES; i++) {
        places[0][i] = i * 37 % ROWS * PITCH + i * 101 % 512 * 8;
        places[1][i] = i * 29 % ROWS * 8;
    }
    sampled = (struct lwp_sampled_locality){rows, 2};
    tips = (struct lwp_locality_tips){0};
    make_stream(0, 0x100, 600);
    make_stream(1, 0x104, 100);
    make_moves(1, 0x104, 8);
    return 0;
}

static int clean(void **state)
{
    (void)state;
    lwp_profile_fini(&profile);
    return 0;
}

static void test_interchange(void **state)
{
    (void)state;
    make_moves(0, 0x100, PITCH);
    lwp_loop_order_advise(&profile, &sampled, &tips);
    assert_int_equal(tips.count, 1);
    assert_int_equal(tips.tips[0].kind, LWP_TIP_INTERCHANGE);
    assert_int_equal(tips.tips[0].row, 0);
    /* It was not run in both orders, so only that it saves the loop's time at most is known. */
    assert_true(tips.tips[0].speedup <= 0 && tips.tips[0].gain.low <= 0 && tips.tips[0].gain.high <= 0);
    assert_float_equal(tips.tips[0].stake, lwp_share_of(&profile.regions[INNER].weight, &profile.total).high, 1e-9);
    assert_non_null(strstr(tips.tips[0].next_step, "What it gains is unknown"));
    assert_non_null(strstr(tips.tips[0].title, "matrix column by column, with a stride of 16384 bytes"));
    assert_non_null(strstr(tips.tips[0].title, "work.c:11-39"));
    assert_non_null(strstr(tips.tips[0].next_step, "work.c:21-38"));
    static const struct lwp_locality none;
    assert_false(lwp_locality_tips_change(&none, &tips, objects[0], 1.5)); /* a layout whose gain is known is not held back by it */
    tips.tips[0].speedup = 2;
    assert_true(lwp_locality_tips_change(&none, &tips, objects[0], 1.5));
    assert_false(lwp_locality_tips_change(&none, &tips, objects[0], 4)); /* a layout that gains more comes first */
}

/* An instruction goes to one place at a time: some rows are known as another object, such as those whose allocation was recorded. */
static void test_two_objects(void **state)
{
    (void)state;
    make_moves(0, 0x100, PITCH);
    make_stream(1, 0x100, 10);
    profile.streams[profile.stream_count - 1].offsets.count = 3;
    lwp_loop_order_advise(&profile, &sampled, &tips);
    assert_int_equal(tips.count, 1);
    assert_int_equal(tips.tips[0].kind, LWP_TIP_INTERCHANGE);
    assert_int_equal(tips.tips[0].object, objects[0]);
}

/* Three moves say too little of an instruction; those of two that agree say enough. */
static void test_few_moves(void **state)
{
    (void)state;
    make_few_moves(0, 0x100, PITCH, 3);
    lwp_loop_order_advise(&profile, &sampled, &tips);
    assert_int_equal(tips.count, 0);
    make_stream(0, 0x108, 0);
    make_few_moves(0, 0x108, 3000, 3);
    lwp_loop_order_advise(&profile, &sampled, &tips); /* they do not agree */
    assert_int_equal(tips.count, 0);
    lwp_moves_fini(&profile.moves);
    make_moves(1, 0x104, 8);
    make_few_moves(0, 0x100, PITCH, 3);
    make_few_moves(0, 0x108, PITCH, 3);
    lwp_loop_order_advise(&profile, &sampled, &tips);
    assert_int_equal(tips.count, 1);
    assert_int_equal(tips.tips[0].kind, LWP_TIP_INTERCHANGE);
}

static void test_not(void **state)
{
    (void)state;
    lwp_loop_order_advise(&profile, &sampled, &tips); /* nothing is known of the step */
    assert_int_equal(tips.count, 0);
    make_moves(0, 0x100, 8);
    lwp_loop_order_advise(&profile, &sampled, &tips); /* row by row */
    assert_int_equal(tips.count, 0);
}

static void test_calm(void **state)
{
    (void)state;
    make_moves(0, 0x100, PITCH);
    profile.streams[0].weight = (struct lwp_tally){40, 40, 40}; /* it hardly stalls */
    lwp_loop_order_advise(&profile, &sampled, &tips);
    assert_int_equal(tips.count, 0);
    profile.streams[0].weight = (struct lwp_tally){600, 600 * 100, 6}; /* six samples */
    lwp_loop_order_advise(&profile, &sampled, &tips);
    assert_int_equal(tips.count, 0);
    profile.streams[0].weight = (struct lwp_tally){600, 600, 600};
    profile.engine = LWPS_ENGINE_EXACT;
    lwp_loop_order_advise(&profile, &sampled, &tips);
    assert_int_equal(tips.count, 0);
}

/* Two rows an iteration: the other one is half a step away, or half a step and a whole row of the columns that there are, which no
 * iteration moves. */
static void kept_unrolled(const struct lwp_order_access accesses[2])
{
    uint64_t seen[PLACES];
    struct lwp_stream store = *accesses[0].stream;
    store.offsets = (struct lwp_offsets){.items = seen, .count = PLACES};
    for (int wide = 0; wide < 2; wide++) { /* columns of half a step, and of all of it */
        for (uint64_t i = 0; i < PLACES; i++)
            seen[i] = i * PITCH + i * (wide ? PITCH : PITCH / 2) / PLACES / 8 * 8;
        struct lwp_order *order = calloc(1, sizeof *order);
        *order = (struct lwp_order){.profile = &profile, .region = INNER, .count = 2, .outer = {1, 8, LWP_NONE}};
        memcpy(order->accesses, accesses, 2 * sizeof *accesses);
        order->accesses[0].stream = &store;
        struct lwp_traversal_access sample[2] = {{.object = objects[0], .region = INNER, .code = 0x200, .address = 0x90000},
                                                 {.object = objects[0], .region = INNER, .code = 0x208, .close = true}};
        sample[1].address = 0x90000 + PITCH / 2;
        lwp_moves_fini(&profile.moves);
        lwp_moves_sample(&profile.moves, &profile, sample, 2);
        assert_int_equal(lwp_order_is_kept(order, &order->accesses[0]), wide);
        free(order);
    }
}

/* Two arrays of one object, one behind the other, of which the store goes over one and the load over the other. */
static void kept_apart(const struct lwp_order_access accesses[2])
{
    uint64_t seen[2][PLACES];
    struct lwp_stream streams[2] = {*accesses[0].stream, *accesses[1].stream};
    for (int behind = 0; behind < 2; behind++) {
        struct lwp_order *order = calloc(1, sizeof *order);
        *order = (struct lwp_order){.profile = &profile, .region = INNER, .count = 2, .rows = 3 * ROWS, .outer = {1, 8, LWP_NONE}};
        memcpy(order->accesses, accesses, 2 * sizeof *accesses);
        for (int a = 0; a < 2; a++) {
            for (uint64_t i = 0; i < PLACES; i++)
                seen[a][i] = i * 37 % ROWS * PITCH + i * 101 % 512 * 8 + (a && behind ? ROWS * PITCH - 8 : 0);
            streams[a].offsets = (struct lwp_offsets){.items = seen[a], .count = PLACES};
            order->accesses[a].stream = &streams[a];
        }
        struct lwp_traversal_access sample[2] = {{.object = objects[0], .region = INNER, .code = 0x200, .address = 0x90000},
                                                 {.object = objects[0], .region = INNER, .code = 0x208, .close = true}};
        sample[1].address = 0x90000 + ROWS * PITCH - 8;
        lwp_moves_fini(&profile.moves);
        lwp_moves_sample(&profile.moves, &profile, sample, 2);
        assert_int_equal(lwp_order_is_kept(order, &order->accesses[0]), !behind);
        free(order);
    }
}

/* A store a step up and a column to the left of a load: the other way round it would come first. */
static void test_kept(void **state)
{
    (void)state;
    static const int64_t crossing = PITCH - 8, along = PITCH + 8;
    const struct lwp_order_access accesses[2] = {
        {.stream = &(struct lwp_stream){.object = objects[0], .region = INNER, .module = 7, .address = 0x200, .stores = 1},
         .step = {LWP_ORDER_COLUMN, false, PITCH, false}},
        {.stream = &(struct lwp_stream){.object = objects[0], .region = INNER, .module = 7, .address = 0x208, .loads = 1},
         .step = {LWP_ORDER_COLUMN, false, PITCH, false}}};
    for (int i = 0; i < 4; i++) {
        const int64_t apart = i & 1 ? along : crossing;
        struct lwp_order *order = calloc(1, sizeof *order);
        *order = (struct lwp_order){.profile = &profile, .region = INNER, .count = 2, .outer = {1, i & 2 ? -8 : 8, LWP_NONE}};
        memcpy(order->accesses, accesses, sizeof accesses);
        struct lwp_traversal_access sample[2] = {{.object = objects[0], .region = INNER, .code = 0x200, .address = 0x90000},
                                                 {.object = objects[0], .region = INNER, .code = 0x208, .close = true}};
        sample[1].address = 0x90000 + (uint64_t)apart;
        lwp_moves_fini(&profile.moves);
        lwp_moves_sample(&profile.moves, &profile, sample, 2);
        assert_int_equal(profile.moves.pair_count, 1);
        assert_int_equal(lwp_order_is_kept(order, &order->accesses[0]), i == 0 || i == 3);
        free(order);
    }
    kept_unrolled(accesses);
    kept_apart(accesses);
}

/* A transpose: what is walked row by row becomes a column. */
static void test_blocking(void **state)
{
    (void)state;
    make_moves(0, 0x100, PITCH);
    for (uint64_t i = 0; i < PLACES; i++)
        places[1][i] = i * 37 % ROWS * PITCH + i * 61 % 2048 * 8;
    lwp_loop_order_advise(&profile, &sampled, &tips);
    assert_int_equal(tips.count, 1);
    assert_int_equal(tips.tips[0].kind, LWP_TIP_BLOCKING);
    assert_true(tips.tips[0].speedup <= 0 && tips.tips[0].stake > 0); /* it was not run */
    /* Rows of 17 lines: the lines of 2000 of them lie in all sets, and stay in 1 MiB. */
    for (uint64_t i = 0; i < PLACES; i++)
        places[0][i] = i * 37 % ROWS * 1088 + i * 101 % 136 * 8;
    lwp_moves_fini(&profile.moves);
    make_moves(0, 0x100, 1088);
    make_moves(1, 0x104, 8);
    tips = (struct lwp_locality_tips){0};
    lwp_loop_order_advise(&profile, &sampled, &tips);
    assert_int_equal(tips.count, 0);
}

/* The same, blocked already: every few rows another column begins, and the lines of these rows stay. */
static void test_blocked(void **state)
{
    (void)state;
    enum { ENDS = 4, BLOCK = 32 };
    make_moves(0, 0x100, PITCH);
    for (int i = 1; i <= ENDS; i++) {
        struct lwp_traversal_access sample[2] = {{.object = objects[0], .region = INNER, .code = 0x100, .address = BLOCK * PITCH},
                                                 {.object = objects[0], .region = INNER, .code = 0x100, .address = i * PITCH + 8}};
        sample[0].offset = sample[0].address;
        sample[1].offset = sample[1].address;
        lwp_moves_sample(&profile.moves, &profile, sample, 2);
    }
    for (uint64_t i = 0; i < PLACES; i++)
        places[1][i] = i * 37 % ROWS * PITCH + i * 61 % 2048 * 8;
    lwp_loop_order_advise(&profile, &sampled, &tips);
    assert_int_equal(tips.count, 0);
}

/* One end in 12 moves of 6.5 iterations each may be chance; 4 are not. Where rows are blocks, what a move is long is not known. */
static void test_trips(void **state)
{
    (void)state;
    struct lwp_order_step step = {.kind = LWP_ORDER_COLUMN, .bytes = -PITCH};
    struct lwp_move moves[MOVES + 4];
    for (int i = 0; i < MOVES + 4; i++)
        moves[i].bytes = i < MOVES ? -PITCH * (i + 1) : PITCH * 27 + 8;
    assert_true(isinf(lwp_order_trips_most(moves, MOVES, &step)));
    assert_true(lwp_order_trips_most(moves, MOVES + 1, &step) > 1000);
    const double most = lwp_order_trips_most(moves, MOVES + 4, &step);
    assert_true(most > 26 && most < 100);
    /* Runs of a triangle are as long as the next one begins above them; so many are no chance. */
    for (int i = 0; i < 4; i++)
        moves[MOVES + i].bytes = PITCH * 300 * (i + 1) + 8;
    assert_true(fabs(lwp_order_trips_most(moves, MOVES + 4, &step) - 1500) < 2);
    step.blocks = true;
    assert_true(isinf(lwp_order_trips_most(moves, MOVES + 4, &step)));
}

/* The same, with rows in blocks of their own: all begin at the same offset, and are not one vector. */
static void test_rows_in_blocks(void **state)
{
    (void)state;
    struct lwp_object *out = &profile.objects[objects[1]];
    make_moves(0, 0x100, PITCH);
    out->allocations = ROWS;
    out->largest = ROWS * 8;
    out->bytes = ROWS * out->largest;
    lwp_loop_order_advise(&profile, &sampled, &tips);
    assert_int_equal(tips.count, 1);
    assert_int_equal(tips.tips[0].kind, LWP_TIP_BLOCKING);
    /* Made again and again, it is one vector each time. */
    out->bytes = out->largest;
    tips = (struct lwp_locality_tips){0};
    lwp_loop_order_advise(&profile, &sampled, &tips);
    assert_int_equal(tips.count, 1);
    assert_int_equal(tips.tips[0].kind, LWP_TIP_INTERCHANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_column),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_trips),
        cmocka_unit_test(test_code),
        cmocka_unit_test(test_code_otherwise),
        cmocka_unit_test_setup_teardown(test_interchange, make, clean),
        cmocka_unit_test_setup_teardown(test_two_objects, make, clean),
        cmocka_unit_test_setup_teardown(test_few_moves, make, clean),
        cmocka_unit_test_setup_teardown(test_not, make, clean),
        cmocka_unit_test_setup_teardown(test_calm, make, clean),
        cmocka_unit_test_setup_teardown(test_kept, make, clean),
        cmocka_unit_test_setup_teardown(test_blocking, make, clean),
        cmocka_unit_test_setup_teardown(test_blocked, make, clean),
        cmocka_unit_test_setup_teardown(test_rows_in_blocks, make, clean),
    };
    return cmocka_run_group_tests(tests, programs_set_up, programs_tear_down);
}
