/* Many processes, threads and runs into one profile: nothing lost, nothing counted twice, the same however many threads
 * read, and damage stays where it is. The truth is what the generator of the samples counted itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/addresses/address_map.h"
#include "analysis/json/analyze.h"
#include "analysis/load/load.h"
#include "analysis/load/resolver.h"
#include "analysis/profile/objects.h"
#include "bench/synthetic.c"
#include "tests/unit/amount.h"

#include <fcntl.h>
#include <glob.h>

enum { OBJECTS = 300, SAMPLES_A = AMOUNT(20000, 6000), SAMPLES_B = AMOUNT(7000, 2100), SIZE_MAX_FILE = 1 << 22 };

static char folder[64], a[80], b[80];
static struct synthetic_truth truth[2][OBJECTS];

static int make(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/lwp-merge-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(a, sizeof a, "%s/a", folder);
    snprintf(b, sizeof b, "%s/b", folder);
    struct synthetic wanted = {.dir = a,
                               .processes = 3,
                               .threads = 4,
                               .objects = OBJECTS,
                               .samples = SAMPLES_A,
                               .sealed = true,
                               .truth = truth[0]};
    assert_int_equal(lwp_synthetic_write(&wanted), 0);
    wanted = (struct synthetic){/* the first pid of a once more, not sealed */
                                .dir = b,           .processes = 1,       .threads = 2,
                                .objects = OBJECTS, .samples = SAMPLES_B, .truth = truth[1]};
    assert_int_equal(lwp_synthetic_write(&wanted), 0);
    return 0;
}

static int clean(void **state)
{
    (void)state;
    char command[200];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

/* Which of the generator's objects it is: its path, and the digits in it. */
static uint32_t object_of(const struct lwp_profile *profile, const struct lwp_object *object)
{
    uint64_t call[SYNTHETIC_FRAMES];
    uint32_t node = object->context;
    for (int frame = SYNTHETIC_FRAMES; frame--; node = profile->contexts[node].parent)
        call[frame] = profile->contexts[node].address;
    assert_int_equal(node, 0);
    for (uint32_t i = 0; i < OBJECTS; i++) {
        int frame = SYNTHETIC_FRAMES;
        while (frame && lwp_synthetic_call(i, frame - 1) == call[frame - 1])
            frame--;
        if (frame == 0)
            return i;
    }
    fail_msg("an object that is not there");
    return 0;
}

static void assert_truth(const struct lwp_profile *profile, const struct synthetic_truth *x,
                         const struct synthetic_truth *y)
{
    uint32_t seen = 0;
    for (size_t i = 0; i < profile->object_count; i++) {
        const struct lwp_object *object = &profile->objects[i];
        if (!object->accessed)
            continue;
        assert_int_equal(object->kind, LWP_OBJECT_HEAP);
        uint32_t which = object_of(profile, object);
        assert_int_equal(object->accesses, x[which].accesses + (y ? y[which].accesses : 0));
        assert_int_equal((uint64_t)object->weight.weight, x[which].weight + (y ? y[which].weight : 0));
        assert_int_equal(object->pool_size, synthetic_is_pool(which) ? ELEMENT_BYTES : 0);
        assert_int_equal(object->bytes, BLOCK_BYTES); /* the most in one process */
        seen++;
    }
    uint32_t there = 0;
    for (uint32_t i = 0; i < OBJECTS; i++)
        there += x[i].accesses != 0 || (y && y[i].accesses != 0);
    assert_int_equal(seen, there); /* one object for each site, in however many processes it was reached */
}

static void test_totals(void **state)
{
    (void)state;
    for (unsigned jobs = 1; jobs <= 4; jobs += LONG_AMOUNT(1, 3)) {
        struct lwp_profile profile;
        struct lwp_error err;
        const char *dirs[] = {a, b};
        lwp_profile_init(&profile);
        profile.jobs = jobs;
        assert_int_equal(lwp_load(&profile, dirs, 2, &err), 0);
        assert_int_equal(profile.process_count, 4);
        assert_int_equal(profile.processes[0].pid, profile.processes[3].pid);
        assert_int_equal(profile.samples, SAMPLES_A + SAMPLES_B);
        assert_int_equal(profile.total.samples, SAMPLES_A + SAMPLES_B);
        assert_true(profile.unknown_weight == 0);
        assert_truth(&profile, truth[0], truth[1]);
        double regions = 0, streams = 0, objects = 0;
        for (size_t i = 0; i < profile.region_count; i++)
            regions += profile.regions[i].weight.weight;
        for (size_t i = 0; i < profile.stream_count; i++)
            streams += profile.streams[i].weight.weight;
        for (size_t i = 0; i < profile.object_count; i++)
            objects += profile.objects[i].weight.weight;
        assert_true(regions == profile.total.weight);
        assert_true(streams == profile.stalled.weight && objects == streams);
        lwp_profile_fini(&profile);
    }
}

static char *slurp(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = malloc(SIZE_MAX_FILE);
    *size = fread(bytes, 1, SIZE_MAX_FILE, file);
    fclose(file);
    while (*size && bytes[*size - 1] == 0) /* a file that is not sealed ends in what was reserved and not used */
        --*size;
    return bytes;
}

static void test_same_for_any_threads(void **state)
{
    (void)state;
    const char *dirs[] = {a, b};
    struct lwp_error err;
    char path[128];
    size_t size[3];
    char *bytes[3];
    snprintf(path, sizeof path, "%s/out.json", folder);
    for (unsigned i = 0; i < 3; i++) {
        lwp_analyze_jobs(i == 2 ? 7 : i + 1);
        assert_int_equal(lwp_analyze(dirs, 2, path, &err), 0);
        bytes[i] = slurp(path, &size[i]);
        assert_true(size[i] > 1000);
        assert_int_equal(size[i], size[0]);
        assert_memory_equal(bytes[i], bytes[0], size[0]);
    }
    for (int i = 0; i < 3; i++)
        free(bytes[i]);
    lwp_analyze_jobs(0);
}

/* More call paths than may be kept: which ones are cut is no matter of who came first. */
static void test_too_many_paths(void **state)
{
    (void)state;
    enum { MOST = 150 };
    struct lwp_profile one;
    const char *dirs[] = {a, b};
    struct lwp_error err;
    for (unsigned jobs = 1; jobs <= 4; jobs += LONG_AMOUNT(1, 3)) {
        struct lwp_profile more, *profile = jobs == 1 ? &one : &more;
        lwp_profile_init(profile);
        profile->jobs = jobs;
        profile->contexts_most = MOST;
        assert_int_equal(lwp_load(profile, dirs, 2, &err), 0);
        assert_int_equal(profile->samples, SAMPLES_A + SAMPLES_B);
        assert_in_range(profile->context_count, 2, MOST);
        assert_int_equal(profile->context_count, one.context_count);
        assert_int_equal(profile->object_count, one.object_count);
        for (size_t i = 0; i < one.context_count; i++) {
            assert_int_equal(profile->contexts[i].parent, one.contexts[i].parent);
            assert_int_equal(profile->contexts[i].address, one.contexts[i].address);
        }
        for (size_t i = 0; i < one.object_count; i++) {
            assert_int_equal(profile->objects[i].context, one.objects[i].context);
            assert_int_equal(profile->objects[i].common, one.objects[i].common);
            assert_true(profile->objects[i].weight.weight == one.objects[i].weight.weight);
        }
        assert_int_equal(profile->note_count, one.note_count);
        assert_non_null(strstr(profile->notes[profile->note_count - 1], "call paths"));
        if (profile == &more)
            lwp_profile_fini(&more);
    }
    lwp_profile_fini(&one);
}

static bool noted(const struct lwp_profile *profile, const char *text)
{
    for (size_t i = 0; i < profile->note_count; i++)
        if (strstr(profile->notes[i], text))
            return true;
    return false;
}

/* One folder damaged, one file cut, one in another unit: the others are as they were. */
static void test_damage_stays(void **state)
{
    (void)state;
    char process[160], thread[160];
    const char *dirs[] = {a, b};
    struct lwp_error err;
    snprintf(process, sizeof process, "%s/p1000/process.lwps", b);
    snprintf(thread, sizeof thread, "%s/p1000/t1000.lwps", b);
    const char *paths[] = {process, thread};
    for (int i = 0; i < 4; i++) {
        size_t size;
        char *bytes = slurp(paths[i / 2], &size);
        int fd = open(paths[i / 2], O_WRONLY);
        if (i % 2)
            assert_int_equal(ftruncate(fd, (off_t)size / 2), 0);
        else
            assert_int_equal(pwrite(fd, "damage", 6, 0), 6);
        struct lwp_profile profile;
        lwp_profile_init(&profile);
        assert_int_equal(lwp_load(&profile, dirs, 2, &err), 0);
        assert_true(profile.samples >= SAMPLES_A && profile.samples <= SAMPLES_A + SAMPLES_B);
        assert_true((profile.samples == SAMPLES_A + SAMPLES_B) == (i < 2));
        assert_true(noted(&profile, "/b/p1000/"));
        lwp_profile_fini(&profile);
        assert_int_equal(pwrite(fd, bytes, size, 0), size);
        close(fd);
        free(bytes);
    }
    struct lwps_writer writer = {0};
    struct lwps_file file = {.engine = LWPS_ENGINE_PMU, .weight_unit = LWPS_WEIGHT_CYCLES, .pid = 1000, .tid = 5};
    snprintf(thread, sizeof thread, "%s/p1000/t5.lwps", b);
    assert_int_equal(lwps_writer_open(&writer, thread, &file), 0);
    assert_int_equal(lwps_put_sample(&writer, &(struct lwps_sample){.time = 1, .weight = 1000000, .ip = 1}), 0);
    lwps_writer_close(&writer);
    struct lwp_profile profile;
    lwp_profile_init(&profile);
    assert_int_equal(lwp_load(&profile, dirs, 2, &err), 0);
    assert_int_equal(profile.samples, SAMPLES_A + SAMPLES_B);
    assert_true(noted(&profile, "measured in cycles"));
    assert_truth(&profile, truth[0], truth[1]);
    lwp_profile_fini(&profile);
    assert_int_equal(unlink(thread), 0);
}

static void test_missing(void **state)
{
    (void)state;
    const char *dirs[] = {a, "/proc/nonexistent/run"};
    struct lwp_error err = {0};
    struct lwp_profile profile;
    lwp_profile_init(&profile);
    assert_true(lwp_load(&profile, dirs, 2, &err) < 0);
    assert_non_null(strstr(err.text, "/proc/nonexistent/run"));
    lwp_profile_fini(&profile);
}

/* A merged result is a result: found good, made anew when a part changes, a part of others, kept when parts are gone.
 */
static void test_merged(void **state)
{
    (void)state;
    const char *dirs[] = {a, b};
    char merged[80], more[80], moved[100];
    struct lwp_error err = {0};
    bool made;
    snprintf(merged, sizeof merged, "%s/m", folder);
    snprintf(more, sizeof more, "%s/n", folder);
    assert_true(lwp_analyze_merge(dirs, 2, b, &err) < 0); /* samples of its own */
    assert_non_null(strstr(err.text, "samples of its own"));
    assert_int_equal(lwp_analyze_merge(dirs, 2, merged, &err), 0);
    assert_int_equal(lwp_analyze_directory(merged, false, &made, &err), 0);
    assert_false(made);
    snprintf(moved, sizeof moved, "%s/p1000/t1000.lwps", b);
    struct timespec later[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};
    assert_int_equal(utimensat(AT_FDCWD, moved, later, 0), 0);
    assert_int_equal(lwp_analyze_directory(merged, false, &made, &err), 0);
    assert_true(made);
    const char *again[] = {merged, b};
    assert_int_equal(lwp_analyze_merge(again, 2, more, &err), 0);
    char path[128];
    snprintf(path, sizeof path, "%s/analysis.json", more);
    json_t *root = json_load_file(path, 0, NULL);
    const json_t *run = json_object_get(root, "run");
    assert_int_equal(json_integer_value(json_object_get(run, "samples")), SAMPLES_A + 2 * SAMPLES_B);
    assert_int_equal(json_array_size(json_object_get(run, "runs")), 3);
    json_decref(root);
    snprintf(moved, sizeof moved, "%s/moved", folder);
    assert_int_equal(rename(b, moved), 0);
    assert_int_equal(lwp_analyze_directory(merged, false, &made, &err), 0);
    assert_false(made);
    assert_true(lwp_analyze_directory(merged, true, &made, &err) < 0);
    assert_int_equal(rename(moved, b), 0);
}

/* Blocks anywhere and at any time, many over each other: the block that holds the address and began last. */
static void test_blocks(void **state)
{
    (void)state;
    enum { BLOCKS = 400, QUESTIONS = AMOUNT(20000, 500) };
    static const uint64_t unit = 10000000; /* longer than two clocks may differ */
    uint64_t random = 7;
    for (int round = 0; round < 6; round++) {
        struct lwp_profile profile;
        struct lwps_block blocks[BLOCKS];
        uint64_t ends[BLOCKS];
        lwp_profile_init(&profile);
        struct lwp_address_map *space = lwp_address_map_new(&profile, 0);
        struct lwp_resolver *resolver = lwp_resolver_new(&profile);
        for (uint32_t i = 0; i < BLOCKS; i++) {
            lwp_address_map_context(space, &(struct lwps_context){.id = i + 1, .ip = 0x1000 + i * 16});
            uint64_t place = synthetic_random(&random) % (round < 3 ? 60 : 4000),
                     size = 1 + synthetic_random(&random) % (round % 3 * 8 + 1);
            blocks[i] = (struct lwps_block){i + 1, LWPS_BLOCK_HEAP, i + 1, (i + 1) * unit, place * 64, size * 64};
            ends[i] = synthetic_random(&random) % 3 ? blocks[i].time + (1 + synthetic_random(&random) % 40) * unit
                                                    : UINT64_MAX;
            lwp_address_map_block(space, &blocks[i]);
        }
        for (uint32_t i = 0; i < BLOCKS; i++)
            if (ends[i] != UINT64_MAX)
                lwp_address_map_block_end(space, &(struct lwps_block_end){i + 1, ends[i]});
        lwp_address_map_modules(space);
        lwp_address_map_objects(space, resolver);
        struct lwp_extent last = {0};
        for (int q = 0; q < QUESTIONS; q++) {
            uint64_t address = synthetic_random(&random) % (64 * 4100), offset,
                     time = (synthetic_random(&random) % (BLOCKS + 60)) * unit + unit / 2;
            uint32_t best = LWP_NONE, hint = LWP_NONE;
            /* Of several blocks that began at one address only the last to begin is looked at. */
            for (uint32_t i = 0; i < BLOCKS; i++) {
                bool hidden = false;
                for (uint32_t k = i + 1; k < BLOCKS && blocks[k].time <= time; k++)
                    hidden |= blocks[k].address == blocks[i].address;
                if (!hidden && blocks[i].time <= time && time < ends[i] && address - blocks[i].address < blocks[i].size)
                    best = i;
            }
            if (q % 2)
                lwp_address_map_hints(space, &address, 1, &hint);
            bool again = lwp_extent_holds(&last, address, time);
            offset = address - last.start;
            uint32_t object = again ? last.object : lwp_address_map_object(space, &last, hint, address, time, &offset);
            assert_int_equal(object == LWP_NONE, best == LWP_NONE);
            if (best == LWP_NONE)
                continue;
            assert_int_equal(profile.contexts[profile.objects[object].context].address,
                             blocks[best].context * 16 - 16 + 0x1000);
            assert_int_equal(offset, address - blocks[best].address);
        }
        lwp_resolver_free(resolver);
        lwp_address_map_free(space);
        lwp_profile_fini(&profile);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_totals),       cmocka_unit_test(test_same_for_any_threads),
        cmocka_unit_test(test_damage_stays), cmocka_unit_test(test_missing),
        cmocka_unit_test(test_merged),       cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_too_many_paths),
    };
    return cmocka_run_group_tests(tests, make, clean);
}
