/* Times two patterns one after the other: each turn begins when stretches of it take the same time, as the caches are then in the state
 * that this pattern leaves them in. Other threads do the same beside the one that is timed. */
#include "analysis/measure/pattern.h"

#include "base/clock.h"
#include "base/order.h"

#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    TURNS_MOST = 64,
    TURNS_NEEDED = 3,
    SPOILED_MOST = 3,
    STRETCHES = 5, /* one after the other */
    THREADS_MOST = 64,
    ELEMENTS_MOST = 1 << 28,
    ELEMENTS_FEW = 4,
    TEAM_RESTS = 2
};

static const uint64_t line = 64;
static const double stretch_seconds = 0.01, warm_seconds = 0.03, memory_part = 0.4, nearest_bytes = 12 << 10, patience = 20;
/* Times of stretches that differ by no more are alike; until so many seconds are over. */
static const double settled = 0.05, settle_seconds = 0.4, spoiled_times = 3;
/* What takes long to set up is timed for as long, but for no longer: what does not end in time is lost. */
static const double turns_seconds = 1;

/* One pattern over a part of its elements, in their order: threads have a part each of what they share. */
struct time_walker {
    const struct lwp_pattern *pattern;
    struct lwp_pattern_code code;
    struct lwp_pattern_memory memory;
    struct lwp_pattern_place place;
    bool borrows;           /* another one's code and memory */
    uint64_t first, visits; /* its part */
    uint64_t visited;       /* of it, since it was begun */
    uint64_t rounds;        /* of a stretch */
};

static void walker_begin(struct time_walker *walker)
{
    const struct lwp_pattern *pattern = walker->pattern;
    walker->visited = 0;
    const uint64_t root = pattern->tree ? walker->memory.order[0] * pattern->arrays[0].spacing : 0; // NOLINT: a tree has an order
    walker->place.first = pattern->bisects       ? 0
                          : walker->memory.heads ? (uint64_t)(uintptr_t)walker->memory.heads
                                                 : (uint64_t)(uintptr_t)walker->memory.first[0] + root;
    walker->place.index = walker->memory.order ? walker->memory.order[walker->first] : 0;
    walker->place.next = pattern->inner     ? pattern->inner / walker->code.unrolled
                         : pattern->bisects ? lwp_pattern_half(pattern)
                         : pattern->draws   ? 2 * walker->first + 1
                                            : (uint64_t)(uintptr_t)(walker->memory.order + walker->first);
    walker->place.runs = pattern->runs;
    for (size_t a = 0; a < pattern->array_count; a++) {
        walker->place.at[a] = (uint64_t)(uintptr_t)walker->memory.first[a];
        if (pattern->tree && a == 0)
            walker->place.at[a] = walker->place.first;
        else if (pattern->arrays[a].walk == LWP_PATTERN_CHAINED)
            // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a chain has an order
            walker->place.at[a] += walker->memory.order[walker->first] * pattern->arrays[a].spacing;
        else if (pattern->arrays[a].walk == LWP_PATTERN_STEPS)
            walker->place.at[a] += walker->first * pattern->arrays[a].spacing;
    }
}

static int walker_make(struct time_walker *walker, const struct lwp_pattern *pattern, struct lwp_error *err)
{
    *walker = (struct time_walker){.pattern = pattern, .place.drawn = 1};
    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what the walker is in has it
    const uint64_t elements = lwp_pattern_whole(pattern->elements);
    int status = lwp_pattern_code_make(pattern, &walker->code, err);
    if (!status)
        status = lwp_pattern_memory_make(pattern, elements, &walker->memory, err);
    walker->visits = walker->memory.visits;
    if (!status)
        walker_begin(walker);
    return status;
}

static void walker_part(struct time_walker *walker, const struct time_walker *whole, unsigned part, unsigned parts)
{
    *walker = *whole;
    walker->borrows = part > 0;
    walker->visits = lwp_pattern_whole(whole->memory.visits / parts);
    walker->first = part * walker->visits;
    walker->place.drawn += 2 * (uint64_t)part;
    walker_begin(walker);
}

static void walker_free(struct time_walker *walker)
{
    if (walker->borrows)
        return;
    lwp_pattern_code_free(&walker->code);
    lwp_pattern_memory_free(&walker->memory);
}

static void walker_run(struct time_walker *walker, uint64_t rounds)
{
    while (rounds) {
        uint64_t left = walker->visits - walker->visited, now = rounds < left ? rounds : left;
        walker->place.rounds = now;
        walker->code.run(&walker->place);
        walker->visited += now;
        rounds -= now;
        if (walker->visited == walker->visits)
            walker_begin(walker);
    }
}

static double walker_seconds(struct time_walker *walker, uint64_t rounds)
{
    double before = lwp_clock_s(CLOCK_THREAD_CPUTIME_ID);
    walker_run(walker, rounds);
    return lwp_clock_s(CLOCK_THREAD_CPUTIME_ID) - before;
}

static uint64_t walker_whole(double rounds)
{
    return ((uint64_t)rounds / LWP_PATTERN_UNROLLED + 1) * LWP_PATTERN_UNROLLED;
}

/* Goes to each page once: some virtual machines map pages anew when they are used first after others were made, 10 us each. */
static void walker_map(struct time_walker *walker)
{
    const double begun = lwp_clock_s(CLOCK_MONOTONIC);
    const uint64_t some = walker_whole((double)walker->visits / 64);
    for (uint64_t gone = 0; gone < walker->visits && lwp_clock_s(CLOCK_MONOTONIC) - begun < turns_seconds; gone += some)
        walker_run(walker, some);
}

/* Until about a stretch's time is known. */
static void walker_find_rounds(struct time_walker *walker)
{
    double took = 0;
    for (walker->rounds = 256; took < stretch_seconds / 4; walker->rounds *= 2)
        took = walker_seconds(walker, 2 * walker->rounds);
    walker->rounds = walker_whole((double)walker->rounds * stretch_seconds / took);
}

struct time_stretches {
    double sum; /* seconds */
    size_t count;
};

/* Until stretches take the same time: where others want the caches, too, that takes many rounds over what nearly fits, and each is faster
 * than the one before. Those that agree end the wait and do not count: where others come and go they are those of a moment when nobody
 * else wants the caches. Where none agree, as others go on to come and go, the later half of them counts. */
static struct time_stretches walker_settle(struct time_walker *walker, double begun)
{
    double last[STRETCHES] = {0}, least, most;
    size_t stretches = 0;
    struct time_stretches late = {0};
    do {
        double *const now = &last[stretches++ % STRETCHES];
        *now = walker_seconds(walker, walker->rounds);
        if (lwp_clock_s(CLOCK_MONOTONIC) - begun > settle_seconds / 2) {
            late.sum += *now;
            late.count++;
        }
        least = INFINITY;
        most = 0;
        for (size_t i = 0; i < STRETCHES; i++) {
            least = fmin(least, last[i]);
            most = fmax(most, last[i]);
        }
    } while (most > (1 + settled) * least && lwp_clock_s(CLOCK_MONOTONIC) - begun < settle_seconds);
    return most > (1 + settled) * least ? late : (struct time_stretches){0};
}

/* Nanoseconds a round, once the caches are as this pattern leaves them. *spoiled: it took much longer than when rounds were found, as
 * something else slowed this thread's own time down (in some virtual machines pages are mapped anew now and then, 10 us each). */
static double walker_turn(struct time_walker *walker, bool *spoiled)
{
    double begun = lwp_clock_s(CLOCK_MONOTONIC), took = 0;
    const uint64_t some = walker_whole((double)walker->rounds / 8);
    for (uint64_t warm = 0; warm < walker->visits && took < warm_seconds; warm += some) {
        walker_run(walker, some);
        took = lwp_clock_s(CLOCK_MONOTONIC) - begun;
    }
    struct time_stretches all = walker_settle(walker, begun);
    for (int i = 0; i < STRETCHES; i++, all.count++)
        all.sum += walker_seconds(walker, walker->rounds);
    const double each = all.sum / (double)all.count;
    *spoiled |= each > spoiled_times * stretch_seconds;
    return each * 1e9 / (double)walker->rounds;
}

/* Lines are evicted one beside the other where the processor can: one after the other it takes many times as long. */
static void flush_each(const uint8_t *first, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += line)
        __builtin_ia32_clflush(first + at);
}

__attribute__((target("clflushopt"))) static void flush_side_by_side(const uint8_t *first, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += line)
        __builtin_ia32_clflushopt((void *)(first + at));
}

/* All that it goes to is in memory only. */
static void walker_flush(const struct time_walker *walker)
{
    const struct lwp_pattern_memory *memory = &walker->memory;
    unsigned a, b = 0, c, d;
    void (*const flush)(const uint8_t *, size_t) =
        __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_CLFLUSHOPT) ? flush_side_by_side : flush_each;
    for (size_t i = 0; i < walker->pattern->array_count; i++)
        flush(memory->mapped[i], memory->mapped_bytes[i]);
    if (memory->heads)
        flush(memory->heads, memory->heads_bytes);
    if (memory->order)
        flush((const uint8_t *)memory->order, memory->visits * sizeof *memory->order);
    __builtin_ia32_mfence();
}

/* ---- threads beside it ---- */

struct time_companion {
    struct time_walker walkers[2];
    const _Atomic int *which; /* of the two is run; TEAM_RESTS: none of them now; -1: the end */
    pthread_t id;
};

static void *companion_main(void *given)
{
    struct time_companion *companion = given;
    for (int which; (which = atomic_load(companion->which)) >= 0;)
        if (which < TEAM_RESTS)
            walker_run(&companion->walkers[which], 4096);
        else
            sched_yield();
    return NULL;
}

struct time_team {
    struct time_walker walkers[2];
    struct time_companion *companions;
    unsigned count, started;
    _Atomic int which;
};

static int team_make(struct time_team *team, const struct lwp_pattern *const patterns[2], struct lwp_error *err)
{
    unsigned threads = patterns[0]->threads > THREADS_MOST ? THREADS_MOST : patterns[0]->threads ? patterns[0]->threads : 1;
    const uint64_t elements = patterns[0]->elements;
    threads = elements / threads < LWP_PATTERN_UNROLLED ? 1 : threads;
    *team = (struct time_team){.count = threads - 1, .companions = calloc(threads, sizeof *team->companions)};
    int status = team->companions ? LWP_OK : lwp_error_set(err, LWP_ERR_MEMORY, "no memory to run a pattern");
    for (int i = 0; i < 2 && !status; i++) {
        status = walker_make(&team->walkers[i], patterns[i], err);
        for (unsigned t = 0; t < team->count && !status; t++)
            walker_part(&team->companions[t].walkers[i], &team->walkers[i], t + 1, threads);
        if (!status)
            walker_part(&team->walkers[i], &team->walkers[i], 0, threads);
    }
    for (; !status && team->started < team->count; team->started++) {
        struct time_companion *companion = &team->companions[team->started];
        companion->which = &team->which;
        if (pthread_create(&companion->id, NULL, companion_main, companion))
            return lwp_error_set(err, LWP_ERR_LIMIT, "no more threads can be started to run a pattern");
    }
    return status;
}

static void team_free(struct time_team *team)
{
    atomic_store(&team->which, -1);
    for (unsigned t = 0; t < team->started; t++)
        pthread_join(team->companions[t].id, NULL);
    for (int i = 0; i < 2; i++) {
        walker_free(&team->walkers[i]);
        for (unsigned t = 0; t < team->count && team->companions; t++)
            walker_free(&team->companions[t].walkers[i]);
    }
    free(team->companions);
}

/* ---- the comparison ---- */

/* Of few values the outer ones: the upper quartile of three is not their median. That of two is between them. */
static double time_quantile(double *values, size_t count, unsigned quarter)
{
    qsort(values, count, sizeof *values, lwp_compare_double);
    if (quarter == 2 && count % 2 == 0)
        return (values[count / 2 - 1] + values[count / 2]) / 2;
    return values[((count - 1) * quarter + (quarter > 2 ? 3 : 0)) / 4];
}

/* Nanoseconds a round with no more elements than `few`. */
static int time_few(const struct lwp_pattern *pattern, uint64_t few, double *ns, struct lwp_error *err)
{
    struct time_walker walker;
    struct lwp_pattern less = *pattern;
    less.elements = few < pattern->elements ? few : pattern->elements;
    int status = walker_make(&walker, &less, err);
    if (!status) {
        bool spoiled = false;
        walker_find_rounds(&walker);
        *ns = walker_turn(&walker, &spoiled);
    }
    walker_free(&walker);
    return status;
}

/* A nest whose inner loop goes over a few lines again and again. */
static void time_core_rows(const struct lwp_pattern *pattern, struct lwp_pattern *here)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < here->access_count; i++) {
        const size_t a = here->accesses[i].array;
        if (!pattern->arrays[a].spacing || here->arrays[a].spacing)
            continue;
        here->arrays[a].spacing = here->accesses[i].bytes;
        bytes += here->accesses[i].bytes;
    }
    const uint64_t most = bytes ? lwp_pattern_whole((uint64_t)nearest_bytes / bytes) : here->inner;
    here->inner = here->inner < most ? here->inner : most;
}

static int time_core(const struct lwp_pattern *pattern, double *ns, struct lwp_error *err)
{
    struct lwp_pattern here = *pattern;
    double one = lwp_pattern_bytes(pattern) / (double)pattern->elements;
    uint64_t few = one * ELEMENTS_FEW > nearest_bytes ? ELEMENTS_FEW : (uint64_t)(nearest_bytes / one);
    bool spot = here.inner; /* stays on the spot */
    for (size_t a = 0; a < here.array_count; a++)
        spot |= here.arrays[a].extent > 0;
    for (size_t a = 0; a < here.array_count && spot; a++)
        here.arrays[a].spacing = here.arrays[a].outer = here.arrays[a].plane = 0;
    if (here.inner) /* what is stored is not to be loaded again at once: one number after the other of a short row */
        time_core_rows(pattern, &here);
    for (size_t i = 0; i < here.access_count && spot && !here.inner; i++) /* each in a set of its own */
        here.accesses[i].offset = i * line;
    if (pattern->draws && !(pattern->elements & (pattern->elements - 1))) /* an index of other numbers takes a product more */
        while (few & (few - 1))
            few &= few - 1;
    return time_few(&here, spot ? pattern->elements : few, ns, err);
}

/* Nests and arrays with gaps are not cut. */
static bool time_cuts(const struct lwp_pattern *pattern)
{
    bool cut = !pattern->inner;
    for (size_t a = 0; a < pattern->array_count; a++)
        cut &= !pattern->arrays[a].extent;
    return cut;
}

bool lwp_pattern_has_parts(const struct lwp_pattern *pattern)
{
    return time_cuts(pattern) && !pattern->jump && !pattern->tree && !pattern->bisects;
}

/* With no more elements than half of `bytes` of caches hold, which are the core's own; *ns 0: it is not cut. */
static int time_near(const struct lwp_pattern *pattern, double bytes, double *ns, struct lwp_error *err)
{
    const uint64_t few = walker_whole(bytes / 2 / fmax(1, lwp_pattern_busy(pattern) / (double)pattern->elements));
    return time_cuts(pattern) ? time_few(pattern, few, ns, err) : LWP_OK;
}

/* Nanoseconds a round when only what was gone to last, `kept` bytes, is in caches. What the turn itself brings there is less than that. */
static double walker_cold_turn(struct time_team *team, int which, double kept)
{
    struct time_walker *walker = &team->walkers[which];
    const double bytes = lwp_pattern_busy(walker->pattern) / (double)walker->pattern->elements;
    const uint64_t fill = walker_whole(kept / fmax(1, bytes)), timed = walker_whole((double)fill / 2);
    walker_flush(walker);
    atomic_store(&team->which, which);
    walker_run(walker, fill < walker->visits ? fill : walker->visits);
    return walker_seconds(walker, timed) * 1e9 / (double)timed;
}

/* One turn of each. `kept`: as in lwp_pattern_compare_cold(); 0: the caches as they are. False: it was spoiled. */
static bool time_turns(struct time_team *team, double kept, double ns[2])
{
    bool spoiled = false;
    for (int i = 0; i < 2; i++) {
        atomic_store(&team->which, kept > 0 ? TEAM_RESTS : i);
        ns[i] = kept > 0 ? walker_cold_turn(team, i, kept) : walker_turn(&team->walkers[i], &spoiled);
    }
    return !spoiled;
}

double lwp_pattern_turns_until(double made, double seconds)
{
    return made + fmax(seconds, fmin(made, turns_seconds));
}

/* Whether both find room in what memory is free. */
static int time_fits(const struct lwp_pattern *const patterns[2], struct lwp_error *err)
{
    const double free_bytes = (double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    const uint64_t elements = patterns[0]->elements;
    double bytes = 0;
    for (int i = 0; i < 2; i++)
        bytes += lwp_pattern_bytes(patterns[i]) + (patterns[i]->inner ? 0 : 16.0 * (double)elements); /* with the list of visits */
    if (elements < LWP_PATTERN_UNROLLED || elements != patterns[1]->elements || elements > ELEMENTS_MOST ||
        bytes > memory_part * free_bytes)
        return lwp_error_set(err, LWP_ERR_LIMIT, "their arrays, %.0f MiB, are too large for what memory is free", bytes / 1048576);
    return LWP_OK;
}

/* Times before any turn: of the core if `core`, and with `kept` bytes in a core's own caches if that is more than 0. */
static int time_first(struct time_team *team, const struct lwp_pattern *const patterns[2], double kept, bool core,
                      struct lwp_pattern_times *times, struct lwp_error *err)
{
    int status = core ? time_core(patterns[0], &times->core, err) : LWP_OK;
    for (int i = 0; i < 2 && !status; i++) {
        if (kept > 0) {
            status = time_near(patterns[i], kept, &times->near[i], err);
        } else {
            atomic_store(&team->which, i);
            walker_map(&team->walkers[i]);
            walker_find_rounds(&team->walkers[i]);
        }
    }
    return status;
}

struct time_taken {
    double ns[2][TURNS_MOST], ratios[TURNS_MOST];
    size_t turns;
};

/* Turns of one and the other until the time is over. */
static int time_take(struct time_team *team, double kept, double until, struct time_taken *taken, struct lwp_error *err)
{
    const size_t needed = kept > 0 ? TURNS_NEEDED : 1;
    size_t spoiled = 0;
    while (taken->turns < TURNS_MOST && spoiled < SPOILED_MOST && (taken->turns < needed || lwp_clock_s(CLOCK_MONOTONIC) < until)) {
        double turn[2];
        if (!time_turns(team, kept, turn)) {
            spoiled++;
            continue;
        }
        for (int i = 0; i < 2; i++)
            taken->ns[i][taken->turns] = turn[i];
        taken->ratios[taken->turns++] = turn[1] / turn[0];
    }
    return taken->turns ? LWP_OK : lwp_error_set(err, LWP_ERR_LIMIT, "their times change too much on this machine now");
}

static int time_both(const struct lwp_pattern *before, const struct lwp_pattern *after, double kept, bool core, double seconds,
                     struct lwp_pattern_times *times, struct lwp_error *err)
{
    const struct lwp_pattern *const patterns[2] = {before, after};
    const double began = lwp_clock_s(CLOCK_MONOTONIC);
    struct time_team team;
    struct time_taken taken = {.turns = 0};
    *times = (struct lwp_pattern_times){0};
    int status = time_fits(patterns, err);
    if (status)
        return status;
    status = team_make(&team, patterns, err);
    if (!status)
        status = time_first(&team, patterns, kept, core, times, err);
    if (!status)
        status = time_take(&team, kept, began + lwp_pattern_turns_until(lwp_clock_s(CLOCK_MONOTONIC) - began, seconds), &taken, err);
    if (!status) {
        times->ratio = time_quantile(taken.ratios, taken.turns, 2);
        times->low = time_quantile(taken.ratios, taken.turns, 1);
        times->high = time_quantile(taken.ratios, taken.turns, 3);
        times->before = time_quantile(taken.ns[0], taken.turns, 2);
        times->after = time_quantile(taken.ns[1], taken.turns, 2);
        for (int i = 0; i < 2; i++)
            times->least[i] = taken.ns[i][0]; /* sorted by now */
        times->huge = fmin(team.walkers[0].memory.huge, team.walkers[1].memory.huge);
    }
    team_free(&team);
    return status;
}

/* ---- in a process of its own: code that was made now is trusted with nothing else, and its memory is gone with it ---- */

struct time_answer {
    int status;
    struct lwp_error error;
    struct lwp_pattern_times times;
};

double lwp_pattern_patience(double seconds)
{
    return patience * seconds + 10; /* pages of gigabytes take 5 s to be made in some virtual machines */
}

/* False: no whole answer came in time. */
static bool time_receive(int from, double seconds, struct time_answer *answer)
{
    struct pollfd waited = {.fd = from, .events = POLLIN};
    size_t got = 0;
    for (double until = lwp_clock_s(CLOCK_MONOTONIC) + seconds; got < sizeof *answer;) {
        double left = until - lwp_clock_s(CLOCK_MONOTONIC);
        int ready = left > 0 ? poll(&waited, 1, (int)(left * 1000) + 1) : 0;
        if (ready == 0 || (ready < 0 && errno != EINTR))
            return false;
        ssize_t more = ready > 0 ? read(from, (char *)answer + got, sizeof *answer - got) : 0;
        if (ready > 0 && more <= 0)
            return false;
        got += (size_t)more;
    }
    return true;
}

static int time_apart(const struct lwp_pattern *before, const struct lwp_pattern *after, double kept, bool core, double seconds,
                      struct lwp_pattern_times *times, struct lwp_error *err)
{
    struct time_answer answer = {0};
    int ends[2];
    *times = (struct lwp_pattern_times){0};
    if (pipe2(ends, O_CLOEXEC))
        return lwp_error_errno(err, "no pipe for running a pattern");
    pid_t child = fork();
    if (child == 0) {
        answer.status = time_both(before, after, kept, core, seconds, &answer.times, &answer.error);
        ssize_t written = write(ends[1], &answer, sizeof answer);
        _exit(written != sizeof answer);
    }
    close(ends[1]);
    int status = child < 0 ? lwp_error_errno(err, "no process for running a pattern") : LWP_OK;
    if (child > 0 && !time_receive(ends[0], lwp_pattern_patience(seconds), &answer)) {
        kill(child, SIGKILL);
        status = lwp_error_set(err, LWP_ERR_LIMIT, "running them failed or took too long");
    }
    close(ends[0]);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    if (status)
        return status;
    if (answer.status)
        return lwp_error_set(err, answer.status, "%s", answer.error.text);
    *times = answer.times;
    return LWP_OK;
}

int lwp_pattern_compare(const struct lwp_pattern *before, const struct lwp_pattern *after, double seconds, struct lwp_pattern_times *times,
                        struct lwp_error *err)
{
    return time_apart(before, after, 0, true, seconds, times, err);
}

int lwp_pattern_compare_again(const struct lwp_pattern *before, const struct lwp_pattern *after, double seconds,
                              struct lwp_pattern_times *times, struct lwp_error *err)
{
    return time_apart(before, after, 0, false, seconds, times, err);
}

int lwp_pattern_compare_cold(const struct lwp_pattern *before, const struct lwp_pattern *after, double kept, double seconds,
                             struct lwp_pattern_times *times, struct lwp_error *err)
{
    return time_apart(before, after, kept, false, seconds, times, err);
}

int lwp_pattern_compare_part(const struct lwp_pattern *before, const struct lwp_pattern *after, double kept, double seconds,
                             struct lwp_pattern_times *times, struct lwp_error *err)
{
    return time_apart(before, after, kept, true, seconds, times, err);
}
