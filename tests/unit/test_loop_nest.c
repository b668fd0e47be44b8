/* What of a nest is run in both orders: which accesses are to one array, of how many rows and columns, and what of them takes memory. */
#include "programs.h"

#include "analysis/advice/locality/loop_order_internal.h"
#include "analysis/measure/pattern.h"
#include "analysis/profile/contexts.h"
#include "analysis/profile/moves.h"
#include "analysis/profile/objects.h"
#include "analysis/program/flow/decode.h"
#include "analysis/program/flow/machine_code.h"
#include "format/record.h"

#include <math.h>

enum { LINE = 64, PITCH = 65552, ROWS = 2000, PLANE = 8192, PLACES = 64, VOTES = 6 };

/* Planes of which the first rows are in use: a column is as long as one of them, not as all that the object holds. */
static void test_run(void **state)
{
    (void)state;
    uint64_t places[PLACES];
    uint32_t first;
    for (uint64_t i = 0; i < PLACES; i++) /* four planes, 16 places in each */
        places[i] = (i / 16 * PLANE + i % 16 * ROWS / 16 + i * 7 % 11) * PITCH;
    const uint32_t count = lwp_order_run(places, PLACES, &first);
    assert_int_equal(count, 16);
    assert_int_equal(first % 16, 0);
    for (uint64_t i = 0; i < PLACES; i++) /* one */
        places[i] = (i * ROWS / PLACES + i * 7 % 11) * PITCH;
    assert_int_equal(lwp_order_run(places, PLACES, &first), PLACES);
    places[PLACES - 1] = (uint64_t)100 * ROWS * PITCH; /* a single place far away is no plane */
    assert_int_equal(lwp_order_run(places, PLACES, &first), PLACES);
    assert_int_equal(first, 0);
    assert_int_equal(lwp_order_run(places, 0, &first), 0);
    assert_int_equal(lwp_order_run(places, 1, &first), 1);
}

static struct lwp_profile profile;
static struct lwp_order order;
static uint64_t seen[PLACES];

static struct lwp_stream make_stream(uint32_t object, uint64_t address, unsigned loads, unsigned stores)
{
    return (struct lwp_stream){.object = object,
                               .region = 0,
                               .module = 7,
                               .bytes = 8,
                               .address = address,
                               .loads = loads,
                               .stores = stores,
                               .accesses = loads + stores,
                               .offsets = {.items = seen, .count = PLACES}};
}

static void make_order(const struct lwp_stream *streams, size_t count)
{
    lwp_profile_init(&profile);
    profile.machine = (struct lwp_caches){LINE, 32 << 10, 512 << 10, 32 << 20, 16, 0};
    LWP_GROW(&profile.regions, profile.region_count, &profile.region_room);
    profile.regions[profile.region_count++] = (struct lwp_region){.same_as = 0, .reported = LWP_NONE, .parent = LWP_NONE};
    order = (struct lwp_order){.profile = &profile, .rows = ROWS, .complete = true, .count = count, .shape.work.instructions = 5};
    for (size_t i = 0; i < count; i++)
        order.accesses[i] = (struct lwp_order_access){.stream = &streams[i],
                                                      .step = {LWP_ORDER_COLUMN, false, PITCH, false},
                                                      .columns = {.apart = 8, .lines = 0.125, .span = (ROWS - 1) * 8, .places = PLACES},
                                                      .now = 1};
}

/* Samples that saw both instructions in one iteration. */
static void make_pair(uint32_t object, uint64_t from, uint64_t to, uint64_t apart)
{
    for (uint64_t i = 0; i < VOTES; i++) {
        struct lwp_traversal_access sample[2] = {{.object = object, .code = from, .address = (i + 1) << 32},
                                                 {.object = object, .code = to, .close = true, .address = ((i + 1) << 32) + apart}};
        lwp_moves_sample(&profile.moves, &profile, sample, 2);
    }
}

/* A function that is called with other arrays each time: one instruction loads, another one stores. */
static void test_calls(void **state)
{
    (void)state;
    const struct lwp_stream streams[] = {make_stream(1, 0x100, 20, 0), make_stream(2, 0x100, 30, 0), make_stream(2, 0x108, 0, 25),
                                         make_stream(3, 0x108, 0, 35)};
    struct lwp_pattern pattern;
    make_order(streams, 4);
    assert_false(lwp_order_stands(&order, 0));
    assert_true(lwp_order_stands(&order, 1)); /* once an iteration, to one of them */
    assert_false(lwp_order_stands(&order, 2));
    assert_true(lwp_order_stands(&order, 3));
    assert_true(lwp_order_other_array(&order, &order.accesses[1], &order.accesses[2])); /* one was never seen on 1, the other not on 3 */
    assert_true(lwp_order_pattern(&order, &order.accesses[1], false, &pattern));
    assert_int_equal(pattern.access_count, 2);
    assert_int_equal(pattern.array_count, 2);
    assert_int_equal(pattern.inner, ROWS);
    lwp_profile_fini(&profile);
}

/* Two accesses to one object: in rows beside each other, or in another plane. */
static void test_planes(void **state)
{
    (void)state;
    const struct lwp_stream streams[] = {make_stream(1, 0x100, 20, 0), make_stream(1, 0x108, 0, 30)};
    for (int far = 0; far < 2; far++) {
        struct lwp_pattern pattern;
        const uint64_t apart = far ? (uint64_t)PLANE * PITCH + 16 : 3 * PITCH + 16;
        make_order(streams, 2);
        make_pair(1, 0x100, 0x108, apart);
        assert_int_equal(lwp_order_other_array(&order, &order.accesses[0], &order.accesses[1]), far);
        assert_true(lwp_order_pattern(&order, &order.accesses[0], false, &pattern));
        assert_int_equal(pattern.array_count, far ? 2 : 1);
        assert_int_equal(pattern.accesses[1].offset, far ? 0 : apart);
        lwp_profile_fini(&profile);
    }
}

/* Of rows that are longer than what is in use of them only that takes memory, and of more than all caches hold a part is run. */
static void test_memory(void **state)
{
    (void)state;
    const struct lwp_stream streams[] = {make_stream(1, 0x100, 20, 0)};
    for (int interchanged = 0; interchanged < 2; interchanged++) {
        struct lwp_pattern pattern;
        make_order(streams, 1);
        order.accesses[0].columns.span = 8 * 511;
        assert_true(lwp_order_pattern(&order, &order.accesses[0], interchanged, &pattern));
        assert_true(pattern.elements >= (uint64_t)ROWS * 508 && pattern.arrays[0].extent > (uint64_t)(ROWS - 1) * PITCH);
        const double bytes = lwp_pattern_bytes(&pattern);
        assert_true(bytes >= ROWS * 4096.0 && bytes < ROWS * 5 * 4096.0);
        struct lwp_pattern_memory memory;
        struct lwp_error err = {0};
        assert_int_equal(lwp_pattern_memory_make(&pattern, pattern.elements, &memory, &err), LWP_OK);
        for (uint64_t row = 0; row < ROWS; row++) /* all that is in use is there */
            assert_true(memory.first[0][row * PITCH] == 1 && memory.first[0][row * PITCH + 8 * 507] == 1);
        lwp_pattern_memory_free(&memory);
        order.rows = 12e6; /* rows of 80 bytes */
        order.accesses[0].step.bytes = 80;
        order.accesses[0].columns = (struct lwp_order_columns){.apart = 4, .lines = 1.0 / 16, .span = 64, .places = PLACES};
        assert_true(lwp_order_pattern(&order, &order.accesses[0], interchanged, &pattern));
        assert_true(lwp_pattern_bytes(&pattern) > 2.0 * (double)profile.machine.l3_bytes);
        assert_true(lwp_pattern_bytes(&pattern) < 8.0 * (double)profile.machine.l3_bytes);
        profile.machine.l3_whole = 12 * profile.machine.l3_bytes; /* of which a virtual machine may have much */
        assert_true(lwp_order_pattern(&order, &order.accesses[0], interchanged, &pattern));
        assert_true(lwp_pattern_bytes(&pattern) > 8.0 * (double)profile.machine.l3_bytes);
        lwp_profile_fini(&profile);
    }
}

/* Where fewer columns are run than a row has, the next row begins as near its end as today. */
static void test_fewer_columns(void **state)
{
    (void)state;
    enum { BEYOND = 64 };
    const struct lwp_stream streams[] = {make_stream(1, 0x100, 20, 0)};
    struct lwp_pattern pattern;
    make_order(streams, 1);
    struct lwp_order_access *column = &order.accesses[0];
    column->columns.span = PITCH - BEYOND - column->columns.apart;
    column->columns.places = 1000;
    order.rows = 4.0 * (double)profile.machine.l3_bytes / LINE;
    assert_true(lwp_order_pattern(&order, column, true, &pattern));
    const uint64_t row = pattern.inner * column->columns.apart;
    assert_true(row < PITCH - BEYOND);
    assert_in_range(pattern.arrays[0].outer - row, 0, BEYOND + 4 * column->columns.apart);
    lwp_profile_fini(&profile);
}

static uint64_t last_store(struct lwp_code *code, uint32_t module, const char *path, const char *function, unsigned bytes)
{
    const struct lwp_symbolized *location = lwp_code_symbolize(code, module, programs_symbol(path, function));
    uint64_t found = 0;
    for (uint64_t at = location->function_low; at < location->function_high;) {
        const struct code_instruction instruction = code_decode_at(code_module_at(code, module), at, true);
        if (instruction.memory.store && instruction.memory.vector && instruction.memory.bytes == bytes)
            found = at;
        assert_true(instruction.length);
        at += instruction.length;
    }
    assert_true(found);
    return found;
}

/* The last store of so many bytes in the function of nests.c, as both compilers translate it. */
static void check_nest(const char *function, unsigned bytes, void (*check)(struct lwp_code *, uint32_t module, uint64_t at))
{
    char path[256];
    static const char *const compilers[] = {"gcc", "clang"};
    for (size_t i = 0; i < 2; i++) {
        if (!programs_build(compilers[i], "-O2 -fno-tree-vectorize -fno-unroll-loops -Dnoclone=noinline", "nests.c", path, sizeof path))
            continue;
        struct lwp_arena *arena = lwp_arena_new();
        struct lwp_code *code = lwp_code_new(arena);
        const uint32_t module = lwp_code_module(code, path, NULL, 0);
        check(code, module, last_store(code, module, path, function, bytes));
        lwp_code_free(code);
        lwp_arena_free(arena);
    }
}

static void check_loaded_rows(struct lwp_code *code, uint32_t module, uint64_t at)
{
    uint32_t loop;
    int64_t step;
    assert_int_equal(lwp_code_loop_step(code, module, at, 1, false, &loop, &step), LWP_LOOP_STEP_UNKNOWN);
    assert_int_equal(lwp_code_loop_step(code, module, at, 1, true, &loop, &step), LWP_LOOP_STEP_CONSTANT);
    assert_int_equal(step, 4);
}

/* The last access in loops two deep: through a row that is loaded, to which the column is added before. */
static void test_loaded_rows(void **state)
{
    (void)state;
    check_nest("adjust", 4, check_loaded_rows);
}

static void check_begins_further_on(struct lwp_code *code, uint32_t module, uint64_t at)
{
    int64_t rows, bytes;
    uint32_t loop;
    assert_int_equal(lwp_code_loop_step(code, module, at, 1, false, &loop, &bytes), LWP_LOOP_STEP_VARIABLE);
    assert_true(lwp_code_loop_rows(code, module, at, at, 1, &rows, &bytes));
    assert_int_equal(rows, 1);
    assert_int_equal(bytes, 8);
}

static void check_between(struct lwp_code *code, uint32_t module, uint64_t at)
{
    enum { LENGTH = 8, BETWEEN = 72, STEP = 504, COLUMN = 8, ROUNDS = 64 };
    struct lwp_profile of = {.code = code, .machine = {.line_bytes = LINE}};
    const struct lwp_stream store = {.module = module, .address = at, .bytes = 8, .vector = true, .stores = 1, .loads = 1};
    const struct lwp_order nest = {
        .profile = &of,
        .rows = ROUNDS,
        .outer = {.level = 2, .by = COLUMN},
        .shape.work = {.instructions = 5},
        .count = 1,
        .accesses = {{.stream = &store, .step = {LWP_ORDER_COLUMN, false, STEP, false}, .columns = {.apart = COLUMN}}}};
    struct lwp_pattern pattern;
    for (int interchanged = 0; interchanged < 2; interchanged++) {
        assert_true(lwp_order_pattern(&nest, nest.accesses, interchanged, &pattern));
        assert_int_equal(pattern.inner, interchanged ? LENGTH : ROUNDS);
        assert_int_equal(pattern.runs, STEP / BETWEEN);
        assert_int_equal(pattern.elements, LENGTH * ROUNDS * (STEP / BETWEEN));
        assert_int_equal(pattern.arrays[0].spacing, interchanged ? COLUMN : STEP);
        assert_int_equal(pattern.arrays[0].outer, BETWEEN);
        assert_int_equal(pattern.arrays[0].plane, interchanged ? STEP : COLUMN);
    }
}

/* The loop between the inner one and the one that goes to the next column goes to other lines of the same rows. */
static void test_between(void **state)
{
    (void)state;
    check_nest("deepest", 8, check_between);
}

/* The only store goes down a column; the loop around goes to the next column, and begins a row further on. */
static void test_begins_further_on(void **state)
{
    (void)state;
    check_nest("reduce_rows", 8, check_begins_further_on);
}

/* The column that the new inner loop goes down is the same each time: the caches keep its lines, and the others are used up. */
static void test_comes_again(void **state)
{
    (void)state;
    enum { N = 2000, STEP = N * 8, STREAMS = 8, SAMPLES = 12 };
    char path[256];
    if (!programs_build("gcc", "-O2 -fno-tree-vectorize -fno-unroll-loops", "nests.c", path, sizeof path))
        return;
    make_order(NULL, 0);
    profile.weight_unit = LWPS_WEIGHT_NS;
    profile.engine = LWPS_ENGINE_TIMER;
    profile.total = (struct lwp_tally){1000, 1000, 1000};
    profile.regions[0].weight = (struct lwp_tally){900, 900, 900};
    struct lwp_arena *arena = lwp_arena_new();
    profile.code = lwp_code_new(arena);
    const uint32_t module = lwp_code_module(profile.code, path, NULL, 0);
    const uint64_t last = last_store(profile.code, module, path, "reduce_rows", 8);
    const uint32_t object = lwp_objects_allocated(&profile, LWP_OBJECT_HEAP, lwp_contexts_child(&profile, 0, LWP_NONE, 0x4000, false), 0);
    profile.objects[object].label = "matrix";
    profile.objects[object].allocations = 1;
    profile.objects[object].bytes = profile.objects[object].largest = (uint64_t)N * STEP;
    for (uint64_t i = 0; i < PLACES; i++)
        seen[i] = i * 37 % N * STEP + i * 101 % N * 8;
    const struct lwp_symbolized *location = lwp_code_symbolize(profile.code, module, last);
    uint32_t loop, inner;
    int64_t step;
    assert_int_equal(lwp_code_loop_step(profile.code, module, last, 0, false, &inner, &step), LWP_LOOP_STEP_VARIABLE);
    for (uint64_t at = location->function_low; at < location->function_high;) {
        const struct code_instruction instruction = code_decode_at(code_module_at(profile.code, module), at, true);
        const bool there = instruction.memory.exists && instruction.memory.bytes == 8;
        const enum lwp_loop_step_kind kind =
            there ? lwp_code_loop_step(profile.code, module, at, 0, false, &loop, &step) : LWP_LOOP_STEP_NO_LOOP;
        if (kind != LWP_LOOP_STEP_NO_LOOP && loop == inner) {
            struct lwp_stream stream = make_stream(object, at, instruction.memory.load ? 50 : 0, instruction.memory.store ? 50 : 0);
            stream.module = module;
            stream.weight = (struct lwp_tally){200, 200, 200};
            LWP_APPEND(&profile.streams, &profile.stream_count, &profile.stream_room, stream);
            for (uint64_t i = 1; i <= SAMPLES && kind == LWP_LOOP_STEP_VARIABLE; i++) {
                struct lwp_traversal_access sample[2] = {{.object = object, .code = at}, {.object = object, .code = at}};
                sample[1].offset = sample[1].address = i * STEP;
                lwp_moves_sample(&profile.moves, &profile, sample, 2);
            }
        }
        at += instruction.length;
    }
    struct lwp_sampled_row row = {.object = object, .region = 0, .share = 0.8};
    struct lwp_sampled_locality sampled = {&row, 1};
    struct lwp_locality_tips tips = {0};
    assert_true(profile.stream_count >= 3);
    lwp_loop_order_advise(&profile, &sampled, &tips);
    assert_int_equal(tips.count, 1);
    assert_int_equal(tips.tips[0].kind, LWP_TIP_INTERCHANGE);
    lwp_code_free(profile.code);
    lwp_arena_free(arena);
    profile.code = NULL;
    lwp_profile_fini(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_planes),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_fewer_columns),
        cmocka_unit_test(test_loaded_rows),
        cmocka_unit_test(test_begins_further_on),
        cmocka_unit_test(test_comes_again),
        cmocka_unit_test(test_between),
    };
    return cmocka_run_group_tests(tests, programs_set_up, programs_tear_down);
}
