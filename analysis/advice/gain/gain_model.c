/* What memory traffic costs.
 *
 * Sequential, independent: prefetchers run ahead, so a loop pays for the lines that go by, at the bandwidth of the cache that
 * holds the data. Half of it saves half of that, more when the rest then fits a nearer cache.
 *
 * Random: each visit pays for the cache that holds the element; its lines are fetched in parallel, nearly for the price of one, or
 * one after the other. A cache of C bytes holds C of the bytes that the loop keeps busy; beyond the reach of the TLB the page walk
 * adds to it, or is all that is paid for: once for each place far from the others that a visit goes to, most of all in a VM, where
 * a walk goes through two tables. When visits are independent only memory itself is slow enough to be seen.
 *
 * Dependent (lists, trees): the next address is known only when the element is there. Elements no more than two lines apart are
 * still prefetched, as neighbours; others cost the full latency each.
 *
 * Unknowns (who else uses the last cache, whether lines are fetched in pairs, pages) are taken at both extremes: the low end takes
 * the worst of them, the high end the best.
 *
 * Time: a sample lands on a memory access also when nothing stalls, as often as accesses are among the instructions; only what
 * goes beyond that is stall. A loop that mostly stalls also does so between its accesses: several loads are in flight, and a stall
 * shows on one of them. Loops that mostly compute, or hold loops that do, hide part of the stalls behind that.
 *
 * The constants are ratios of usual latencies and bandwidths (L1 1, L2 5, L3 25, memory 160 ns; 0.35, 0.8 and 2 ns a line in a
 * stream); tests/rounds/gain.sh holds the outcome against measurements. Limits: bandwidth shared by threads, NUMA, large pages and
 * conflicts between cache sets are not modelled. */
#include "analysis/advice/gain/gain_model.h"

#include "analysis/tables/engines.h"
#include "base/path.h"

#include <math.h>
#include <string.h>

static const struct lwp_caches usual = {64, 32 << 10, 1 << 20, 16 << 20, LWP_CACHE_STREAMS, 0};
static const double tlb_reach = 6 << 20;

/* Costs relative to memory itself: of a line in a stream, of a random visit, and of an instruction at full speed. */
static const double stream_l2 = 0.17, stream_l3 = 0.4, stream_core = 0.0075, stream_core_cached = 0.03;
static const double random_cached = 0.05, random_core = 0.012;
static const double dependent_l1 = 0.007, dependent_l2 = 0.03, dependent_l3 = 0.16, dependent_core = 0.0008;
/* What more lines of one element cost at least: nothing up to so many, then by this power. */
static const double random_free = 2, random_lines = 0.15, dependent_free = 1, dependent_lines = 0.25;
static const double latency = 45; /* of a line nobody prefetched, in streamed lines */
static const double arrives_memory = 0.7, arrives_cache = 0.3, arrives_dependent = 0.9, most = 0.99;
static const double page = 4096;
/* How much more time the kernel takes with lwp than without it, in times lwp's own, which holds its system calls and not what delivering
 * signals costs: docs/gains.md. */
static const double own_kernel = 0.5, own_kernel_least = 0.25, own_kernel_most = 1;

struct lwp_caches lwp_gain_caches(struct lwp_caches caches)
{
    return (struct lwp_caches){caches.line_bytes ? caches.line_bytes : usual.line_bytes, caches.l1_bytes ? caches.l1_bytes : usual.l1_bytes,
                               caches.l2_bytes ? caches.l2_bytes : usual.l2_bytes,       caches.l3_bytes ? caches.l3_bytes : usual.l3_bytes,
                               caches.streams ? caches.streams : usual.streams,          caches.l3_whole};
}

/* A line of a stream that is used again after `bytes`: it is in a cache that holds them all, or not. */
static double model_stream(const struct lwp_caches *caches, double bytes, double l3)
{
    return bytes <= (double)caches->l2_bytes ? stream_l2 : bytes <= l3 ? stream_l3 : 1;
}

/* The mean cost of a visit anywhere in `bytes`. */
static double model_visit(const struct lwp_caches *caches, double bytes, double l3, bool dependent, bool pages)
{
    double l1 = fmin(1, (double)caches->l1_bytes / bytes), l2 = fmin(1, (double)caches->l2_bytes / bytes);
    double near = fmin(1, fmax(l2, l3 / bytes));
    double cost = 1 - near;
    cost += dependent ? l1 * dependent_l1 + (l2 - l1) * dependent_l2 + (near - l2) * dependent_l3 : near * random_cached;
    return pages && bytes > tlb_reach ? cost * fmax(1, log2(bytes / tlb_reach)) : cost;
}

static struct lwp_gain_range model_random(const struct lwp_caches *caches, struct lwp_gain_access access,
                                          const struct lwp_placement_need *before, const struct lwp_placement_need *after)
{
    struct lwp_gain_range range = {1, -1};
    double core = access.instructions * (access.dependent ? dependent_core : random_core);
    for (int choice = 0; choice < 16; choice++) {
        /* Other data wants the last cache too; on a busy machine, and in a VM, most of it belongs to others. */
        bool crowded = choice & 8;
        double l3 = (double)caches->l3_bytes * (crowded ? 0.0625 : choice & 1 ? 0.75 : 0.25);
        double lines = after->random / before->random;
        if (lines < 1 && !(choice & 2)) {
            double free = access.dependent ? dependent_free : random_free;
            lines = pow(fmax(free, after->random) / fmax(free, before->random), access.dependent ? dependent_lines : random_lines);
        }
        bool pages = choice & 4;
        if (pages && choice & 2 && before->spread > tlb_reach)
            lines = fmin(lines, fmax(1, after->places) / fmax(1, before->places));
        double x = model_visit(caches, pages ? before->spread : before->busy, l3, access.dependent, pages);
        double y = lines * model_visit(caches, pages ? after->spread : after->busy, l3, access.dependent, pages);
        double saved = 1 - fmax(core, y) / fmax(core, x);
        range.high = fmax(range.high, saved);
        if (!crowded)
            range.low = fmin(range.low, saved);
    }
    return range;
}

static struct lwp_gain_range model_sequential(const struct lwp_caches *caches, struct lwp_gain_access access,
                                              const struct lwp_placement_need *before, const struct lwp_placement_need *after)
{
    double line = (double)caches->line_bytes, l3 = (double)caches->l3_bytes;
    double level = model_stream(caches, before->spread, l3 / 4), x = before->lines * level;
    double then = model_stream(caches, after->spread, l3 * 0.75), y = after->lines * then;
    double core = access.instructions * (level < 1 ? stream_core_cached : stream_core);
    if (access.dependent && after->spacing > 2 * line) /* nor is the next one's line fetched then */
        y = latency * fmax(1, after->lines / 2) * then;
    if (access.dependent && before->spacing > 2 * line)
        x = latency * fmax(1, before->lines / 2) * level;
    else if (access.dependent) /* neighbours fetched for nothing, and a part of the latency */
        x = 2 * fmax(x, fmin(2 * x, before->spacing / line * level));
    struct lwp_gain_range range = {1 - after->lines / before->lines, 0};
    range.high = fmax(range.low, 1 - fmax(core, y) / fmax(core, x));
    return range;
}

struct lwp_gain_range lwp_gain_saved(const struct lwp_caches *caches, struct lwp_gain_access access,
                                     const struct lwp_placement_need *before, const struct lwp_placement_need *after)
{
    if (before->lines <= 0 || before->random <= 0 || before->busy <= 0)
        return (struct lwp_gain_range){0, 0};
    struct lwp_gain_range order = model_sequential(caches, access, before, after);
    struct lwp_gain_range random = model_random(caches, access, before, after);
    struct lwp_gain_range range = access.pattern == LWP_GAIN_RANDOM ? random : order;
    if (access.pattern == LWP_GAIN_UNKNOWN) {
        range.low = fmin(order.low, random.low);
        range.high = fmax(order.high, random.high);
    }
    if (range.low > 0)
        range.low *= before->spread <= (double)caches->l3_bytes ? arrives_cache : access.dependent ? arrives_dependent : arrives_memory;
    return range;
}

/* The cost of the loops inside the region, and of their stalls. */
static void model_nested(const struct lwp_profile *profile, uint32_t region, double *weight, double *stalled)
{
    for (size_t i = 0; i < profile->region_count; i++) {
        const struct lwp_region *inner = &profile->regions[i];
        uint32_t up = inner->parent;
        if (inner->same_as != i || inner->weight.weight <= 0)
            continue;
        for (int depth = 0; up != LWP_NONE && up != region && depth < 64; depth++)
            up = profile->regions[up].parent;
        if (up == region) {
            *weight += inner->weight.weight;
            *stalled += inner->stalled;
        }
    }
}

struct lwp_gain_range lwp_gain_stalled(const struct lwp_profile *profile, uint32_t region, double stalled,
                                       const struct lwp_loop_shape *shape)
{
    struct lwp_gain_range range = {stalled, stalled};
    if (region == LWP_NONE)
        return range;
    const struct lwp_region *in = &profile->regions[region];
    double whole = fmax(in->weight.weight, in->stalled);
    if (in->stalled <= 0 || whole <= 0)
        return range;
    double by_chance = shape->work.instructions ? fmin(0.5, (double)shape->accesses / shape->work.instructions) : 0;
    double share = in->stalled / whole, excess = fmax(0, share - by_chance) / (1 - by_chance);
    double nested = 0, nested_stalled = 0, part = fmin(1, stalled / in->stalled);
    model_nested(profile, region, &nested, &nested_stalled);
    double stalls = (excess * whole + nested_stalled) / (whole + nested);
    range.low = part * excess * whole * fmin(1, 1.5 * stalls);
    range.high = part * (in->stalled + (whole - in->stalled) * fmin(1, 2 * share));
    return range;
}

struct lwp_gain_range lwp_gain_stall_share(const struct lwp_profile *profile, uint32_t region, const struct lwp_loop_shape *shape)
{
    const struct lwp_region *in = &profile->regions[region];
    double chance = shape->work.instructions ? fmin(0.5, (double)shape->accesses / shape->work.instructions) : 0;
    double share = in->weight.weight > 0 ? fmin(1, in->stalled / in->weight.weight) : 0;
    return (struct lwp_gain_range){fmax(0, share - chance) / (1 - chance), share};
}

double lwp_gain_spinning(const struct lwp_profile *profile)
{
    static const char *const runtimes[] = {"libgomp.so", "libomp.so", "libiomp5.so"};
    double weight = 0;
    for (size_t i = 0; i < profile->region_count && profile->code; i++) {
        const struct lwp_region *region = &profile->regions[i];
        if (region->same_as != i || region->weight.weight <= 0 || region->module == LWP_NONE)
            continue;
        const char *name = lwp_path_last(lwp_code_module_info(profile->code, region->module)->path);
        for (size_t k = 0; k < sizeof runtimes / sizeof *runtimes; k++)
            if (strncmp(name, runtimes[k], strlen(runtimes[k])) == 0)
                weight += region->weight.weight;
    }
    return profile->total.weight > 0 ? fmin(weight / profile->total.weight, 0.9) : 0;
}

/* Ticks of Linux are no longer. */
static const double longest_tick = 10e6;

/* The kernel's time for the program, ns, when so many times lwp's own time are the kernel's. */
static double model_ticks(const struct lwp_profile *profile, double own)
{
    return fmax(0, (double)profile->system_ns - own * (double)profile->own_ns);
}

/* How far that may be off (90 %), as the kernel tells its own time from the program's by what each of its ticks falls on. */
static double model_ticks_off(const struct lwp_profile *profile)
{
    const double system = (double)profile->system_ns, all = (double)profile->user_ns + system, part = all > 0 ? system / all : 0,
                 tick = profile->tick_ns ? (double)profile->tick_ns : longest_tick;
    return lwp_gain_deviations * sqrt(part * (1 - part) * fmin(all, tick) * all);
}

/* ... as ticks say it, and as far as they allow what the program's pages take: of a short run most ticks in the kernel may be lwp's, and
 * the pages are known. */
static struct lwp_share model_kernel(const struct lwp_profile *profile)
{
    const double ticks = model_ticks(profile, own_kernel), pages = (double)profile->resident_bytes / page * (double)profile->page_fault_ns,
                 off = model_ticks_off(profile), low = ticks - hypot(off, ticks - model_ticks(profile, own_kernel_most)),
                 high = ticks + hypot(off, model_ticks(profile, own_kernel_least) - ticks);
    if (pages <= 0)
        return (struct lwp_share){ticks, low, high};
    const double value = fmax(low, fmin(high, pages));
    return (struct lwp_share){value, value, fmax(value, ticks)};
}

/* ... when so much time is the kernel's. */
static double model_sampled(const struct lwp_profile *profile, double kernel)
{
    static const double nearly_all = 0.75; /* lwp's own time is in ticks and in weights */
    const double user = (double)profile->user_ns;
    const bool counts_kernel = profile->total.weight > user + nearly_all * (double)profile->system_ns;
    if (!lwp_engine_row(profile->engine)->cpu_time || user <= 0 || counts_kernel)
        return 1;
    return fmin(1, user / fmax(1, user + kernel)); /* a part of the run may have been sampled only: as much of the rest is the kernel's */
}

double lwp_gain_kernel(const struct lwp_profile *profile)
{
    if (!lwp_engine_row(profile->engine)->exact || !profile->cycle_ps || !profile->instructions_recorded || profile->total.weight <= 0)
        return 0;
    return (double)profile->starts * (double)profile->start_ns + (double)profile->page_faults * (double)profile->page_fault_ns;
}

/* A standard deviation of log(time of copies / time of the program), of 25 traces of five programs (docs/gains.md). */
static const double copy_off = 0.3;

/* ... in a trace, without the kernel, ns. Copies of the program ran parts of it natively (collector/exact/trace/speed.h): of those the time
 * is known, as well as copies have it. The rest takes no less than its instructions do while no access waits, and no more than if each
 * waited for the one before. */
struct lwp_share lwp_gain_traced_ns(const struct lwp_profile *profile)
{
    const double cycle = (double)profile->cycle_ps * 1e-3, instructions = (double)profile->instructions,
                 native = fmin((double)profile->native_instructions, instructions),
                 cycles = profile->total.weight * instructions / (double)profile->instructions_recorded,
                 overlapped = instructions / lwp_gain_instructions_most * cycle, waited = fmax(overlapped, cycles * cycle),
                 rest = 1 - native / instructions, least = (1 - rest) * overlapped,
                 faults = (double)profile->native_page_faults * (double)profile->page_fault_ns,
                 took = fmax(least, (double)profile->native_ns - faults);
    if (native <= 0)
        return (struct lwp_share){sqrt(overlapped * waited), overlapped, waited};
    const double faster = took / fmax(least, (double)profile->native_least_ns - faults),
                 slower = fmax(least, (double)profile->native_most_ns - faults) / took, off = lwp_gain_deviations * copy_off;
    return (struct lwp_share){took + rest * sqrt(overlapped * waited),
                              fmax(least, took * exp(-hypot(off, log(faster)))) + rest * overlapped,
                              took * exp(hypot(off, log(slower))) + rest * waited};
}

struct lwp_share lwp_gain_traced(const struct lwp_profile *profile)
{
    const double kernel = lwp_gain_kernel(profile);
    if (kernel <= 0)
        return (struct lwp_share){1, 1, 1};
    const struct lwp_share traced = lwp_gain_traced_ns(profile);
    return (struct lwp_share){traced.value / (traced.value + kernel), traced.low / (traced.low + kernel),
                              traced.high / (traced.high + kernel)};
}

double lwp_gain_waiting_most(const struct lwp_profile *profile)
{
    if (lwp_gain_kernel(profile) <= 0 || profile->stalled.weight <= 0)
        return 1;
    const double recorded = (double)profile->instructions_recorded / (double)profile->instructions,
                 cycles = lwp_gain_traced_ns(profile).high / ((double)profile->cycle_ps * 1e-3) * recorded;
    return fmax(0, fmin(1, (cycles - (double)profile->instructions_recorded / lwp_gain_instructions_most) / profile->stalled.weight));
}

struct lwp_share lwp_gain_of_all(const struct lwp_profile *profile, struct lwp_share part)
{
    const struct lwp_share kernel = model_kernel(profile);
    const double sampled = model_sampled(profile, kernel.value), less = sampled - model_sampled(profile, kernel.high),
                 more = model_sampled(profile, kernel.low) - sampled, value = sampled * part.value;
    const bool slower = part.value < 0; /* the more was sampled, the more is lost */
    return (struct lwp_share){value, value - hypot(sampled * (part.value - part.low), part.value * (slower ? more : less)),
                              value + hypot(sampled * (part.high - part.value), part.value * (slower ? less : more))};
}

double lwp_gain_sampled(const struct lwp_profile *profile)
{
    return model_sampled(profile, model_kernel(profile).value);
}

double lwp_gain_of_time(const struct lwp_profile *profile, double ns)
{
    const double all = (double)profile->user_ns + model_kernel(profile).value;
    return lwp_engine_row(profile->engine)->cpu_time && all > 0 ? ns / all : 0;
}

double lwp_gain_pages(const struct lwp_profile *profile, double bytes)
{
    return lwp_gain_of_time(profile, fmax(0, fmin(model_kernel(profile).value, bytes / page * (double)profile->page_fault_ns)));
}

bool lwp_gain_known(const struct lwp_profile *profile)
{
    return lwp_unit_row(profile->weight_unit)->gain;
}

struct lwp_gain_range lwp_gain_speedup(double saved_low, double saved_high)
{
    return (struct lwp_gain_range){1 / (1 - fmin(saved_low, most)), 1 / (1 - fmin(saved_high, most))};
}
