/* From decided watches to shares: proportional attribution where some pairs are seen far more often than others, and
 * intervals that hold what they promise, both against simulated programs whose truth is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/redundancy.h"

#include <stdio.h>
#include <stdlib.h>

struct simulated {
    struct lwp_profile profile;
    uint64_t random;
    struct waiting {
        uint32_t first; /* 0: the register is free */
    } waiting;
    uint32_t since;
    unsigned decided[5][5];
};

static uint64_t simulated_random(struct simulated *s, uint64_t below)
{
    s->random = s->random * 6364136223846793005u + 1442695040888963407u;
    return (s->random >> 33) % below;
}

static void simulated_add(struct simulated *s, enum lwp_watched_outcome outcome, uint32_t first, uint32_t second)
{
    lwp_watched_add(&s->profile.watched, &(struct lwp_watched_verdict){.kind = LWP_WATCHED_DEAD_STORE,
                                                                       .outcome = outcome,
                                                                       .first = first,
                                                                       .second = second,
                                                                       .object = LWP_NONE,
                                                                       .weight = 1000,
                                                                       .bytes = 8});
    if (outcome >= LWP_WATCHED_USE)
        s->decided[first][second]++;
}

/* One register; a candidate in `first` whose bytes the program touches next in `second`: at once, or much later. */
static void simulated_sample(struct simulated *s, uint32_t first, uint32_t second, bool at_once)
{
    bool taken = !s->waiting.first || simulated_random(s, ++s->since) == 0;
    if (!taken) {
        simulated_add(s, LWP_WATCHED_OPEN, first, second);
        return;
    }
    if (s->waiting.first)
        simulated_add(s, LWP_WATCHED_OPEN, s->waiting.first, 0);
    else
        s->since = 1;
    s->waiting.first = first;
    if (at_once) {
        simulated_add(s, LWP_WATCHED_WASTE, first, second);
        s->waiting.first = 0;
    }
}

static void simulated_reach(struct simulated *s, uint32_t first, uint32_t second)
{
    if (s->waiting.first == first) {
        simulated_add(s, LWP_WATCHED_WASTE, first, second);
        s->waiting.first = 0;
    }
}

/* Thesis, listing 4.3: lines 3 and 11 (here 1 and 4) wait long, 7 and 8 (2 and 3) do not; each is a quarter. */
static void test_mixed_density(void **state)
{
    (void)state;
    static struct simulated s;
    enum { ROUNDS = 4000, SAMPLES = 10 };
    lwp_profile_init(&s.profile);
    s.random = 99;
    lwp_watched_begin(&s.profile.watched);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < SAMPLES; i++) {
            if (i == SAMPLES / 2)
                simulated_reach(&s, 4, 1);
            simulated_sample(&s, 1, 4, false);
        }
        for (int i = 0; i < 2 * SAMPLES; i++)
            simulated_sample(&s, 2 + (uint32_t)simulated_random(&s, 2), 0, false), simulated_reach(&s, 2, 3),
                simulated_reach(&s, 3, 2);
        for (int i = 0; i < SAMPLES; i++) {
            if (i == SAMPLES / 2)
                simulated_reach(&s, 1, 4);
            simulated_sample(&s, 4, 1, false);
        }
    }
    static const uint32_t same[5] = {0, 1, 2, 3, 4};
    lwp_watched_settle(&s.profile.watched, same, NULL);
    struct lwp_redundancies found;
    s.profile.context_count = 5;
    free(s.profile.contexts);
    s.profile.contexts = calloc(5, sizeof *s.profile.contexts);
    for (int i = 0; i < 5; i++)
        s.profile.contexts[i].module = LWP_NONE;
    s.profile.total = (struct lwp_tally){1e9, 1e9, 1000};
    lwp_redundancy_find(&s.profile, &found);
    assert_int_equal(found.count, 4);
    double raw = 0;
    for (uint32_t first = 1; first <= 4; first++)
        for (uint32_t second = 1; second <= 4; second++)
            raw += s.decided[first][second];
    for (size_t i = 0; i < found.count; i++) {
        const struct lwp_redundancy *item = &found.items[i];
        double counted = s.decided[item->pair->first][item->pair->second] / raw;
        print_message("pair %u>%u: %.3f of the stores; of what was decided %.3f\n", item->pair->first,
                      item->pair->second, item->share.value, counted);
        assert_true(item->share.value > 0.23 && item->share.value < 0.27);
        assert_true(counted < 0.2 || counted > 0.3); /* what counting would say */
    }
    assert_true(found.totals[LWP_WATCHED_DEAD_STORE].share.value > 0.999);
    free(s.profile.contexts);
    s.profile.contexts = NULL;
    lwp_profile_fini(&s.profile);
}

/* The 95 % interval holds the truth about as often as it says, with few samples of which few are decided. */
static void test_interval(void **state)
{
    (void)state;
    enum { ROUNDS = 2000, SAMPLES = 300 };
    unsigned inside = 0;
    double width = 0;
    uint64_t random = 5;
    for (int round = 0; round < ROUNDS; round++) {
        struct simulated s = {.random = random};
        lwp_profile_init(&s.profile);
        lwp_watched_begin(&s.profile.watched);
        for (int i = 0; i < SAMPLES; i++) {
            /* three places: always wasted, never, and one time in four; of one in three samples it is seen */
            uint32_t first = 1 + (uint32_t)simulated_random(&s, 3);
            bool waste = first == 1 || (first == 3 && simulated_random(&s, 4) == 0);
            bool seen = simulated_random(&s, 3) == 0;
            simulated_add(&s, !seen ? LWP_WATCHED_OPEN : waste ? LWP_WATCHED_WASTE : LWP_WATCHED_USE, first, 1);
        }
        random = s.random;
        static const uint32_t same[5] = {0, 1, 2, 3, 4};
        lwp_watched_settle(&s.profile.watched, same, NULL);
        struct lwp_context_node nodes[5];
        for (int i = 0; i < 5; i++)
            nodes[i] = (struct lwp_context_node){.module = LWP_NONE};
        free(s.profile.contexts);
        s.profile.contexts = nodes;
        struct lwp_redundancies found;
        lwp_redundancy_find(&s.profile, &found);
        const struct lwp_share *share = &found.totals[LWP_WATCHED_DEAD_STORE].share;
        const double truth = (1 + 0.25) / 3;
        inside += share->low <= truth && truth <= share->high;
        width += (share->high - share->low) / ROUNDS;
        s.profile.contexts = NULL;
        lwp_profile_fini(&s.profile);
    }
    print_message("the interval (%.3f wide) holds the truth in %.1f %% of %d runs\n", width, 100.0 * inside / ROUNDS,
                  ROUNDS);
    assert_true(inside > 0.92 * ROUNDS && inside < 0.99 * ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mixed_density), cmocka_unit_test(test_interval)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
