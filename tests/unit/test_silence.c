/* What is said where there is no advice: each kind and code from a profile made for it, and never another one. */
#include "analysis/findings/silence.h"

#include "analysis/findings/findings.h"
#include "analysis/findings/reasons.h"
#include "analysis/profile/contexts.h"
#include "analysis/profile/objects.h"
#include "analysis/profile/streams.h"

#include "format/record.h"

#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Equal samples of 1 ms: stalled on a known object, of which nothing is known, and the rest computing. */
static void fill(struct lwp_profile *profile, unsigned samples, unsigned stalled, unsigned unknown)
{
    lwp_profile_init(profile);
    profile->engine = LWPS_ENGINE_TIMER;
    profile->weight_unit = LWPS_WEIGHT_NS;
    profile->samples = samples;
    profile->samples_with_address = stalled;
    for (unsigned i = 0; i < samples; i++) {
        lwp_tally_add(&profile->total, 1e6);
        if (i < stalled)
            lwp_tally_add(&profile->stalled, 1e6);
    }
    profile->unknown_weight = unknown * 1e6;
}

static struct lwp_silence ask(struct lwp_profile *profile, size_t findings, struct lwp_coverage *coverage)
{
    struct lwp_silence silence;
    lwp_coverage_find(profile, coverage);
    lwp_silence_find(profile, coverage, &(struct lwp_reasons){.count = 0}, findings, &silence);
    return silence;
}

static void assert_says(const struct lwp_silence *silence, const char *kind, const char *code, const char *says)
{
    assert_string_equal(silence->kind, kind);
    assert_string_equal(silence->code, code);
    if (!strstr(silence->sentence, says))
        fail_msg("%s: '%s' does not say '%s'", code, silence->sentence, says);
}

static void check(unsigned samples, unsigned stalled, unsigned unknown, const char *kind, const char *code, const char *says)
{
    struct lwp_profile profile;
    struct lwp_coverage coverage;
    fill(&profile, samples, stalled, unknown);
    struct lwp_silence silence = ask(&profile, 0, &coverage);
    assert_says(&silence, kind, code, says);
    assert_true(!strcmp(kind, "not_measured") == (silence.help != NULL));
    if (samples) {
        assert_string_equal(coverage.of, "time");
        assert_float_equal(coverage.share, 1 - (double)unknown / samples, 1e-9);
    }
    silence = ask(&profile, 1, &coverage);
    assert_null(silence.kind);
    lwp_profile_fini(&profile);
}

static void test_sampled(void **state)
{
    (void)state;
    check(0, 0, 0, "not_measured", "no_samples", "no sample was taken");
    check(20, 10, 0, "not_measured", "too_few_samples", "20, and 10 with an address");
    check(99, 50, 0, "not_measured", "too_few_samples", "too few samples");
    check(440, 0, 440, "not_measured", "no_addresses", "0 of 440 samples");
    check(95, 1, 93, "not_measured", "no_addresses", "2 % of its time");
    check(1000, 5, 200, "not_measured", "no_addresses", "80 % of its time");
    check(1000, 0, 0, "nothing_to_gain", "nothing_stalled", "0.0 % of the program's time (at most 0.4 %)");
    check(1000, 19, 90, "nothing_to_gain", "nothing_stalled", "1.9 % of the program's time");
    check(1000, 20, 90, "left_alone", "left_alone", "no data object");
    check(1000, 400, 400, "left_alone", "left_alone", "no data object");
}

/* Blocks that were not recorded: more of them can be, which addresses that were lost do not ask for. */
static void test_not_recorded(void **state)
{
    (void)state;
    static const enum lwp_object_special which[] = {LWP_OBJECT_UNOWNED, LWP_OBJECT_NOT_KNOWN};
    for (int i = 0; i < 4; i++) {
        struct lwp_profile profile;
        struct lwp_coverage coverage;
        fill(&profile, 1000, 900, 0);
        profile.allocations_recorded = 18;
        profile.allocations_unrecorded = i < 2 ? 82 : 0;
        const uint32_t object = lwp_objects_special(&profile, which[i % 2]);
        profile.objects[object].weight = (struct lwp_tally){600 * 1e6, 600 * 1e12, 600};
        const struct lwp_silence silence = ask(&profile, 0, &coverage);
        assert_says(&silence, "not_measured", i ? "no_addresses" : "not_recorded",
                    i ? "(900 of 1000 samples have an address)"
                      : "known for 40 % of its time only: 82 % of the program's allocations were not");
        assert_true(i || strstr(silence.help, "lwp collect --max-overhead 25"));
        lwp_profile_fini(&profile);
    }
}

/* A change that would most likely gain is named, though it is not advised. */
static void test_unsure(void **state)
{
    (void)state;
    struct lwp_profile profile;
    struct lwp_coverage coverage = {.of = NULL};
    struct lwp_silence silence;
    struct lwp_reasons reasons = {
        .items = {{.object = 1, .speedup = 1.05, .low = 0.99, .high = 1.1}, {.object = 0, .speedup = 1.83, .low = 1.01, .high = 3.98}},
        .count = 2};
    struct lwp_object objects[2] = {{.label = "items"}, {.label = "others"}};
    fill(&profile, 1000, 400, 0);
    profile.objects = objects;
    profile.object_count = 2;
    lwp_silence_find(&profile, &coverage, &reasons, 0, &silence);
    assert_says(&silence, "left_alone", "unsure", "one of items would most likely make the program 1.83x as fast (1.01x to 3.98x)");
    reasons.items[1].speedup = 1.05;
    lwp_silence_find(&profile, &coverage, &reasons, 0, &silence);
    assert_says(&silence, "left_alone", "left_alone", "no data object");
    profile.objects = NULL;
    profile.object_count = 0;
    lwp_profile_fini(&profile);
}

/* The bound is that of the largest gain: nothing becomes faster than all waiting taken away makes it. */
static void test_bound(void **state)
{
    (void)state;
    struct lwp_profile profile;
    struct lwp_coverage coverage;
    fill(&profile, 1000, 10, 0);
    double high = lwp_share_of(&profile.stalled, &profile.total).high;
    struct lwp_silence silence = ask(&profile, 0, &coverage);
    char says[40];
    snprintf(says, sizeof says, "more than %.2fx", 1 / (1 - high));
    assert_non_null(strstr(silence.sentence, says));
    lwp_profile_fini(&profile);
}

static void check_windows(uint64_t instructions, uint64_t recorded, unsigned samples, const char *kind, const char *code, const char *says)
{
    struct lwp_profile profile;
    struct lwp_coverage coverage;
    fill(&profile, samples, samples / 2, 0);
    profile.engine = LWPS_ENGINE_EXACT;
    profile.weight_unit = LWPS_WEIGHT_SIMULATED_CYCLES;
    profile.instructions = instructions;
    profile.instructions_recorded = recorded;
    struct lwp_silence silence = ask(&profile, 0, &coverage);
    assert_says(&silence, kind, code, says);
    assert_string_equal(coverage.of, "instructions");
    assert_float_equal(coverage.share, (double)recorded / (double)instructions, 1e-9);
    assert_non_null(coverage.sentence);
    lwp_profile_fini(&profile);
}

static void test_windows(void **state)
{
    (void)state;
    check_windows(50000000, 0, 0, "not_measured", "windows_missed", "0 % of the run's 50 million instructions");
    check_windows(50000000, 1000, 0, "not_measured", "windows_missed", "no access was in them");
    check_windows(2000000000, 20000000, 500, "left_alone", "left_alone", "in the 1 % of the run's instructions");
    check_windows(2000000000, 2000000000, 500, "left_alone", "left_alone", "no data object has");
}

static void test_not_asked(void **state)
{
    (void)state;
    struct lwp_profile profile;
    struct lwp_coverage coverage;
    fill(&profile, 1000, 500, 0);
    json_decref(profile.run);
    profile.run = json_pack("{s:{s:s}}", "options", "detect", "redundancy");
    struct lwp_silence silence = ask(&profile, 0, &coverage);
    assert_string_equal(silence.code, "layout_not_asked");
    assert_string_equal(silence.kind, "not_measured");
    lwp_profile_fini(&profile);
}

static struct lwp_reasons reasons_of(struct lwp_profile *profile, uint32_t object, struct lwp_layout *layout)
{
    struct lwp_layout *layouts[4] = {NULL};
    struct lwp_split_reason split[4] = {{.low = 0}};
    layouts[object] = layout;
    split[object].verdict = layout ? LWP_SPLIT_USED_TOGETHER : LWP_SPLIT_NOT_JUDGED;
    if (layout && layout->object_count > 1)
        split[object] = (struct lwp_split_reason){.verdict = LWP_SPLIT_FEW_SAMPLES, .samples = 17};
    const struct lwp_splits splits = {.of_object = layouts, .reasons = split};
    const struct lwp_regroups regroups = {.count = 0};
    const struct lwp_conflicts conflicts = {.count = 0};
    const struct lwp_locality locality = {.count = 0};
    const struct lwp_locality_tips tips = {.count = 0};
    struct lwp_reasons reasons;
    lwp_streams_link(profile);
    lwp_reasons_find(profile, &splits, &regroups, &conflicts, &locality, &tips, &reasons);
    return reasons;
}

static struct lwp_reasons reasons_without_advice(struct lwp_profile *profile)
{
    return reasons_of(profile, 0, NULL);
}

/* The same, and a variable of the program's. */
static uint32_t fill_with_own(struct lwp_profile *profile)
{
    uint64_t offset, until;
    fill(profile, 1000, 500, 0);
    return lwp_objects_static(profile, lwp_code_module(profile->code, "/opt/work", NULL, 0), 0x1000, &offset, &until);
}

/* Where all of it is at hand anyway, its fields do not matter. */
static void test_unknown_fields_that_fit(void **state)
{
    (void)state;
    for (int large = 0; large < 2; large++) {
        struct lwp_profile profile;
        const uint32_t index = fill_with_own(&profile);
        struct lwp_object *object = &profile.objects[index];
        object->bytes = large ? UINT64_C(1) << 40 : 760;
        object->fields_unknown = "Pointers lead into its middle.";
        for (int sample = 0; sample < 100; sample++)
            lwp_tally_add(&object->weight, 1e6);
        struct lwp_reasons reasons = reasons_without_advice(&profile);
        assert_int_equal(reasons.count, 1);
        assert_string_equal(reasons.items[0].code, large ? "unknown_fields" : "fits_cache");
        lwp_profile_fini(&profile);
    }
}

/* A field that is a structure itself, or bytes that hold one, may be used in part: then its fields are not all used together. */
static void test_large_field(void **state)
{
    (void)state;
    for (int part = 0; part < 2; part++) {
        struct lwp_profile profile;
        const uint32_t index = fill_with_own(&profile);
        struct lwp_layout_field fields[] = {{.bytes = 8, .name = "hash", .seen = 8},
                                            {.offset = 8, .bytes = 112, .name = "m_value", .seen = part ? 12 : 100}};
        struct lwp_layout_loop loops[] = {{.uses = {true, true}, .used = 2}};
        struct lwp_layout layout = {.objects = &index, .object_count = 1, .fields = fields, .field_count = 2, .loops = loops, .loop_count = 1};
        for (int sample = 0; sample < 100; sample++)
            lwp_tally_add(&profile.objects[index].weight, 1e6);
        struct lwp_reasons reasons = reasons_of(&profile, index, &layout);
        assert_int_equal(reasons.count, 1);
        assert_string_equal(reasons.items[0].code, part ? "unknown_fields" : "used_together");
        assert_true(!part || strstr(reasons.items[0].sentence, "12 of the 112 bytes of m_value"));
        lwp_profile_fini(&profile);
    }
}

/* Objects of one type are judged together: the samples are those of all. */
static void test_few_samples_of_several(void **state)
{
    (void)state;
    for (int several = 0; several < 2; several++) {
        struct lwp_profile profile;
        uint32_t index = fill_with_own(&profile);
        struct lwp_layout layout = {.objects = &index, .object_count = 2};
        for (int sample = 0; sample < (several ? 9 : 17); sample++)
            lwp_tally_add(&profile.objects[index].weight, 1e7);
        struct lwp_reasons reasons = reasons_of(&profile, index, &layout);
        assert_int_equal(reasons.count, 1);
        assert_string_equal(reasons.items[0].code, "too_few_samples");
        assert_non_null(
            strstr(reasons.items[0].sentence, several ? "17 samples are on it and others of its type" : "17 samples are on it,"));
        lwp_profile_fini(&profile);
    }
}

/* What is the library's is not to be sampled longer. */
static void test_library_data(void **state)
{
    (void)state;
    struct lwp_profile profile;
    fill(&profile, 1000, 500, 0);
    static const char *const paths[] = {"/opt/work", "/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libm.so.6"};
    for (int library = 0; library < 3; library++) {
        uint32_t module = lwp_code_module(profile.code, paths[library], NULL, 0);
        uint64_t offset, until;
        uint32_t object = lwp_objects_static(&profile, module, 0x1000, &offset, &until);
        for (int i = 0; i < 30 - library; i++)
            lwp_tally_add(&profile.objects[object].weight, 1e6);
    }
    struct lwp_reasons reasons = reasons_without_advice(&profile);
    assert_int_equal(reasons.count, 3);
    assert_string_equal(reasons.items[0].code, "too_few_samples");
    assert_string_equal(reasons.items[1].code, "library_type");
    assert_non_null(strstr(reasons.items[1].sentence, "libc.so.6"));
    assert_string_equal(reasons.items[2].code, "library_type");
    assert_non_null(strstr(reasons.items[2].sentence, "libm.so.6"));
    lwp_profile_fini(&profile);
}

/* A structure is no element of an array where one pointer leads to it. */
static void test_led_to(void **state)
{
    (void)state;
    static const struct lwp_type pointer = {.name = "struct world *", .kind = LWP_TYPE_SCALAR, .bytes = 8};
    for (int many = 0; many < 2; many++) {
        struct lwp_profile profile;
        fill(&profile, 1000, 500, 0);
        uint32_t made[2];
        for (int i = 0; i < 2; i++) {
            const uint32_t context = lwp_contexts_child(&profile, 0, LWP_NONE, 0x4000 + (uint64_t)i, false);
            made[i] = lwp_objects_allocated(&profile, LWP_OBJECT_HEAP, context, 0);
            profile.objects[made[i]].variable = "world";
            profile.objects[made[i]].accessed = true;
        }
        struct lwp_object *array = &profile.objects[made[0]];
        array->type = &pointer;
        array->bytes = array->largest = many ? 800 : 8;
        profile.objects[made[1]].single = true;
        assert_string_equal(lwp_objects_name(&profile, made[1]), many ? "*world[]" : "world");
        lwp_profile_fini(&profile);
    }
}

static int first_loaded(struct dl_phdr_info *info, size_t size, void *bias)
{
    (void)size;
    *(uint64_t *)bias = info->dlpi_addr;
    return 1;
}

/* Of texts and constants of code no more samples show a layout to change. */
static void test_constants(void **state)
{
    (void)state;
    static const char *volatile text = "a text of this program that no symbol names";
    struct lwp_profile profile;
    uint64_t bias, offset, until;
    char path[4096] = "";
    fill(&profile, 1000, 500, 0);
    assert_true(readlink("/proc/self/exe", path, sizeof path - 1) > 0 && dl_iterate_phdr(first_loaded, &bias));
    const uint32_t module = lwp_code_module(profile.code, path, NULL, 0);
    const uint32_t object = lwp_objects_static(&profile, module, (uint64_t)(uintptr_t)text - bias, &offset, &until);
    for (int i = 0; i < 30; i++)
        lwp_tally_add(&profile.objects[object].weight, 1e6);
    struct lwp_reasons reasons = reasons_without_advice(&profile);
    assert_int_equal(reasons.count, 1);
    assert_string_equal(reasons.items[0].code, "single_values");
    assert_non_null(strstr(reasons.items[0].sentence, "no layout to change"));
    lwp_profile_fini(&profile);
}

/* Room for another type, as containers declare it, is no single value. */
static void test_room(void **state)
{
    (void)state;
    static const struct lwp_field bytes = {.name = "data", .bytes = 64, .type = "char", .declaration = "char data[64]", .alignment = 1};
    static const struct lwp_type room = {
        .name = "room", .kind = LWP_TYPE_STRUCT, .bytes = 64, .alignment = 8, .fields = &bytes, .field_count = 1};
    struct lwp_profile profile;
    const uint32_t index = fill_with_own(&profile);
    struct lwp_object *object = &profile.objects[index];
    object->type = &room;
    object->element_bytes = room.bytes;
    for (int sample = 0; sample < 100; sample++)
        lwp_tally_add(&object->weight, 1e6);
    struct lwp_reasons reasons = reasons_without_advice(&profile);
    assert_int_equal(reasons.count, 1);
    assert_null(strstr(reasons.items[0].sentence, "single values"));
    lwp_profile_fini(&profile);
}

/* A list is another matter than a map: it can be an array. */
static void test_library_nodes(void **state)
{
    (void)state;
    static const struct lwp_type types[] = {{.name = "std::_List_node<Order>",
                                             .kind = LWP_TYPE_STRUCT,
                                             .owner = LWP_TYPE_OF_SYSTEM,
                                             .file = "/usr/include/c++/12/bits/stl_list.h"},
                                            {.name = "std::_Rb_tree_node<Order>", .kind = LWP_TYPE_STRUCT, .owner = LWP_TYPE_OF_SYSTEM}};
    for (size_t i = 0; i < 2; i++) {
        struct lwp_profile profile;
        const uint32_t index = fill_with_own(&profile);
        struct lwp_object *object = &profile.objects[index];
        object->type = &types[i];
        for (int sample = 0; sample < 100; sample++)
            lwp_tally_add(&object->weight, 1e6);
        struct lwp_reasons reasons = reasons_without_advice(&profile);
        assert_int_equal(reasons.count, 1);
        assert_string_equal(reasons.items[0].code, "library_type");
        assert_true(!strstr(reasons.items[0].sentence, "std::vector") == (i == 1));
        lwp_profile_fini(&profile);
    }
}

/* Memory of no object: how much was left out is said where that is why. */
static void test_unrecorded(void **state)
{
    (void)state;
    static const uint64_t left_out[] = {0, 3, 3000}; /* 0.3 % is no reason */
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++) {
        struct lwp_profile profile;
        fill(&profile, 1000, 500, 0);
        uint32_t object = lwp_objects_special(&profile, LWP_OBJECT_UNOWNED);
        for (int sample = 0; sample < 100; sample++)
            lwp_tally_add(&profile.objects[object].weight, 1e6);
        profile.allocations_recorded = 1000;
        profile.allocations_unrecorded = left_out[i];
        struct lwp_reasons reasons = reasons_without_advice(&profile);
        assert_int_equal(reasons.count, 1);
        assert_string_equal(reasons.items[0].code, "unknown_data");
        const char *says = strstr(reasons.items[0].sentence, "of the program's allocations were not recorded");
        assert_int_equal(says != NULL, left_out[i] == 3000);
        assert_true(!says || strstr(reasons.items[0].sentence, "75 % of the program's"));
        lwp_profile_fini(&profile);
    }
}

/* Names come with another build of the program, or with the system's debug package. */
static void test_hottest(void **state)
{
    (void)state;
    static const char *const paths[] = {"/home/me/program", "/usr/lib/libgomp.so.1"};
    static const char *const helps[] = {"Compile it with -g", "Install its debug package"};
    for (int theirs = 0; theirs < 2; theirs++) {
        struct lwp_profile profile;
        struct lwp_answers answers = {.locality.measured = true};
        fill(&profile, 1000, 500, 0);
        uint32_t id = lwp_code_module(profile.code, paths[theirs], NULL, 0);
        struct lwp_module *module = (struct lwp_module *)(uintptr_t)lwp_code_module_info(profile.code, id);
        module->file = LWP_FILE_READ;
        module->debug_info = LWP_DEBUG_SYMBOLS;
        LWP_GROW(&profile.regions, profile.region_count, &profile.region_room);
        profile.regions[profile.region_count++] = (struct lwp_region){.module = id, .parent = LWP_NONE, .weight = profile.total};
        lwp_findings_notes(&profile, &answers);
        bool waits = false;
        for (size_t i = 0; i < profile.note_count; i++)
            waits |= strstr(profile.notes[i], "threads waiting for each other in the OpenMP runtime") != NULL;
        assert_int_equal(waits, theirs);
        for (int help = 0; help < 2; help++) {
            bool said = false;
            for (size_t i = 0; i < profile.note_count; i++)
                said |= strstr(profile.notes[i], helps[help]) != NULL;
            assert_int_equal(said, help == theirs);
        }
        lwp_profile_fini(&profile);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sampled),
        cmocka_unit_test(test_not_recorded),
        cmocka_unit_test(test_unsure),
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_not_asked),
        cmocka_unit_test(test_unknown_fields_that_fit),
        cmocka_unit_test(test_large_field),
        cmocka_unit_test(test_few_samples_of_several),
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_led_to),
        cmocka_unit_test(test_library_data),
        cmocka_unit_test(test_library_nodes),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_unrecorded),
        cmocka_unit_test(test_hottest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
