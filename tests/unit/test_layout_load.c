/* Result directories into profiles: who owns an address at a time, and what damage does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/json/analyze.h"
#include "analysis/load/load.h"
#include "analysis/profile/objects.h"
#include "format/writer.h"
#include "tests/unit/amount.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64], process_path[128], thread_path[128];

static void put(struct lwps_writer *writer, uint64_t time, struct lwps_access access, uint64_t weight)
{
    struct lwps_sample sample = {.time = time,
                                 .weight = weight * 1000,
                                 .ip = access.ip + 4,
                                 .context = 1,
                                 .kind = LWPS_SAMPLE_STALL,
                                 .access_count = 1};
    access.flags |= LWPS_ACCESS_LOAD | LWPS_ACCESS_WEIGHTED;
    access.bytes = 8;
    sample.access[0] = access;
    assert_int_equal(lwps_put_sample(writer, &sample), 0);
}

/* Two blocks at one address one after the other, a mapping around a block, a pool, the stack, nothing. */
static int make(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/lwp-load-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(process_path, sizeof process_path, "%s/p77", folder);
    assert_int_equal(mkdir(process_path, 0700), 0);
    snprintf(thread_path, sizeof thread_path, "%s/p77/t77.lwps", folder);
    snprintf(process_path, sizeof process_path, "%s/p77/process.lwps", folder);

    struct lwps_file file = {.engine = LWPS_ENGINE_TIMER, .weight_unit = LWPS_WEIGHT_NS, .pid = 77};
    struct lwps_writer writer = {0};
    assert_int_equal(lwps_writer_open(&writer, process_path, &file), 0);
    lwps_put_process(&writer, &(struct lwps_process){.pid = 77, .command = "./app\0one", .command_bytes = 10});
    lwps_put_module(&writer, &(struct lwps_module){.id = 1, .start = 0x400000, .end = 0x500000, .path = "/gone/app"});
    for (uint32_t i = 1; i <= 4; i++) /* four allocation sites */
        lwps_put_context(&writer, &(struct lwps_context){.id = i, .parent = 0, .ip = 0x401000 + i * 0x10});
    lwps_put_block(&writer, &(struct lwps_block){1, LWPS_BLOCK_HEAP, 1, 1000000000, 0x10000, 0x1000});
    lwps_put_block_end(&writer, &(struct lwps_block_end){1, 2000000000});
    lwps_put_block(&writer, &(struct lwps_block){2, LWPS_BLOCK_HEAP, 2, 3000000000, 0x10000, 0x2000});
    lwps_put_block(&writer, &(struct lwps_block){3, LWPS_BLOCK_MMAP, 3, 1000000000, 0x8000, 0x100000});
    lwps_put_pool(&writer, &(struct lwps_pool){.id = 1, .context = 4, .size = 48});
    lwps_put_pool_count(&writer, &(struct lwps_pool_count){1, 1000, 10, 990, 48000});
    lwps_put_totals(&writer, &(struct lwps_totals){.user_ns = 1000000000, .own_ns = 10000000, .samples = 8});
    lwps_writer_close(&writer);

    file.tid = 77;
    assert_int_equal(lwps_writer_open(&writer, thread_path, &file), 0);
    lwps_put_thread(&writer, &(struct lwps_thread){
                                 .tid = 77, .stack_low = 0x7f0000000000, .stack_high = 0x7f0000100000, .name = "app"});
    lwps_put_context(&writer, &(struct lwps_context){.id = 1, .parent = 0, .ip = 0x402000});
    const uint64_t ip = 0x403000;
    const uint8_t known = LWPS_ACCESS_KNOWN;
    put(&writer, 1500000000, (struct lwps_access){.ip = ip, .address = 0x10010, .flags = known, .source = 1}, 1);
    put(&writer, 2500000000, (struct lwps_access){.ip = ip, .address = 0x10010, .flags = known, .source = 1}, 20);
    put(&writer, 3500000000, (struct lwps_access){.ip = ip, .address = 0x11800, .flags = known, .source = 1}, 300);
    put(&writer, 3600000000,
        (struct lwps_access){.ip = ip,
                             .address = 0x5000018,
                             .flags = known,
                             .source = 1,
                             .home = LWPS_HOME_POOL,
                             .home_id = 1,
                             .home_base = 0x5000000},
        4000);
    put(&writer, 3700000000, (struct lwps_access){.ip = ip, .address = 0x7f0000000800, .flags = known, .source = 1},
        50000);
    put(&writer, 3800000000, (struct lwps_access){.ip = ip, .address = 0x123456789, .flags = known, .source = 1},
        600000);
    put(&writer, 3900000000, (struct lwps_access){.ip = ip}, 7000000);
    put(&writer, 4000000000,
        (struct lwps_access){.ip = ip, .address = 0x99, .flags = known, .home = LWPS_HOME_POOL, .home_id = 55},
        80000000);
    lwps_writer_close(&writer);
    return 0;
}

static int clean(void **state)
{
    (void)state;
    char command[200];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static double weight_of(const struct lwp_profile *profile, enum lwp_object_kind kind, uint64_t pool_size, uint64_t site)
{
    double weight = 0;
    for (size_t i = 0; i < profile->object_count; i++) {
        const struct lwp_object *object = &profile->objects[i];
        if (object->kind == kind && object->pool_size == pool_size &&
            (site == 0 || profile->contexts[object->context].address == site))
            weight += object->weight.weight / 1000; /* files keep microseconds */
    }
    return weight;
}

static void test_owners(void **state)
{
    (void)state;
    struct lwp_profile profile;
    struct lwp_error err;
    const char *dir = folder;
    lwp_profile_init(&profile);
    assert_int_equal(lwp_load(&profile, &dir, 1, &err), 0);
    assert_int_equal(profile.samples, 8);
    assert_int_equal(profile.samples_with_address, 7);
    assert_string_equal(profile.processes[0].command, "./app one");
    assert_true(weight_of(&profile, LWP_OBJECT_HEAP, 0, 0x401010) == 1);   /* the first block, while it lived */
    assert_true(weight_of(&profile, LWP_OBJECT_MMAP, 0, 0x401030) == 20);  /* between them: the mapping around */
    assert_true(weight_of(&profile, LWP_OBJECT_HEAP, 0, 0x401020) == 300); /* the second block */
    assert_true(weight_of(&profile, LWP_OBJECT_HEAP, 48, 0x401040) == 4000);
    assert_true(weight_of(&profile, LWP_OBJECT_STACK, 0, 0) == 50000);
    assert_true(weight_of(&profile, LWP_OBJECT_UNKNOWN, 0, 0) == 87600000);
    assert_true(profile.total.weight == 87654321000);
    for (size_t i = 0; i < profile.object_count; i++)
        if (profile.objects[i].pool_size == 48) {
            assert_int_equal(profile.objects[i].bytes, 990 * 48);
            assert_int_equal(profile.objects[i].allocations, 1000);
        }
    lwp_profile_fini(&profile);
}

static char *slurp(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = malloc(1 << 20);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    while (*size && bytes[*size - 1] == 0) /* a file that is not sealed ends in what was reserved and not used */
        --*size;
    return bytes;
}

static void spill(const char *path, const char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Cut at every byte and with single bytes changed: always an answer, with a note when something is missing. */
static void test_damage(void **state)
{
    (void)state;
    const char *paths[] = {process_path, thread_path}, *dir = folder;
    char out[128];
    snprintf(out, sizeof out, "%s/analysis.json", folder);
    for (int p = 0; p < 2; p++) {
        size_t size;
        char *bytes = slurp(paths[p], &size);
        for (size_t cut = 0; cut < size; cut += 1 + size / AMOUNT(300, 80)) {
            struct lwp_profile profile;
            struct lwp_error err = {0};
            spill(paths[p], bytes, cut);
            lwp_profile_init(&profile);
            assert_int_equal(lwp_load(&profile, &dir, 1, &err), 0);
            assert_true(profile.note_count >= 2); /* no run.json, and the cut */
            lwp_profile_fini(&profile);
        }
        for (size_t at = 0; at < size; at += 1 + size / AMOUNT(200, 50)) {
            struct lwp_error err = {0};
            bytes[at] ^= 0x55;
            spill(paths[p], bytes, size);
            bytes[at] ^= 0x55;
            assert_int_equal(lwp_analyze(&dir, 1, out, &err), 0);
        }
        spill(paths[p], bytes, size);
        free(bytes);
    }
}

static void test_nothing_there(void **state)
{
    (void)state;
    struct lwp_profile profile;
    struct lwp_error err;
    char empty[] = "/tmp/lwp-empty-XXXXXX";
    assert_non_null(mkdtemp(empty));
    const char *dirs[] = {empty, "/proc/nonexistent/dir", "/dev/null"};
    for (int i = 0; i < 3; i++) {
        memset(&err, 0, sizeof err);
        lwp_profile_init(&profile);
        assert_true(lwp_load(&profile, &dirs[i], 1, &err) < 0);
        assert_non_null(strstr(err.text, dirs[i]));
        assert_non_null(strstr(err.text, "lwp collect"));
        lwp_profile_fini(&profile);
    }
    rmdir(empty);
}

/* The answer on disk is used again until something is newer. */
static void test_cache(void **state)
{
    (void)state;
    struct lwp_error err;
    bool made;
    assert_int_equal(lwp_analyze_directory(folder, true, &made, &err), 0);
    assert_true(made);
    assert_int_equal(lwp_analyze_directory(folder, false, &made, &err), 0);
    assert_false(made);
    struct timespec later[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};
    assert_int_equal(utimensat(AT_FDCWD, thread_path, later, 0), 0);
    assert_int_equal(lwp_analyze_directory(folder, false, &made, &err), 0);
    assert_true(made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_owners),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_nothing_there),
        cmocka_unit_test(test_cache),
    };
    return cmocka_run_group_tests(tests, make, clean);
}
