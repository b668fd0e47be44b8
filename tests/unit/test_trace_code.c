/* Traces as bytes and back: all that is put in comes out, damage ends a window and nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/random.h"
#include "format/trace_decode.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 40, SITES_MOST = 30, WINDOWS = 3, RUNS = 800, CHUNKS = 2000 };

static struct lwps_trace_block blocks[BLOCKS];
static struct lwps_traced *told; /* sites: the ip */
static uint32_t told_count, window_end[WINDOWS];
static struct lwps_trace chunks[CHUNKS];
static uint32_t chunk_count, window_chunk[WINDOWS];

static struct lwps_trace_place place(uint32_t *random, uint64_t block, uint64_t i)
{
    uint64_t far = lwp_random_next(random);
    switch (block % 4) {
    case 0: /* an array */
        return (struct lwps_trace_place){.address = 0x10000000 + i * 8};
    case 1: /* nodes */
        far = 0x20000000 + far % 1000 * 64;
        return (struct lwps_trace_place){.address = far + 16, .home_base = far, .home = LWPS_HOME_POOL, .home_id = 3};
    case 2:
        return (struct lwps_trace_place){.address = 0x7fff0000 - far % 64, .home_base = 0x7fff0010, .home = LWPS_HOME_STACK,
                                         .home_id = (uint32_t)far % 3};
    default:
        return (struct lwps_trace_place){.address = far << 16 | 0xffff000000000000 * (far & 1)};
    }
}

static void flush(uint8_t *from, uint8_t **to, uint32_t window, uint32_t *part)
{
    uint32_t size = (uint32_t)(*to - from);
    char *bytes = malloc(size + 1);
    memcpy(bytes, from, size);
    chunks[chunk_count++] = (struct lwps_trace){.window = window, .part = (*part)++, .bytes = bytes, .size = size};
    *to = from;
}

static void make(void)
{
    static uint8_t chunk[LWPS_TRACE_BYTES];
    struct lwps_trace_coder coder = {0};
    uint8_t *end = chunk;
    bool known[BLOCKS] = {false};
    uint32_t random = 9, part;
    told = calloc(WINDOWS * RUNS * SITES_MOST, sizeof *told);
    for (uint32_t b = 0; b < BLOCKS; b++) {
        blocks[b] = (struct lwps_trace_block){.id = b, .count = b % SITES_MOST};
        blocks[b].sites = calloc(SITES_MOST, sizeof *blocks[b].sites);
        for (uint32_t i = 0; i < blocks[b].count; i++) {
            blocks[b].sites[i].ip = 0x400000 + b * 1000 + i * 5;
            blocks[b].sites[i].bytes = (uint16_t)(1u << i % 6);
            blocks[b].sites[i].flags = (uint8_t)(1 + i % 3);
        }
    }
    for (uint32_t w = 0; w < WINDOWS; w++) {
        lwps_trace_window(&coder, w + 1);
        window_chunk[w] = chunk_count;
        part = 0;
        for (uint32_t r = 0; r < RUNS; r++) {
            uint32_t b = lwp_random_next(&random) % 4 ? r % 5 : lwp_random_next(&random) % (BLOCKS / WINDOWS * (w + 1));
            if (end + lwps_trace_block_bytes(&blocks[b]) > chunk + sizeof chunk)
                flush(chunk, &end, w + 1, &part);
            end = lwps_trace_put_run(&coder, &blocks[b], !known[b], end);
            known[b] = true;
            for (uint32_t i = 0; i < blocks[b].count; i++) {
                struct lwps_trace_place at = place(&random, b, r);
                bool happened = lwp_random_next(&random) % 8 != 0;
                if (end + LWPS_TRACE_ACCESS_BYTES > chunk + sizeof chunk || lwp_random_next(&random) % 500 == 0)
                    flush(chunk, &end, w + 1, &part);
                end = lwps_trace_put_access(&blocks[b].sites[i], happened ? &at : NULL, end);
                if (happened)
                    told[told_count++] = (struct lwps_traced){.site = (uint32_t)blocks[b].sites[i].ip, .place = at};
            }
        }
        flush(chunk, &end, w + 1, &part);
        window_end[w] = told_count;
    }
}

static void same(const struct lwps_trace_decoder *decoder, const struct lwps_traced *traced, const struct lwps_traced *expected)
{
    const struct lwps_trace_site *site = lwps_trace_decoder_site(decoder, traced->site);
    uint32_t block = (expected->site - 0x400000) / 1000, i = (expected->site - 0x400000) % 1000 / 5;
    assert_int_equal(site->ip, expected->site);
    assert_int_equal(site->bytes, blocks[block].sites[i].bytes);
    assert_int_equal(site->flags, blocks[block].sites[i].flags);
    assert_int_equal(traced->place.address, expected->place.address);
    assert_int_equal(traced->place.home, expected->place.home);
    assert_int_equal(traced->place.home_id, expected->place.home_id);
    if (expected->place.home != LWPS_HOME_ADDRESS)
        assert_int_equal(traced->place.home_base, expected->place.home_base);
}

static void test_back(void **state)
{
    (void)state;
    struct lwps_trace_decoder *decoder = lwps_trace_decoder_new();
    struct lwps_traced_all *all = malloc(sizeof *all);
    uint32_t count = 0;
    lwps_trace_decoder_begin(decoder);
    for (uint32_t c = 0; c < chunk_count; c++) {
        assert_true(lwps_trace_decode(decoder, &chunks[c], all));
        for (uint32_t i = 0; i < all->count; i++)
            same(decoder, &all->accesses[i], &told[count++]);
    }
    assert_int_equal(count, told_count);
    free(all);
    lwps_trace_decoder_free(decoder);
}

/* A lost chunk costs the rest of its window; a window that needs a block told there ends where it comes. */
static void test_lost(void **state)
{
    (void)state;
    struct lwps_trace_decoder *decoder = lwps_trace_decoder_new();
    struct lwps_traced_all *all = malloc(sizeof *all);
    lwps_trace_decoder_begin(decoder);
    uint32_t lost = window_chunk[1] + 2, count = 0;
    for (uint32_t c = 0; c < chunk_count; c++) {
        if (c == lost)
            continue;
        bool sound = lwps_trace_decode(decoder, &chunks[c], all);
        assert_true(sound == (c < lost) || c >= window_chunk[2]);
        if (c == window_chunk[2])
            count = window_end[1];
        for (uint32_t i = 0; i < all->count; i++)
            same(decoder, &all->accesses[i], &told[count++]);
        if (!sound && c < window_chunk[2])
            assert_int_equal(all->count, 0);
    }
    assert_true(count > window_end[1]);
    free(all);
    lwps_trace_decoder_free(decoder);
}

/* Any bytes: what comes out is wrong, and nothing else happens. */
static void test_noise(void **state)
{
    (void)state;
    struct lwps_trace_decoder *decoder = lwps_trace_decoder_new();
    struct lwps_traced_all *all = malloc(sizeof *all);
    uint32_t random = 5;
    lwps_trace_decoder_begin(decoder);
    for (uint32_t c = 0; c < 3000; c++) {
        struct lwps_trace chunk = chunks[c % chunk_count];
        char *bytes = malloc(chunk.size + 1);
        memcpy(bytes, chunk.bytes, chunk.size);
        for (int i = 0; i < 3 && chunk.size; i++)
            bytes[lwp_random_next(&random) % chunk.size] = (char)lwp_random_next(&random);
        chunk.bytes = bytes;
        chunk.part = 0;
        lwps_trace_decode(decoder, &chunk, all);
        for (uint32_t i = 0; i < all->count; i++)
            assert_true(all->accesses[i].site < lwps_trace_decoder_sites(decoder));
        free(bytes);
    }
    free(all);
    lwps_trace_decoder_free(decoder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_back),
        cmocka_unit_test(test_lost),
        cmocka_unit_test(test_noise),
    };
    make();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (uint32_t i = 0; i < chunk_count; i++)
        free((char *)chunks[i].bytes);
    for (uint32_t i = 0; i < BLOCKS; i++)
        free(blocks[i].sites);
    free(told);
    return failed;
}
