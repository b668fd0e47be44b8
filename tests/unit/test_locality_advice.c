/* Which advice follows from what a trace shows of loops, and what it promises, on rows made by hand: each kind once, and
 * what is next to it but calls for none. A machine with 12 ways of 4 KiB, 2 MiB and 32 MiB of cache, lines of 64 bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/advice/layout/regroup.h"
#include "analysis/advice/locality/locality_advice.h"
#include "analysis/profile/contexts.h"
#include "analysis/profile/first_touch.h"
#include "analysis/profile/objects.h"
#include "format/record.h"

#include <string.h>

enum { FUNCTION, AROUND, INNER, NEXT, ALONE, REGIONS };
enum { ROWS = 2, ACCESSES = 1000, FAR = 20 /* beyond the second level's 2^15 lines */ };

static struct lwp_profile profile;
static uint32_t object;
static struct lwp_locality_count counts[ROWS];
static struct lwp_locality_row rows[ROWS];
static struct lwp_locality locality;
static struct lwp_locality_tips tips;

static void make_region(uint32_t parent, uint32_t line, bool is_function)
{
    LWP_GROW(&profile.regions, profile.region_count, &profile.region_room);
    profile.regions[profile.region_count] = (struct lwp_region){
        .is_function = is_function, .parent = parent, .module = LWP_NONE, .function = "work", .file = "work.c",
        .first_line = line, .last_line = line + 2, .same_as = (uint32_t)profile.region_count, .reported = LWP_NONE};
    profile.region_count++;
}

/* Two rows of one loop and object: half of all weight, 25 cycles an access, in steps of 8 bytes. */
static int make(void **state)
{
    (void)state;
    lwp_profile_init(&profile);
    profile.weight_unit = LWPS_WEIGHT_SIMULATED_CYCLES;
    profile.machines[LWP_MACHINE_HERE].caches = (struct lwp_cache){
        .levels = 3, .line_shift = 6, .level = {{.bytes = 48 << 10, .ways = 12}, {.bytes = 2 << 20, .ways = 16}, {.bytes = 32 << 20, .ways = 16}}};
    make_region(LWP_NONE, 1, true);
    make_region(FUNCTION, 2, false);
    make_region(AROUND, 3, false);
    make_region(AROUND, 7, false);
    make_region(FUNCTION, 20, false);
    object = lwp_objects_allocated(&profile, LWP_OBJECT_HEAP, lwp_contexts_child(&profile, 0, LWP_NONE, 0x4000, false), 0);
    profile.objects[object].label = "table";
    memset(counts, 0, sizeof counts);
    for (int i = 0; i < ROWS; i++) {
        counts[i] = (struct lwp_locality_count){.accesses = ACCESSES, .found = {.at = {875, 0, 0, 125}, .cycles = 25 * ACCESSES}};
        rows[i] = (struct lwp_locality_row){
            .object = object, .region = INNER, .count = &counts[i], .share = 0.25, .numa = -1, .stride = 8, .stride_share = 1};
    }
    locality = (struct lwp_locality){.measured = true, .rows = rows, .count = 1};
    rows[0].share = 0.5;
    return 0;
}

static int clean(void **state)
{
    (void)state;
    lwp_profile_fini(&profile);
    return 0;
}

static void advise(const struct lwp_regroups *regroups)
{
    lwp_locality_advise(&profile, &locality, regroups ? lwp_regroup_members(&profile, regroups) : NULL, &tips);
}

static void assert_tip(enum lwp_tip_kind kind, double saved, const char *title, const char *next_step)
{
    advise(NULL);
    assert_int_equal(tips.count, 1);
    assert_int_equal(tips.tips[0].kind, kind);
    assert_float_equal(tips.tips[0].gain.low, 1 / (1 - saved / 2), 1e-9);
    assert_float_equal(tips.tips[0].gain.high, 1 / (1 - saved), 1e-9);
    if (!strstr(tips.tips[0].title, title))
        fail_msg("'%s' is not in '%s'", title, tips.tips[0].title);
    if (!strstr(tips.tips[0].next_step, next_step))
        fail_msg("'%s' is not in '%s'", next_step, tips.tips[0].next_step);
}

static void assert_none(void)
{
    advise(NULL);
    assert_int_equal(tips.count, 0);
}

static void give(struct lwp_locality_row *row, enum lwp_locality_value_of of, const struct lwp_locality_value *values, size_t count)
{
    row->values[of] = (struct lwp_locality_frequent){values, count};
    ((struct lwp_locality_count *)row->count)->values[of] = ACCESSES;
}

static void test_nothing(void **state)
{
    (void)state;
    assert_none();
    rows[0].region = LWP_NONE;
    assert_none();
}

static void test_padding(void **state)
{
    (void)state;
    static const struct lwp_locality_value steps[] = {{.value = 8, .count = 100}, {.value = -8192, .count = 300}, {.value = 4096, .count = 600}};
    give(&rows[0], LWP_LOCALITY_STRIDE, steps, 3);
    counts[0].conflicts = 500;
    /* 500 accesses wait for the first level instead of the second: 13 of 25 cycles for half of them. */
    assert_tip(LWP_TIP_PADDING, 0.5 * 500 * (14 - 1) / 25000, "multiples of 4096 bytes", "64 bytes (a cache line) longer");
    assert_false(lwp_locality_tips_change(&locality, &tips, object, 1));
    counts[0].conflicts = 299; /* less than 30 % */
    assert_none();
    counts[0].conflicts = 500;
    give(&rows[0], LWP_LOCALITY_STRIDE, steps, 2);
    assert_tip(LWP_TIP_PADDING, 0.5 * 500 * 13 / 25000, "multiples of 4096 bytes", "");
    static const struct lwp_locality_value mixed[] = {{.value = 8, .count = 500}, {.value = 4096, .count = 500}};
    give(&rows[0], LWP_LOCALITY_STRIDE, mixed, 2);
    assert_none();
}

static void test_interchange(void **state)
{
    (void)state;
    static const struct lwp_locality_value still[] = {{.value = 0, .count = 900}, {.value = 16, .count = 90}};
    rows[0].stride = 8000;
    rows[0].outer = 8;
    rows[0].outer_share = 0.9;
    /* Eight to a line then, which comes ahead: 1 + 16/8 cycles. */
    assert_tip(LWP_TIP_INTERCHANGE, 0.5 * (1 - 3.0 / 25), "with a stride of 8000 bytes; the loop around it has a stride of 8",
               "make the loop at work.c:2-4 the inner one");
    assert_true(lwp_locality_tips_change(&locality, &tips, object, 1));
    assert_false(lwp_locality_tips_change(&locality, &tips, object + 1, 1));
    /* Beside it something that stands still would have a stride of 16 bytes: 1 + 16/4 cycles of 25. */
    locality.count = 2;
    rows[1].stride = 0;
    give(&rows[1], LWP_LOCALITY_STRIDE, still, 2);
    assert_tip(LWP_TIP_INTERCHANGE, 0.75 * (1 - 8.0 / 50), "8000", "");
    counts[1].accesses = 3 * ACCESSES; /* ... so often that the loop as a whole takes more than half of the lines */
    assert_none();
    locality.count = 1;
    rows[0].region = ALONE; /* no loop around it */
    assert_none();
}

static void test_fission(void **state)
{
    (void)state;
    size_t member = 0;
    struct lwp_regroup group = {.members = &member, .count = 1};
    static struct lwp_regroups regrouped;
    regrouped = (struct lwp_regroups){.regroups = &group, .count = 1};
    regrouped.candidates.arrays[0].object = object;
    regrouped.candidates.count = 1;
    rows[0].streams = 40;
    assert_tip(LWP_TIP_FISSION, 0.5 * (1 - 3.0 / 25), "40 concurrent streams: more than the 32", "make 3 loops");
    advise(&regrouped); /* regrouping the arrays is the advice */
    assert_int_equal(tips.count, 0);
    profile.machine.streams = 64;
    assert_none();
}

/* 120 of 125 lines come from beyond the second level; all but one cycle an access is waiting. */
static void make_far(struct lwp_locality_row *row, uint32_t before)
{
    static struct lwp_locality_value befores[2];
    befores[0] = (struct lwp_locality_value){.value = ALONE, .count = 100};
    befores[1] = (struct lwp_locality_value){.value = before, .count = 900};
    give(row, LWP_LOCALITY_BEFORE, befores, 2);
    struct lwp_locality_count *count = (struct lwp_locality_count *)row->count;
    count->distances[0] = 875;
    count->distances[3] = 5;
    count->distances[FAR] = 120;
}

static const double far_saved = 0.5 * 24 / 25 * 120 / 125;

static void test_blocking(void **state)
{
    (void)state;
    make_far(&rows[0], INNER);
    rows[0].outer_share = 0.9; /* each traversal begins where the one before began */
    assert_tip(LWP_TIP_BLOCKING, far_saved, "again and again: 96 % of the lines", "24576 bytes of table");
    assert_non_null(strstr(tips.tips[0].next_step, "3072 elements at a stride of 8 bytes"));
    counts[0].stores = 1;
    assert_none();
    counts[0].stores = 0;
    rows[0].outer = 64;
    assert_none();
    rows[0].outer = 0;
    counts[0].distances[FAR] = 60; /* less than half of the lines */
    assert_none();
}

static void test_fusion(void **state)
{
    (void)state;
    locality.count = 2;
    rows[0].region = NEXT;
    make_far(&rows[0], INNER);
    assert_tip(LWP_TIP_FUSION, far_saved, "reads", "make one loop of the loops at work.c:3-5 and at work.c:7-9, so that table");
    counts[1].stores = 1; /* the first loop writes it */
    assert_none();
    counts[1].stores = 0;
    rows[1].stride = 16; /* they go different ways */
    assert_none();
    rows[1].stride = 8;
    rows[1].streams = rows[0].streams = 20; /* together more than are followed */
    assert_none();
    rows[1].streams = rows[0].streams = 0;
    rows[0].region = ALONE; /* not one after the other in one loop */
    assert_none();
}

static void test_touch(void **state)
{
    (void)state;
    struct lwp_touched touched = {.object = object, .accesses = 1000, .local = 300, .best = 900};
    profile.locality.touched = &touched;
    profile.locality.touched_count = 1;
    advise(NULL);
    assert_int_equal(tips.count, 1);
    assert_int_equal(tips.tips[0].kind, LWP_TIP_TOUCH);
    assert_non_null(strstr(tips.tips[0].title, "70 % of the accesses"));
    assert_non_null(strstr(tips.tips[0].next_step, "up to 90 %"));
    profile.locality.gaps = true;
    assert_none();
    profile.locality.gaps = false;
    touched.best = 499; /* no place would be much better */
    assert_none();
    touched.best = 900;
    profile.weight_unit = LWPS_WEIGHT_EVENTS; /* of no time */
    assert_none();
    profile.locality.touched = NULL;
    profile.locality.touched_count = 0;
}

/* Two nodes of two cores: threads 0, 1, 4, 5 on the first, 2, 3 on the second. */
static void test_first_touch(void **state)
{
    (void)state;
    struct lwp_hierarchy_plan machines[LWP_MACHINES] = {{.cores = 8, .nodes = 1}, {.cores = 4, .nodes = 2}};
    struct lwp_first_touch touch = {0};
    struct lwp_touched touched;
    lwp_first_touch_begin(&touch, machines);
    assert_int_equal(touch.nodes, 2);
    assert_true(lwp_first_touch_access(&touch, 1, 0x1000, 7));
    for (int i = 0; i < 9; i++)
        assert_false(lwp_first_touch_access(&touch, 2 + i % 2, 0x1ff8, 7));
    assert_true(lwp_first_touch_access(&touch, 3, 0x2000, 7)); /* another page */
    assert_true(lwp_first_touch_access(&touch, 4, 0x1000, 7));
    assert_int_equal(touch.count, 2);
    touched = lwp_first_touch_page(&touch, 0);
    assert_int_equal(touched.object, 7);
    assert_int_equal(touched.accesses, 11);
    assert_int_equal(touched.local, 2);
    assert_int_equal(touched.best, 9);
    touched = lwp_first_touch_page(&touch, 1);
    assert_int_equal(touched.local, 1);
    lwp_first_touch_free(&touch);
    machines[1].nodes = 1;
    lwp_first_touch_begin(&touch, machines);
    assert_int_equal(touch.nodes, 0);
    lwp_first_touch_free(&touch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nothing, make, clean),     cmocka_unit_test_setup_teardown(test_padding, make, clean),
        cmocka_unit_test_setup_teardown(test_interchange, make, clean), cmocka_unit_test_setup_teardown(test_fission, make, clean),
        cmocka_unit_test_setup_teardown(test_blocking, make, clean),    cmocka_unit_test_setup_teardown(test_fusion, make, clean),
        cmocka_unit_test_setup_teardown(test_touch, make, clean),       cmocka_unit_test(test_first_touch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
