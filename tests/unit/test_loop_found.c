/* What is read of the entry that a search has found, from the code that compilers make of it: tests/programs/found.c. */
#include "analysis/program/code.h"
#include "programs.h"

enum { VALUE = 16, ROOM = 16 };

/* found_by_callers, and one who calls it. */
static size_t callers_of(void *of, uint32_t module, uint64_t function, uint64_t *callers, size_t room)
{
    const uint64_t *known = of;
    (void)module;
    if (function != known[0] || !room)
        return 0;
    callers[0] = known[1];
    return 1;
}

/* Whether an access of the function's loops leads to one that is 16 bytes on. */
static bool reads_value(struct lwp_code *code, uint64_t low, uint64_t high, const struct lwp_callers *callers, bool *kept)
{
    bool value = false;
    *kept = false;
    for (uint64_t at = low; at < high; at++) {
        struct lwp_sibling found[ROOM];
        const size_t count = lwp_loop_found(code, 0, at, callers, found, ROOM, kept);
        for (size_t i = 0; i < count; i++)
            value |= found[i].delta == VALUE && found[i].bytes == 8 && found[i].load;
    }
    return value;
}

static void test_found(void **state)
{
    static const char *const builds[][2] = {{"gcc", "-O2"}, {"gcc", "-O3"}, {"clang", "-O2"}};
    static const char *const functions[] = {"found_in_place", "found_by_index", "found_again_and_again", "found_by_callers", "found_at_end",
                                            "none_in_loop",   "none_of_next",   "none_of_one",           "kept_in_place"};
    (void)state;
    for (size_t b = 0; b < sizeof builds / sizeof *builds; b++) {
        char path[256];
        if (!programs_build(builds[b][0], builds[b][1], "found.c", path, sizeof path))
            continue;
        struct lwp_arena *arena = lwp_arena_new();
        struct lwp_code *code = lwp_code_new(arena);
        lwp_code_module(code, path, NULL, 0);
        uint64_t known[] = {programs_symbol(path, "found_by_callers"), programs_symbol(path, "calls_first")};
        const struct lwp_callers callers = {.find = callers_of, .of = known};
        for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
            const uint64_t low = programs_symbol(path, functions[i]);
            const struct lwp_symbolized *function = lwp_code_symbolize(code, 0, low);
            bool kept;
            const bool got = reads_value(code, low, function->function_high, &callers, &kept);
            if (kept != (functions[i][0] == 'k'))
                fail_msg("%s %s: %s %s", builds[b][0], builds[b][1], functions[i], kept ? "keeps a pointer" : "does not keep a pointer");
            if (got != (functions[i][0] == 'f'))
                fail_msg("%s %s: %s %s", builds[b][0], builds[b][1], functions[i], got ? "reads the value" : "does not read the value");
        }
        const uint64_t high = lwp_code_symbolize(code, 0, known[0])->function_high;
        bool kept;
        assert_false(reads_value(code, known[0], high, NULL, &kept) || kept);
        known[1] = programs_symbol(path, "kept_by_callers");
        assert_false(reads_value(code, known[0], high, &callers, &kept));
        assert_true(kept);
        lwp_code_free(code);
        lwp_arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_found)};
    return cmocka_run_group_tests(tests, programs_set_up, programs_tear_down);
}
