/* What loops look for, from the code that compilers make of them: tests/programs/searches.cc names each function after the answer. */
#include "analysis/program/code.h"
#include "programs.h"

static const struct {
    const char *prefix;
    enum lwp_loop_search search;
} answers[] = {{"scan_", LWP_LOOP_SEARCH_SCAN},  {"all_", LWP_LOOP_SEARCH_SCAN_ALL},      {"list_", LWP_LOOP_SEARCH_LIST},
               {"tree_", LWP_LOOP_SEARCH_TREE}, {"halves_", LWP_LOOP_SEARCH_BISECTION}, {"none_", LWP_LOOP_SEARCH_NONE}};

struct tally {
    unsigned right, silent, wrong; /* silent: of a search it is not known that it is one */
    unsigned led, lost;            /* of those through pointers: right, silent */
    unsigned stored;               /* right, of those that compilers store a register in: over a call, or where their caller wants it */
};

enum { KEY = 24 }; /* where an item has it */

/* Of the function at [low, high): the answer at its loop's accesses, the first that is one. `calls`: when a function it calls compares;
 * `through`: at those of keys only, not of the pointers that lead to them. */
static enum lwp_loop_search search_in(struct lwp_code *code, uint64_t low, uint64_t high, bool calls, bool through, bool *any)
{
    *any = false;
    for (uint64_t at = low; at < high; at++) {
        struct lwp_loop_shape shape;
        struct lwp_memory_operand operand = lwp_code_operand(code, 0, at);
        if (!operand.exists || !operand.load || (through && operand.displacement != KEY) || !lwp_loop_shape(code, 0, at, &shape))
            continue;
        *any = true;
        if (calls)
            shape.search = lwp_loop_search_by_call(code, 0, at);
        if (shape.search != LWP_LOOP_SEARCH_NONE)
            return shape.search;
    }
    return LWP_LOOP_SEARCH_NONE;
}

static void check_build(const char *compiler, const char *flags, struct tally *tally)
{
    char path[256], command[512], name[128];
    if (!programs_build(compiler, flags, "searches.cc", path, sizeof path))
        return;
    struct lwp_arena *arena = lwp_arena_new();
    struct lwp_code *code = lwp_code_new(arena);
    lwp_code_module(code, path, NULL, 0);
    snprintf(command, sizeof command, "nm -S %s", path);
    FILE *symbols = popen(command, "r");
    unsigned long low, bytes;
    char line[256];
    while (fgets(line, sizeof line, symbols))
        for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
            bool any;
            if (sscanf(line, "%lx %lx %*c %127s", &low, &bytes, name) != 3 || strncmp(name, answers[i].prefix, strlen(answers[i].prefix)))
                continue;
            enum lwp_loop_search got =
                search_in(code, low, low + bytes, strstr(name, "_compared"), strstr(name, "_pointers"), &any);
            const bool led = strstr(name, "_pointers") && answers[i].search != LWP_LOOP_SEARCH_NONE;
            tally->stored += (strstr(name, "scan_spilled") || strstr(name, "scan_place")) && got == answers[i].search;
            tally->led += led && got == answers[i].search;
            tally->lost += led && got == LWP_LOOP_SEARCH_NONE;
            if (got == answers[i].search)
                tally->right++;
            else if (got == LWP_LOOP_SEARCH_NONE)
                tally->silent++;
            else
                tally->wrong++;
            if (got != answers[i].search)
                print_message("%s %s: %s is %d, not %d%s\n", compiler, flags, name, got, answers[i].search, any ? "" : " (no loop)");
        }
    pclose(symbols);
    lwp_code_free(code);
    lwp_arena_free(arena);
}

/* Functions whose names begin with `prefix`, and those of them with a load that leads to where it goes next. */
static void count_led(struct lwp_code *code, const char *path, const char *prefix, unsigned *all, unsigned *led)
{
    char command[512], line[256], name[128];
    unsigned long low, bytes;
    snprintf(command, sizeof command, "nm -S %s", path);
    FILE *symbols = popen(command, "r");
    *all = *led = 0;
    while (fgets(line, sizeof line, symbols)) {
        bool leads = false;
        if (sscanf(line, "%lx %lx %*c %127s", &low, &bytes, name) != 3 || strncmp(name, prefix, strlen(prefix)))
            continue;
        for (uint64_t at = low; at < low + bytes; at++)
            leads |= lwp_loop_leads(code, 0, at);
        *all += 1;
        *led += leads;
    }
    pclose(symbols);
}

static void test_leads(void **state)
{
    (void)state;
    static const char *const compilers[] = {"gcc", "clang"}, *const flags[] = {"-O2 -g", "-O3 -g", "-O1 -g"};
    char path[256];
    for (size_t i = 0; i < 6; i++) {
        unsigned all, led;
        if (!programs_build(compilers[i / 3], flags[i % 3], "leads.c", path, sizeof path))
            continue;
        struct lwp_arena *arena = lwp_arena_new();
        struct lwp_code *code = lwp_code_new(arena);
        lwp_code_module(code, path, NULL, 0);
        count_led(code, path, "led_", &all, &led);
        assert_int_equal(all, 3);
        assert_int_equal(led, all);
        count_led(code, path, "free_", &all, &led);
        assert_int_equal(all, 2);
        assert_int_equal(led, 0);
        lwp_code_free(code);
        lwp_arena_free(arena);
    }
}

static void test_searches(void **state)
{
    (void)state;
    struct tally tally = {0};
    if (!programs_have("g++"))
        skip();
    check_build("g++", "-O2 -g", &tally);
    check_build("g++", "-O3 -g", &tally);
    check_build("g++", "-O1 -g", &tally);
    check_build("clang++", "-O2 -g", &tally);
    print_message("%u right, %u silent, %u wrong\n", tally.right, tally.silent, tally.wrong);
    assert_int_equal(tally.wrong, 0);
    assert_true(tally.right >= 9 * tally.silent);
    assert_true(tally.led > tally.lost);
    assert_int_equal(tally.stored, programs_have("clang++") ? 8 : 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_searches), cmocka_unit_test(test_leads)};
    return cmocka_run_group_tests(tests, programs_set_up, programs_tear_down);
}
