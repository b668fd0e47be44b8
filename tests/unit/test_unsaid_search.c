/* A loop that searches is named where nothing is advised: from the code of searches.cc, with samples made for it. */
#include "analysis/findings/unsaid_search.h"
#include "analysis/profile/contexts.h"
#include "analysis/profile/profile.h"
#include "analysis/profile/regions.h"
#include "programs.h"

/* The first loop of a function. *load: the address of one in it. */
static uint32_t loop_of(struct lwp_profile *profile, const char *path, const char *function, uint64_t *load)
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
        *load = at;
        if (region != LWP_NONE && !profile->regions[region].is_function)
            return region;
    }
    return LWP_NONE;
}

/* Of `all` samples, so many in the function's loop. `watched`: what loads of it that were watched showed, or NULL. */
static struct lwp_silence said_of(unsigned all, const char *path, const char *function, unsigned samples,
                                  const struct lwp_redundant_line *watched, struct lwp_silence before, size_t *notes)
{
    static struct lwp_profile profile;
    struct lwp_silence silence = before;
    lwp_profile_init(&profile);
    lwp_code_module(profile.code, path, NULL, 0);
    uint64_t load = 0;
    const uint32_t region = loop_of(&profile, path, function, &load);
    assert_int_not_equal(region, LWP_NONE);
    lwp_regions_merge(&profile);
    for (unsigned i = 0; i < all; i++) {
        lwp_tally_add(&profile.total, 1e6);
        if (i < samples)
            lwp_tally_add(&profile.regions[region].weight, 1e6);
    }
    struct lwp_watchpoint_pair pair = {.second = lwp_contexts_child(&profile, 0, 0, load, false)};
    struct lwp_redundancy item = {.why = LWP_CAUSE_LINEAR_SEARCH, .pair = &pair};
    struct lwp_redundant_line line = watched ? *watched : (struct lwp_redundant_line){.samples = 0};
    const struct lwp_redundancies found = {.count = watched != NULL, .items = &item, .line_count = watched != NULL, .lines = &line};
    lwp_unsaid_search_say(&profile, &found, &(struct lwp_locality_tips){0}, &silence);
    *notes = profile.note_count;
    if (silence.code && silence.code != before.code) {
        assert_string_equal(silence.kind, "not_measured");
        assert_string_equal(silence.code, "search_length");
        assert_non_null(strstr(silence.sentence, "searches.cc:"));
        assert_true(!watched == !strstr(silence.sentence, "only 14 watchpoints on its loads were decided"));
        silence.code = "search_length";
    }
    silence.sentence = silence.help = NULL;
    lwp_profile_fini(&profile);
    return silence;
}

static struct lwp_silence said(const char *path, const char *function, unsigned samples, struct lwp_silence before, size_t *notes)
{
    return said_of(1000, path, function, samples, NULL, before, notes);
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
    assert_string_equal(said_of(30, path, "list_find", 29, NULL, few, &notes).code, "search_length");  /* few show it */
    assert_string_equal(said_of(30, path, "list_find", 4, NULL, few, &notes).code, "too_few_samples"); /* 13 %, or 5 */
    assert_int_equal(notes, 0);
    assert_null(said(path, "list_find", 960, advised, &notes).code); /* something else is */
    assert_int_equal(notes, 1);
    struct lwp_redundant_line line = {.samples = 14, .searched = 90, .saved = {0.8, 0.5, 0.9}};
    assert_string_equal(said_of(1000, path, "list_find", 960, &line, left, &notes).code, "search_length"); /* known, but nothing is sure */
    line.sure = true;
    assert_string_equal(said_of(1000, path, "list_find", 960, &line, left, &notes).code, "left_alone"); /* judged elsewhere */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_says)};
    return cmocka_run_group_tests(tests, programs_set_up, programs_tear_down);
}
