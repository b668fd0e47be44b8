/* How long searches are at least, from looks at a few accesses that follow each other: against searches whose length is known, with code
 * behind them that looks see, in functions that return, and in an array that is gone over again without anything between. */
#include "analysis/profile/profile.h"
#include "analysis/profile/regions.h"
#include "programs.h"
#include "tests/unit/amount.h"

enum { LOOK = 3, ELEMENT = 40, KEY = 24, VALUE = 32 };

enum behind { BEHIND_SEEN, BEHIND_RETURNS, BEHIND_NOTHING };

struct searched {
    struct lwp_profile profile;
    uint64_t key, next, value; /* loads of the function; next: 0 where none leads on */
    uint64_t random;
};

static uint64_t searched_random(struct searched *s, uint64_t below)
{
    s->random = s->random * 6364136223846793005u + 1442695040888963407u;
    return (s->random >> 33) % below;
}

/* The loads of a function of searches.cc. */
static bool searched_init(struct searched *s, const char *path, const char *function)
{
    char command[512], line[256], name[128];
    unsigned long low = 0, bytes = 0;
    *s = (struct searched){.random = 1};
    lwp_profile_init(&s->profile);
    lwp_code_module(s->profile.code, path, NULL, 0);
    snprintf(command, sizeof command, "nm -S %s", path);
    FILE *symbols = popen(command, "r");
    while (fgets(line, sizeof line, symbols))
        if (sscanf(line, "%lx %lx %*c %127s", &low, &bytes, name) == 3 && strcmp(name, function) == 0)
            break;
    pclose(symbols);
    for (uint64_t at = low; at < low + bytes; at++) {
        const struct lwp_memory_operand operand = lwp_code_operand(s->profile.code, 0, at);
        const uint32_t region = operand.exists && operand.load ? lwp_regions_at(&s->profile, 0, at) : LWP_NONE;
        if (region == LWP_NONE)
            continue;
        const bool looped = !s->profile.regions[region].is_function;
        s->next = looped && lwp_loop_leads(s->profile.code, 0, at) ? at : s->next;
        s->key = looped && operand.displacement != 0 && at != s->next ? at : s->key;
        s->key = looped && !s->key && at != s->next ? at : s->key;
        s->value = !looped && operand.displacement == VALUE ? at : s->value;
    }
    return s->key && bytes;
}

/* Access number `at` of searches that visit `length` elements each time. */
static struct lwp_traversal_access searched_access(struct searched *s, unsigned length, enum behind behind, unsigned at)
{
    const unsigned each = s->next ? 2 : 1, all = each * length + (behind == BEHIND_NOTHING ? 0 : 1), k = at % all;
    const uint64_t code = k == each * length ? s->value : k % each ? s->next : s->key;
    return (struct lwp_traversal_access){
        .region = lwp_regions_at(&s->profile, 0, code), .code = code, .address = 4096 + k / each * ELEMENT};
}

static double searched_least(struct searched *s, unsigned length, enum behind behind, unsigned looks)
{
    const unsigned all = (s->next ? 2 : 1) * length + (behind == BEHIND_NOTHING ? 0 : 1);
    lwp_moves_fini(&s->profile.moves);
    for (unsigned i = 0; i < looks; i++) {
        struct lwp_traversal_access look[LOOK];
        const unsigned first = (unsigned)searched_random(s, all);
        int count = 0;
        for (unsigned k = 0; k < LOOK; k++) {
            if (behind == BEHIND_RETURNS && first + k >= all - 1)
                break;
            look[count] = searched_access(s, length, behind, first + k);
            look[count++].close = k > 0;
        }
        lwp_moves_sample(&s->profile.moves, &s->profile, look, count);
    }
    return lwp_moves_length_least(&s->profile, lwp_regions_at(&s->profile, 0, s->key));
}

static void check_least(struct searched *s, enum behind behind)
{
    static const unsigned lengths[] = {2, 3, 10, 100, 1000};
    enum { TIMES = AMOUNT(200, 40) };
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (unsigned looks = 30; looks <= 3000; looks *= 10) {
            unsigned held = 0;
            double sum = 0;
            for (int k = 0; k < TIMES; k++) {
                const double least = searched_least(s, lengths[i], behind, looks);
                held += least <= lengths[i];
                sum += least / TIMES;
            }
            print_message("%u elements, %u looks: at least %.1f in the mean, right in %u of %d\n", lengths[i], looks, sum, held, TIMES);
            assert_true(held >= 0.9 * TIMES);
            if (looks / 3 >= lengths[i] * 10) /* many ends were seen, each by up to three of an instruction's looks */
                assert_true(sum >= lengths[i] / 4.0);
            if (looks == 3000 && lengths[i] == 1000)
                assert_true(sum > 100);
        }
}

static void test_least(void **state)
{
    (void)state;
    static struct searched s;
    char path[256];
    if (!programs_have("g++") || !programs_build("g++", "-O2 -g", "searches.cc", path, sizeof path))
        skip();
    assert_true(searched_init(&s, path, "list_find") && s.next && s.value);
    check_least(&s, BEHIND_SEEN);
    check_least(&s, BEHIND_RETURNS);
    lwp_moves_fini(&s.profile.moves);
    lwp_profile_fini(&s.profile);
    assert_true(searched_init(&s, path, "scan_ints") && !s.next);
    check_least(&s, BEHIND_NOTHING);
    lwp_profile_fini(&s.profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_least)};
    return cmocka_run_group_tests(tests, programs_set_up, programs_tear_down);
}
