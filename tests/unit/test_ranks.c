/* Several ranks give the same bytes as one, however many there are and whatever was recorded. The way between them is pipes
 * here; tests/e2e/mpi.sh takes MPI. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "analysis/json/analyze.h"
#include "analysis/ranks/ranks.h"
#include "base/log.h"
#include "bench/synthetic.c"
#include "tests/unit/amount.h"

#include <sys/wait.h>
#include <time.h>

/* Each number of ranks from RANKS_FIRST up to RANKS_EACH is tried. */
enum { RANKS_MOST = AMOUNT(64, 6), RANKS_FIRST = AMOUNT(1, 2), RANKS_EACH = AMOUNT(6, 2), PROCESSES = 7 };

static char folder[64];
static int ways[RANKS_MOST][RANKS_MOST][2]; /* from, to: read end, write end */
static unsigned self;

/* Whether the tree has a way between two ranks: their numbers differ in one bit. */
static bool is_way(unsigned from, unsigned to)
{
    return from != to && ((from ^ to) & ((from ^ to) - 1)) == 0;
}

static void way_send(unsigned to, const void *bytes, size_t size)
{
    for (const char *at = bytes; size;) {
        ssize_t sent = write(ways[self][to][1], at, size);
        if (sent <= 0)
            _exit(9);
        at += sent;
        size -= (size_t)sent;
    }
}

static void way_receive(unsigned from, void *bytes, size_t size)
{
    for (char *at = bytes; size;) {
        ssize_t got = read(ways[from][self][0], at, size);
        if (got <= 0)
            _exit(9);
        at += got;
        size -= (size_t)got;
    }
}

static int run(const char *format, ...)
{
    char command[1000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    return system(command);
}

/* Every rank is a process; returns whether all left with `status`. */
static bool analyze(unsigned count, const char *const *dirs, size_t dir_count, const char *out, int status)
{
    static const struct lwp_ranks_port port = {way_send, way_receive};
    pid_t pids[RANKS_MOST];
    bool good = true;
    for (unsigned i = 0; i < count * count; i++)
        if (is_way(i / count, i % count))
            assert_int_equal(pipe(ways[i / count][i % count]), 0);
    for (unsigned i = 0; i < count; i++) {
        pids[i] = fork();
        if (pids[i])
            continue;
        struct lwp_error err;
        self = i;
        lwp_ranks_use(i, count, &port);
        lwp_analyze_jobs(1 + i % 3);
        lwp_log_set_level(LWP_LOG_ERROR);
        _exit(-lwp_analyze(dirs, dir_count, out, &err));
    }
    for (unsigned i = 0; i < count; i++) {
        int ended;
        assert_int_equal(waitpid(pids[i], &ended, 0), pids[i]);
        good &= WIFEXITED(ended) && WEXITSTATUS(ended) == status;
    }
    for (unsigned i = 0; i < count * count; i++)
        if (is_way(i / count, i % count))
            close(ways[i / count][i % count][0]), close(ways[i / count][i % count][1]);
    return good;
}

/* Of some few ranks, and of `most`. */
static void assert_same(const char *const *dirs, size_t count, unsigned most)
{
    char one[100], several[100];
    struct lwp_error err;
    snprintf(one, sizeof one, "%s/one.json", folder);
    snprintf(several, sizeof several, "%s/several.json", folder);
    assert_int_equal(lwp_analyze(dirs, count, one, &err), 0);
    for (unsigned ranks = RANKS_FIRST; ranks <= most; ranks = ranks < RANKS_EACH || ranks == most ? ranks + 1 : most) {
        unlink(several);
        assert_true(analyze(ranks, dirs, count, several, 0));
        assert_int_equal(run("cmp '%s' '%s'", one, several), 0);
    }
}

static void test_synthetic(void **state)
{
    (void)state;
    char dir[100], other[100];
    snprintf(dir, sizeof dir, "%s/synthetic", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    struct synthetic wanted = {
        .dir = dir, .processes = PROCESSES, .threads = 2, .objects = 300, .samples = AMOUNT(20000, 1000), .sealed = true};
    assert_int_equal(lwp_synthetic_write(&wanted), 0);
    wanted = (struct synthetic){.dir = other, .processes = 1, .threads = 3, .objects = 100, .samples = AMOUNT(5000, 1000)};
    assert_int_equal(lwp_synthetic_write(&wanted), 0);
    assert_int_equal(run("head -c 3000 '%s'/p*1/t*1.lwps > '%s/p9' && mkdir '%s/p77' && mv '%s/p9' '%s/p77/t1.lwps'", dir, other, other, other, other), 0);
    assert_same((const char *const[]){dir, other}, 2, RANKS_MOST);
}

/* What the engines of lwp record: variables in memory and frames, redundancy, communication, locality. */
static void test_recorded(void **state)
{
    (void)state;
    const char *lwp = getenv("LWP");
    char dirs[3][100];
    if (!lwp)
        skip();
    for (int i = 0; i < 3; i++)
        snprintf(dirs[i], sizeof dirs[i], "%s/%d", folder, i);
    const char *work = "BEGIN { for (i = 0; i < 400000; i++) a[i % 1000] = i }";
    assert_int_equal(run("'%s' collect -q --no-analyze -F 2000 --max-overhead 20 --detect layout,redundancy,sharing -o '%s' -- awk '%s' > '%s/said' 2>&1",
                         lwp, dirs[0], work, folder), 0);
    for (int i = 1; i < 3; i++)
        assert_int_equal(run("'%s' collect -q --no-analyze -F 2000 --max-overhead 20 --detect layout,redundancy,sharing -o '%s' -- seq %d > '%s/said' 2>&1",
                             lwp, dirs[i], 3000000 + i, folder), 0);
    assert_same((const char *const[]){dirs[0], dirs[1], dirs[2]}, 3, RANKS_EACH);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(run("rm -rf '%s'", dirs[i]), 0);
        run("'%s' collect -q --no-analyze -e exact --detect layout,redundancy,communication,locality -o '%s' -- ls / > '%s/said' 2>&1", lwp, dirs[i], folder);
    }
    if (access(dirs[2], R_OK) == 0) /* with Valgrind */
        assert_same((const char *const[]){dirs[0], dirs[1], dirs[2]}, 3, RANKS_EACH);
}

/* ---- the tree alone, of as many ranks as large jobs have: one after the other, as each only waits for those behind it ---- */

enum { SIMULATED = AMOUNT(10000, 1000) };

static struct {
    void *bytes;
    size_t size;
} mail[SIMULATED][2]; /* what a rank has sent: the size, the rest */
static unsigned mail_count[SIMULATED], mail_taken[SIMULATED], simulated, merges[SIMULATED];

static void mail_send(unsigned to, const void *bytes, size_t size)
{
    assert_true(to < simulated);
    unsigned at = mail_count[simulated]++;
    assert_true(at < 2);
    mail[simulated][at].bytes = memcpy(malloc(size), bytes, size);
    mail[simulated][at].size = size;
}

static void mail_receive(unsigned from, void *bytes, size_t size)
{
    assert_true(from > simulated);
    unsigned at = mail_taken[from]++;
    assert_true(at < mail_count[from] && mail[from][at].size == size);
    memcpy(bytes, mail[from][at].bytes, size);
    free(mail[from][at].bytes);
}

/* Of some ranks in a row: the first, the last, and so many merges one after the other at the most. */
struct row {
    unsigned first, last, deep;
    uint64_t sum;
};

static void row_unpack(void *of, const void *bytes, size_t size)
{
    struct row *row = of, more;
    assert_int_equal(size, sizeof more);
    memcpy(&more, bytes, size);
    assert_int_equal(more.first, row->last + 1); /* in the order of ranks */
    row->last = more.last;
    row->sum += more.sum;
    row->deep = (more.deep > row->deep ? more.deep : row->deep) + 1;
    merges[simulated]++;
}

static size_t row_pack(void *of, void **bytes)
{
    *bytes = memcpy(malloc(sizeof(struct row)), of, sizeof(struct row));
    return sizeof(struct row);
}

static void test_many(void **state)
{
    (void)state;
    static const struct lwp_ranks_port port = {mail_send, mail_receive};
    static const unsigned counts[][2] = {{1, 0}, {2, 1}, {3, 2}, {64, 6}, {1000, 10}, {10000, 14}}; /* ranks; log2 of them */
    for (size_t i = 0; i < sizeof counts / sizeof *counts && counts[i][0] <= SIMULATED; i++) {
        const unsigned count = counts[i][0];
        unsigned messages = 0, busiest = 0;
        struct row row = {0};
        memset(mail_count, 0, sizeof mail_count);
        memset(mail_taken, 0, sizeof mail_taken);
        memset(merges, 0, sizeof merges);
        for (simulated = count; simulated-- > 0;) {
            lwp_ranks_use(simulated, count, &port);
            row = (struct row){.first = simulated, .last = simulated, .sum = simulated};
            lwp_ranks_reduce(row_unpack, row_pack, &row);
            messages += mail_count[simulated] / 2;
            busiest = merges[simulated] > busiest ? merges[simulated] : busiest;
        }
        assert_int_equal(row.first, 0);
        assert_int_equal(row.last, count - 1);
        assert_int_equal(row.sum, (uint64_t)count * (count - 1) / 2);
        assert_int_equal(messages, count - 1); /* each rank sends once */
        assert_int_equal(busiest, counts[i][1]); /* none merges more often than the tree is high, */
        assert_true(row.deep <= counts[i][1]);   /* ... nor waits for more merges one after the other */
    }
    lwp_ranks_use(0, 1, NULL);
}

/* ---- the whole analysis of as many ranks, in one process: what comes down the tree (no rank failed, no table is full) is known ---- */

enum { LETTERS = 16 };

static struct {
    void *bytes[LETTERS];
    size_t size[LETTERS];
    unsigned count, taken;
} letters[SIMULATED];
static uint64_t passed_bytes, passed_most, passed_large;

static void letter_send(unsigned to, const void *bytes, size_t size)
{
    unsigned at = letters[simulated].count++;
    if (to > simulated) { /* those have run already */
        for (size_t i = 0; i < size; i++)
            assert_int_equal(((const char *)bytes)[i], 0);
        letters[simulated].count--;
        return;
    }
    assert_true(at < LETTERS);
    letters[simulated].bytes[at] = memcpy(malloc(size), bytes, size);
    letters[simulated].size[at] = size;
    passed_bytes += size;
    passed_most = size > passed_most ? size : passed_most;
    passed_large += size > 100; /* a part of the result; the others are its size and statuses */
}

static void letter_receive(unsigned from, void *bytes, size_t size)
{
    if (from < simulated) {
        memset(bytes, 0, size);
        return;
    }
    unsigned at = letters[from].taken++;
    assert_true(at < letters[from].count && letters[from].size[at] == size);
    memcpy(bytes, letters[from].bytes[at], size);
    free(letters[from].bytes[at]);
}

/* LWP_RANKS: other than some (docs/clusters.md). Each rank has one process to read. */
static void test_whole(void **state)
{
    (void)state;
    static const struct lwp_ranks_port port = {letter_send, letter_receive};
    const char *given = getenv("LWP_RANKS");
    const unsigned count = given ? (unsigned)atoi(given) : LONG_AMOUNT(60, 6);
    char dir[100], one[100], several[100];
    struct lwp_error err;
    snprintf(dir, sizeof dir, "%s/job", folder);
    snprintf(one, sizeof one, "%s/job.one.json", folder);
    snprintf(several, sizeof several, "%s/job.several.json", folder);
    struct synthetic wanted = {.dir = dir, .processes = count, .threads = 1, .objects = 300, .samples = 100 * count, .sealed = true};
    assert_true(count > 1 && count <= SIMULATED);
    assert_int_equal(lwp_synthetic_write(&wanted), 0);
    const char *const dirs[] = {dir};
    assert_int_equal(lwp_analyze(dirs, 1, one, &err), 0);
    struct timespec begin, end;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    for (simulated = count; simulated-- > 0;) {
        lwp_ranks_use(simulated, count, &port);
        assert_int_equal(lwp_analyze(dirs, 1, several, &err), 0);
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    lwp_ranks_use(0, 1, NULL);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(letters[i].taken, letters[i].count);
    assert_int_equal(passed_large, count - 1); /* each rank but the first sends its part once */
    assert_int_equal(run("cmp '%s' '%s'", one, several), 0);
    if (given)
        print_message("%u ranks: %.0f bytes a rank, at most %.0f; %.1f s of CPU time\n", count, (double)passed_bytes / (count - 1),
                      (double)passed_most, (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
}

/* None hangs when one of them has nothing to read. */
static void test_failure(void **state)
{
    (void)state;
    char out[100];
    snprintf(out, sizeof out, "%s/failed.json", folder);
    assert_true(analyze(5, (const char *const[]){"/nowhere"}, 1, out, -LWP_ERR_MISSING));
    assert_int_not_equal(access(out, F_OK), 0);
}

static int make(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/lwp-ranks-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int clean(void **state)
{
    (void)state;
    return run("rm -rf '%s'", folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_synthetic), cmocka_unit_test(test_recorded), cmocka_unit_test(test_failure),
                                       cmocka_unit_test(test_many), cmocka_unit_test(test_whole)};
    return cmocka_run_group_tests(tests, make, clean);
}
