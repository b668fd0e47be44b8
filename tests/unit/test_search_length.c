/* How long a search is, by samples of it and of the loop that calls it: at least as long as that tells, since the loop may go round without
 * a call. From the code of called_search.c, with samples made for it. */
#include "analysis/advice/redundancy/redundancy.h"
#include "analysis/profile/contexts.h"
#include "analysis/profile/profile.h"
#include "analysis/profile/regions.h"
#include "programs.h"

#include <stdlib.h>

enum { WEIGHT = 1000, SEARCHING = 900, CALLING = 10 };

/* A function's load that leads to the next element, or else the last one in a loop. */
static uint64_t load_of(struct lwp_profile *profile, const char *path, const char *function, uint32_t *region)
{
    char command[512], line[256], name[128];
    unsigned long low = 0, bytes = 0;
    uint64_t load = 0;
    snprintf(command, sizeof command, "nm -S %s", path);
    FILE *symbols = popen(command, "r");
    while (fgets(line, sizeof line, symbols))
        if (sscanf(line, "%lx %lx %*c %127[^.\n]", &low, &bytes, name) == 3 && strcmp(name, function) == 0) /* .isra.0 */
            break;
    pclose(symbols);
    for (uint64_t at = low; at < low + bytes; at++) {
        const struct lwp_memory_operand operand = lwp_code_operand(profile->code, 0, at);
        const uint32_t of = operand.exists && operand.load ? lwp_regions_at(profile, 0, at) : LWP_NONE;
        if (of == LWP_NONE || profile->regions[of].is_function)
            continue;
        *region = of;
        load = at;
        if (lwp_loop_leads(profile->code, 0, at))
            break;
    }
    return load;
}

static void add(struct lwp_profile *profile, uint32_t at, uint32_t region, unsigned count, enum lwp_watchpoint_outcome outcome)
{
    for (unsigned i = 0; i < count; i++) {
        lwp_watchpoint_add(&profile->watchpoints, &(struct lwp_watchpoint_verdict){.kind = LWP_WATCHPOINT_SILENT_LOAD,
                                                                                   .outcome = outcome,
                                                                                   .first = at,
                                                                                   .second = at,
                                                                                   .object = LWP_NONE,
                                                                                   .address = 0x1000 + i * 64,
                                                                                   .weight = WEIGHT,
                                                                                   .count = 1,
                                                                                   .bytes = 8});
        lwp_tally_add(&profile->total, WEIGHT);
        lwp_tally_add(&profile->regions[region].weight, WEIGHT);
    }
}

/* `others`: loads of the loop that it makes beside those it searches by, of what has changed. */
static struct lwp_redundant_line search(struct lwp_profile *profile, unsigned others, bool *matters)
{
    struct lwp_redundant_line line = {0};
    struct lwp_redundancies found;
    char path[256];
    if (!programs_build("gcc", "-O2 -g", "called_search.c", path, sizeof path))
        skip();
    lwp_profile_init(profile);
    lwp_code_module(profile->code, path, NULL, 0);
    uint32_t loop = LWP_NONE, caller = LWP_NONE;
    const uint64_t load = load_of(profile, path, "find", &loop), around = load_of(profile, path, "main", &caller);
    assert_int_not_equal(loop, LWP_NONE);
    assert_int_not_equal(caller, LWP_NONE);
    const uint32_t call = lwp_contexts_child(profile, lwp_contexts_child(profile, 0, 0, 1, false), 0, around, false);
    const uint32_t access = lwp_contexts_child(profile, call, 0, load, false), strange = lwp_contexts_child(profile, access, 0, 1, false);
    lwp_watchpoint_begin(&profile->watchpoints);
    add(profile, access, loop, SEARCHING, LWP_WATCHPOINT_WASTE);
    add(profile, call, caller, CALLING, LWP_WATCHPOINT_WASTE);
    add(profile, strange, loop, others, LWP_WATCHPOINT_USE);
    uint32_t *same = malloc(profile->context_count * sizeof *same);
    for (uint32_t i = 0; i < profile->context_count; i++)
        same[i] = i;
    lwp_watchpoint_end(&profile->watchpoints);
    lwp_watchpoints_renumber(&profile->watchpoints, same, NULL);
    free(same);
    lwp_regions_merge(profile);
    lwp_redundancy_find(profile, &found);
    for (size_t i = 0; i < found.line_count; i++)
        if (found.items[found.lines[i].item].why == LWP_CAUSE_LINEAR_SEARCH) {
            line = found.lines[i];
            *matters = lwp_redundancy_matters(&found, &found.lines[i]);
        }
    assert_true(line.samples > 0);
    return line;
}

static void test_callers_loop(void **state)
{
    (void)state;
    static struct lwp_profile profile;
    bool matters = false;
    const struct lwp_redundant_line line = search(&profile, 0, &matters);
    assert_in_range((uintmax_t)line.searched, SEARCHING / CALLING, SEARCHING / CALLING);
    assert_true(line.searched_least);
    assert_true(line.saved.high > 0.95); /* the whole of it: it may be any number of elements */
    assert_true(matters);
    lwp_profile_fini(&profile);
}

/* A search is as long as it is, however small a part of all that its loop loads it goes by: the first byte of each text, say. */
static void test_small_part(void **state)
{
    (void)state;
    static struct lwp_profile profile;
    bool matters = false;
    const struct lwp_redundant_line line = search(&profile, 19 * SEARCHING, &matters);
    assert_true(line.time.high < 0.1);
    assert_true(line.sure);
    assert_true(matters);
    lwp_profile_fini(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_callers_loop), cmocka_unit_test(test_small_part)};
    return cmocka_run_group_tests(tests, programs_set_up, programs_tear_down);
}
