/* A loop that searches is named where nothing is advised: from the code of searches.cc, with samples made for it. */
#include "analysis/findings/unsaid_search.h"
#include "analysis/profile/profile.h"
#include "analysis/profile/regions.h"
#include "programs.h"

/* The first loop of a function. */
static uint32_t loop_of(struct lwp_profile *profile, const char *path, const char *function)
{
    char command[512], line[256], name[128];
    unsigned long low = 0, bytes = 0;
    snprintf(command, sizeof command, "nm -S %s", path);
    FILE *symbols = popen(command, "r");
    while (fgets(line, sizeof line, symbols))
        if (sscanf(line, "%lx %lx %*c %127s", &low, &bytes, name) == 3 && strcmp(name, function) == 0)
            break;
    pclose(symbols);
    for (uint64_t at = low; at < low + bytes; at++) {
        const struct lwp_memory_operand operand = lwp_code_operand(profile->code, 0, at);
        const uint32_t region = operand.exists && operand.load ? lwp_regions_at(profile, 0, at) : LWP_NONE;
        if (region != LWP_NONE && !profile->regions[region].is_function)
            return region;
    }
    return LWP_NONE;
}

/* Of `all` samples, so many in the function's loop. */
static struct lwp_silence said_of(unsigned all, const char *path, const char *function, unsigned samples, struct lwp_silence before,
                                  size_t *notes)
{
    static struct lwp_profile profile;
    const struct lwp_redundancies none = {.count = 0};
    struct lwp_silence silence = before;
    lwp_profile_init(&profile);
    lwp_code_module(profile.code, path, NULL, 0);
    const uint32_t region = loop_of(&profile, path, function);
    assert_int_not_equal(region, LWP_NONE);
    lwp_regions_merge(&profile);
    for (unsigned i = 0; i < all; i++) {
        lwp_tally_add(&profile.total, 1e6);
        if (i < samples)
            lwp_tally_add(&profile.regions[region].weight, 1e6);
    }
    lwp_unsaid_search_say(&profile, &none, &silence);
    *notes = profile.note_count;
    if (silence.code && silence.code != before.code) {
        assert_string_equal(silence.kind, "not_measured");
        assert_string_equal(silence.code, "search_length");
        assert_non_null(strstr(silence.sentence, "searches.cc:"));
        silence.code = "search_length";
    }
    silence.sentence = silence.help = NULL;
    lwp_profile_fini(&profile);
    return silence;
}

static struct lwp_silence said(const char *path, const char *function, unsigned samples, struct lwp_silence before, size_t *notes)
{
    return said_of(1000, path, function, samples, before, notes);
}

static void test_says(void **state)
{
    (void)state;
    const struct lwp_silence left = {"left_alone", "left_alone", "", NULL}, few = {"not_measured", "too_few_samples", "", NULL},
                             advised = {.kind = NULL};
    char path[256];
    size_t notes;
    if (!programs_have("g++") || !programs_build("g++", "-O2 -g", "searches.cc", path, sizeof path))
        skip();
    assert_string_equal(said(path, "list_find", 960, left, &notes).code, "search_length");
    assert_int_equal(notes, 0);
    assert_string_equal(said(path, "scan_ints", 300, left, &notes).code, "search_length");
    assert_string_equal(said(path, "list_find", 60, left, &notes).code, "left_alone"); /* no 1.1x */
    assert_string_equal(said(path, "tree_find", 960, left, &notes).code, "left_alone");
    assert_string_equal(said(path, "none_sum", 960, left, &notes).code, "left_alone");
    assert_string_equal(said_of(30, path, "list_find", 29, few, &notes).code, "search_length"); /* few show it */
    assert_string_equal(said_of(30, path, "list_find", 4, few, &notes).code, "too_few_samples"); /* 13 %, or 5 */
    assert_int_equal(notes, 0);
    assert_null(said(path, "list_find", 960, advised, &notes).code); /* something else is */
    assert_int_equal(notes, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_says)};
    return cmocka_run_group_tests(tests, programs_set_up, programs_tear_down);
}
