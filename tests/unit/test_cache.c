/* The cache model: geometry, replacement, streams, against what can be worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cache.h"

#include <stdlib.h>

static void begin(struct lwp_cache *cache, const char *text)
{
    assert_true(lwp_cache_parse(cache, text));
    for (unsigned i = 0; i < cache->levels; i++)
        assert_non_null(cache->level[i].tags = calloc(1, lwp_cache_tag_bytes(&cache->level[i])));
}

static void end(struct lwp_cache *cache)
{
    for (unsigned i = 0; i < cache->levels; i++)
        free(cache->level[i].tags);
}

static uint8_t where(struct lwp_cache *cache, uint64_t address, unsigned bytes)
{
    uint8_t level = 0;
    assert_true(lwp_cache_access(cache, address, bytes, &level) > 0);
    return level;
}

static void test_geometry(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",         "1",           "1:1",           "1024:2:48",          "1024:0:64", "64:2:64",
                                        "1024:2:64,", "x:2:64",    "1024:2:64;",    "-1024:2:64",         "1024:2:8",
                                        "1024:2:64,1024:2:64,1024:2:64,1024:2:64", "99999999999999999999:2:64"};
    struct lwp_cache cache;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (lwp_cache_parse(&cache, wrong[i]))
            fail_msg("'%s' was taken", wrong[i]);
    assert_true(lwp_cache_parse(&cache, "49152:12:64,2097152:16:64,272629760:20:64"));
    assert_int_equal(cache.levels, 3);
    assert_int_equal(cache.level[0].sets, 64);
    assert_int_equal(cache.level[2].sets, 212992); /* no power of two */
}

/* One set of two ways, 64-byte lines: the line not used for longest goes. */
static void test_replacement(void **state)
{
    (void)state;
    struct lwp_cache cache;
    begin(&cache, "128:2:64");
    assert_int_equal(where(&cache, 0x0000, 8), LWP_CACHE_MEMORY);
    assert_int_equal(where(&cache, 0x3f, 1), LWP_CACHE_L1);
    assert_int_equal(where(&cache, 0x10000, 8), LWP_CACHE_MEMORY);
    assert_int_equal(where(&cache, 0x0000, 8), LWP_CACHE_L1);
    assert_int_equal(where(&cache, 0x20000, 8), LWP_CACHE_MEMORY); /* 0x10000 goes */
    assert_int_equal(where(&cache, 0x0000, 8), LWP_CACHE_L1);
    assert_int_equal(where(&cache, 0x10000, 8), LWP_CACHE_MEMORY);
    end(&cache);
}

/* Going round twice what the first level holds never hits there with this replacement; the second level has it all. */
static void test_levels(void **state)
{
    (void)state;
    struct lwp_cache cache;
    begin(&cache, "1024:4:64,16384:4:64");
    for (unsigned round = 0; round < 3; round++)
        for (unsigned i = 0; i < 32; i++)
            assert_int_equal(where(&cache, i * 64, 8), round ? LWP_CACHE_L2 : LWP_CACHE_MEMORY);
    for (unsigned round = 0; round < 2; round++)
        for (unsigned i = 0; i < 16; i++)
            assert_int_equal(where(&cache, i * 64, 8), round ? LWP_CACHE_L1 : LWP_CACHE_L2);
    end(&cache);
}

/* An access over the end of a line touches both; lines in a row are fetched ahead, in a jumble they are not. */
static void test_cycles(void **state)
{
    (void)state;
    struct lwp_cache cache;
    uint8_t level;
    begin(&cache, "49152:12:64,2097152:16:64");
    assert_int_equal(lwp_cache_access(&cache, 0x1000003c, 8, &level), 2 * LWP_CACHE_MEMORY_CYCLES);
    assert_int_equal(level, LWP_CACHE_MEMORY);
    assert_int_equal(lwp_cache_access(&cache, 0x10000040, 8, &level), LWP_CACHE_L1_CYCLES);
    for (unsigned up = 0; up < 2; up++)
        for (unsigned i = 0; i < 1000; i++) {
            uint64_t address = up ? 0x20000000 + i * 64 : 0x30000000 - i * 64;
            unsigned cycles = lwp_cache_access(&cache, address, 8, &level);
            assert_int_equal(cycles, i < 2 ? LWP_CACHE_MEMORY_CYCLES : LWP_CACHE_AHEAD_CYCLES);
            assert_int_equal(level, LWP_CACHE_MEMORY);
        }
    for (unsigned i = 0; i < 1000; i++)
        assert_int_equal(lwp_cache_access(&cache, 0x40000000 + (uint64_t)i * 7919 % 1000 * 4096, 8, &level),
                         LWP_CACHE_MEMORY_CYCLES);
    end(&cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_geometry), cmocka_unit_test(test_replacement),
                                       cmocka_unit_test(test_levels), cmocka_unit_test(test_cycles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
