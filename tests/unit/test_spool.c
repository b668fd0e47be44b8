/* Sample files in memory (format/spool.h): what is written to files from there is what a writer with a file of its own leaves. */
#include "format/reader.h"
#include "format/spool.h"
#include "format/writer.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { THREADS = 8, SAMPLES = 60000 };

static struct lwps_spool spool;
static char folder_name[] = "/tmp/lwp-test-spool-XXXXXX";
static int folder;

static uint8_t *take(const struct lwps_memory *memory, struct lwps_writer *writer, uint32_t need, uint32_t *size)
{
    (void)memory;
    return lwps_spool_take(&spool, writer, need, size);
}

static const struct lwps_memory memory = {take};

static void put_samples(struct lwps_writer *writer, uint32_t tid, unsigned samples)
{
    assert_int_equal(lwps_put_thread(writer, &(struct lwps_thread){.tid = tid, .name = "a thread"}), 0);
    for (unsigned i = 0; i < samples; i++) {
        struct lwps_sample sample = {.time = 1000000u * i, .weight = 5000 + i % 7 * 1000, .ip = 0x400000 + i % 100, .access_count = 1};
        sample.access[0] = (struct lwps_access){.ip = sample.ip - 4, .flags = LWPS_ACCESS_LOAD | LWPS_ACCESS_KNOWN, .bytes = 8,
                                                .address = 0x700000 + 64 * i + tid};
        assert_int_equal(lwps_put_sample(writer, &sample), 0);
    }
    assert_int_equal(lwps_put_thread_end(writer, &(struct lwps_thread_end){.time = 1, .cpu_ns = 2}), 0);
}

static void *write_in_memory(void *of)
{
    uint32_t tid = (uint32_t)(uintptr_t)of;
    struct lwps_writer writer;
    const struct lwps_file file = {.engine = LWPS_ENGINE_TIMER, .weight_unit = LWPS_WEIGHT_NS, .pid = 9, .tid = tid};
    assert_int_equal(lwps_writer_open_memory(&writer, &memory, 0, &file), 0);
    put_samples(&writer, tid, tid == THREADS ? 0 : SAMPLES);
    lwps_writer_close(&writer);
    return NULL;
}

struct seen {
    uint64_t samples, sum, threads, ends;
    bool complete;
};

static int see_file(void *to, const struct lwps_file *file)
{
    ((struct seen *)to)->complete = file->complete;
    return 0;
}

static int see_sample(void *to, const struct lwps_sample *sample)
{
    struct seen *seen = to;
    seen->samples++;
    seen->sum = seen->sum * 31 + sample->time + 3 * sample->weight + 5 * sample->ip + 7 * sample->access[0].address;
    return 0;
}

static int see_thread(void *to, const struct lwps_thread *thread)
{
    ((struct seen *)to)->threads += thread->tid;
    return 0;
}

static int see_end(void *to, const struct lwps_thread_end *end)
{
    ((struct seen *)to)->ends += end->cpu_ns == 2;
    return 0;
}

static struct seen read_back(const char *path)
{
    static const struct lwps_visitor visitor = {.file = see_file, .sample = see_sample, .thread = see_thread, .thread_end = see_end};
    struct seen seen = {0};
    struct lwps_damage damage;
    struct lwp_error err;
    assert_int_equal(lwps_read(path, &visitor, &seen, &damage, &err), 0);
    assert_false(damage.bad_blocks || damage.torn_bytes || damage.unknown_blocks);
    return seen;
}

/* As lwp collect does, again and again: what is in the files already is left alone. */
static unsigned write_out(void)
{
    unsigned written = 0;
    struct lwps_spool_chunk *chunk;
    for (uint64_t at = 0; (chunk = lwps_spool_next(&spool, &at));) {
        const uint64_t now = lwps_spool_state(chunk, chunk->bytes);
        if (chunk->quiet || chunk->kept == now)
            continue;
            assert_int_equal(lwps_spool_write(chunk, chunk->bytes, folder), 0);
        chunk->kept = now;
        written++;
    }
    return written;
}

static void test_threads(void **state)
{
    (void)state;
    pthread_t threads[THREADS + 1];
    unsigned written = 0;
    int fd = lwps_spool_make(&spool, "test", 64 << 20);
    assert_true(fd >= 0);
    close(fd); /* further parts are mapped without it */
    for (uintptr_t tid = 1; tid <= THREADS; tid++)
        pthread_create(&threads[tid], NULL, write_in_memory, (void *)tid);
    for (int i = 0; i < 20; i++) /* also while they write, as often as one likes */
        written += write_out();
    for (uintptr_t tid = 1; tid <= THREADS; tid++)
        pthread_join(threads[tid], NULL);
    written += write_out(); /* nothing, where they were done before */
    assert_true(written > 2 * THREADS);
    assert_int_equal(write_out(), 0);
    assert_true(spool.slab[1] != NULL);

    char path[128];
    for (uint32_t tid = 1; tid < THREADS; tid++) {
        struct lwps_writer plain;
        const struct lwps_file file = {.engine = LWPS_ENGINE_TIMER, .weight_unit = LWPS_WEIGHT_NS, .pid = 9, .tid = tid};
        snprintf(path, sizeof path, "%s/plain%u", folder_name, tid);
        assert_int_equal(lwps_writer_open(&plain, path, &file), 0);
        put_samples(&plain, tid, SAMPLES);
        lwps_writer_close(&plain);
        struct seen expected = read_back(path);
        snprintf(path, sizeof path, "%s/t%u.lwps", folder_name, tid);
        struct seen seen = read_back(path);
        assert_int_equal(seen.samples, SAMPLES);
        assert_memory_equal(&seen, &expected, sizeof seen);
        assert_true(seen.complete);
    }
    struct stat st;
    snprintf(path, sizeof path, "%s/t%d.lwps", folder_name, THREADS);
    assert_int_equal(stat(path, &st), -1); /* it recorded nothing */
    lwps_spool_abandon(&spool);
}

/* Full memory is records lost, and no fault. */
static void test_full(void **state)
{
    (void)state;
    struct lwps_writer writer;
    const struct lwps_file file = {.engine = LWPS_ENGINE_TIMER, .weight_unit = LWPS_WEIGHT_NS, .pid = 9, .tid = 77};
    int fd = lwps_spool_make(&spool, "test", 32 << 10);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(lwps_writer_open_memory(&writer, &memory, 3, &file), 0);
    struct lwps_sample sample = {.ip = 0x400000};
    unsigned put = 0, lost = 0;
    for (unsigned i = 0; i < 20000; i++) {
        sample.time += 12345678;
        *(lwps_put_sample(&writer, &sample) ? &lost : &put) += 1;
    }
    lwps_writer_close(&writer);
    write_out();
    assert_true(put > 100 && lost > 100);
    char path[128];
    snprintf(path, sizeof path, "%s/t77.3.lwps", folder_name);
    assert_int_equal(read_back(path).samples, put);
    lwps_spool_abandon(&spool);
}

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder_name) && (folder = open(folder_name, O_RDONLY | O_DIRECTORY)) >= 0 ? 0 : -1;
}

static int clean_up(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder_name);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads), cmocka_unit_test(test_full)};
    return cmocka_run_group_tests(tests, set_up, clean_up);
}
