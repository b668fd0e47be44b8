/* What threads do with objects: against a count of all accesses, whichever shards they were added to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/statistics/object_uses.h"

#include <stdlib.h>
#include <string.h>

enum { OBJECTS = 5, THREADS = 3, SHARDS = 3, MOST = 400, PROGRAMS = 500 };

static void test_counted(void **state)
{
    (void)state;
    srand(11);
    for (int program = 0; program < PROGRAMS; program++) {
        struct lwp_object_uses shards[SHARDS] = {{0}};
        static struct lwp_object_access all[MOST];
        const uint32_t objects[OBJECTS] = {3, 1, 4, 0, 1}; /* two are one */
        int count = 1 + rand() % MOST;
        for (int i = 0; i < count; i++) {
            all[i] = (struct lwp_object_access){.object = (uint32_t)(rand() % OBJECTS),
                                                .tid = 100 + (uint32_t)(rand() % THREADS),
                                                .offset = (uint64_t)rand() % ((uint64_t)1 << rand() % 24),
                                                .time_ns = (uint64_t)rand(),
                                                .weight = (uint64_t)(rand() % 1000),
                                                .level = (uint8_t)rand(),
                                                .known = rand() % 8 != 0};
            lwp_object_uses_add(&shards[rand() % SHARDS], &all[i]);
        }
        for (int s = 1; s < SHARDS; s++)
            lwp_object_uses_merge(&shards[0], &shards[s]);
        lwp_object_uses_renumber(&shards[0], objects);
        for (uint32_t object = 0; object < OBJECTS; object++) {
            size_t uses;
            const struct lwp_object_use *use = lwp_object_uses_of(&shards[0], object, &uses);
            for (size_t i = 1; i < uses; i++)
                assert_true(use[i - 1].first_ns <= use[i].first_ns);
            for (uint32_t tid = 100; tid < 100 + THREADS; tid++) {
                struct lwp_object_use want = {.object = object, .tid = tid, .first_ns = UINT64_MAX};
                const struct lwp_object_use *got = NULL;
                bool any = false;
                for (size_t i = 0; i < uses; i++)
                    got = use[i].tid == tid ? &use[i] : got;
                for (int i = 0; i < count; i++) {
                    if (objects[all[i].object] != object || all[i].tid != tid || !(all[i].known || all[i].level))
                        continue;
                    any = true;
                    if (all[i].known) {
                        want.accesses++;
                        want.first_ns = all[i].time_ns < want.first_ns ? all[i].time_ns : want.first_ns;
                        assert_non_null(got);
                        assert_true(all[i].offset >> got->shift < LWP_OBJECT_BINS);
                        want.bins[all[i].offset >> got->shift]++;
                    }
                    if (all[i].level & LWPS_LEVEL_MASK) {
                        want.at[all[i].level & LWPS_LEVEL_MASK]++;
                        want.cycles[all[i].level & LWPS_LEVEL_MASK] += all[i].weight;
                        want.remote += (all[i].level & LWPS_LEVEL_REMOTE) != 0;
                        want.modified += (all[i].level & LWPS_LEVEL_MODIFIED) != 0;
                    }
                    want.translated += (all[i].level >> LWPS_TLB_SHIFT & 3) != 0;
                    want.walks += (all[i].level >> LWPS_TLB_SHIFT & 3) == LWPS_TLB_WALK;
                }
                assert_true((got != NULL) == any);
                if (!any)
                    continue;
                want.shift = got->shift;
                assert_memory_equal(got->bins, want.bins, sizeof want.bins);
                assert_memory_equal(got->at, want.at, sizeof want.at);
                assert_memory_equal(got->cycles, want.cycles, sizeof want.cycles);
                assert_int_equal(got->accesses, want.accesses);
                assert_int_equal(got->first_ns, want.first_ns);
                assert_true(got->remote == want.remote && got->modified == want.modified);
                assert_true(got->translated == want.translated && got->walks == want.walks);
            }
        }
        lwp_object_uses_free(&shards[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_counted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
