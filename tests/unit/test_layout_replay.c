/* The replay of regrouped arrays, against accesses to a structure that the compiler has laid out, in caches that are lists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/advice/layout/regroup.h"

#include <string.h>

enum { COUNT = 3000, HEADER = 16, ACCESSES = 200000, OTHER = 40 };

struct element {
    float mass;
    double place;
    short kind;
};

static const struct {
    uint64_t start, bytes, place; /* start: of the array's block */
} arrays[] = {{0x10000000, sizeof(float), offsetof(struct element, mass)},
              {0x20000340, sizeof(double), offsetof(struct element, place)},
              {0x30000080, sizeof(short), offsetof(struct element, kind)}};
enum { ARRAYS = sizeof arrays / sizeof *arrays };

/* ---- the plain way ---- */

enum { LEVELS = 2, LINE = 64, WAYS_MOST = 8, SETS_MOST = 64 };
static const struct {
    uint64_t bytes, ways;
} caches[LEVELS] = {{2048, 4}, {32768, 8}};

struct plain {
    uint64_t line[LEVELS][SETS_MOST][WAYS_MOST]; /* + 1, most recent first */
    uint64_t answered[LEVELS + 1];
};

static bool plain_level(struct plain *plain, unsigned level, uint64_t line)
{
    uint64_t ways = caches[level].ways, *set = plain->line[level][line % (caches[level].bytes / LINE / ways)], at = 0;
    while (at + 1 < ways && set[at] != line + 1)
        at++;
    bool hit = set[at] == line + 1;
    memmove(set + 1, set, at * sizeof *set);
    set[0] = line + 1;
    return hit;
}

static void plain_access(struct plain *plain, uint64_t address)
{
    unsigned level = 0;
    while (level < LEVELS && !plain_level(plain, level, address / LINE))
        level++;
    plain->answered[level]++;
}

static void assert_alike(const struct lwp_locality_found *found, const struct plain *plain)
{
    assert_int_equal(found->at[LWP_CACHE_L1], plain->answered[0]);
    assert_int_equal(found->at[LWP_CACHE_L2], plain->answered[1]);
    assert_int_equal(found->at[LWP_CACHE_MEMORY], plain->answered[LEVELS]);
}

/* ---- */

static void one_access(struct lwp_profile *profile, uint32_t object, uint64_t address, uint32_t offset, uint8_t bytes)
{
    lwp_trace_sample_add(&profile->locality.kept, &(struct lwp_trace_sample_access){.address = address, .bytes = bytes, .object = object, .offset = offset});
}

/* Elements in any order, of each some members, the first elements of some arrays never; data of others in between. */
static void make_trace(struct lwp_profile *profile, struct plain *before, struct plain *after)
{
    uint64_t random = 12345;
    for (unsigned i = 0; i < ACCESSES; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint64_t index = (random >> 33) % (i % 4 ? 60 : COUNT) + i / 2000 * 20;
        for (uint32_t k = 0; k < ARRAYS; k++) {
            if (random >> (20 + k) & 1 || index < 100 * k || index >= COUNT)
                continue;
            uint64_t offset = HEADER + index * arrays[k].bytes;
            one_access(profile, k, arrays[k].start + offset, (uint32_t)offset, (uint8_t)arrays[k].bytes);
            plain_access(before, arrays[k].start + offset);
            plain_access(after, ((uint64_t)3 << 36) + index * sizeof(struct element) + arrays[k].place);
        }
        if (i % 5 == 0) {
            uint64_t address = 0x40000000 + (random >> 40) % 4096 * 8;
            one_access(profile, OTHER, address, UINT32_MAX, 8);
            plain_access(before, address);
            plain_access(after, address);
        }
    }
}

static void test_regrouped(void **state)
{
    (void)state;
    static struct plain before, after;
    static struct lwp_profile profile;
    static struct lwp_regroups regroups;
    size_t members[ARRAYS] = {0, 1, 2};
    struct lwp_regroup regroup = {.count = ARRAYS, .members = members, .bytes = sizeof(struct element)};
    struct lwp_splits none = {0};
    lwp_profile_init(&profile);
    json_t *machine = json_pack("{s:i,s:[{s:i,s:i,s:i},{s:i,s:i,s:i}]}", "line_bytes", LINE, "caches", "level", 1, "bytes", 2048, "ways", 4,
                                "level", 2, "bytes", 32768, "ways", 8);
    assert_true(lwp_hierarchy_plan_of(&profile.machines[LWP_MACHINE_HERE], machine));
    for (uint32_t k = 0; k < ARRAYS; k++)
        regroups.candidates.arrays[k] = (struct lwp_regroup_array){.object = k, .start = HEADER, .element_bytes = arrays[k].bytes,
                                                                   .elements = COUNT, .alignment = arrays[k].bytes};
    regroups.candidates.count = ARRAYS;
    regroups.regroups = &regroup;
    regroups.count = 1;
    make_trace(&profile, &before, &after);
    lwp_layout_replay(&profile, &none, &regroups, NULL);
    assert_int_equal(regroup.gain.replay.accesses, profile.locality.kept.count);
    assert_alike(&regroup.gain.replay.before, &before);
    assert_alike(&regroup.gain.replay.after, &after);
    assert_true(before.answered[0] != after.answered[0] && before.answered[LEVELS] != after.answered[LEVELS]);
    json_decref(machine);
    lwp_profile_fini(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_regrouped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
