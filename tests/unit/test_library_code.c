/* What libraries and lwp itself do in the program is not taken for the program's own: the same code and data, in files of different names.
 */
#include "analysis/advice/placement/found.h"
#include "analysis/findings/reasons.h"
#include "analysis/profile/objects.h"
#include "analysis/profile/profile.h"
#include "programs.h"
#include "streams.h"

/* The first load in the function that is in a loop with the shape of a search. */
static uint64_t searching_load(struct lwp_profile *profile, const char *path, const char *function)
{
    const uint64_t start = programs_symbol(path, function);
    for (uint64_t at = start; at < start + 256; at++) {
        struct lwp_loop_shape shape;
        const struct lwp_memory_operand operand = lwp_code_operand(profile->code, 0, at);
        if (operand.exists && operand.load && lwp_loop_shape(profile->code, 0, at, &shape) && shape.search != LWP_LOOP_SEARCH_NONE)
            return at;
    }
    fail_msg("%s has no search", function);
    return 0;
}

static bool descends_in(const char *path)
{
    static struct lwp_layout_field fields[] = {{.offset = 8, .bytes = 8}, {.offset = 16, .bytes = 8}, {.offset = 24, .bytes = 8}};
    struct lwp_profile profile;
    lwp_profile_init(&profile);
    lwp_code_module(profile.code, path, NULL, 0);
    const uint32_t object = lwp_objects_allocated(&profile, LWP_OBJECT_HEAP, 0, 0);
    const struct lwps_access access = {.bytes = 8, .flags = LWPS_ACCESS_KNOWN | LWPS_ACCESS_WEIGHTED | LWPS_ACCESS_LOAD};
    streams_add(&profile, object, 0, 0, searching_load(&profile, path, "tree_find"), &access, 24, 1);
    lwp_streams_link(&profile);
    const struct lwp_layout layout = {
        .objects = &object, .object_count = 1, .element_bytes = 40, .spacing = 40, .single = true, .fields = fields, .field_count = 3};
    const struct lwp_layout_loop loop = {.region = 0, .uses = {true, true, true}, .used = 3};
    const bool descends = lwp_layout_descends(&profile, &layout, &loop);
    lwp_profile_fini(&profile);
    return descends;
}

/* The library goes through all of a std::set with code that looks like a search from the root. */
static void a_library_s_way_through_a_tree_is_no_search(void **state)
{
    (void)state;
    char path[256], library[256];
    if (!programs_build("g++", "-O2 -g", "searches.cc", path, sizeof path))
        skip();
    snprintf(library, sizeof library, "%s/libstdc++.so.6", programs_folder);
    assert_true(programs_run("cp %s %s", path, library));
    assert_true(descends_in(path));
    assert_false(descends_in(library));
}

/* What is said of memory in a variable of the file, on which there is much stall time. */
static struct lwp_reason said_of_variable(struct lwp_profile *profile, const char *path)
{
    struct lwp_reasons reasons;
    uint64_t offset, until;
    lwp_profile_init(profile);
    const uint32_t object =
        lwp_objects_static(profile, lwp_code_module(profile->code, path, NULL, 0), programs_symbol(path, "lwp_bump") + 64, &offset, &until);
    for (int i = 0; i < 1000; i++) {
        lwp_tally_add(&profile->objects[object].weight, 1);
        lwp_tally_add(&profile->total, 1);
    }
    struct lwp_layout *layout = NULL;
    struct lwp_split_reason split = {.low = 0};
    const struct lwp_splits splits = {.of_object = &layout, .reasons = &split};
    lwp_reasons_find(profile, &splits, &(struct lwp_regroups){.count = 0}, &(struct lwp_conflicts){.count = 0},
                     &(struct lwp_locality){.count = 0}, &(struct lwp_locality_tips){.count = 0}, &reasons);
    assert_int_equal(reasons.count, 1);
    return reasons.items[0];
}

/* Blocks in a variable of lwp's: the program allocated them before its allocator was known. */
static void lwp_s_own_variable_is_not_named(void **state)
{
    (void)state;
    char path[256], own[256];
    struct lwp_profile profile;
    if (!programs_have("gcc"))
        skip();
    snprintf(path, sizeof path, "%s/libwork.so", programs_folder);
    snprintf(own, sizeof own, "%s/liblwp-light.so", programs_folder);
    assert_true(programs_run("echo 'char lwp_bump[65536];' | gcc -shared -fPIC -x c -o %s - && cp %s %s", path, path, own));
    assert_string_not_equal(said_of_variable(&profile, path).code, "unknown_data");
    assert_string_equal(profile.objects[0].label, "lwp_bump");
    lwp_profile_fini(&profile);
    const struct lwp_reason reason = said_of_variable(&profile, own);
    assert_string_equal(reason.code, "unknown_data");
    assert_non_null(strstr(reason.sentence, "allocated before lwp could record where"));
    assert_string_equal(profile.objects[0].label, "blocks allocated before the program began");
    lwp_profile_fini(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_library_s_way_through_a_tree_is_no_search),
        cmocka_unit_test(lwp_s_own_variable_is_not_named),
    };
    return cmocka_run_group_tests(tests, programs_set_up, programs_tear_down);
}
