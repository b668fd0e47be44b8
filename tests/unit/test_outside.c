/* Looking at a process from outside, on this very process: what it finds is compared with what the process knows of itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collector/outside/process/jit_files.h"
#include "collector/outside/process/recorded_mappings.h"
#include "collector/outside/process/remote.h"
#include "collector/outside/process/thread_base.h"
#include "collector/outside/process/unwinder.h"
#include "collector/perf/sample.h"

#include <asm/perf_regs.h>
#include <dlfcn.h>
#include <elf.h>
#include <execinfo.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

/* ---- records ---- */

static void test_sample_with_registers(void **state)
{
    (void)state;
    const struct perf_event_attr attr = {.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
                                         .sample_regs_user = 1u << PERF_REG_X86_BX | 1u << PERF_REG_X86_SP | 1u << PERF_REG_X86_R15};
    uint64_t record[] = {0x401000, PERF_SAMPLE_REGS_ABI_64, 11, 22, 33, 24, 1, 2, 3, 16}, none[] = {0x401000, PERF_SAMPLE_REGS_ABI_NONE, 0};
    struct lwp_perf_sample sample;
    uint64_t word;
    assert_true(lwp_perf_sample_parse(&attr, PERF_RECORD_MISC_USER, (const uint8_t *)record, sizeof record, NULL, &sample));
    assert_int_equal(lwp_perf_register(&attr, &sample, PERF_REG_X86_BX), 11);
    assert_int_equal(lwp_perf_register(&attr, &sample, PERF_REG_X86_SP), 22);
    assert_int_equal(lwp_perf_register(&attr, &sample, PERF_REG_X86_R15), 33);
    assert_int_equal(lwp_perf_register(&attr, &sample, PERF_REG_X86_AX), 0);
    assert_int_equal(sample.stack_bytes, 16);
    memcpy(&word, sample.stack + 8, sizeof word);
    assert_int_equal(word, 2);
    assert_true(lwp_perf_sample_parse(&attr, PERF_RECORD_MISC_USER, (const uint8_t *)none, sizeof none, NULL, &sample));
    assert_null(sample.registers);
    assert_int_equal(sample.stack_bytes, 0);
    for (size_t cut = 0; cut < sizeof record; cut++) /* shorter than it says */
        assert_false(lwp_perf_sample_parse(&attr, PERF_RECORD_MISC_USER, (const uint8_t *)record, cut, NULL, &sample));
    record[9] = 1000; /* more used than there is */
    assert_true(lwp_perf_sample_parse(&attr, PERF_RECORD_MISC_USER, (const uint8_t *)record, sizeof record, NULL, &sample));
    assert_int_equal(sample.stack_bytes, 24);
}

/* ---- mappings ---- */

static void put(struct lwp_mappings *mappings, uint64_t start, uint64_t end, const char *path)
{
    lwp_mappings_put(mappings, &(struct lwp_mapping){.start = start, .end = end, .offset = start, .path = (char *)path});
}

/* Each page's owner, kept naively. */
static void test_mappings_put(void **state)
{
    (void)state;
    enum { PAGES = 64, ROUNDS = 2000 };
    static const char *const names[] = {"", "/a", "/b", "/c"};
    int owner[PAGES];
    struct lwp_mappings mappings = {0}, copy;
    memset(owner, -1, sizeof owner);
    srand(1);
    for (int round = 0; round < ROUNDS; round++) {
        int from = rand() % PAGES, to = from + 1 + rand() % (PAGES - from), name = rand() % 4;
        put(&mappings, (uint64_t)from, (uint64_t)to, names[name]);
        for (int page = from; page < to; page++)
            owner[page] = name;
        for (uint64_t page = 0; page < PAGES; page++) {
            const struct lwp_mapping *mapping = lwp_mappings_at(&mappings, page);
            assert_int_equal(mapping != NULL, owner[page] >= 0);
            if (!mapping)
                continue;
            assert_string_equal(mapping->path, names[owner[page]]);
            assert_int_equal(mapping->offset, mapping->start); /* parts keep their place in the file */
            assert_int_equal(mapping->file, owner[page] > 0);
        }
        for (size_t i = 1; i < mappings.count; i++)
            assert_true(mappings.items[i - 1].end <= mappings.items[i].start);
    }
    lwp_mappings_copy(&copy, &mappings);
    assert_int_equal(copy.count, mappings.count);
    lwp_mappings_free(&copy);
    lwp_mappings_free(&mappings);
}

static void record(struct lwp_recorded_mappings *recorded, const void *bytes, size_t size)
{
    struct lwp_mapping mapping;
    pid_t pid;
    if (lwp_recorded_read(bytes, size, &mapping, &pid))
        lwp_recorded_map(recorded, pid, &mapping);
}

static void test_recorded(void **state)
{
    (void)state;
    struct {
        uint32_t pid, tid;
        uint64_t address, length, offset, file[3];
        uint32_t protection, flags;
        char path[16];
    } given = {.pid = 7, .tid = 7, .address = 0x1000, .length = 0x2000, .protection = PROT_READ | PROT_EXEC, .path = "/lib"};
    struct lwp_recorded_mappings recorded = {0};
    struct lwp_mappings parent = {0};
    put(&parent, 0x8000, 0x9000, "/parent");
    record(&recorded, &given, sizeof given); /* of a process that is not recorded */
    assert_null(lwp_recorded_of(&recorded, 7));
    lwp_recorded_fork(&recorded, 1, 7, &parent);
    assert_true(lwp_recorded_of(&recorded, 7)->fresh);
    record(&recorded, &given, sizeof given);
    lwp_recorded_fork(&recorded, 7, 8, NULL); /* a child's child has both */
    assert_non_null(lwp_mappings_at(&lwp_recorded_of(&recorded, 8)->mappings, 0x8000));
    const struct lwp_mapping *library = lwp_mappings_at(&lwp_recorded_of(&recorded, 8)->mappings, 0x2fff);
    assert_true(library && library->execute && !library->write && library->file);
    lwp_recorded_exec(&recorded, 8, true);
    assert_int_equal(lwp_recorded_of(&recorded, 8)->mappings.count, 0);
    assert_false(lwp_recorded_of(&recorded, 8)->fresh);
    given.length = UINT64_MAX; /* around the end */
    record(&recorded, &given, sizeof given);
    record(&recorded, &given, sizeof given - sizeof given.path); /* without a path */
    memset(given.path, 'x', sizeof given.path);
    record(&recorded, &given, sizeof given); /* that does not end */
    assert_int_equal(lwp_recorded_of(&recorded, 7)->mappings.count, 2);
    lwp_recorded_end(&recorded, 7);
    assert_null(lwp_recorded_of(&recorded, 7));
    lwp_mappings_free(&parent);
    lwp_recorded_free(&recorded);
}

/* ---- this process ---- */

static struct lwp_remote remote;
static const int constant[4] = {1, 2, 3, 4};
static int variable = 5;

static int set_up(void **state)
{
    (void)state;
    lwp_remote_init(&remote, getpid());
    return !lwp_remote_refresh(&remote, NULL);
}

/* Only what cannot have changed since is read as it was: constants, and the part of the stack that was saved. */
static void test_settled(void **state)
{
    (void)state;
    const struct lwp_program *program = &remote.program;
    uint64_t saved[4] = {10, 20, 30, 40}, there[4] = {50, 60, 70, 80};
    uint64_t got[4] = {0};
    int number = 0;
    assert_int_equal(program->read(program, (uint64_t)&constant[2], &number, sizeof number, LWP_READ_ALONE), sizeof number);
    assert_int_equal(number, 3);
    assert_int_equal(program->read(program, (uint64_t)&variable, &number, sizeof number, LWP_READ_ALONE), 0);
    assert_int_equal(program->read(program, (uint64_t)&variable, &number, sizeof number, LWP_READ_NOW), sizeof number);
    assert_int_equal(number, 5);
    remote.stack = (const uint8_t *)saved;
    remote.stack_start = (uint64_t)there;
    remote.stack_bytes = sizeof saved;
    assert_int_equal(program->read(program, (uint64_t)&there[1], got, 24, LWP_READ_ALONE), 24);
    assert_int_equal(got[2], 40);
    assert_int_equal(program->read(program, (uint64_t)&there[1], got, 32, LWP_READ_ALONE), 0); /* beyond what was saved */
    assert_int_equal(program->read(program, (uint64_t)&there[0] - 8, got, 8, LWP_READ_ALONE), 0);
    remote.stack = NULL;
    assert_int_equal(program->read(program, 8, got, 8, LWP_READ_NOW), 0);
}

/* Code as this process has it, also across pages; bounds as the dynamic symbols say. */
static void test_functions(void **state)
{
    (void)state;
    static const char *const names[] = {"qsort", "strtol", "fopen", "getenv", "malloc", "pthread_create", "snprintf"};
    const struct lwp_program *program = &remote.program;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        Dl_info info;
        uint64_t function = (uint64_t)dlsym(RTLD_DEFAULT, names[i]), low, high;
        const Elf64_Sym *symbol;
        assert_true(function && dladdr1((void *)function, &info, (void **)&symbol, RTLD_DL_SYMENT));
        assert_true(program->bounds(program, function + 1, &low, &high));
        assert_int_equal(low, function);
        assert_int_equal(high, function + symbol->st_size);
        assert_int_equal(lwp_remote_function_start(&remote, high - 1), function);
        for (uint64_t at = low; at + 16 <= high; at += 5) {
            const uint8_t *code = program->code(program, at, 16);
            assert_non_null(code);
            assert_memory_equal(code, (const void *)at, 16);
        }
    }
    uint64_t low, high, from_file, end;
    uint8_t code[16];
    struct lwp_remote files; /* where memory may not be read, the files serve */
    lwp_remote_init(&files, getpid());
    files.unreadable = true;
    assert_true(lwp_remote_refresh(&files, NULL));
    assert_true(program->bounds(program, (uint64_t)dlsym(RTLD_DEFAULT, "qsort"), &low, &high));
    assert_true(files.program.bounds(&files.program, low + 1, &from_file, &end));
    assert_true(from_file == low && end == high && lwp_remote_constant(&files, low, code, sizeof code));
    assert_memory_equal(code, (const void *)low, sizeof code);
    lwp_remote_fini(&files);
    assert_false(program->bounds(program, (uint64_t)&variable, &low, &high));
    assert_null(program->code(program, (uint64_t)&variable, 8)); /* it could change */
}

static void check_base(void)
{
    assert_int_equal(lwp_thread_base(&remote, (pid_t)syscall(SYS_gettid)), (uint64_t)__builtin_thread_pointer());
}

static void *in_thread(void *unused)
{
    check_base();
    return unused;
}

static void test_thread_base(void **state)
{
    (void)state;
    pthread_t threads[8];
    check_base();
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, in_thread, NULL), 0);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(lwp_thread_base(&remote, 0x7fffffff), 0);
}

/* ---- call paths ---- */

static struct {
    struct lwp_unwinder *unwinder;
    struct lwp_remote_frames frames;
    void *truth[64];
    int count;
    size_t stack_bytes;
    uint8_t stack[1 << 16];
} path;

static __attribute__((noinline, no_sanitize("address"))) int path_take(int depth)
{
    static const int register_of[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                        REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    struct lwp_registers registers = {.known = 0xffff};
    ucontext_t here;
    path.count = backtrace(path.truth, 64);
    getcontext(&here);
    for (int i = 0; i < 16; i++)
        registers.value[i] = (uint64_t)here.uc_mcontext.gregs[register_of[i]];
    const struct lwp_mapping *stack = lwp_mappings_at(&remote.mappings, registers.value[4]);
    if (stack->end - registers.value[4] < path.stack_bytes)
        path.stack_bytes = stack->end - registers.value[4];
    for (size_t i = 0; i < path.stack_bytes; i++) /* ASan forbids memcpy() here */
        path.stack[i] = ((const volatile uint8_t *)registers.value[4])[i];
    remote.stack = path.stack;
    remote.stack_start = registers.value[4];
    remote.stack_bytes = path.stack_bytes;
    lwp_unwinder_frames(path.unwinder, (uint64_t)here.uc_mcontext.gregs[REG_RIP], &registers, &path.frames);
    remote.stack = NULL;
    return depth;
}

static __attribute__((noinline)) int path_down(int depth, volatile char *room)
{
    char more[200];
    more[depth] = *room;
    return depth ? path_down(depth - 1, more) + more[depth] : path_take(depth) + more[0];
}

static int path_compare(const void *a, const void *b)
{
    (void)a, (void)b;
    char room[8] = {0};
    if (!path.frames.count)
        path_down(10, room);
    return 0;
}

static void path_check(void)
{
    int skip = 0; /* frames of a sanitizer's own backtrace() */
    while (skip < 3 && (uint64_t)path.truth[skip + 1] - 1 != path.frames.ips[1])
        skip++;
    for (int i = 1; i <= (int)path.frames.count && i + skip < path.count; i++)
        assert_int_equal(path.frames.ips[i], (uint64_t)path.truth[i + skip] - 1); /* a return address */
}

/* Through qsort() of the C library, against its own backtrace(). */
static void test_frames(void **state)
{
    (void)state;
    int numbers[4] = {4, 3, 2, 1};
    path.unwinder = lwp_unwinder_new(&remote);
    path.stack_bytes = sizeof path.stack;
    qsort(numbers, 4, sizeof *numbers, path_compare);
    assert_in_range(path.frames.count, 14, 63);
    path_check();
    for (unsigned i = 1; i < path.frames.count; i++)
        assert_true(path.frames.cfas[i] > path.frames.cfas[i - 1]);
    unsigned all = path.frames.count;
    path.frames.count = 0;
    path.stack_bytes = path.frames.cfas[5] - path.frames.sp; /* ends where the saved stack does */
    qsort(numbers, 4, sizeof *numbers, path_compare);
    assert_in_range(path.frames.count, 5, 7); /* frames are not of the same size in both calls, by some alignment */
    assert_true(path.frames.count < all);
    path_check();
    lwp_unwinder_free(path.unwinder);
}

/* ---- files of compilers ---- */

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Whatever fractions of seconds it is asked at. */
static void test_process_began(void **state)
{
    (void)state;
    double before = seconds_now();
    pid_t child = fork();
    if (!child) {
        alarm(10); /* where an assertion fails */
        pause();
        _exit(0);
    }
    double after = seconds_now();
    for (int i = 0; i < 10; i++) {
        double began = lwp_jit_files_process_began(child);
        assert_true(began > before - 0.1 && began < after + 0.1); /* the kernel counts in hundredths */
        usleep(100000);
    }
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(lwp_jit_files_process_began(child) == 0);
}

/* A file as old as its process is its own, one of two seconds before is of another with the same number. */
static void test_jit_file_times(void **state)
{
    (void)state;
    char folder[] = "/tmp/lwp-outside-XXXXXX", from[64], kept[64];
    assert_non_null(mkdtemp(folder));
    snprintf(from, sizeof from, "/tmp/perf-%d.map", (int)getpid());
    snprintf(kept, sizeof kept, "%s/perf.map", folder);
    FILE *map = fopen(from, "w");
    assert_non_null(map);
    fputs("1000 10 hot\n", map);
    fclose(map);
    for (int tenths = 0; tenths < 10; tenths++) {
        const struct timespec written[2] = {{1000, tenths * 100000000}, {1000, tenths * 100000000}};
        assert_int_equal(utimensat(AT_FDCWD, from, written, 0), 0);
        lwp_jit_files_keep(folder, getpid(), 1002 + tenths / 10.);
        assert_int_equal(access(kept, F_OK), -1);
        lwp_jit_files_keep(folder, getpid(), 1000 + tenths / 10.);
        assert_int_equal(unlink(kept), 0);
    }
    unlink(from);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sample_with_registers),
                                       cmocka_unit_test(test_mappings_put),
                                       cmocka_unit_test(test_recorded),
                                       cmocka_unit_test(test_settled),
                                       cmocka_unit_test(test_functions),
                                       cmocka_unit_test(test_thread_base),
                                       cmocka_unit_test(test_frames),
                                       cmocka_unit_test(test_process_began),
                                       cmocka_unit_test(test_jit_file_times)};
    return cmocka_run_group_tests(tests, set_up, NULL);
}
