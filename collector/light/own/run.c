/* Setting a process up costs some milliseconds. As long as the run has most of its advance each process is that has run for 20 ms of CPU
 * time. From then on a part of the run's share goes there: a process that has run for t is set up by then with a chance P(t) that grows
 * with t, so that what is spent on average is that part of t, and all that were not set up are stood for by those that were (Horvitz and
 * Thompson: samples at t weigh 1 / P(t)). Each process draws one number and is set up when P exceeds it. */
#include "collector/light/own/run.h"

#include "base/random.h"
#include "collector/env.h"
#include "collector/light/own/hot.h"
#include "collector/light/own/own_memory.h"
#include "collector/light/own/process.h"
#include "collector/light/own/settings.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { JOIN_NS = 4000000 /* until one is known */, LEAST_NS = 20000000, LOOK_NS = 10000000, SOON_NS = 1000000, CHANCES = 1 << 20 };
static const double join_part = 0.5; /* of the share */

static struct lwp_run_account run_alone;
struct lwp_run_account *lwp_run = &run_alone;

static double run_share = 0.03; /* of CPU time that lwp may cost */

static struct {
    pid_t pid;
    uint64_t base_ns, told_ns; /* of the process's CPU time: when this image began, when it last told */
    uint64_t certain_ns;       /* after so much of it each process is set up; 0: this one is anyway */
    uint64_t reserved_ns;
    double chance; /* drawn; 0: not yet */
    bool told_early;
    bool forked, set_up; /* this image */
} run;

static LWP_LARGE _Alignas(LWP_RUN_ACCOUNT_BYTES) uint8_t run_page[LWP_RUN_ACCOUNT_BYTES]; /* where it is mapped (own_memory.c) */

/* /proc may be another namespace's, and the file there anybody's: it is looked at before it is opened. */
static struct lwp_run_account *run_map(void)
{
    static const char before[] = "/memfd:", after[] = " (deleted)";
    char name[128];
    const char *path = lwp_setting(LWP_ENV_ACCOUNT), *keeper = lwp_setting(LWP_ENV_KEEPER);
    ssize_t length = path && keeper ? readlink(path, name, sizeof name - 1) : -1;
    if (length <= 0)
        return NULL;
    name[length] = '\0';
    const size_t length_of = strlen(keeper);
    const char *found = name + sizeof before - 1;
    bool wanted = strncmp(name, before, sizeof before - 1) == 0 && strncmp(found, keeper, length_of) == 0 &&
                  strcmp(found + length_of, after) == 0; /* no snprintf: as in settings.c */
    int fd = wanted ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return NULL;
    void *memory = lwp_own_map(run_page, LWP_RUN_ACCOUNT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
    close(fd);
    return memory == MAP_FAILED ? NULL : memory;
}

double lwp_run_share(void)
{
    const double most = lwp_setting_number(LWP_ENV_MAX_OVERHEAD, 3) / 100, part = most / (1 + most);
    return part > 0.0001 ? part : 0.0001;
}

static uint64_t run_cpu(void)
{
    return lwp_clock(CLOCK_PROCESS_CPUTIME_ID);
}

void lwp_run_begin(void)
{
    struct lwp_run_account *account = run_map();
    if (account)
        lwp_run = account;
    run_share = lwp_run_share();
    run.pid = getpid();
    run.base_ns = run.told_ns = run_cpu();
    LWP_RUN_ADD(lwp_run, processes, 1);
    LWP_RUN_ADD(lwp_run, loaded, 1);
}

/* From lwp_run_begin to here is the part that can be timed. */
void lwp_run_loaded(void)
{
    enum { PARTS = 7 /* .37 ms in all, .05 here: /bin/true, 200 times */ };
    LWP_RUN_ADD(lwp_run, load_ns, PARTS * (run_cpu() - run.base_ns));
}

void lwp_run_forked(void)
{
    memset(&run, 0, sizeof run);
    run.pid = getpid();
    run.forked = true;
    LWP_RUN_ADD(lwp_run, processes, 1);
}

/* Where nothing is set up: that is counted otherwise. To end takes about as long as to begin, as the kernel gives back what was copied. */
void lwp_run_fork_cost(uint64_t ns)
{
    if (run.forked && !run.set_up && run.pid == getpid())
        lwp_run_spend(2 * ns);
}

void lwp_run_spend(uint64_t ns)
{
    LWP_RUN_ADD(lwp_run, spent_ns, ns);
}

/* Not of a child of vfork, which is none of those that were counted. */
void lwp_run_exec(bool failed)
{
    if (getpid() == run.pid)
        LWP_RUN_ADD(lwp_run, processes, failed ? 1u : -1u);
}

void lwp_run_tell_dormant(bool early)
{
    uint64_t now = run_cpu(), ran = now - run.told_ns;
    run.told_ns = now;
    LWP_RUN_ADD(lwp_run, cpu_ns, ran);
    if (early && !run.told_early)
        LWP_RUN_ADD(lwp_run, early_ns, ran);
    run.told_early = true;
}

static uint64_t run_join_ns(void)
{
    uint64_t known = LWP_RUN_GET(lwp_run, join_ns);
    return known ? known : JOIN_NS;
}

/* Whatever lwp collect took: the program that a script starts is to be set up for sure, on a slow machine, too. */
bool lwp_run_is_rich(void)
{
    const double left = (double)lwp_run_surplus(lwp_run, run_share) + (double)LWP_RUN_GET(lwp_run, own_ns);
    return left > lwp_run_advance(run_share) * 2 / 3;
}

/* The part of CPU time for that. Where the run owes, what those that are set up already cannot do without, and what loading takes, are
 * more than the rest: half as much goes there where it owes what one costs. Never less than a quarter, as what a script of many short
 * programs owes must not hide the long one that it ends with. */
static double run_joins(void)
{
    const double least = 0.25, part = 1 / (1 + lwp_run_owed(lwp_run, run_share) / (double)run_join_ns());
    return run_share * join_part * (part > least ? part : least);
}

double lwp_run_join_chance(uint64_t each_ns, uint64_t cost_ns)
{
    double chance = run_joins() * (double)each_ns / (double)(cost_ns + 1);
    return chance > 1 ? 1 : chance < 1.0 / CHANCES ? 1.0 / CHANCES : chance;
}

bool lwp_run_may_join(void)
{
    lwp_run_tell_dormant(true);
    if (lwp_run_is_rich())
        run.certain_ns = 0;
    else if (run.chance <= 0) {
        uint32_t random = (uint32_t)getpid() * 2654435761u ^ (uint32_t)lwp_clock(CLOCK_MONOTONIC);
        run.chance = (1 + (double)lwp_random_below(&random, CHANCES)) / CHANCES;
        run.certain_ns = (uint64_t)((double)run_join_ns() / run_joins());
    }
    return run.chance <= 0 || !run.certain_ns || (double)(run.told_ns - run.base_ns) >= run.chance * (double)run.certain_ns;
}

/* Not each 10 ms: a look costs .1 ms. Half the way to where the process would be set up, as ticks within the kernel are lost; but as
 * soon as it has run for as long again, since by then the run may be rich. */
uint64_t lwp_run_look_again_ns(void)
{
    const double ran = (double)(run.told_ns - run.base_ns), left = run.chance * (double)run.certain_ns - ran;
    const double half = left / 2 < ran ? left / 2 : ran, next = half > LOOK_NS ? half : left < LOOK_NS ? left : LOOK_NS;
    return next > SOON_NS ? (uint64_t)next : SOON_NS;
}

/* The others are still there to be drawn: what makes them certain makes this one, too. */
double lwp_run_scale(void)
{
    if (!run.certain_ns)
        return 1;
    uint64_t ran = run_cpu() - run.base_ns;
    if (ran >= run.certain_ns || lwp_run_is_rich()) {
        run.certain_ns = 0;
        return 1;
    }
    return (double)run.certain_ns / (double)(ran > LEAST_NS ? ran : LEAST_NS);
}

bool lwp_run_is_certain(void)
{
    return !run.certain_ns;
}

void lwp_run_certain(void)
{
    run.certain_ns = 0;
}

void lwp_run_join(void)
{
    lwp_run_tell_dormant(true);
    run.set_up = true;
    run.reserved_ns = run_join_ns();
    lwp_run_spend(run.reserved_ns);
    LWP_RUN_ADD(lwp_run, set_up, 1);
}

void lwp_run_joined(uint64_t cost_ns)
{
    uint64_t known = LWP_RUN_GET(lwp_run, join_ns);
    lwp_run_spend(cost_ns - run.reserved_ns);
    run.reserved_ns = cost_ns;
    __atomic_store_n(&lwp_run->join_ns, known ? (7 * known + cost_ns) / 8 : cost_ns, __ATOMIC_RELAXED);
}

void lwp_run_tell(struct lwp_thread *thread)
{
    uint64_t spent = lwp_budget_spent(&thread->budget);
    if (thread->last_cpu_ns > thread->told_cpu_ns)
        LWP_RUN_ADD(lwp_run, cpu_ns, thread->last_cpu_ns - thread->told_cpu_ns);
    if (spent > thread->told_spent_ns)
        lwp_run_spend(spent - thread->told_spent_ns);
    thread->told_cpu_ns = thread->last_cpu_ns;
    thread->told_spent_ns = spent;
}

bool lwp_run_affords(void)
{
    return lwp_run_surplus(lwp_run, run_share) > 0;
}
