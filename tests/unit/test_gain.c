/* Lines of a layout against closed forms, and what the model of memory must say whatever its constants are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/advice/placement/found.h"
#include "analysis/advice/gain/displaced.h"
#include "analysis/advice/gain/gain.h"
#include "analysis/advice/gain/guesses.h"
#include "analysis/advice/gain/chain.h"
#include "analysis/advice/gain/loop_pattern.h"
#include "analysis/advice/gain/turns.h"
#include "analysis/advice/placement/spread.h"
#include "analysis/advice/gain/measured.h"
#include "analysis/advice/gain/timed.h"
#include "analysis/advice/gain/pace.h"
#include "analysis/advice/gain/ran.h"
#include "analysis/advice/gain/returns.h"
#include "analysis/advice/gain/set_up.h"
#include "analysis/advice/gain/states.h"
#include "analysis/advice/layout/split_internal.h"
#include "analysis/advice/locality/huge_pages.h"
#include "analysis/profile/locations.h"
#include "analysis/profile/objects.h"
#include "analysis/program/flow/decode.h"
#include "base/clock.h"
#include "collector/code/charge.h"
#include "programs.h"
#include "tests/unit/streams.h"

#include <math.h>
#include <string.h>

enum { KIB = 1024, MIB = 1024 * 1024 };

static void near(double value, double wanted)
{
    if (fabs(value - wanted) > 1e-9)
        fail_msg("%.6f instead of %.6f", value, wanted);
}

/* Fields of 8 bytes at the offsets, all used, elements `spacing` apart, the first on a multiple of `alignment`. */
static double lines_of(const uint64_t *offsets, size_t count, uint64_t spacing, uint64_t alignment, bool random)
{
    struct lwp_placement placement = {.field_count = count, .groups = 1, .of = {{.spacing = spacing, .alignment = alignment}}};
    bool uses[16];
    for (size_t i = 0; i < count; i++) {
        placement.offsets[i] = offsets[i];
        placement.bytes[i] = 8;
        uses[i] = true;
    }
    return lwp_placement_lines(&placement, uses, 64, random);
}

static void test_lines_sequential(void **state)
{
    (void)state;
    static const uint64_t first[] = {0}, ends[] = {0, 56}, middle[] = {24}, far[] = {0, 120};
    for (uint64_t size = 8; size <= 64; size += 8)
        near(lines_of(first, 1, size, 0, false), (double)size / 64); /* each line is touched */
    near(lines_of(ends, 2, 64, 0, false), 1);
    near(lines_of(middle, 1, 64, 0, false), 1);
    near(lines_of(first, 1, 128, 0, false), 1); /* every other line is not */
    near(lines_of(far, 2, 128, 0, false), 2);
    near(lines_of(far, 2, 256, 0, false), 2);
    near(lines_of(first, 1, 96, 0, false), 1); /* a line of each, none shared */
    near(lines_of(first, 1, 80, 0, false), 1);
    near(lines_of((uint64_t[]){0, 8, 16}, 3, 24, 0, false), 24.0 / 64);
    near(lines_of((uint64_t[]){60}, 1, 64, 0, false), 1); /* each straddles, and shares a line with the next */
}

static void test_lines_random(void **state)
{
    (void)state;
    static const uint64_t first[] = {0}, ends[] = {0, 56};
    near(lines_of(first, 1, 8, 0, true), 1);
    near(lines_of(first, 1, 64, 0, true), 1);
    near(lines_of(ends, 2, 64, 0, true), 1);
    near(lines_of(ends, 2, 64, 16, true), (1 + 2 + 2 + 2) / 4.0); /* malloc aligns to 16 only */
    near(lines_of(ends, 2, 64, 64, true), 1);
    near(lines_of((uint64_t[]){0, 64}, 2, 128, 0, true), 2);
    near(lines_of((uint64_t[]){0, 16}, 2, 24, 0, true), (8 - 2) / 8.0 + 2 * 2 / 8.0); /* 2 of 8 places straddle */
}

/* Groups are arrays of their own: the lines of all those the loop uses count. */
static void test_groups(void **state)
{
    (void)state;
    const struct lwp_placement placement = {.field_count = 4,
                                            .offsets = {0, 0, 8, 0},
                                            .bytes = {8, 8, 8, 40},
                                            .group = {0, 1, 1, 2},
                                            .groups = 3,
                                            .of = {{.spacing = 8}, {.spacing = 16}, {.spacing = 40}}};
    near(lwp_placement_lines(&placement, (bool[]){true, false, false, false}, 64, false), 1 / 8.0);
    near(lwp_placement_lines(&placement, (bool[]){true, true, false, false}, 64, false), 1 / 8.0 + 2 / 8.0);
    near(lwp_placement_lines(&placement, (bool[]){false, true, true, false}, 64, false), 2 / 8.0);
    near(lwp_placement_lines(&placement, (bool[]){true, true, true, false}, 64, true), 2);
    near(lwp_placement_lines(&placement, (bool[]){false, false, false, false}, 64, false), 0);
    near(lwp_placement_lines(&placement, (bool[]){false, false, false, true}, 64, false), 40 / 64.0);
}

static void test_chunk(void **state)
{
    (void)state;
    assert_int_equal(lwp_placement_chunk(1), 32);
    assert_int_equal(lwp_placement_chunk(24), 32);
    assert_int_equal(lwp_placement_chunk(25), 48);
    assert_int_equal(lwp_placement_chunk(120), 128);
    assert_int_equal(lwp_placement_chunk(121), 144);
}

static const struct lwp_caches machine = {.line_bytes = 64, .l1_bytes = 48 * KIB, .l2_bytes = MIB, .l3_bytes = 32 * MIB};

/* `used` of `size` bytes of each element, in an array of `bytes`. */
static struct lwp_placement_need need(double used, double size, double bytes)
{
    double elements = bytes / size;
    return (struct lwp_placement_need){.lines = fmin(size / 64, fmax(1, used / 64)),
                                       .random = fmax(1, used / 64),
                                       .busy = elements * fmin(size, fmax(64, used)),
                                       .spread = bytes,
                                       .spacing = size};
}

static struct lwp_gain_range saved(enum lwp_gain_pattern pattern, bool dependent, double used, double size, double bytes)
{
    struct lwp_placement_need before = need(used, size, bytes), after = need(used, used, bytes / size * used);
    return lwp_gain_saved(&machine, (struct lwp_gain_access){pattern, dependent, 4}, &before, &after);
}

static void test_model(void **state)
{
    (void)state;
    for (int pattern = LWP_GAIN_SEQUENTIAL; pattern <= LWP_GAIN_UNKNOWN; pattern++)
        for (int dependent = 0; dependent < 2; dependent++)
            for (double size = 16; size <= 256; size *= 2)
                for (double bytes = MIB; bytes <= 1024.0 * MIB; bytes *= 2) {
                    /* All is used: nothing is saved. */
                    struct lwp_gain_range all = saved(pattern, dependent, size, size, bytes);
                    assert_true(all.low <= 1e-9 && all.low > -1e-9);
                    struct lwp_gain_range last = {1, 1};
                    for (double used = 8; used < size; used *= 2) {
                        struct lwp_gain_range range = saved(pattern, dependent, used, size, bytes);
                        assert_true(range.low <= range.high && range.low >= 0 && range.high < 1);
                        assert_true(range.low <= last.low + 1e-9); /* more use, less gain */
                        last = range;
                    }
                }
    /* Sequentially, from memory: what the lines say lies in the range. */
    struct lwp_gain_range stream = saved(LWP_GAIN_SEQUENTIAL, false, 32, 64, 1024.0 * MIB);
    assert_true(stream.low < 0.5 && stream.high >= 0.5);
    assert_true(stream.low > 0.25);
    /* Independent random visits within the last cache cost nothing that could surely be saved. */
    assert_true(saved(LWP_GAIN_RANDOM, false, 8, 64, 4 * MIB).low < 0.001);
    /* Dependent ones do. */
    assert_true(saved(LWP_GAIN_RANDOM, true, 8, 64, 4 * MIB).low > 0.05);
    /* What fits a cache afterwards gains more than what does not. */
    assert_true(saved(LWP_GAIN_RANDOM, false, 8, 64, 64.0 * MIB).low > 2 * saved(LWP_GAIN_RANDOM, false, 8, 64, 1024.0 * MIB).low);
    /* Seven arrays made one: the optimist pays for one page a visit instead of seven, where the TLB does not reach. */
    struct lwp_placement_need apart = {.lines = 1, .random = 7, .busy = 1024.0 * MIB, .spread = 1024.0 * MIB, .places = 7};
    struct lwp_placement_need one = {.lines = 1, .random = 2, .busy = 1024.0 * MIB, .spread = 1024.0 * MIB, .places = 1};
    struct lwp_gain_access random = {LWP_GAIN_RANDOM, false, 4};
    near(lwp_gain_saved(&machine, random, &apart, &one).high, 1 - 1 / 7.0);
    apart.busy = apart.spread = one.busy = one.spread = 4 * MIB;
    assert_true(lwp_gain_saved(&machine, random, &apart, &one).high <= 1 - 2 / 7.0 + 1e-9);
    /* Nodes of many lines that come hardly closer: what was not fetched ahead is not then either. */
    struct lwp_placement_need chunks = {.lines = 3, .random = 3, .busy = 1024.0 * MIB, .spread = 1024.0 * MIB, .spacing = 768},
                              pool = chunks;
    pool.spacing = 760;
    pool.busy = pool.spread = 1024.0 * MIB * 760 / 768;
    assert_true(lwp_gain_saved(&machine, (struct lwp_gain_access){LWP_GAIN_SEQUENTIAL, true, 4}, &chunks, &pool).high < 0.02);
    near(lwp_gain_speedup(0, 0.5).high, 2);
    near(lwp_gain_speedup(-1, 2).low, 0.5);
    assert_true(lwp_gain_speedup(0, 5).high <= 100.001);
}

static void test_stalled(void **state)
{
    (void)state;
    struct lwp_region regions[2] = {{.parent = LWP_NONE, .same_as = 0}, {.parent = 0, .same_as = 1}};
    struct lwp_profile profile = {.regions = regions, .region_count = 2};
    struct lwp_loop_shape shape = {.work.instructions = 4, .accesses = 1};
    /* One access in four instructions, a quarter of the samples on it: nothing stalls. */
    regions[0].weight.weight = 100;
    regions[0].stalled = 25;
    near(lwp_gain_stalled(&profile, 0, 25, &shape).low, 0);
    /* All of them: all is stall. */
    regions[0].stalled = 100;
    near(lwp_gain_stalled(&profile, 0, 100, &shape).low, 100);
    near(lwp_gain_stalled(&profile, 0, 100, &shape).high, 100);
    near(lwp_gain_stalled(&profile, 0, 50, &shape).high, 50);
    /* ... but in a nest that computes most of its time. */
    regions[1].weight.weight = 900;
    assert_true(lwp_gain_stalled(&profile, 0, 100, &shape).low < 20);
    /* Never more than the loop takes, whatever the numbers. */
    regions[0].stalled = 300;
    assert_true(lwp_gain_stalled(&profile, 0, 400, &shape).high <= 300);
    near(lwp_gain_stalled(&profile, LWP_NONE, 7, &shape).high, 7);
}

/* Of a search of 8 ns a visit, 4 when changed, the program may take 12: then it takes 8 of these when changed. */
static void test_searches_begun(void **state)
{
    (void)state;
    struct lwp_gain_measured measured = {.pattern = 8, .paces = {6, 12}, .ratio = 0.5, .low = 0.4, .high = 0.55};
    lwp_gain_begun(&measured);
    near(measured.ratio, sqrt(0.5 * 2 / 3.0));
    near(measured.low, 0.4);
    near(measured.high, 2 / 3.0 + 0.05);
    struct lwp_gain_measured slow = {.pattern = 13, .paces = {6, 12}, .ratio = 0.5, .low = 0.4, .high = 0.55};
    lwp_gain_begun(&slow); /* it takes no longer than its run */
    near(slow.ratio, 0.5);
    struct lwp_gain_measured unknown = {.pattern = 8, .ratio = 0.5, .low = 0.4, .high = 0.55};
    lwp_gain_begun(&unknown);
    near(unknown.high, 0.55);
}

/* What was run is known to be, whether it took the program's time or not. */
static void test_run_is_known(void **state)
{
    (void)state;
    struct lwp_profile profile = {.engine = LWPS_ENGINE_TIMER};
    struct lwp_gain_saving sum = {0}, run = {.value = 0.4, .low = 0.3, .high = 0.5, .run = true}, little = {.value = 0.01};
    struct lwp_share share = {.value = 0.9, .low = 0.8, .high = 1};
    struct lwp_gain gain = {0};
    lwp_gain_sum(&sum, &run, &share);
    lwp_gain_sum(&sum, &little, &share);
    lwp_gain_speedups(&profile, &sum, &share, &gain);
    assert_true(gain.run && !gain.measured);
}

/* A timer that leaves the kernel out: a quarter of this program's time is the kernel's, and nothing of it is saved. */
static void test_kernel_time(void **state)
{
    (void)state;
    uint64_t each = 10000000000000; /* so long a run that ticks of the kernel's clock do not matter */
    struct lwp_profile profile = {.engine = LWPS_ENGINE_TIMER, .user_ns = 750 * each, .system_ns = 260 * each, .own_ns = 20 * each};
    struct lwp_gain_saving sum = {.value = 0.8, .low = 0.8, .high = 0.8};
    struct lwp_share share = {.value = 0.9, .low = 0.8, .high = 1};
    struct lwp_gain gain;
    profile.total.weight = 750.0 * (double)each;
    near(lwp_gain_sampled(&profile), 0.75);
    lwp_gain_speedups(&profile, &sum, &share, &gain);
    near(gain.speedup, 1 / (1 - 0.75 * 0.8));
    assert_float_equal(gain.low, 1 / (1 - 750 / 1005.0 * 0.8), 1e-6); /* a quarter of lwp's own time may be the kernel's, */
    assert_float_equal(gain.high, 1 / (1 - 750 / 990.0 * 0.8), 1e-6); /* ... or all of it */
    profile.total.weight = 1000.0 * (double)each;                     /* a timer that counts it */
    near(lwp_gain_sampled(&profile), 1);
    profile.total.weight = 30.0 * (double)each; /* sampled for a part of the run */
    near(lwp_gain_sampled(&profile), 0.75);
    each = 1000000; /* a second: some hundred ticks, a quarter of which fell on the kernel, by chance */
    profile = (struct lwp_profile){.engine = LWPS_ENGINE_TIMER, .user_ns = 750 * each, .system_ns = 250 * each};
    lwp_gain_speedups(&profile, &sum, &share, &gain);
    near(gain.speedup, 1 / (1 - 0.75 * 0.8));
    assert_true(gain.low < 0.99 * gain.speedup && gain.high > 1.01 * gain.speedup);
    const struct lwp_gain coarse = gain; /* not known how long a tick is: 10 ms at most, */
    profile.tick_ns = 1000000;           /* ... of the machine that ran it, not of this one */
    lwp_gain_speedups(&profile, &sum, &share, &gain);
    const double off = (1 / gain.low - 0.4) / (1 / coarse.low - 0.4), above = (0.4 - 1 / gain.high) / (0.4 - 1 / coarse.high);
    assert_float_equal(off, sqrt(0.1), 0.02);
    assert_float_equal(above, sqrt(0.1), 0.02);
    /* Of a short run the ticks that lwp's own time had outweigh the program's, whose pages are known: 16384 of 1.5 us. */
    profile = (struct lwp_profile){.engine = LWPS_ENGINE_TIMER,
                                   .tick_ns = 4000000,
                                   .user_ns = 1300 * each,
                                   .system_ns = 36 * each,
                                   .own_ns = 80 * each,
                                   .resident_bytes = 64 << 20,
                                   .page_fault_ns = 1500};
    const double pages = 16384 * 1.5e-3;
    near(lwp_gain_sampled(&profile), 1300 / (1300 + pages));
    profile.system_ns = 56 * each; /* within what the ticks leave open: it may as well be what they say, and is no less than the pages' */
    near(lwp_gain_sampled(&profile), 1300 / (1300 + pages));
    struct lwp_share half = lwp_gain_of_all(&profile, (struct lwp_share){0.5, 0.5, 0.5});
    near(half.high, half.value);
    profile.resident_bytes = 1 << 20;
    half = lwp_gain_of_all(&profile, (struct lwp_share){0.5, 0.5, 0.5});
    near(half.low, 0.5 * 1300 / (1300 + 56 - 40.0));
    profile.system_ns = 240 * each; /* system calls take more */
    assert_in_range((int)(1000 * lwp_gain_sampled(&profile)), 1000 * 1300 / 1500, 1000 * 1300 / 1400);
    profile.engine = LWPS_ENGINE_EXACT;
    near(lwp_gain_sampled(&profile), 1);
    profile = (struct lwp_profile){.engine = LWPS_ENGINE_TIMER}; /* a damaged result: times are not known */
    near(lwp_gain_sampled(&profile), 1);
}

/* A trace has cycles, of half of the instructions here, and nothing of the kernel's: two starts and thirty page faults take half a
 * millisecond. Its own part takes from a quarter, where no access waits for another, to two milliseconds. */
static void test_traced_kernel_time(void **state)
{
    (void)state;
    struct lwp_profile profile = {.engine = LWPS_ENGINE_EXACT, .instructions = 6000000, .instructions_recorded = 3000000, .cycle_ps = 250,
                                  .starts = 2, .start_ns = 100000, .page_faults = 30, .page_fault_ns = 10000};
    profile.total.weight = 4000000;
    near(lwp_gain_kernel(&profile), 500000);
    const struct lwp_share sampled = lwp_gain_traced(&profile);
    near(sampled.low, 0.25 / 0.75);
    near(sampled.high, 2 / 2.5);
    near(sampled.value, sqrt(0.5) / (sqrt(0.5) + 0.5));
    near(lwp_gain_waiting_most(&profile), 1); /* no stalls are known */
    profile.native_instructions = 3000000;    /* half of it is known: .6 ms, without its page faults */
    profile.native_ns = 700000;
    profile.native_least_ns = 640000;
    profile.native_most_ns = 750000;
    profile.native_page_faults = 10;
    profile.stalled.weight = 3500000;
    const struct lwp_share known = lwp_gain_traced(&profile);
    const double fast = 0.6 * exp(-hypot(1.645 * 0.3, log(0.6 / 0.54))), slow = 0.6 * exp(hypot(1.645 * 0.3, log(0.65 / 0.6)));
    near(known.low, (fast + 0.125) / (fast + 0.625));
    near(known.high, (slow + 1) / (slow + 1.5));
    near(known.value, (0.6 + sqrt(0.5) / 2) / (1.1 + sqrt(0.5) / 2));
    near(lwp_gain_waiting_most(&profile), ((slow + 1) * 4 / 2 - 0.5) / 3.5);
    profile.cycle_ps = 0; /* another machine's caches were asked for, or an older result */
    near(lwp_gain_kernel(&profile), 0);
    near(lwp_gain_traced(&profile).low, 1);
}

/* The first load, or store, of 8 bytes within the function's loop, and the loop's shape there. */
static uint64_t access_at(struct lwp_code *code, uint32_t module, const char *path, const char *function, bool store,
                          struct lwp_loop_shape *shape)
{
    const struct lwp_symbolized *location = lwp_code_symbolize(code, module, programs_symbol(path, function));
    struct code_module *in = code_module_at(code, module);
    for (uint64_t at = location->function_low; at < location->function_high;) {
        size_t available;
        const uint8_t *bytes = code_bytes(in, at, &available);
        struct code_instruction instruction = code_decode(bytes, available, at, true);
        if ((store ? instruction.memory.store : instruction.memory.load) && instruction.memory.bytes == 8 &&
            lwp_loop_shape(code, module, at, shape))
            return at;
        if (!instruction.length)
            break;
        at += instruction.length;
    }
    fail_msg("%s has no such access in a loop", function);
    return 0;
}

static uint64_t access_of(struct lwp_code *code, uint32_t module, const char *path, const char *function, struct lwp_loop_shape *shape)
{
    return access_at(code, module, path, function, false, shape);
}

static struct lwp_loop_shape shape_of(struct lwp_code *code, uint32_t module, const char *path, const char *function)
{
    struct lwp_loop_shape shape;
    access_of(code, module, path, function, &shape);
    return shape;
}

/* Each time the value is looked at, and once in four times the store comes next. */
static void led_looks(struct lwp_profile *profile, uint32_t region, uint64_t pointer, uint64_t store)
{
    enum { LOOKS = 40 };
    for (int i = 0; i < LOOKS; i++) {
        struct lwp_traversal_access look[] = {{.region = region, .code = pointer},
                                              {.region = region, .code = pointer + 1, .close = true},
                                              {.region = region, .code = i % 4 ? pointer : store, .close = true}};
        lwp_moves_sample(&profile->moves, profile, look, 3);
    }
}

/* Stores to where an array of pointers leads, behind a jump past them: how often it is taken looks at what comes next say. */
static void led_of(struct lwp_code *code, uint32_t module, const char *path)
{
    enum { LOOP = 3 };
    struct lwp_loop_shape shape, pointers;
    struct lwp_loop_choice choice;
    const uint64_t store = access_at(code, module, path, "led", true, &shape);
    access_of(code, module, path, "led", &pointers);
    assert_true(shape.led && !shape.steps && !shape.chained && !pointers.led && pointers.steps);
    assert_false(shape_of(code, module, path, "list").led || shape_of(code, module, path, "jumps").led);
    assert_int_equal(lwp_loop_choices(code, module, store, &choice, 1), 1);
    const bool first = choice.high[0];
    assert_true(choice.high[first] == 0 && choice.low[!first] <= store && store < choice.high[!first]);
    struct lwp_stream stream = {.region = LOOP, .module = module, .address = store, .weight.weight = 30};
    struct lwp_profile profile = {.code = code, .streams = &stream, .stream_count = 1};
    near(lwp_gain_guesses(&profile, LOOP).past, 0);
    near(lwp_gain_guesses(&profile, LOOP).open, 1);
    struct lwp_region regions[LOOP + 1];
    for (uint32_t i = 0; i <= LOOP; i++)
        regions[i] = (struct lwp_region){.parent = LWP_NONE, .same_as = i, .module = LWP_NONE};
    profile.regions = regions;
    profile.region_count = LOOP + 1;
    led_looks(&profile, LOOP, store + 64, store);
    near(lwp_moves_part(&profile, LOOP, store, store + 1), 0.25);
    near(lwp_gain_guesses(&profile, LOOP).past, 0.5);
    near(lwp_gain_guesses(&profile, LOOP).open, 0);
    assert_true(lwp_moves_part(&profile, LOOP - 1, store, store + 1) < 0);
    lwp_moves_fini(&profile.moves);
}

/* Jumps that go by what was loaded count by how often they go either way, as far as samples behind both say. */
static void guesses_of(struct lwp_code *code, uint32_t module, const char *path)
{
    enum { ROOM = 8, LOOP = 3 };
    struct lwp_loop_choice choices[ROOM], none[ROOM];
    struct lwp_loop_shape shape;
    static const char *const others[] = {"list", "array", "jumps", "chain", "nest"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(lwp_loop_choices(code, module, access_of(code, module, path, others[i], &shape), none, ROOM), 0);
    const uint64_t merge = access_of(code, module, path, "merge", &shape);
    const size_t count = lwp_loop_choices(code, module, merge, choices, ROOM);
    assert_in_range(count, 1, 4);
    const struct lwp_symbolized *location = lwp_code_symbolize(code, module, merge);
    const struct lwp_loop_choice *both = NULL;
    for (size_t c = 0; c < count; c++) {
        both = choices[c].high[0] && choices[c].high[1] && !both ? &choices[c] : both;
        for (int way = 0; way < 2 && choices[c].high[way]; way++)
            assert_true(location->function_low < choices[c].low[way] && choices[c].low[way] < choices[c].high[way] &&
                        choices[c].high[way] <= location->function_high);
    }
    assert_non_null(both);
    struct lwp_stream streams[] = {{.region = LOOP, .module = module, .address = both->low[0], .weight.weight = 30},
                                   {.region = LOOP, .module = module, .address = both->high[1] - 1, .weight.weight = 10}};
    struct lwp_profile profile = {.code = code, .streams = streams, .stream_count = 2};
    assert_true(lwp_gain_guesses(&profile, LOOP).ways >= 2 * 10.0 / 40 - 1e-9);
    struct lwp_region regions[LOOP + 1];
    for (uint32_t i = 0; i <= LOOP; i++)
        regions[i] = (struct lwp_region){.parent = LWP_NONE, .same_as = i, .module = LWP_NONE};
    profile.regions = regions;
    profile.region_count = LOOP + 1;
    led_looks(&profile, LOOP, location->function_low, both->low[0]); /* nothing is awaited on the way that is taken once in four times */
    led_looks(&profile, LOOP, location->function_low, both->low[0]);
    streams[0].weight.weight = 0;
    assert_true(lwp_gain_guesses(&profile, LOOP).ways >= 2 * 0.25 - 1e-9);
    lwp_moves_fini(&profile.moves);
    profile.moves = (struct lwp_moves){0};
    streams[0].weight.weight = 30;
    profile.stream_count = 1; /* it always goes one way */
    near(lwp_gain_guesses(&profile, LOOP).ways, 0);
    near(lwp_gain_guesses(&profile, LOOP + 1).ways, 0);
    near(lwp_gain_guesses(&profile, LOOP + 1).open, 0);
}

/* A loop around steps through the pointers that chains begin at: laid down in its order, each chain begins where the one before ends. */
static void pointers_of(struct lwp_code *code, uint32_t module, const char *path)
{
    enum { AROUND, LOOP, REGIONS, POINTERS = 100 };
    const uint32_t nodes = 0, heads = 1;
    struct lwp_loop_shape shape;
    struct lwp_object objects[] = {{.bytes = MIB}, {.bytes = POINTERS * sizeof(void *)}};
    struct lwp_stream stream = {.object = heads, .region = AROUND, .module = module, .bytes = sizeof(void *), .loads = 1};
    struct lwp_region regions[REGIONS] = {[AROUND] = {.parent = LWP_NONE, .same_as = AROUND}, [LOOP] = {.parent = AROUND, .same_as = LOOP}};
    struct lwp_profile profile = {
        .code = code,
        .objects = objects,
        .object_count = 2,
        .streams = &stream,
        .stream_count = 1,
        .regions = regions,
        .region_count = REGIONS,
        .moves = {.items = &(struct lwp_code_moves){.object = nodes, .region = LOOP, .stays = 30, .leaves = 10}, .count = 1}};
    const struct lwp_gain_visit visit = {.region = LOOP, .objects = &nodes, .object_count = 1};
    stream.address = access_of(code, module, path, "led", &shape);
    assert_int_equal(lwp_gain_pointers(&profile, AROUND, 0), heads);
    assert_int_equal(lwp_gain_pointers(&profile, AROUND, 0.9 * POINTERS), heads);
    assert_int_equal(lwp_gain_pointers(&profile, AROUND, 2 * POINTERS), LWP_NONE);
    assert_int_equal(lwp_gain_pointers(&profile, LOOP, 0), LWP_NONE);
    near(lwp_gain_chain_begins(&profile, &visit, 64), 0);
    regions[AROUND].is_function = true;
    near(lwp_gain_chain_begins(&profile, &visit, 64), 0.25);
    regions[AROUND].is_function = false;
    stream.stores = 1; /* they change */
    near(lwp_gain_chain_begins(&profile, &visit, 64), 0.25);
    stream.stores = 0;
    stream.address = access_of(code, module, path, "list", &shape);
    near(lwp_gain_chain_begins(&profile, &visit, 64), 0.25);
}

/* How long chains are: looks that go some visits on pass their ends; executions seen of an access of each visit, and of one of each chain,
 * tell, unless looks end early. */
static void test_ends_of_chains(void **state)
{
    (void)state;
    enum { AROUND, LOOP, OTHER, REGIONS };
    const uint32_t nodes = 0, heads = 1;
    struct lwp_region regions[REGIONS] = {[AROUND] = {.parent = LWP_NONE, .same_as = AROUND},
                                          [LOOP] = {.parent = AROUND, .same_as = LOOP},
                                          [OTHER] = {.parent = LWP_NONE, .same_as = OTHER}};
    struct lwp_stream streams[] = {{.object = nodes, .region = LOOP, .accesses = 260, .weight = {.samples = 100}},
                                   {.object = heads, .region = AROUND, .accesses = 20, .weight = {.samples = 4}}};
    struct lwp_code_moves moves = {.object = nodes, .region = LOOP, .stays = 50, .leaves = 12};
    struct lwp_profile profile = {
        .streams = streams, .stream_count = 2, .regions = regions, .region_count = REGIONS, .moves = {.items = &moves, .count = 1}};
    struct lwp_gain_visit visit = {.region = LOOP, .objects = &nodes, .object_count = 1};
    near(lwp_gain_chain_ends(&profile, &visit, 64), 0.1);
    moves.lost = 100; /* a search of four, which is run as such */
    near(lwp_gain_chain_ends(&profile, &visit, 64), 0);
    moves.stays = 108;
    near(lwp_gain_chain_ends(&profile, &visit, 64), 0.1);
    moves.lost = 0;
    streams[1].region = OTHER;
    near(lwp_gain_chain_ends(&profile, &visit, 64), 0.1);
    visit.whole = true;
    near(lwp_gain_chain_ends(&profile, &visit, 64), 0);
}

/* Code behind a jump on which no sample fell, where many would have if it ran each time. */
static void rarely_of(struct lwp_arena *arena, struct lwp_code *code, uint32_t module, const char *path)
{
    struct lwp_loop_shape all, ran;
    struct lwp_loop_part parts[4];
    const uint64_t address = access_of(code, module, path, "rarely", &all);
    assert_int_equal(lwp_loop_parts(code, module, address, parts, 4), 1);
    assert_int_equal(parts[0].instructions, 6);
    struct lwp_region region = {.module = module, .address = address, .weight.samples = 1000};
    struct lwp_profile profile = {
        .arena = arena, .code = code, .engine = LWPS_ENGINE_TIMER, .regions = &region, .region_count = 1, .locations = lwp_locations_new()};
    const uint32_t within = lwp_locations_at(&profile, module, parts[0].low)->id;
    for (int seen = 0; seen < 2; seen++) {
        ran = all;
        lwp_interrupts_add(&profile.interrupts, within, seen ? 200 : 0);
        assert_int_equal(lwp_gain_leave_out(&profile, 0, 1, &ran.work), !seen);
        assert_int_equal(all.work.instructions - ran.work.instructions, seen ? 0 : 6);
        assert_int_equal(all.work.flags - ran.work.flags, seen ? 0 : 6);
        assert_true(seen ? ran.work.chain == all.work.chain : ran.work.chain == 1); /* what counts the iterations */
        assert_false(lwp_gain_leave_out(&profile, 0, 1000, &ran.work));             /* it may be too short for a sample to fall on it */
    }
    lwp_interrupts_free(&profile.interrupts);
    lwp_locations_free(profile.locations);
}

/* Two addresses in use, one behind the other, or an array of two. */
static void test_tree_links(void **state)
{
    (void)state;
    static const uint64_t offsets[] = {0, 4, 8, 16, 24, 40}, bytes[] = {4, 4, 8, 8, 16, 8};
    uint64_t link = 0;
    assert_true(lwp_layout_tree_links(offsets, bytes, (const bool[]){true, false, true, true, false, false}, 6, &link) && link == 8);
    assert_true(lwp_layout_tree_links(offsets, bytes, (const bool[]){true, false, false, false, true, true}, 6, &link) && link == 24);
    assert_false(lwp_layout_tree_links(offsets, bytes, (const bool[]){true, true, true, false, false, true}, 6, &link));
}

/* Samples of slots at the head of each page, 8192 bytes on for 141 of them, seem to say that a visit takes 0.08 ns. */
static void test_possible_pace(void **state)
{
    (void)state;
    const struct lwp_gain_visit visit = {.visits = 1, .shape.work.instructions = 9};
    near(lwp_gain_possible_pace(0.083, &visit), 0);
    near(lwp_gain_possible_pace(2, &visit), 2);
}

/* What a virtual function uses of an element is known once an access in it was seen. */
static void calls_of(struct lwp_arena *arena, struct lwp_code *code, uint32_t module, const char *path)
{
    enum { LOOP = 3 };
    struct lwp_loop_shape told, list;
    struct lwp_stream streams[] = {
        {.region = LOOP, .module = module, .next_of_object = LWP_NONE},
        {.region = LOOP, .module = module, .address = programs_symbol(path, "main"), .next_of_object = LWP_NONE}};
    uint32_t first = 0;
    const uint32_t object = 0;
    const struct lwp_profile profile = {.arena = arena, .code = code, .streams = streams, .stream_count = 2, .object_streams = &first};
    streams[0].address = access_of(code, module, path, "told", &told);
    assert_true(lwp_gain_calls_unseen(&profile, &object, 1, LOOP, &told));
    streams[0].next_of_object = 1; /* no loop of that function's */
    assert_false(lwp_gain_calls_unseen(&profile, &object, 1, LOOP, &told));
    streams[0].next_of_object = LWP_NONE;
    streams[0].address = access_of(code, module, path, "list", &list);
    assert_false(lwp_gain_calls_unseen(&profile, &object, 1, LOOP, &list));
}

/* Stores that keep a minimum or a maximum. */
static void keeps_of(struct lwp_code *code, uint32_t module, const char *path)
{
    static const char *const functions[] = {"smaller", "larger", "largest", "others", "add"};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        struct lwp_loop_shape shape;
        const uint64_t store = access_at(code, module, path, functions[i], true, &shape);
        assert_int_equal(lwp_code_keeps_extreme(code, module, store, shape.stays), i < 3);
        assert_true(i < 1 || i > 2 || !lwp_code_keeps_extreme(code, module, store, false));
    }
    assert_false(lwp_code_keeps_extreme(code, module, 0, true));
}

static void test_shapes(void **state)
{
    (void)state;
    static const char *const compilers[] = {"gcc", "clang"};
    char path[256];
    for (size_t i = 0; i < 2; i++) {
        if (!programs_build(compilers[i], i ? "-O2 -fno-vectorize -fno-unroll-loops -Dnoipa=noinline" : "-O2", "shapes.c", path,
                            sizeof path))
            continue;
        struct lwp_arena *arena = lwp_arena_new();
        struct lwp_code *code = lwp_code_new(arena);
        uint32_t module = lwp_code_module(code, path, NULL, 0);
        struct lwp_loop_shape list = shape_of(code, module, path, "list"), array = shape_of(code, module, path, "array");
        struct lwp_loop_shape jumps = shape_of(code, module, path, "jumps"), chain = shape_of(code, module, path, "chain");
        struct lwp_loop_shape told, nest = shape_of(code, module, path, "nest"), drawn = shape_of(code, module, path, "drawn");
        assert_true(list.chained && !list.steps);
        assert_int_equal(list.accesses, 2);
        assert_true(!array.chained && array.steps && array.step == 16);
        assert_true(list.step == 0 && chain.step == 0);
        assert_int_equal(array.accesses, 1);
        assert_true(array.work.instructions >= 2 && array.work.instructions <= 5);
        assert_true(array.loads == 1 && array.stores == 0 && array.exits == 1 && !array.stays);
        assert_true(!jumps.chained && !jumps.steps);
        const struct lwp_loop_shape looked_up = shape_of(code, module, path, "looked_up");
        assert_true(looked_up.apart && !looked_up.chained && jumps.apart && !list.apart && !chain.apart);
        assert_false(shape_of(code, module, path, "kept").apart || shape_of(code, module, path, "asked").apart);
        assert_true(drawn.work.chain >= 4 && drawn.work.loaded_chain == 1 && array.work.loaded_chain == 1); /* the sum */
        near(shape_of(code, module, path, "ninefold").work.loaded_chain, 1 + CODE_SCALED_CYCLES);
        assert_int_equal(shape_of(code, module, path, "ninefold").work.scaled, 1);
        assert_int_equal(array.work.scaled, 0);
        const struct lwp_loop_shape row = shape_of(code, module, path, "row_sum"), pairs = shape_of(code, module, path, "pair_sums");
        assert_true(row.work.sums == 3 && row.work.products == 1 && row.work.depth == 16); /* of 4 cycles each */
        assert_true(pairs.work.sums == 3 && pairs.work.products == 1 && pairs.work.depth == 12);
        assert_true(list.work.sums == 0 && list.work.products == 0 && list.work.depth == 0);
        assert_true(list.work.tail > 0 && row.work.tail == row.work.depth && nest.work.tail > 0);
        assert_true(drawn.drawn && !jumps.drawn && !array.drawn && !list.drawn && !chain.drawn);
        assert_true(chain.chained && !chain.steps);
        assert_false(nest.chained);
        assert_int_equal(nest.accesses, 1); /* the inner loop is not counted */
        guesses_of(code, module, path);
        rarely_of(arena, code, module, path);
        led_of(code, module, path);
        pointers_of(code, module, path);
        assert_int_equal(jumps.computed_calls, 0);
        access_of(code, module, path, "told", &told);
        assert_int_equal(told.computed_calls, 1);
        near(told.work.tail, 0); /* what it calls goes on as well */
        const struct lwp_loop_shape weighed = shape_of(code, module, path, "weigh");
        assert_true(weighed.work.kept == LWP_LOOP_KEPT_BY_REGISTER && weighed.work.chain_of_vectors); /* calls keep no vector register */
        near(weighed.work.loaded_chain, 4);
        calls_of(arena, code, module, path);
        assert_true(shape_of(code, module, path, "hand_on").hands_on && !told.hands_on && !list.hands_on && !jumps.hands_on);
        struct lwp_loop_shape none, swaps, adds, widens, decides;
        access_at(code, module, path, "swap", true, &swaps);
        access_at(code, module, path, "add", true, &adds);
        access_at(code, module, path, "widen", true, &widens);
        access_at(code, module, path, "decide", true, &decides);
        assert_true(swaps.copies_value && !adds.copies_value && widens.copies_value && decides.copies_value);
        keeps_of(code, module, path);
        assert_false(lwp_loop_shape(code, module, programs_symbol(path, "main"), &none));
        assert_false(lwp_loop_shape(code, LWP_NONE, 0x1000, &none));
        assert_false(lwp_loop_shape(code, module, 0, &none));
        lwp_code_free(code);
        lwp_arena_free(arena);
    }
}

/* A pattern that computes 1 ns of 5, and of 2 in the new layout; the loop takes 9, so it waits twice as long. */
static void test_interval(void **state)
{
    (void)state;
    const struct lwp_pattern_times times = {.before = 5, .after = 2, .core = 1, .ratio = 0.4, .low = 0.36, .high = 0.44};
    struct lwp_gain_measured known = {0}, same = {0}, unknown = {0};
    const struct lwp_gain_range any = {0, 1}, half = {0.4, 0.5};
    lwp_gain_interval(&times, &any, 9, &known);
    near(known.ratio, 0.4);
    assert_true(known.low <= (1 + 1 * 2) / 9.0); /* it may wait as much longer in both layouts */
    lwp_gain_interval(&times, &any, 5, &same);
    near(same.ratio, 0.4);
    assert_true(same.low <= 0.36 && same.low > 0.3 && same.high >= 0.44 && same.high < 0.5); /* the runs' spread at least */
    assert_true(known.high - known.low > 1.2 * (same.high - same.low));                      /* a pattern that is off is less sure */
    lwp_gain_interval(&times, &any, 0, &unknown);
    near(unknown.ratio, 0.4);
    assert_true(unknown.low < same.low && unknown.high > same.high); /* what is not known is less sure */
    lwp_gain_interval(&times, &half, 0, &unknown);                   /* the loop waits 1 of 2 ns, so 1/4 of 1 is left to wait */
    near(unknown.ratio, 1.25 / 2);
    const struct lwp_pattern_times equal = {.before = 5, .after = 5, .core = 1, .ratio = 1, .low = 1, .high = 1};
    lwp_gain_interval(&equal, &any, 0, &unknown);
    near(unknown.low, 1); /* nothing changes, whatever the pattern lacks */
    near(unknown.high, 1);
}

/* Runs that agree make it surer than one run does, and runs that do not make it less sure than those. */
static void test_interval_of_runs(void **state)
{
    (void)state;
    struct lwp_pattern_times times = {.before = 5, .after = 2, .core = 0.5, .ratio = 0.4, .low = 0.4, .high = 0.4};
    const struct lwp_gain_range any = {0, 1};
    struct lwp_gain_measured once = {0}, agree = {0}, differ = {0};
    lwp_gain_interval(&times, &any, 5, &once);
    times.runs = 5;
    times.spread = 0.02;
    lwp_gain_interval(&times, &any, 5, &agree);
    times.spread = 0.4;
    lwp_gain_interval(&times, &any, 5, &differ);
    assert_true(agree.high - agree.low < 0.9 * (once.high - once.low));
    assert_true(differ.high - differ.low > 1.3 * (agree.high - agree.low));
    assert_true(agree.high > 1.2 * agree.low); /* what the machine does from minute to minute stays */
}

/* Where runs differ more than on calm machines, all that is said is less sure; where they agree, it is as sure as there. */
static void test_interval_of_unsteady_machine(void **state)
{
    (void)state;
    const struct lwp_gain_range any = {0, 1};
    const struct lwp_share whole = {.value = 1, .low = 1, .high = 1};
    struct lwp_pattern_times times = {
        .before = 5, .after = 2, .core = 0.5, .ratio = 0.4, .low = 0.4, .high = 0.4, .runs = 4, .spread = 0.02};
    struct lwp_gain_measured calm = {0}, unsteady = {0};
    lwp_gain_interval(&times, &any, 0, &calm);
    near(calm.unsteady, 0);
    times.spread = 0.3;
    lwp_gain_interval(&times, &any, 0, &unsteady);
    const double usual = 0.06 * 0.9, minute = sqrt((2 * usual * usual + 3 * 0.3 * 0.3) / 5);
    near(unsteady.unsteady, sqrt(minute * minute - usual * usual));
    const struct lwp_gain_range sure = lwp_gain_part(&calm, &whole), less = lwp_gain_part(&unsteady, &whole);
    near(sure.high, 1 - 0.4 * exp(-1.645 * 0.08 * sqrt(2.0)));
    near(less.high, 1 - fmin(unsteady.low, 0.4 * exp(-1.645 * hypot(0.08 * sqrt(2.0), unsteady.unsteady))));
    assert_true(less.low < sure.low - 0.1);
}

/* Runs that gain here and lose there do not show a gain, nor does one that is as small as what minutes differ by. */
static void test_no_gain(void **state)
{
    (void)state;
    struct lwp_pattern_times times = {
        .before = 12.2, .after = 11.9, .core = 1.9, .ratio = 0.97, .low = 0.97, .high = 0.97, .runs = 5, .spread = 0.07};
    const struct lwp_gain_range any = {0, 1};
    struct lwp_gain_measured measured = {0};
    lwp_gain_interval(&times, &any, 0, &measured);
    assert_true(measured.high > 1);
    times.ratio = times.low = times.high = 0.92;
    times.after = 0.92 * times.before;
    lwp_gain_interval(&times, &any, 0, &measured);
    assert_true(measured.high > 1);
    times.ratio = times.low = times.high = 0.8;
    times.after = 0.8 * times.before;
    lwp_gain_interval(&times, &any, 0, &measured);
    assert_true(measured.high < 0.98);
    times.spread = 0.5;
    lwp_gain_interval(&times, &any, 0, &measured);
    assert_true(measured.high > 1);
}

/* Today's elements fit the last cache or not, and the new ones do or not: 5 times as fast in one case, 1.25 in another. */
static void test_shares_of_the_cache(void **state)
{
    (void)state;
    struct lwp_pattern_times times = {
        .before = 20, .after = 18, .core = 1, .ratio = 0.9, .low = 0.9, .high = 0.9, .runs = 5, .spread = 0.05, .least = {18, 10}};
    const struct lwp_gain_range any = {0, 1};
    struct lwp_gain_measured alone = {0}, shared = {0}, known = {0}, steady = {0};
    lwp_gain_interval(&times, &any, 0, &alone);
    times.cold[0] = 100;
    times.cold[1] = 98;
    times.both_fit = 0.5;
    lwp_gain_interval(&times, &any, 20, &known);
    assert_true(alone.low > 0.5 && known.low > 0.5); /* the loop's own time says how much it had */
    lwp_gain_interval(&times, &any, 0, &steady);     /* so do runs that agree: the program was one more of them */
    const double off = sqrt((2 * 0.12 * 0.95 * 0.12 * 0.95 + 4 * 0.05 * 0.05) / 6);
    near(steady.low, fmin(alone.low, 0.9 * exp(-1.943 * off * sqrt(1.2))));
    times.spread = 1;
    lwp_gain_interval(&times, &any, 0, &shared);
    assert_true(shared.high >= 0.98);
    near(shared.low, 10 / (100 - 0.5 * (100 - 18))); /* what just fits, against what half fits */
}

/* 90 % of a ratio of two times that each differ by 8 %. Shares come with 95 %: SURE of it is as much. */
#define UNLIKE (1.645 * 0.08 * sqrt(2.0))
#define SURE   (1.645 / 1.96)

/* The loop's share is off by 0.1 of 0.8, with 0.3 saved, and its ratio by 0.2 of 0.8 of the time. */
static void test_part_saved(void **state)
{
    (void)state;
    const struct lwp_share whole = {.value = 0.8, .low = 0.7, .high = 0.9};
    struct lwp_gain_measured measured = {.ratio = 0.7, .low = 0.5, .high = 0.9};
    near(lwp_gain_part(&measured, &whole).low, 0.24 - hypot(SURE * 0.1 * 0.3, 0.8 * 0.2));
    near(lwp_gain_part(&measured, &whole).high, 0.24 + hypot(SURE * 0.1 * 0.3, 0.8 * 0.2));
    measured = (struct lwp_gain_measured){.ratio = 1.1, .low = 1.1, .high = 1.1}; /* the more of the time it takes the more it loses */
    near(lwp_gain_part(&measured, &whole).low, -0.08 - SURE * 0.1 * 0.1);
    near(lwp_gain_part(&measured, &whole).high, -0.08 + hypot(SURE * 0.1 * 0.1, 0.8 * 0.1));
}

/* Runs that agree show no more than that the pattern is the loop as nearly as patterns are. */
static void test_part_of_agreeing_runs(void **state)
{
    (void)state;
    const struct lwp_share whole = {.value = 1, .low = 1, .high = 1};
    struct lwp_gain_measured measured = {.ratio = 0.5, .low = 0.5, .high = 0.5};
    near(lwp_gain_part(&measured, &whole).low, 1 - 0.5 * exp(UNLIKE));
    near(lwp_gain_part(&measured, &whole).high, 1 - 0.5 * exp(-UNLIKE));
    measured.pattern = measured.pace = 5; /* today it is as the loop; of the new layout nobody knows */
    const double known = 1 - 0.5 * exp(-1.645 * 0.10);
    near(lwp_gain_part(&measured, &whole).high, known);
    measured.pattern = 5.7;
    near(lwp_gain_part(&measured, &whole).high, known); /* as near as these times are known */
    measured.pattern = 6.5;
    const double farther = 1 - 0.5 * exp(-1.645 * hypot(0.6 * log(6.5 / 5 / 1.15), 0.10)); /* most of it is common to both */
    near(lwp_gain_part(&measured, &whole).high, farther);
    measured.pattern = 5 * 5 / 6.5;
    near(lwp_gain_part(&measured, &whole).high, farther);
    measured = (struct lwp_gain_measured){.ratio = 0.9, .low = 0.87, .high = 0.93};
    near(lwp_gain_part(&measured, &whole).low, 0.05); /* they show that there is a gain */
    near(lwp_gain_part(&measured, &whole).high, 0.2); /* ... which is at most twice what is said */
    measured = (struct lwp_gain_measured){.ratio = 0.99, .low = 0.97, .high = 1.01};
    near(lwp_gain_part(&measured, &whole).low, -0.01);
    measured = (struct lwp_gain_measured){.ratio = 1, .low = 1, .high = 1}; /* the same layout */
    near(lwp_gain_part(&measured, &whole).low, 0);
    near(lwp_gain_part(&measured, &whole).high, 0);
}

/* Where today's layout takes another time in each run, the loop was more of the time, or less, than it usually is when it was profiled. */
static void test_part_of_unsteady_today(void **state)
{
    (void)state;
    const struct lwp_share whole = {.value = 1, .low = 1, .high = 1};
    struct lwp_gain_measured measured = {.ratio = 0.5, .low = 0.5, .high = 0.5};
    const struct lwp_gain_range steady = lwp_gain_part(&measured, &whole);
    measured.today = 0.5;
    const struct lwp_gain_range all = lwp_gain_part(&measured, &whole);
    near(all.low, steady.low); /* all of it is the loop */
    near(all.high, steady.high);
    const struct lwp_share half = {.value = 0.5, .low = 0.5, .high = 0.5};
    const struct lwp_gain_range part = lwp_gain_part(&measured, &half);
    const double less = exp(-0.5) / (1 + exp(-0.5)),
                 more = exp(0.5) / (1 + exp(0.5)); /* of the time, when it takes as much less, or more */
    near(part.low, 0.25 - hypot(0.5 * (0.5 - steady.low), 0.5 * (0.5 - less)));
    near(part.high, 0.25 + hypot(0.5 * (steady.high - 0.5), 0.5 * (more - 0.5)));
}

/* What a loop computes is not saved: samples and the run say how much that is. */
static void test_least_ratio(void **state)
{
    (void)state;
    const struct lwp_gain_range nearly_always = {0.88, 0.91}, half = {0.4, 0.5};
    near(lwp_gain_least_ratio(&nearly_always, 0.04, false), 0.06); /* between both: some samples fall behind the load */
    near(lwp_gain_least_ratio(&nearly_always, 0.2, false), 0.09);
    near(lwp_gain_least_ratio(&half, 0.4, false), 0.5);
    near(lwp_gain_least_ratio(&half, 0.32, true), 0.4);
    near(lwp_gain_least_ratio(&half, 0.97, false), 0.97); /* the run hardly waits */
    near(lwp_gain_least_ratio(&half, 1.1, false), 1);
}

/* Behind what it has loaded a round goes on while the next one's load is awaited: of 4 ns it takes 2, of which 1.2 stay when nothing is
 * awaited. */
static void test_tail_overlaps(void **state)
{
    (void)state;
    near(lwp_gain_stalls_most(0.5, 2, 1.2, 4), 0.7);
    near(lwp_gain_stalls_most(0.5, 2, 1.2, 0), 0.5);
    near(lwp_gain_stalls_most(0.5, 1, 1.2, 4), 0.5); /* it computes for longer than that */
    near(lwp_gain_stalls_most(0.9, 2, 1, 4), 1);
}

/* Independent loads that much waits for: that a run is faster with the new layout does not show that the loop is. */
static void test_crowded(void **state)
{
    (void)state;
    const struct lwp_share whole = {.value = 1, .low = 1, .high = 1};
    struct lwp_gain_measured measured = {.ratio = 0.85, .low = 0.8, .high = 0.9};
    near(lwp_gain_part(&measured, &whole).low, 0.05);
    measured.crowded = true;
    near(lwp_gain_part(&measured, &whole).low, 0);
    measured =
        (struct lwp_gain_measured){.ratio = 0.5, .low = 0.5, .high = 0.5, .crowded = true}; /* so much is a gain whatever it depends on */
    near(lwp_gain_part(&measured, &whole).low, 1 - 0.5 * exp(UNLIKE));
}

/* Of a loop whose run is believed all can be saved but what it computes: samples behind the awaited load have no data. */
static void test_most_saved(void **state)
{
    (void)state;
    struct lwp_profile profile = {.engine = LWPS_ENGINE_EXACT};
    const struct lwp_share whole = {.value = 1, .low = 1, .high = 1}, share = {.value = 0.87, .low = 0.84, .high = 0.9};
    const struct lwp_gain_measured measured = {.ratio = 0.05, .low = 0.04, .high = 0.06, .between = true};
    struct lwp_gain_saving sum = {0}, of = lwp_gain_of_measured(&measured, &whole, (struct lwp_gain_range){0, 0.98}, false, sum);
    struct lwp_gain gain;
    lwp_gain_sum(&sum, &of, &share);
    lwp_gain_speedups(&profile, &sum, &share, &gain);
    near(gain.speedup, 20);
    const struct lwp_gain_measured half = {.ratio = 0.05, .low = 0.04, .high = 0.06, .between = true};
    const struct lwp_share part = {.value = 0.5, .low = 0.5, .high = 0.5}, stalled = {.value = 0.6, .low = 0.6, .high = 0.6};
    sum = (struct lwp_gain_saving){0}; /* a loop that was run, and one that was not */
    of = lwp_gain_of_measured(&half, &part, (struct lwp_gain_range){0, 0.5}, false, sum);
    lwp_gain_sum(&sum, &of, &stalled);
    of = (struct lwp_gain_saving){.value = 0.25, .low = 0.25, .high = 0.25};
    lwp_gain_sum(&sum, &of, &stalled);
    lwp_gain_speedups(&profile, &sum, &stalled, &gain);
    near(gain.speedup, 1 / (1 - 0.5 * 0.95 - 0.25));
    sum = (struct lwp_gain_saving){.value = 0.95, .low = 0.95, .high = 0.95};
    lwp_gain_speedups(&profile, &sum, &share, &gain);
    near(gain.speedup, 10);
    /* More than the program waits is what it waits, as far as that is known: else both ends would be one. */
    of = lwp_gain_of_measured(&measured, &whole, (struct lwp_gain_range){0.5, 0.9}, false, sum);
    near(of.low, 0.5);
    near(of.value, 0.9);
    near(of.high, 0.9);
}

/* Two cursors that are merged go on in turns, by jumps that are guessed: from one to the other it is far, but neither goes at random. */
static void test_two_cursors(void **state)
{
    (void)state;
    const struct lwp_share whole = {.value = 0.8, .low = 0.7, .high = 0.9};
    const struct lwp_gain_saving estimate = {0};
    struct lwp_gain_measured measured = {.ratio = 0.7, .low = 0.6, .high = 0.8, .between = true};
    const double low = 0.24 - hypot(SURE * 0.1 * 0.3, 0.8 * 0.7 * (exp(UNLIKE) - 1));
    near(lwp_gain_of_measured(&measured, &whole, (struct lwp_gain_range){0, 1}, true, estimate).low, low);
    measured.guesses = 0.75;
    near(lwp_gain_of_measured(&measured, &whole, (struct lwp_gain_range){0, 1}, true, estimate).low, 0.25 * low);
    near(lwp_gain_of_measured(&measured, &whole, (struct lwp_gain_range){0, 1}, false, estimate).low, low);
    near(lwp_gain_of_measured(&measured, &whole, (struct lwp_gain_range){0, 1}, true, estimate).value, 0.8 * 0.3);
    measured.guesses = 3; /* all of them */
    near(lwp_gain_of_measured(&measured, &whole, (struct lwp_gain_range){0, 1}, true, estimate).low, 0);
    measured.high = 1.1; /* it may lose as much as ever */
    near(lwp_gain_of_measured(&measured, &whole, (struct lwp_gain_range){0, 1}, true, estimate).low,
         0.24 - hypot(SURE * 0.1 * 0.3, 0.8 * 0.4));
}

/* Which of two classes' functions is called comes to one guess for each object of one of them: behind a wrong one the program waits
 * whatever the layout. */
static void test_guessed_turns(void **state)
{
    (void)state;
    const struct lwp_share whole = {.value = 0.8, .low = 0.7, .high = 0.9};
    struct lwp_gain_measured measured = {.ratio = 0.7, .low = 0.6, .high = 0.8, .between = true};
    const struct lwp_gain_saving sure =
        lwp_gain_of_measured(&measured, &whole, (struct lwp_gain_range){0, 1}, false, (struct lwp_gain_saving){0});
    measured.turns = 0.1; /* a class that is met in one of twenty */
    const struct lwp_gain_saving rarely =
        lwp_gain_of_measured(&measured, &whole, (struct lwp_gain_range){0, 1}, false, (struct lwp_gain_saving){0});
    near(rarely.low, 0.9 * sure.low);
    near(rarely.value, 0.95 * sure.value);
    measured.turns = 2;
    const struct lwp_gain_saving often =
        lwp_gain_of_measured(&measured, &whole, (struct lwp_gain_range){0, 1}, false, (struct lwp_gain_saving){0});
    near(often.low, 0);
    near(often.value, 0.5 * sure.value);
    near(often.high, sure.high);
}

/* A loop goes through pointers to nodes of two kinds, one of which there is three times as often: the same instruction goes to both.
 * Another array that it goes to is beside them, and nodes that other loops go to are none of its own. */
static void test_turns(void **state)
{
    (void)state;
    enum { MINE, OTHERS, ARRAY, ELSEWHERE, OBJECTS, LOOP = 1 };
    struct lwp_object objects[OBJECTS] = {
        [MINE] = {.kind = LWP_OBJECT_HEAP, .bytes = 6400, .largest = 64, .element_bytes = 64, .single = true},
        [OTHERS] = {.kind = LWP_OBJECT_HEAP, .bytes = 9600, .largest = 32, .element_bytes = 32, .single = true},
        [ARRAY] = {.kind = LWP_OBJECT_HEAP, .bytes = 3200, .largest = 3200, .element_bytes = 8},
        [ELSEWHERE] = {.kind = LWP_OBJECT_HEAP, .bytes = 6400, .largest = 64, .element_bytes = 64, .single = true}};
    struct lwp_stream streams[] = {{.object = MINE, .region = LOOP, .address = 0x10, .next_of_object = 1},
                                   {.object = MINE, .region = LOOP, .address = 0x20, .next_of_object = LWP_NONE},
                                   {.object = OTHERS, .region = LOOP, .address = 0x10, .next_of_object = 3},
                                   {.object = OTHERS, .region = LOOP, .address = 0x30, .next_of_object = LWP_NONE},
                                   {.object = ARRAY, .region = LOOP, .address = 0x10, .next_of_object = LWP_NONE},
                                   {.object = ELSEWHERE, .region = LOOP + 1, .address = 0x10, .next_of_object = LWP_NONE}};
    uint32_t first[OBJECTS] = {0, 2, 4, 5};
    struct lwp_profile profile = {.arena = lwp_arena_new(),
                                  .objects = objects,
                                  .object_count = OBJECTS,
                                  .streams = streams,
                                  .stream_count = sizeof streams / sizeof *streams,
                                  .object_streams = first};
    const uint32_t mine = MINE;
    struct lwp_gain_visit visit = {.region = LOOP, .objects = &mine, .object_count = 1, .visits = 1};
    lwp_gain_turns(&profile, &visit, 100);
    assert_int_equal(visit.turn_count, 0); /* no pointers lead it there */
    near(visit.visits, 1);
    visit.shape.led = true;
    lwp_gain_turns(&profile, &visit, 100);
    assert_int_equal(visit.turn_count, 1);
    assert_true(lwp_gain_in_turn(&visit, OTHERS) && !lwp_gain_in_turn(&visit, ARRAY));
    near(visit.visits, 0.25);
    near(visit.turn_guesses, 0.5);
    lwp_arena_free(profile.arena);
}

/* Of a loop of four instructions all samples fall on its load, although the run hardly waits for memory. */
static void test_waits_less(void **state)
{
    (void)state;
    const struct lwp_share whole = {.value = 0.9, .low = 0.85, .high = 0.95};
    const struct lwp_gain_saving estimate = {.value = 0.7, .low = 0, .high = 0.8};
    struct lwp_gain_measured measured = {.ratio = 0.8, .low = 0.7, .high = 0.85, .core = 1, .pattern = 1.3};
    near(lwp_gain_of_measured(&measured, &whole, (struct lwp_gain_range){0, 1}, false, estimate).value, 0.7); /* something else is unlike */
    measured.waits_less = true;
    const struct lwp_gain_saving less = lwp_gain_of_measured(&measured, &whole, (struct lwp_gain_range){0, 1}, false, estimate);
    near(less.value, 0.9 * 0.2);
    near(less.low, 0.05); /* whatever the estimate fears */
    near(less.high, 0.18 + hypot(SURE * 0.05 * 0.2, 0.9 * 0.8 * (1 - exp(-UNLIKE))));
    assert_false(less.measured);
    measured.paces = (struct lwp_gain_range){1.2, 1.5}; /* the run takes as long as the loop */
    assert_true(lwp_gain_of_measured(&measured, &whole, (struct lwp_gain_range){0, 1}, false, estimate).measured);
    measured.paces = (struct lwp_gain_range){0, 0};
    measured.between = true;
    near(lwp_gain_of_measured(&measured, &whole, (struct lwp_gain_range){0, 1}, false, estimate).low, 0.05);
}

/* A loop that may take no longer than it computes has nothing to gain for sure, however much its samples stall: its data may be pages of
 * zeros. The run, of real pages, takes six times as long. */
static void test_takes_what_it_computes(void **state)
{
    (void)state;
    const struct lwp_share whole = {.value = 0.9, .low = 0.85, .high = 0.95};
    const struct lwp_gain_saving estimate = {.value = 0.7, .low = 0.3, .high = 0.8};
    const struct lwp_gain_measured measured = {.ratio = 0.2, .low = 0.1, .high = 0.3, .core = 1, .pattern = 6, .paces = {1.02, 1.5}};
    const struct lwp_gain_saving saving = lwp_gain_of_measured(&measured, &whole, (struct lwp_gain_range){0, 1}, false, estimate);
    near(saving.low, 0.9 * (1 - 1 / 1.02));
    near(saving.value, 0.9 * (1 - 1 / 1.5));
    near(saving.high, 0.9 * (1 - 1 / 1.5));
}

/* What the loop was seen to take says how much of the shared cache it had. */
static void test_state_of_the_cache(void **state)
{
    (void)state;
    const struct lwp_pattern_times warm = {.before = 20,
                                           .after = 18,
                                           .core = 1,
                                           .ratio = 0.9,
                                           .low = 0.9,
                                           .high = 0.9,
                                           .runs = 5,
                                           .spread = 0.3,
                                           .least = {18, 10},
                                           .cold = {100, 98},
                                           .both_fit = 0.5};
    const struct {
        struct lwp_gain_range paces;
        double before, after;
    } cases[] = {{{0, 0}, 20, 18}, {{15, 25}, 20, 18}, {{120, 130}, 100, 98}, {{80, 80}, 80, 58}, {{40, 60}, 40, 18}, {{5, 9}, 20, 18}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lwp_pattern_times times = warm;
        lwp_gain_choose_state(&times, &cases[i].paces);
        near(times.before, cases[i].before);
        near(times.after, cases[i].after);
        near(times.ratio, cases[i].after / cases[i].before);
    }
    struct lwp_pattern_times nearer = warm; /* of 18 ns 10 may go where the core's own caches have all of it, of 10 two */
    nearer.near[0] = 8;
    nearer.near[1] = 8;
    lwp_gain_choose_state(&nearer, &(struct lwp_gain_range){5, 13});
    near(nearer.before, 13);
    near(nearer.ratio, 9 / 13.0);
    const struct lwp_gain_range any = {0, 1};
    struct lwp_gain_measured open = {0}, closed = {.paces = {18, 22}};
    struct lwp_pattern_times unsteady = warm; /* one more run may be of any state */
    unsteady.spread = 1;
    lwp_gain_interval(&unsteady, &any, 0, &open);
    struct lwp_pattern_times chosen = warm;
    lwp_gain_choose_state(&chosen, &closed.paces);
    near(chosen.spread, 0.12); /* the rest of it is states in which the loop was not */
    lwp_gain_interval(&chosen, &any, 0, &closed);
    near(open.low, 10 / (100 - 0.5 * (100 - 18)));
    assert_true(open.high >= fmax(closed.high, 0.98));
    assert_true(closed.low > 0.5);
    struct lwp_gain_measured wide = {.paces = {15, 110}}, now = {.paces = {18, 22}};
    chosen = warm;
    lwp_gain_choose_state(&chosen, &wide.paces);
    near(chosen.spread, 0.3); /* bounds that rule nothing out leave all that runs differ by */
    lwp_gain_interval(&warm, &any, 0, &wide);
    lwp_gain_interval(&warm, &any, 0, &now);
    near(wide.low, now.low); /* that it was as now is not ruled out, however much else is not */
    near(wide.high, now.high);
}

static double drawn(uint64_t *random)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return ((double)(*random >> 11) + 0.5) / 9007199254740992.0;
}

/* Watches that give way to others as in the collector, of a loop that is back at a place after 1,000 us in the mean: at random, or always.
 * The interval holds that nine times of ten; a few short of it are chance. */
static void test_returns(void **state)
{
    (void)state;
    enum { TIMES = 200, SAMPLES = 2000 };
    uint64_t random = 1;
    for (int always = 0; always < 2; always++)
        for (double gap = 200; gap <= 5000; gap *= 5) {
            unsigned held = 0;
            for (int round = 0; round < TIMES; round++) {
                struct lwp_gain_returned seen = {0};
                double since = -1, until = 0;
                unsigned others = 0;
                for (int i = 0; i < SAMPLES; i++) {
                    const double now = i * gap;
                    if (since >= 0 && until <= now) {
                        seen.count++;
                        seen.sum += until - since;
                        seen.squares += (until - since) * (until - since);
                        since = -1;
                    }
                    if (since >= 0 && drawn(&random) * ++others >= 1)
                        continue;
                    others = since >= 0 ? others : 1;
                    since = now;
                    until = now + (always ? 1000 : -1000 * log(drawn(&random)));
                }
                const struct lwp_gain_range range = lwp_gain_return_time(&seen, gap);
                held += range.low <= 1000 && 1000 <= range.high;
            }
            assert_true(held >= TIMES * 85 / 100);
        }
    /* What the collector did may have made it come back later: of short times only the end is known. */
    const struct lwp_gain_returned quick = {.count = 400, .sum = 400 * 50, .squares = 400 * 2500, .own = 400 * 80},
                                   slow = {.count = 400, .sum = 400 * 2000, .squares = 400 * 4e6, .own = 400 * 80};
    assert_true(lwp_gain_return_time(&quick, 4000).low <= 0 && lwp_gain_return_time(&quick, 4000).high >= 50);
    near(lwp_gain_return_time(&slow, 4000).low, 2000 - 80);
    const struct lwp_gain_returned few = {.count = 10, .sum = 10, .squares = 30};
    near(lwp_gain_return_time(&few, 1).high, 0);
    struct lwp_watchpoints watchpoints = {0};
    struct lwp_watchpoint_verdict verdict = {.kind = LWP_WATCHPOINT_SILENT_LOAD,
                                             .outcome = LWP_WATCHPOINT_WASTE,
                                             .first = 1,
                                             .second = 1,
                                             .object = 0,
                                             .weight = 1,
                                             .count = 1,
                                             .bytes = 8,
                                             .ns = 3000000,
                                             .own_ns = 80000};
    lwp_watchpoint_begin(&watchpoints);
    lwp_watchpoint_add(&watchpoints, &verdict);
    verdict.ns = 1000000;
    lwp_watchpoint_add(&watchpoints, &verdict);
    verdict.ns = 0; /* not known */
    lwp_watchpoint_add(&watchpoints, &verdict);
    verdict.second = 2;
    lwp_watchpoint_add(&watchpoints, &verdict);
    lwp_watchpoint_end(&watchpoints);
    assert_true(watchpoints.pairs[0].returns == 2 && watchpoints.pairs[1].returns == 0);
    assert_true(watchpoints.pairs[0].returned_us == 4000 && watchpoints.pairs[0].returned_us2 == 10000000 &&
                watchpoints.pairs[0].returned_own_us == 160);
    lwp_watchpoint_free(&watchpoints);
}

/* Ends of searches of 1 to n visits are guessed wrong n - 1 times in n: chains of 2, 4 and 8, and of one node. */
static void test_endings_of_searches(void **state)
{
    (void)state;
    assert_int_equal(lwp_gain_endings(1.5, 2), 5); /* 1 / 2 of them, of 1.5 visits each: 2 / 3 of those of 2 */
    assert_int_equal(lwp_gain_endings(2.5, 2), 5); /* .6 */
    assert_int_equal(lwp_gain_endings(4.5, 4), 6); /* .78 */
    assert_int_equal(lwp_gain_endings(1, 1), 0);
    assert_int_equal(lwp_gain_endings(INFINITY, 0), 0);
}

/* Nodes from malloc and those of a pool begin at one place of a page: what is the same but for that is run once. */
static void test_place_of_blocks(void **state)
{
    (void)state;
    const uint32_t object = 0;
    struct lwp_object objects[] = {{.kind = LWP_OBJECT_HEAP}};
    const struct lwp_profile profile = {.objects = objects, .object_count = 1};
    const struct lwp_layout layout = {.objects = &object, .object_count = 1, .single = true, .element_bytes = 24, .spacing = 24};
    struct lwp_placement placement;
    lwp_placement_today(&profile, &layout, &placement);
    assert_int_equal(placement.of[0].spacing, 32);
    assert_int_equal(placement.of[0].start, LWP_PLACEMENT_MALLOC);
}

/* A loop takes nine tenths of a program that gets a third of the time on a processor. */
static void test_returns_of_blocks(void **state)
{
    (void)state;
    const uint32_t object = 0;
    struct lwp_object objects[] = {{.first_ns = 1000, .last_ns = 3001000}};
    struct lwp_region region = {.weight = {.weight = 900000}};
    const struct lwp_profile profile = {.objects = objects, .object_count = 1, .regions = &region, .region_count = 1, .total.weight = 1e6};
    const struct lwp_gain_visit visit = {.objects = &object, .object_count = 1};
    near(lwp_gain_return_part(&profile, &visit, 1), 0.3);
    near(lwp_gain_return_part(&profile, &visit, 2), 0.15);
    objects[0].last_ns = 901000;
    near(lwp_gain_return_part(&profile, &visit, 1), 0.9);
}

/* The first loop goes over the elements once, in their order, before another one does what it does. */
static void test_sets_up(void **state)
{
    (void)state;
    enum { SAMPLES = 20 };
    uint32_t object = 0;
    struct lwp_layout_loop loops[2] = {{.region = 0, .weight = {.weight = 40}}, {.region = 1, .weight = {.weight = 60}}};
    struct lwp_layout layout = {.objects = &object, .object_count = 1, .loops = loops, .loop_count = 2, .weight = {.weight = 100}};
    for (int again = 0; again < 2; again++) {
        struct lwp_profile profile = {0};
        struct lwp_traversal_thread thread = {0};
        lwp_traversals_init(&profile.traversals);
        for (uint64_t i = 0; i < 2 * SAMPLES; i++) {
            const uint64_t place = again ? i * 7 % SAMPLES : i % SAMPLES; /* once, or again and again */
            const struct lwp_traversal_access access = {
                .object = 0, .region = i >= SAMPLES, .code = 1, .offset = place << 12, .address = (1 << 20) + (place << 12)};
            lwp_traversals_sample(&profile.traversals, &thread, &access, 1, 1000 * (i + 1));
        }
        assert_true(lwp_gain_sets_up(&profile, &layout, 0) == !again);
        assert_false(lwp_gain_sets_up(&profile, &layout, 1));
        lwp_traversals_fini(&profile.traversals);
    }
}

/* A thousand nodes of 24 bytes, in chunks of 32, become elements of one block. */
static void test_pooled(void **state)
{
    (void)state;
    uint32_t indices[] = {0, 0};
    struct lwp_object object = {.kind = LWP_OBJECT_HEAP};
    struct lwp_region region = {.weight = {.weight = 60}};
    struct lwp_layout_field field = {.bytes = 24};
    struct lwp_layout_loop loop = {.region = 0, .weight = {.weight = 50}};
    struct lwp_layout layout = {.objects = indices,
                                .object_count = 1,
                                .loops = &loop,
                                .loop_count = 1,
                                .fields = &field,
                                .field_count = 1,
                                .spacing = 24,
                                .single = true,
                                .weight = {.weight = 50}};
    struct lwp_placement after = {.field_count = 1, .groups = 1, .of = {{.spacing = 24}}, .pooled = true};
    struct lwp_profile profile = {.engine = LWPS_ENGINE_TIMER,
                                  .objects = &object,
                                  .object_count = 1,
                                  .regions = &region,
                                  .region_count = 1,
                                  .user_ns = 1000000,
                                  .total = {.weight = 100},
                                  .measure_most = 1};
    object.single = true;
    object.bytes = 24000, object.largest = 24;
    uint64_t random = 1;
    for (int i = 0; i < 200; i++) { /* others lie between them */
        random = random * 6364136223846793005u + 1442695040888963407u;
        const uint64_t start = (1 << 20) + (random >> 33) % 1000 * 112;
        const struct lwp_traversal_access accesses[2] = {{.address = start + 8, .offset = 8}, {.address = start + 112}};
        lwp_moves_sample(&profile.moves, &profile, accesses, 2);
    }
    double error;
    assert_true(lwp_placement_spread(&profile, indices, 1, &error) > 64);
    near(lwp_gain_apart(&layout, &after, 1000), 1000 * 8);
    lwp_moves_fini(&profile.moves);
    const struct lwp_share calls = lwp_gain_calls(&profile, &layout, &after, 1000);
#if defined __GLIBC__ && !defined __SANITIZE_ADDRESS__ /* which has a malloc of its own */
    assert_true(calls.low > 0 && calls.low <= calls.value && calls.value <= calls.high);
#endif
    assert_true(calls.high <= 0.4); /* that is all there is beside its loop */
    near(lwp_gain_calls(&profile, &layout, &after, 1e9).value, calls.value > 0 ? 0.4 : 0);
    after.pooled = false;
    near(lwp_gain_apart(&layout, &after, 1000), 0);
    near(lwp_gain_calls(&profile, &layout, &after, 1000).value, 0);
    after.pooled = true;
    profile.measure_most = 0; /* this machine is not asked */
    near(lwp_gain_calls(&profile, &layout, &after, 1000).value, 0);
}

/* A field of 16 bytes is stored to by the first loop, and used by the second one; one of 112 bytes is not seen. */
static void test_untouched(void **state)
{
    (void)state;
    uint32_t object = 0, streams_of = 0;
    struct lwp_stream streams[] = {{.region = 0, .module = LWP_NONE, .stores = 5, .accesses = 5, .next_of_object = 1},
                                   {.region = 1, .module = LWP_NONE, .loads = 9, .accesses = 9, .next_of_object = LWP_NONE}};
    struct lwp_layout_field fields[] = {{.bytes = 16, .accesses = 14}, {.offset = 16, .bytes = 112}};
    struct lwp_layout_loop loops[2] = {{.region = 1, .weight = {.weight = 60}}, {.region = 0, .weight = {.weight = 40}}};
    struct lwp_layout layout = {
        .objects = &object, .object_count = 1, .loops = loops, .loop_count = 2, .fields = fields, .field_count = 2, .spacing = 128};
    struct lwp_placement after = {
        .field_count = 2, .bytes = {16, 112}, .group = {0, 1}, .groups = 2, .of = {{.spacing = 16}, {.spacing = 112}}};
    struct lwp_profile profile = {.streams = streams, .stream_count = 2, .object_streams = &streams_of};
    struct lwp_traversal_thread thread = {0};
    bool sure = false;
    lwp_traversals_init(&profile.traversals);
    for (uint64_t i = 0; i < 14; i++) {
        const struct lwp_traversal_access access = {
            .object = 0, .region = i >= 5, .code = 1, .offset = i << 12, .address = (1 << 20) + (i << 12)};
        lwp_traversals_sample(&profile.traversals, &thread, &access, 1, 1000 * (i + 1));
    }
    near(lwp_gain_untouched(&profile, &layout, &after, 1000, &sure), 1000 * 112);
    assert_true(sure);
    streams[0].loads = 1; /* something has been there before */
    near(lwp_gain_untouched(&profile, &layout, &after, 1000, &sure), 1000 * 112);
    assert_false(sure);
    layout.spacing = 16 + 10000; /* most of its pages are not made today either */
    after.of[1].spacing = 10000;
    near(lwp_gain_untouched(&profile, &layout, &after, 1000, &sure), 1000 * (4096 - 16));
    fields[1].accesses = 1;
    near(lwp_gain_untouched(&profile, &layout, &after, 1000, &sure), 0);
    lwp_traversals_fini(&profile.traversals);
}

/* Elements that are copied first, 256 pages of them, in a program that takes 1 s and 0.1 s for 1000 pages: a pass in today's order, one in
 * the order of their copies, and the pages of these. */
static void test_copied(void **state)
{
    (void)state;
    uint32_t index = 0;
    struct lwp_object object = {.kind = LWP_OBJECT_HEAP, .bytes = 256 * 4096, .largest = 256 * 4096, .allocations = 1};
    struct lwp_layout layout = {.objects = &index, .object_count = 1, .spacing = 64};
    struct lwp_profile profile = {.engine = LWPS_ENGINE_TIMER,
                                  .objects = &object,
                                  .object_count = 1,
                                  .user_ns = 1000000000,
                                  .system_ns = 100000000,
                                  .tick_ns = 1000000,
                                  .resident_bytes = 1000 * 4096,
                                  .page_fault_ns = 100000,
                                  .total = {.weight = 1e9}};
    struct lwp_gain gain = {.speedup = 2, .low = 2, .high = 2, .pattern_ns = 1e9 / (256 * 64) / 10};
    const double left = 0.5 + 0.1 * (1 + 0.5), pages = 0.0256 / 1.1;
    assert_true(lwp_order_copied(&profile, &layout, 1e9, &gain));
    near(1 / gain.speedup, left + pages);
    assert_true(gain.low < gain.speedup && gain.speedup < gain.high);
    profile.page_fault_ns = 0; /* not known */
    gain.speedup = 2;
    assert_true(lwp_order_copied(&profile, &layout, 1e9, &gain));
    assert_true(1 / gain.speedup < left + pages);
}

/* Half of 1024 pages of 1 ms each, of a program that takes 1.024 s beside, are not made any more. */
static void test_pages_saved(void **state)
{
    (void)state;
    struct lwp_profile profile = {.engine = LWPS_ENGINE_TIMER,
                                  .user_ns = 1024000000,
                                  .system_ns = 1024000000,
                                  .resident_bytes = 1024 * 4096,
                                  .page_fault_ns = 1000000,
                                  .tick_ns = 1000000,
                                  .total.weight = 1024e6};
    const struct lwp_share share = {.value = 0.9, .low = 0.8, .high = 1};
    struct lwp_gain_saving sum = {0};
    struct lwp_gain gain;
    near(lwp_gain_pages(&profile, 512 * 4096), 0.25);
    near(lwp_gain_pages(&profile, 1e12), 0.5);
    sum.pages = (struct lwp_share){0.25, 0, 0.25};
    lwp_gain_speedups(&profile, &sum, &share, &gain);
    near(gain.speedup, 1 / 0.75);
    near(gain.low, 1);
    near(gain.high, 1 / 0.75);
}

/* Where the loop counts in a table of a few bytes it waits for what it counts. */
static void test_awaited_elsewhere(void **state)
{
    (void)state;
    enum { LOOP = 1 };
    const uint32_t placed = 0;
    struct lwp_object objects[] = {{.bytes = 64 * MIB}, {.bytes = KIB}, {.bytes = 64 * MIB}};
    struct lwp_stream streams[] = {{.object = 0, .region = LOOP, .weight.weight = 70},
                                   {.object = 1, .region = LOOP, .weight.weight = 20},
                                   {.object = 2, .region = LOOP, .weight.weight = 5},
                                   {.object = 1, .region = LOOP + 1, .weight.weight = 3}};
    const struct lwp_profile profile = {.objects = objects, .object_count = 3, .streams = streams, .stream_count = 4};
    const struct lwp_gain_visit visit = {.region = LOOP, .objects = &placed, .object_count = 1};
    near(lwp_gain_awaited_elsewhere(&profile, &visit), 20);
}

/* Of regions that are one loop, all samples count. */
static void test_comes_before(void **state)
{
    (void)state;
    enum { FILLS, FILLS_TOO, GOES, UNSEEN, REGIONS };
    struct lwp_region regions[REGIONS] = {[FILLS] = {.same_as = FILLS, .first_ns = 10, .last_ns = 20},
                                          [FILLS_TOO] = {.same_as = FILLS, .first_ns = 15, .last_ns = 30},
                                          [GOES] = {.same_as = GOES, .first_ns = 30, .last_ns = 90},
                                          [UNSEEN] = {.same_as = UNSEEN}};
    const struct lwp_profile profile = {.regions = regions, .region_count = REGIONS};
    assert_true(lwp_gain_comes_before(&profile, FILLS, GOES)); /* one sample may look from the one into the other */
    assert_false(lwp_gain_comes_before(&profile, GOES, FILLS) || lwp_gain_comes_before(&profile, GOES, GOES));
    assert_false(lwp_gain_comes_before(&profile, FILLS, UNSEEN) || lwp_gain_comes_before(&profile, UNSEEN, GOES));
    regions[FILLS_TOO].last_ns = 31;
    assert_false(lwp_gain_comes_before(&profile, FILLS, GOES));
}

/* What other loops go through displaces what would have stayed in the core's own caches: half as much time is not saved then. */
static void test_displaced(void **state)
{
    (void)state;
    const uint32_t mine[] = {0};
    struct lwp_object objects[] = {{.kind = LWP_OBJECT_HEAP, .bytes = 8 << 20},
                                   {.kind = LWP_OBJECT_HEAP, .bytes = 4 << 20},
                                   {.kind = LWP_OBJECT_HEAP, .bytes = 2 << 20},
                                   {.kind = LWP_OBJECT_STACK, .bytes = 1 << 20}};
    struct lwp_stream streams[] = {{.object = 0, .region = 0, .weight = {.weight = 100}},
                                   {.object = 0, .region = 1, .weight = {.weight = 50}},
                                   {.object = 1, .region = 1, .weight = {.weight = 50}},
                                   {.object = 2, .region = 1, .weight = {.weight = 1}},
                                   {.object = 3, .region = 1, .weight = {.weight = 50}}};
    struct lwp_profile profile = {.arena = lwp_arena_new(),
                                  .objects = objects,
                                  .object_count = sizeof objects / sizeof *objects,
                                  .streams = streams,
                                  .stream_count = sizeof streams / sizeof *streams};
    profile.machine.l2_bytes = 1 << 20;
    near(lwp_gain_displaced(&profile, 0, mine, 1), 4 << 20); /* not what is hardly gone to, nor the stack */
    assert_true(lwp_gain_displaces(50, 100) && !lwp_gain_displaces(1, 100));

    struct lwp_pattern today = {.array_count = 1, .access_count = 2, .elements = 1 << 13, .far = 1}, changed;
    today.arrays[0] = (struct lwp_pattern_array){.walk = LWP_PATTERN_CHAINED, .spacing = 1024};
    today.accesses[0] = (struct lwp_pattern_access){.offset = 8, .bytes = 8};
    today.accesses[1] = (struct lwp_pattern_access){.offset = 512, .bytes = 8};
    memcpy(&changed, &today, sizeof changed);
    changed.accesses[1].offset = 16;
    changed.arrays[0].spacing = 64;
    profile.stream_count = 0; /* what displaces it is in the layout itself */
    struct lwp_gain_visit visit = {.region = LWP_NONE, .beside = 4 << 20};
    double after = 0;
    assert_true(lwp_gain_time_displaced(&profile, &visit, &today, &changed, &after) && isinf(after)); /* no time to run it */
    assert_false(lwp_gain_time_displaced(&profile, &visit, &changed, &changed, &after));
    visit.beside = 1 << 16;
    assert_false(lwp_gain_time_displaced(&profile, &visit, &today, &changed, &after));

    struct lwp_gain_measured measured = {.ratio = 0.49, .low = 0.4, .high = 0.6};
    lwp_gain_of_displaced(0.64, &measured);
    near(measured.ratio, 0.56);
    near(measured.low, 0.4);
    near(measured.high, 0.75);
    lwp_gain_of_displaced(INFINITY, &measured);
    assert_true(measured.high >= 1);
    lwp_arena_free(profile.arena);
}

/* Runs of what only shared caches hold are not right after each other: what others want of these is another matter in the next moment. */
static void test_runs_apart(void **state)
{
    (void)state;
    struct lwp_profile profile = {.arena = lwp_arena_new(), .measure_seconds = 100, .measure_most = 100, .machine.l2_bytes = 64 << 10};
    struct lwp_pattern before = {.array_count = 1, .access_count = 1, .elements = 1 << 13, .far = 1, .instructions = 4, .chain = 1}, after;
    struct lwp_pattern_times times;
    struct rusage from, until;
    before.arrays[0] = (struct lwp_pattern_array){.walk = LWP_PATTERN_CHAINED, .spacing = 256};
    before.accesses[0] = (struct lwp_pattern_access){.offset = 8, .bytes = 8};
    memcpy(&after, &before, sizeof after);
    after.arrays[0].spacing = 16;
    getrusage(RUSAGE_CHILDREN, &from);
    const double begun = lwp_clock_s(CLOCK_MONOTONIC);
    const bool run = lwp_gain_times(&profile, LWP_NONE, &before, &after, &times);
    const double took = lwp_clock_s(CLOCK_MONOTONIC) - begun;
    getrusage(RUSAGE_CHILDREN, &until);
    lwp_arena_free(profile.arena);
    if (!run || times.runs < 2)
        skip(); /* the machine is too busy */
    assert_true(took - (lwp_cpu_s(&until) - lwp_cpu_s(&from)) > 0.29 * (times.runs - 1));
}

/* Runs are given up on a machine that lets them wait for much longer than they take. */
static void unless_starved(double begun, bool holds)
{
    enum { STARVED = 10 };
    if (!holds && lwp_clock_s(CLOCK_MONOTONIC) - begun > STARVED)
        skip();
    assert_true(holds);
}

/* A pattern is run again where its loop takes much of all time; not when it is asked for once more, nor when it does not wait for memory,
 * nor for a loop that takes little: of that one no more is run, and a note says so, once its part of the time is used up. */
static void test_runs(void **state)
{
    (void)state;
    struct lwp_region regions[] = {{.weight = {.weight = 3}}, {.weight = {.weight = 4}}, {.weight = {.weight = 2}}};
    struct lwp_profile profile = {.arena = lwp_arena_new(), .measure_seconds = 100, .measure_most = 100, .regions = regions};
    profile.total.weight = 100;
    struct lwp_pattern before = {.array_count = 1, .access_count = 1, .elements = 1 << 12, .instructions = 4, .chain = 1}, after, other;
    struct lwp_pattern_times times, same;
    before.arrays[0] = (struct lwp_pattern_array){.walk = LWP_PATTERN_CHAINED, .spacing = 256};
    before.accesses[0] = (struct lwp_pattern_access){.offset = 8, .bytes = 8};
    before.far = 1;
    const double begun = lwp_clock_s(CLOCK_MONOTONIC);
    memcpy(&after, &before, sizeof after);
    after.arrays[0].spacing = 16;
    if (!lwp_gain_times_once(&profile, 0, &before, &after, &times))
        skip(); /* the machine is too busy: what takes too long is given up */
    const double once = 100 - profile.measure_seconds;
    assert_true(times.runs <= 1);
    unless_starved(begun, lwp_gain_times(&profile, 0, &before, &after, &times));
    assert_true(times.runs <= 1);
    unless_starved(begun, lwp_gain_times(&profile, LWP_NONE, &before, &after, &times));
    unless_starved(begun, times.runs > 1 && times.spread > 0 && times.today > 0);
    assert_true(times.ratio > 0 && times.before > 0);
    const double left = profile.measure_seconds;
    unless_starved(begun, lwp_gain_times(&profile, LWP_NONE, &before, &after, &same));
    near(profile.measure_seconds, left);
    near(same.ratio, times.ratio);
    memcpy(&other, &after, sizeof other);
    other.arrays[0].spacing = 32;
    profile.measure_seconds = once;
    profile.measure_most = 2 * once;
    assert_int_equal(profile.note_count, 0);
    assert_true(!lwp_gain_times(&profile, 0, &before, &other, &times));
    assert_true(!lwp_gain_times(&profile, 1, &before, &other, &times)); /* what takes less had its part, too */
    assert_int_equal(profile.note_count, 1);
    lwp_gain_times(&profile, 2, &before, &other, &times);
    unless_starved(begun, profile.measure_seconds < once); /* it was run: what takes more left it its part */
    if (lwp_gain_times(&profile, LWP_NONE, &after, &after, &times))
        near(times.ratio, 1); /* the same is the same */
    profile.measure_most = profile.measure_seconds = 100;
    before.elements = after.elements = 128; /* the nearest cache has them */
    before.arrays[0].spacing = 16;
    before.chain = after.chain = 20;
    before.arrays[0].walk = after.arrays[0].walk = LWP_PATTERN_STEPS;
    assert_true(!lwp_gain_times(&profile, LWP_NONE, &before, &after, &times) || times.runs <= 1);
    free(profile.notes);
    lwp_arena_free(profile.arena);
}

/* What the system takes to make pages does not count against the seconds that runs may take. */
static void test_runs_own_time(void **state)
{
    (void)state;
    struct lwp_profile profile = {.arena = lwp_arena_new(), .measure_seconds = 100, .measure_most = 100};
    struct lwp_pattern pattern = {.array_count = 1, .access_count = 1, .elements = 1 << 14, .instructions = 4, .chain = 1};
    struct lwp_pattern_times times;
    pattern.arrays[0] = (struct lwp_pattern_array){.walk = LWP_PATTERN_STEPS, .spacing = 4096};
    pattern.accesses[0] = (struct lwp_pattern_access){.offset = 8, .bytes = 8};
    const double began = lwp_clock_s(CLOCK_MONOTONIC);
    if (!lwp_gain_times_once(&profile, LWP_NONE, &pattern, &pattern, &times))
        skip();
    const double took = lwp_clock_s(CLOCK_MONOTONIC) - began, charged = 100 - profile.measure_seconds;
    assert_true(charged < 0.99 * took && charged > 0.3 * took);
    lwp_arena_free(profile.arena);
}

/* A loop that goes anywhere in an array, by a list of indices that it goes over in order: 20 ns an index. */
static void test_pace_beside(void **state)
{
    (void)state;
    enum { DATA, LIST, LOOP, SAMPLES = 40, NS = 20 };
    struct lwp_traversals traversals;
    struct lwp_traversal_thread thread = {0};
    const uint64_t bytes = 16 << 20;
    uint64_t random = 3;
    lwp_traversals_init(&traversals);
    for (uint64_t i = 0, time = 0; i < SAMPLES; i++) {
        const uint64_t ran = 1000000 + i * 12347;
        time += ran;
        const struct lwp_traversal_access accesses[] = {
            {.object = DATA, .region = LOOP, .code = 1, .offset = (uint64_t)(drawn(&random) * 4096) * 4096, .weight = ran, .ran_ns = ran},
            {.object = LIST, .region = LOOP, .code = 2, .offset = time / NS * 4 % bytes, .ran_ns = ran},
            {.object = LIST, .region = LOOP, .code = 2, .offset = (time / NS + 1) * 4 % bytes, .ran_ns = ran}};
        lwp_traversals_sample(&traversals, &thread, accesses, 3, time);
    }
    const struct lwp_traversal *list = lwp_traversals_of(&traversals, LIST, LOOP), *data = lwp_traversals_of(&traversals, DATA, LOOP);
    assert_int_equal(list->pace_seen, SAMPLES - 1); /* one for each pair of samples */
    double pace = lwp_pace(list->paces, list->pace_count, 4, (double)bytes);
    assert_true(pace > 0.97 * NS && pace < 1.03 * NS);
    assert_true(lwp_pace(data->paces, data->pace_count, 8, (double)bytes) == 0);
    lwp_traversals_fini(&traversals);
}

/* One run that is twice as fast on huge pages shows nothing, nor do two that differ; two that agree do. */
static void test_huge_pages(void **state)
{
    (void)state;
    const struct lwp_gain_range stalls = {0.8, 0.9};
    const struct lwp_share whole = {.value = 0.9, .low = 0.85, .high = 0.95};
    struct lwp_pattern_times times = {.before = 200, .after = 90, .core = 2, .ratio = 0.45, .low = 0.45, .high = 0.45};
    struct lwp_locality_tip tip = {0};
    assert_false(lwp_huge_pages_gain(&times, &stalls, &whole, 1, &tip));
    times.runs = 2;
    times.spread = fabs(log(0.45 / 0.95)) * M_SQRT1_2;
    assert_false(lwp_huge_pages_gain(&times, &stalls, &whole, 1, &tip));
    times.spread = 0.05;
    assert_true(lwp_huge_pages_gain(&times, &stalls, &whole, 1, &tip));
    assert_true(tip.gain.low > 1.02 && tip.gain.low <= tip.speedup && tip.speedup <= tip.gain.high && tip.speedup > 1.5);
    times.ratio = times.low = times.high = 0.97; /* no more than what minutes differ by */
    times.after = 0.97 * times.before;
    assert_false(lwp_huge_pages_gain(&times, &stalls, &whole, 1, &tip));
}

/* Where a walk takes much less time than there is between two samples, or there are no walks, a pace found would be chance. */
static void test_pace_by_chance(void **state)
{
    (void)state;
    enum { PAIRS = 48, TIMES = 300 };
    const double extent = 2 << 20, stride = 32, walk[] = {2000, 50000, 1000000}; /* ns */
    struct lwp_traversal_pace paces[PAIRS];
    uint64_t random = 3;
    for (size_t known = 0; known < 3; known++) {
        unsigned found = 0, right = 0;
        const double ns = walk[known] / (extent / stride);
        for (int round = 0; round < TIMES; round++) {
            for (int i = 0; i < PAIRS; i++) {
                const double ran = 300000 + 4400000 * drawn(&random), from = drawn(&random), to = from + ran / walk[known];
                const double at = known == 2 && i % 6 ? to : drawn(&random); /* some saw something else */
                paces[i] = (struct lwp_traversal_pace){.ns = (uint64_t)ran, .bytes = (int64_t)((at - floor(at) - from) * extent)};
            }
            const double pace = lwp_pace(paces, PAIRS, stride, extent);
            found += pace > 0;
            right += pace > 0.95 * ns && pace < 1.05 * ns;
        }
        assert_true(known == 2 ? right >= TIMES * 95 / 100 : found <= TIMES / 100);
    }
}

/* Samples a thousandth apart, all of them: a walk of 0.4 ms looks like one of 1.7 ms, or of 0.7. */
static void test_pace_aliased(void **state)
{
    (void)state;
    enum { PAIRS = 48, TIMES = 50, RAN = 1000000 };
    const double extent = 2 << 20, stride = 32;
    struct lwp_traversal_pace paces[PAIRS];
    uint64_t random = 11;
    for (int round = 0; round < TIMES; round++) {
        const double walk = RAN * (0.3 + drawn(&random));
        for (int i = 0; i < PAIRS; i++) {
            const double from = drawn(&random), at = from + RAN / walk * (0.995 + 0.01 * drawn(&random));
            paces[i] = (struct lwp_traversal_pace){.ns = RAN, .bytes = (int64_t)((at - floor(at) - from) * extent)};
        }
        assert_true(lwp_pace(paces, PAIRS, stride, extent) == 0);
    }
}

/* A walk of 10 ms a time round, which is up to 8 % faster or slower from one pair of samples to the next. */
static void test_pace_scatters(void **state)
{
    (void)state;
    enum { PAIRS = 48, TIMES = 100 };
    const double extent = 2 << 20, stride = 4, walk = 1e7, ns = walk / (extent / stride);
    struct lwp_traversal_pace paces[PAIRS];
    uint64_t random = 7;
    unsigned right = 0;
    for (int round = 0; round < TIMES; round++) {
        for (int i = 0; i < PAIRS; i++) {
            const double ran = 300000 + 4400000 * drawn(&random), from = drawn(&random);
            const double at = from + ran / walk * (0.92 + 0.16 * drawn(&random));
            paces[i] = (struct lwp_traversal_pace){.ns = (uint64_t)ran, .bytes = (int64_t)((at - floor(at) - from) * extent)};
        }
        const double pace = lwp_pace(paces, PAIRS, stride, extent);
        right += pace > 0.92 * ns && pace < 1.08 * ns;
    }
    assert_true(right >= TIMES * 95 / 100);
}

/* Fields are gone to as the code does, also where another layout has them in another order; those of which nothing is known come last. */
static void test_order_of_code(void **state)
{
    (void)state;
    enum { FIELDS = 4 };
    struct lwp_region region = {.same_as = 0};
    struct lwp_profile profile = {.regions = &region, .region_count = 1};
    const struct lwp_gain_visit visit = {.objects = &(uint32_t){0},
                                         .object_count = 1,
                                         .uses = (bool[]){true, true, true, true},
                                         .first = (uint64_t[]){0x140c, 0, 0x1408, 0x1400},
                                         .elements = 1000,
                                         .visits = 1,
                                         .leader = LWP_NONE,
                                         .access = {LWP_GAIN_SEQUENTIAL, true, 7}};
    struct lwp_placement placement = {.field_count = FIELDS, .groups = 1, .of = {{.spacing = 128}}};
    struct lwp_pattern pattern;
    for (size_t f = 0; f < FIELDS; f++) {
        placement.offsets[f] = 32 * f;
        placement.bytes[f] = 8;
    }
    static const uint64_t wanted[] = {96, 64, 0, 32};
    lwp_traversals_init(&profile.traversals);
    assert_true(lwp_gain_pattern(&profile, &visit, &placement, 1, 128, &pattern));
    assert_int_equal(pattern.access_count, FIELDS);
    for (size_t i = 0; i < FIELDS; i++)
        assert_int_equal(pattern.accesses[i].offset, wanted[i]);
    assert_int_equal(pattern.arrays[0].link, 0);
    lwp_traversals_fini(&profile.traversals);
}

/* Most steps of a search by halves are near the one before: it is no sequential loop, in which elements share lines. */
static void test_halves_jump(void **state)
{
    (void)state;
    enum { BYTES = 64, ELEMENTS = MIB };
    char path[256];
    if (!programs_build("g++", "-O2 -g", "searches.cc", path, sizeof path))
        skip();
    struct lwp_profile profile;
    struct lwp_gain gain;
    struct lwp_loop_shape shape;
    lwp_profile_init(&profile);
    profile.code = lwp_code_new(profile.arena);
    const uint32_t module = lwp_code_module(profile.code, path, NULL, 0);
    uint32_t object = lwp_objects_allocated(&profile, LWP_OBJECT_HEAP, 0, 0);
    profile.objects[object].bytes = profile.objects[object].largest = (uint64_t)BYTES * ELEMENTS;
    profile.objects[object].element_bytes = BYTES;
    LWP_GROW(&profile.regions, profile.region_count, &profile.region_room);
    profile.regions[profile.region_count++] = (struct lwp_region){.module = module, .parent = LWP_NONE, .reported = LWP_NONE};
    const struct lwps_access access = {.bytes = 8, .flags = LWPS_ACCESS_KNOWN | LWPS_ACCESS_WEIGHTED | LWPS_ACCESS_LOAD};
    const uint64_t address = access_of(profile.code, module, path, "halves_branches", &shape);
    for (uint64_t i = 0; i < 100; i++) {
        streams_add(&profile, object, 0, module, address, &access, i * 7919 % ELEMENTS * BYTES, 1);
        lwp_tally_add(&profile.total, 1);
    }
    profile.stalled = profile.regions[0].weight = profile.objects[object].weight = profile.total;
    lwp_streams_link(&profile);
    struct lwp_layout_field fields[] = {{.name = "key", .bytes = 8}, {.name = "rest", .offset = 8, .bytes = BYTES - 8}};
    struct lwp_layout_loop loop = {.region = 0, .weight = profile.total, .uses = {true}, .used = 1, .near = 70, .far = 30};
    const struct lwp_layout layout = {.objects = &object,
                                      .object_count = 1,
                                      .element_bytes = BYTES,
                                      .spacing = BYTES,
                                      .fields = fields,
                                      .field_count = 2,
                                      .loops = &loop,
                                      .loop_count = 1,
                                      .weight = profile.total};
    const struct lwp_placement after = {
        .field_count = 2, .groups = 2, .bytes = {8, BYTES - 8}, .group = {0, 1}, .of = {{.spacing = 8}, {.spacing = BYTES - 8}}};
    assert_int_equal(shape.search, LWP_LOOP_SEARCH_BISECTION);
    lwp_gain_between(&profile, &layout, &after, &gain);
    assert_int_equal(gain.loop_count, 1);
    near(gain.loops[0].after, 1); /* sequential: 1/8 */
    lwp_code_free(profile.code);
    profile.code = NULL;
    lwp_profile_fini(&profile);
}

/* Nodes in disorder among `window` neighbours, seen 1 to `most` visits on: steps back say how many neighbours. */
static uint64_t window_of(unsigned window, unsigned most)
{
    enum { SEEN = 200, NODE = 144 };
    struct lwp_move kept[SEEN];
    struct lwp_profile profile = {.moves = {.items = &(struct lwp_code_moves){.count = SEEN, .kept = kept}, .count = 1},
                                  .regions = &(struct lwp_region){.same_as = 0}};
    const struct lwp_gain_visit visit = {.objects = &(uint32_t){0}, .object_count = 1};
    struct lwp_pattern pattern = {0};
    uint32_t order[64 * SEEN], state = 1;
    for (uint32_t i = 0; i < 64 * SEEN; i++)
        order[i] = i;
    for (uint32_t i = 0; i < 64 * SEEN; i++) { /* Fisher and Yates */
        const uint32_t left = window - i % window;
        state = state * 1664525 + 1013904223;
        const uint32_t other = i + (state >> 16) % left, node = order[i];
        if (other < 64 * SEEN) {
            order[i] = order[other];
            order[other] = node;
        }
    }
    for (uint32_t i = 0; i < SEEN; i++) {
        state = state * 1664525 + 1013904223;
        const uint32_t later = i * 61 + 1 + (state >> 16) % most;
        kept[i] = (struct lwp_move){.bytes = ((int64_t)order[later] - order[i * 61]) * NODE, .next = most == 1};
    }
    lwp_gain_chain_pattern(&profile, &visit, NODE, &pattern);
    near(pattern.far, 0);
    return pattern.window;
}

static void test_window_of_neighbours(void **state)
{
    (void)state;
    static const double back[] = {3, 3, 3, 3, 2, 1, 3, 3, 1, 3, 3, 3, 1}; /* of 7 some would be farther apart, as likely as not */
    assert_int_equal(lwp_gain_window(back, sizeof back / sizeof *back, false), 5);
    assert_int_equal(lwp_gain_window(back, sizeof back / sizeof *back, true), 4);
    assert_int_equal(lwp_gain_window(back, 0, false), 0);
    /* Eight that are visited in one order, each window a neighbour on; a few others lie elsewhere. */
    static const double regular[] = {5, -3, 5, -3, -3, 5, -3, 6, 5, -3, -3, 5, -3, 5, -3, 14, -3, 5, -3, 5, -3, -3, 5, 6},
                        in_order[] = {1, 1, 1, 1, 90, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -2};
    assert_in_range(lwp_gain_window_of_next(regular, sizeof regular / sizeof *regular), 7, 9);
    assert_int_equal(lwp_gain_window_of_next(in_order, sizeof in_order / sizeof *in_order), 1);
    assert_int_equal(lwp_gain_window_of_next(NULL, 0), 0);
    assert_int_equal(window_of(1, 8), 0);
    for (unsigned window = 4; window <= 32; window *= 2)
        for (unsigned most = 1; most <= 2 * window; most *= 2)
            assert_in_range(window_of(window, most), window * 3 / 4, window * 5 / 4);
}

/* A list whose newest node is its head: each is before the last one, so it is no disorder. */
static void test_from_last_to_first(void **state)
{
    (void)state;
    enum { SEEN = 50, NODE = 64 };
    struct lwp_move kept[SEEN];
    struct lwp_profile profile = {.moves = {.items = &(struct lwp_code_moves){.count = SEEN, .kept = kept}, .count = 1},
                                  .regions = &(struct lwp_region){.same_as = 0}};
    const struct lwp_gain_visit visit = {.objects = &(uint32_t){0}, .object_count = 1};
    struct lwp_pattern pattern = {0};
    for (uint32_t i = 0; i < SEEN; i++)
        kept[i] = (struct lwp_move){.bytes = -NODE, .next = true};
    lwp_gain_chain_pattern(&profile, &visit, NODE, &pattern);
    near(pattern.far, 0);
    assert_int_equal(pattern.window, 0);
}

/* A list that is sorted by what has few values: in one direction, over what it comes to another time. Of a loop of `accesses` for each node
 * the very next visit is seen where they are few, else one that is some accesses on. */
static struct lwp_pattern passes_of(int direction, unsigned passes, bool even, unsigned accesses)
{
    enum { SEEN = 200, NODE = 112 };
    struct lwp_move kept[SEEN];
    struct lwp_stream streams[8] = {{0}};
    struct lwp_profile profile = {.moves = {.items = &(struct lwp_code_moves){.count = SEEN, .kept = kept}, .count = 1},
                                  .regions = &(struct lwp_region){.same_as = 0},
                                  .streams = streams,
                                  .stream_count = accesses};
    const struct lwp_gain_visit visit = {.objects = &(uint32_t){0}, .object_count = 1};
    struct lwp_pattern pattern = {.elements = 100000};
    uint32_t random = 1;
    for (unsigned i = 0; i < accesses; i++)
        streams[i].fair_seen = 30;
    for (size_t i = 0; i < SEEN; i++) {
        random = random * 1664525 + 1013904223;
        unsigned step = 0, visits = accesses ? 1 + (random >> 8) % (LWP_GAIN_PASSED_MOST / accesses) : 1;
        for (; visits; visits--) {
            step += even ? passes : 1;
            for (; !even && (random = random * 1664525 + 1013904223) >> 8 >= (1 << 24) / passes; step++)
                ;
        }
        kept[i] = (struct lwp_move){.bytes = (i == 7 ? -1 : 1) * direction * (int)(step * NODE), .next = !accesses};
    }
    lwp_gain_chain_pattern(&profile, &visit, NODE, &pattern);
    near(pattern.far, 0);
    assert_int_equal(pattern.window, 0);
    return pattern;
}

static void test_passes_of_a_chain(void **state)
{
    (void)state;
    assert_int_equal(LWP_GAIN_PASSED_MOST, LWP_DITHER_MOST);
    for (int direction = -1; direction <= 1; direction += 2) {
        assert_int_equal(passes_of(direction, 1, true, 0).passes, 0);
        assert_int_equal(passes_of(direction, 1, true, 4).passes, 0);
        assert_in_range(passes_of(direction, 8, false, 0).passes, 7, 9);
        assert_in_range(passes_of(direction, 8, false, 4).passes, 6, 10);
        assert_in_range(passes_of(direction, 300, false, 4).passes, 240, 360);
        assert_false(passes_of(direction, 8, false, 0).even);
        assert_int_equal(passes_of(direction, 4, true, 0).passes, 4);
        assert_true(passes_of(direction, 4, true, 0).even);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_window_of_neighbours),
        cmocka_unit_test(test_from_last_to_first),
        cmocka_unit_test(test_passes_of_a_chain),
        cmocka_unit_test(test_ends_of_chains),
        cmocka_unit_test(test_halves_jump),
        cmocka_unit_test(test_order_of_code),
        cmocka_unit_test(test_lines_sequential),
        cmocka_unit_test(test_lines_random),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_chunk),
        cmocka_unit_test(test_model),
        cmocka_unit_test(test_stalled),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_tree_links),
        cmocka_unit_test(test_possible_pace),
        cmocka_unit_test(test_searches_begun),
        cmocka_unit_test(test_run_is_known),
        cmocka_unit_test(test_kernel_time),
        cmocka_unit_test(test_traced_kernel_time),
        cmocka_unit_test(test_interval),
        cmocka_unit_test(test_interval_of_runs),
        cmocka_unit_test(test_interval_of_unsteady_machine),
        cmocka_unit_test(test_no_gain),
        cmocka_unit_test(test_shares_of_the_cache),
        cmocka_unit_test(test_part_saved),
        cmocka_unit_test(test_part_of_agreeing_runs),
        cmocka_unit_test(test_part_of_unsteady_today),
        cmocka_unit_test(test_least_ratio),
        cmocka_unit_test(test_crowded),
        cmocka_unit_test(test_most_saved),
        cmocka_unit_test(test_two_cursors),
        cmocka_unit_test(test_waits_less),
        cmocka_unit_test(test_takes_what_it_computes),
        cmocka_unit_test(test_state_of_the_cache),
        cmocka_unit_test(test_returns),
        cmocka_unit_test(test_place_of_blocks),
        cmocka_unit_test(test_endings_of_searches),
        cmocka_unit_test(test_returns_of_blocks),
        cmocka_unit_test(test_tail_overlaps),
        cmocka_unit_test(test_sets_up),
        cmocka_unit_test(test_untouched),
        cmocka_unit_test(test_pooled),
        cmocka_unit_test(test_copied),
        cmocka_unit_test(test_pages_saved),
        cmocka_unit_test(test_awaited_elsewhere),
        cmocka_unit_test(test_comes_before),
        cmocka_unit_test(test_displaced),
        cmocka_unit_test(test_guessed_turns),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_runs_apart),
        cmocka_unit_test(test_runs_own_time),
        cmocka_unit_test(test_huge_pages),
        cmocka_unit_test(test_pace_beside),
        cmocka_unit_test(test_pace_by_chance),
        cmocka_unit_test(test_pace_aliased),
        cmocka_unit_test(test_pace_scatters),
    };
    return cmocka_run_group_tests(tests, programs_set_up, programs_tear_down);
}
