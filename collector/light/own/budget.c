/* Allocations and switches of threads come when the program wants them, so they draw first: up to three quarters of the share. Programs
 * that build their data at the start and then work on it get that in advance (missing a part of those blocks would hide what all the rest
 * is about), as far as their blocks stay: what is freed again soon is no such data, and a quarter is enough to see it. Samples and watches
 * divide what is left. What the run owes all of them pay, each as far as a quarter is left to it, but no advance does. Advances are given
 * as long as the run has a surplus (run_account.h): many processes would cost that much each. The n-th thread of a process gets an n-th.
 * Whether another watch is started depends on what those before have cost, never on what they found.
 */
#include "collector/light/own/budget.h"

static const double heap_most = 0.75, sample_part = 0.6;

/* Of samples when no watchpoint is set: where caches are cold they cost up to 1.2 times their charge, which stops, mostly
 * charged too much, make up for otherwise. */
static const double sample_part_alone = 0.8, unspent_most = 0.9;
static const double heap_advance_least = 0.25;
static const double heap_debts_most = 0.75; /* of what allocations earn: a quarter is always theirs */
static const double paths_part =
    1.0 / 3; /* of what allocations earn: programs with ever new call paths would spend their time being unwound */
static const double paths_advance = 1.0 / 3; /* of what is left of the run's advance, but for what allocations have taken of it; */
static const double paths_least = 1.0 / 60;  /* of all of it, also where nothing is left */
static const uint64_t sample_advance_ns = 3000000, watch_advance_ns = 3000000;

/* Half to each where both have some: the one that did not pay could go on for ever. */
void lwp_budget_spend_armed(struct lwp_time_budget *budget, uint64_t ns, bool watches, bool trial)
{
    lwp_budget_spend(budget, LWP_COST_WATCHES, !watches ? 0 : trial ? ns / 2 : ns);
    lwp_budget_spend(budget, LWP_COST_TRIALS, !trial ? 0 : watches ? ns - ns / 2 : ns);
    lwp_budget_spend(budget, LWP_COST_SAMPLES, watches || trial ? 0 : ns);
}

uint64_t lwp_budget_spent(const struct lwp_time_budget *budget)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < LWP_COST_KINDS; i++)
        sum += budget->spent[i];
    return sum;
}

/* The part of each second with which the run pays what it owes: beginnings of processes, lwp collect itself, and whatever cost more than
 * it should have. It is paid within a quarter of a second: a run that has cost too much at its start may soon be over. */
static double budget_owed(const struct lwp_time_budget *budget)
{
    enum { WITHIN_NS = 250000000 };
    return budget->run ? lwp_run_owed(budget->run, budget->share) / WITHIN_NS : 0;
}

/* Whether nobody else may spend what is left. */
static bool budget_is_alone(const struct lwp_time_budget *budget)
{
    return budget->run && LWP_RUN_GET(budget->run, set_up) <= 1 && !budget->before;
}

/* Samples of the run's first thread have the whole share before they have cost a third of the advance: of a short program, whose start and
 * allocations are most of what lwp costs, there would be too few to say anything. */
static bool budget_is_first(const struct lwp_time_budget *budget)
{
    return budget_is_alone(budget) && (double)budget->spent[LWP_COST_SAMPLES] < lwp_run_advance(budget->share) / 3;
}

/* The share that allocations, switches and debts leave. */
static double budget_left(const struct lwp_time_budget *budget, uint64_t cpu_ns)
{
    if (budget_is_first(budget))
        return budget->share;
    double first = (double)(budget->spent[LWP_COST_HEAP] + budget->spent[LWP_COST_SWITCHES]);
    double part = (cpu_ns ? first / (double)cpu_ns : 0) + budget_owed(budget);
    return budget->share - (part < budget->share * heap_most ? part : budget->share * heap_most);
}

/* The share that pays out within a second what was earned and not spent, as while debts were paid; no more than one that samples have
 * anyway. A part stays: see sample_part_alone. */
static double budget_unspent(const struct lwp_time_budget *budget)
{
    enum { WITHIN_NS = 1000000000 };
    if (budget->watches || !budget_is_alone(budget))
        return 0;
    const double earned = budget->share * (double)LWP_RUN_GET(budget->run, cpu_ns),
                 left = (double)lwp_run_surplus(budget->run, budget->share) - (1 - unspent_most) * earned;
    if (earned <= lwp_run_advance(budget->share) || left <= 0)
        return 0;
    return left < budget->share * WITHIN_NS ? left / WITHIN_NS : budget->share;
}

static double budget_samples(const struct lwp_time_budget *budget, uint64_t cpu_ns)
{
    return budget_left(budget, cpu_ns) * (budget->watches ? sample_part : sample_part_alone) + budget_unspent(budget);
}

uint64_t lwp_budget_period(const struct lwp_time_budget *budget, uint64_t sample_ns, uint64_t cpu_ns)
{
    return (uint64_t)((double)sample_ns / budget_samples(budget, cpu_ns));
}

static double budget_advance(const struct lwp_time_budget *budget, double advance_ns)
{
    return budget->run && lwp_run_surplus(budget->run, budget->share) <= 0 ? 0 : advance_ns / (1 + budget->before);
}

bool lwp_budget_affords_samples(const struct lwp_time_budget *budget, uint64_t cpu_ns)
{
    double allowed = budget_advance(budget, (double)sample_advance_ns) + (double)cpu_ns * budget_samples(budget, cpu_ns);
    return (double)budget->spent[LWP_COST_SAMPLES] <= allowed;
}

/* Of `of_ns` of CPU time. */
static double budget_watches_earn(const struct lwp_time_budget *budget, uint64_t of_ns, uint64_t cpu_ns)
{
    return (double)of_ns * budget_left(budget, cpu_ns) * (1 - sample_part);
}

static double budget_watches(const struct lwp_time_budget *budget, uint64_t cpu_ns)
{
    return budget_advance(budget, (double)watch_advance_ns) + budget_watches_earn(budget, cpu_ns, cpu_ns);
}

bool lwp_budget_is_dear(const struct lwp_time_budget *budget, uint64_t ns, uint64_t of_ns, uint64_t cpu_ns)
{
    return (double)ns > budget_watches_earn(budget, of_ns, cpu_ns);
}

/* In a thread that reads what others store, half is for trials of that: watchpoints on its own accesses come with each sample
 * and would leave nothing. */
bool lwp_budget_affords_watch(const struct lwp_time_budget *budget, uint64_t cpu_ns, bool reads, uint64_t ahead_ns)
{
    double allowed = budget_watches(budget, cpu_ns), trials = (double)budget->spent[LWP_COST_TRIALS];
    if (reads && trials < allowed / 2)
        trials = allowed / 2;
    return (double)budget->spent[LWP_COST_WATCHES] + trials + (double)ahead_ns < allowed;
}

bool lwp_budget_affords_trial(const struct lwp_time_budget *budget, uint64_t cpu_ns, uint64_t ahead_ns)
{
    double allowed = budget_watches(budget, cpu_ns), trials = (double)budget->spent[LWP_COST_TRIALS] + (double)ahead_ns;
    return trials < allowed / 2 || (double)budget->spent[LWP_COST_WATCHES] + trials < allowed;
}

static double budget_heap_earns(const struct lwp_time_budget *budget, uint64_t cpu_ns)
{
    const double most = budget->share * heap_most, owed = budget_owed(budget);
    double earned = (double)cpu_ns * (most - (owed < most * heap_debts_most ? owed : most * heap_debts_most)),
           switches = (double)budget->spent[LWP_COST_SWITCHES];
    return earned - (switches < earned / 2 ? switches : earned / 2);
}

double lwp_budget_heap_part(const struct lwp_time_budget *budget, uint64_t cpu_ns)
{
    return cpu_ns ? budget_heap_earns(budget, cpu_ns) / (double)cpu_ns : budget->share * heap_most;
}

double lwp_budget_paths_ns(const struct lwp_time_budget *budget, uint64_t cpu_ns)
{
    const double all = lwp_run_advance(budget->share), surplus = budget->run ? (double)lwp_run_surplus(budget->run, budget->share) : all;
    const double left = surplus > 0 ? surplus + (double)budget->spent[LWP_COST_HEAP] : 0,
                 advance = (left < all ? left : all) * paths_advance;
    const double earned = budget_heap_earns(budget, cpu_ns) * paths_part, least = all * paths_least;
    const double granted = advance > least ? advance : least;
    return earned > granted ? earned : granted;
}

bool lwp_budget_affords_heap(const struct lwp_time_budget *budget, uint64_t cpu_ns, double kept)
{
    const double stays = 2 * kept - 1 > heap_advance_least ? 2 * kept - 1 : heap_advance_least;
    double advance = budget_advance(budget, lwp_run_advance(budget->share)) * stays, earned = budget_heap_earns(budget, cpu_ns);
    return (double)budget->spent[LWP_COST_HEAP] <= (advance > earned ? advance : earned);
}
