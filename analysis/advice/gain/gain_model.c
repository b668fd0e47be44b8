/* What memory traffic costs.
 *
 * In order, independent: prefetchers run ahead, so a loop pays for the lines that go by, at the bandwidth of the cache
 * that holds the data. Half of it saves half of that, more when the rest then fits a nearer cache.
 *
 * Jumping: each visit pays for the cache that holds the element; its lines come side by side, nearly for the price of
 * one, or one after the other. A cache of C bytes holds C of the bytes that the
 * loop keeps busy; beyond the reach of the TLB walking the page table adds to it, or is all that is paid for: once for
 * each place far from the others that a visit goes to, most of all in a VM, where a walk goes through two tables. When
 * visits do not wait for each other only memory itself is slow enough to be seen.
 *
 * Chained (lists, trees): the next address is known only when the element is there. Elements no more than two lines
 * apart are still prefetched, as neighbours; others cost the full latency each.
 *
 * What is not known (who else uses the last cache, how many lines are fetched in pairs, pages) is put in both ways: the
 * low end takes the worst of them, the high end the best.
 *
 * Time: a sample lands on a memory access also when nothing waits, as often as accesses are among the instructions;
 * only what goes beyond that is waiting. A loop that mostly waits also waits between: several loads are in flight, and
 * a wait shows on one of them. Loops that mostly compute, or hold loops that do, hide part of the waiting behind that.
 *
 * The constants are ratios of usual latencies and bandwidths (L1 1, L2 5, L3 25, memory 160 ns; 0.35, 0.8 and 2 ns a
 * line in a stream); tests/rounds/gain.sh holds the outcome against measurements. Limits: nothing of the bandwidth that
 * threads share, of NUMA, of large pages, of conflicts between cache sets. */
#include "analysis/advice/gain/gain_model.h"

#include "analysis/statistics/engines.h"
#include "base/path.h"

#include <math.h>
#include <string.h>

static const double usual_line = 64, usual_l1 = 32 << 10, usual_l2 = 1 << 20, usual_l3 = 16 << 20;
static const double tlb_reach = 6 << 20;

/* Costs beside that of memory itself: of a line in a stream, of a jump, and of an instruction at full speed. */
static const double stream_l2 = 0.17, stream_l3 = 0.4, stream_core = 0.0075, stream_core_cached = 0.03;
static const double jump_cached = 0.05, jump_core = 0.012;
static const double chain_l1 = 0.007, chain_l2 = 0.03, chain_l3 = 0.16, chain_core = 0.0008;
/* What more lines of one element cost at least: nothing up to so many, then by this power. */
static const double jump_free = 3, jump_lines = 0.15, chain_free = 1, chain_lines = 0.25;
static const double latency = 45; /* of a line nobody prefetched, in streamed lines */
static const double arrives_memory = 0.7, arrives_cache = 0.3, arrives_chained = 0.9, most = 0.99;
static const double spinning_noted = 0.1;

static double model_line(const struct lwp_caches *machine)
{
    return machine->line_bytes ? (double)machine->line_bytes : usual_line;
}

static double model_l1(const struct lwp_caches *machine)
{
    return machine->l1_bytes ? (double)machine->l1_bytes : usual_l1;
}

static double model_l2(const struct lwp_caches *machine)
{
    return machine->l2_bytes ? (double)machine->l2_bytes : usual_l2;
}

static double model_l3(const struct lwp_caches *machine)
{
    return machine->l3_bytes ? (double)machine->l3_bytes : usual_l3;
}

/* A line in a stream that comes round again after `bytes`: it is in a cache that holds them all, or not. */
static double model_stream(const struct lwp_caches *machine, double bytes, double l3)
{
    return bytes <= model_l2(machine) ? stream_l2 : bytes <= l3 ? stream_l3 : 1;
}

/* The mean cost of a jump anywhere into `bytes`. */
static double model_jump(const struct lwp_caches *machine, double bytes, double l3, bool chained, bool pages)
{
    double l1 = fmin(1, model_l1(machine) / bytes), l2 = fmin(1, model_l2(machine) / bytes);
    double near = fmin(1, fmax(l2, l3 / bytes));
    double cost = 1 - near;
    cost += chained ? l1 * chain_l1 + (l2 - l1) * chain_l2 + (near - l2) * chain_l3 : near * jump_cached;
    return pages && bytes > tlb_reach ? cost * fmax(1, log2(bytes / tlb_reach)) : cost;
}

static struct lwp_gain_range model_jumping(const struct lwp_caches *machine, struct lwp_gain_walk walk,
                                           const struct lwp_gain_need *before, const struct lwp_gain_need *worst,
                                           const struct lwp_gain_need *best)
{
    struct lwp_gain_range range = {1, -1};
    double core = walk.instructions * (walk.chained ? chain_core : jump_core);
    for (int choice = 0; choice < 32; choice++) {
        const struct lwp_gain_need *after = choice & 1 ? best : worst;
        /* Other data wants the last cache too; on a busy machine, and in a VM, most of it belongs to others. */
        bool crowded = choice >= 16;
        double l3 = model_l3(machine) * (crowded ? 0.0625 : choice & 2 ? 0.75 : 0.25);
        double lines = after->jumping / before->jumping;
        if (lines < 1 && !(choice & 4)) {
            double free = walk.chained ? chain_free : jump_free;
            lines =
                pow(fmax(free, after->jumping) / fmax(free, before->jumping), walk.chained ? chain_lines : jump_lines);
        }
        bool pages = choice & 8;
        if (pages && choice & 4 && before->spread > tlb_reach)
            lines = fmin(lines, fmax(1, after->places) / fmax(1, before->places));
        double x = model_jump(machine, pages ? before->spread : before->busy, l3, walk.chained, pages);
        double y = lines * model_jump(machine, pages ? after->spread : after->busy, l3, walk.chained, pages);
        double saved = 1 - fmax(core, y) / fmax(core, x);
        range.high = fmax(range.high, saved);
        if (!crowded)
            range.low = fmin(range.low, saved);
    }
    return range;
}

static struct lwp_gain_range model_in_order(const struct lwp_caches *machine, struct lwp_gain_walk walk,
                                            const struct lwp_gain_need *before, const struct lwp_gain_need *worst,
                                            const struct lwp_gain_need *best)
{
    double line = model_line(machine), l3 = model_l3(machine);
    double level = model_stream(machine, before->spread, l3 / 4), x = before->lines * level;
    double y = best->lines * model_stream(machine, best->spread, l3 * 0.75);
    double core = walk.instructions * (level < 1 ? stream_core_cached : stream_core);
    if (walk.chained && before->spacing > 2 * line)
        x = latency * fmax(1, before->lines / 2) * level;
    else if (walk.chained) /* neighbours fetched in vain, and a part of the latency */
        x = 2 * fmax(x, fmin(2 * x, before->spacing / line * level));
    struct lwp_gain_range range = {1 - worst->lines / before->lines, 0};
    range.high = fmax(range.low, 1 - fmax(core, y) / fmax(core, x));
    return range;
}

struct lwp_gain_range lwp_gain_saved(const struct lwp_caches *machine, struct lwp_gain_walk walk,
                                     const struct lwp_gain_need *before, const struct lwp_gain_need *worst,
                                     const struct lwp_gain_need *best)
{
    if (before->lines <= 0 || before->jumping <= 0 || before->busy <= 0)
        return (struct lwp_gain_range){0, 0};
    struct lwp_gain_range order = model_in_order(machine, walk, before, worst, best);
    struct lwp_gain_range jumps = model_jumping(machine, walk, before, worst, best);
    struct lwp_gain_range range = walk.pattern == LWP_GAIN_JUMPING ? jumps : order;
    if (walk.pattern == LWP_GAIN_UNKNOWN) {
        range.low = fmin(order.low, jumps.low);
        range.high = fmax(order.high, jumps.high);
    }
    if (range.low > 0)
        range.low *= before->spread <= model_l3(machine) ? arrives_cache
                     : walk.chained                      ? arrives_chained
                                                         : arrives_memory;
    return range;
}

/* The weight of the loops inside the region, and what of it waits. */
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

struct lwp_gain_range lwp_gain_waiting(const struct lwp_profile *profile, uint32_t region, double stalled,
                                       const struct lwp_loop_shape *shape)
{
    struct lwp_gain_range range = {stalled, stalled};
    if (region == LWP_NONE)
        return range;
    const struct lwp_region *in = &profile->regions[region];
    double whole = fmax(in->weight.weight, in->stalled);
    if (in->stalled <= 0 || whole <= 0)
        return range;
    double by_chance = shape->instructions ? fmin(0.5, (double)shape->accesses / shape->instructions) : 0;
    double share = in->stalled / whole, excess = fmax(0, share - by_chance) / (1 - by_chance);
    double nested = 0, nested_stalled = 0, part = fmin(1, stalled / in->stalled);
    model_nested(profile, region, &nested, &nested_stalled);
    double waits = (excess * whole + nested_stalled) / (whole + nested);
    range.low = part * excess * whole * fmin(1, 1.5 * waits);
    range.high = part * (in->stalled + (whole - in->stalled) * fmin(1, 2 * share));
    return range;
}

double lwp_gain_spinning(struct lwp_profile *profile)
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
    double share = profile->total.weight > 0 ? weight / profile->total.weight : 0;
    if (share > spinning_noted)
        lwp_profile_note(profile,
                         "%.0f %% of the CPU time is threads waiting for each other in the OpenMP runtime. That part "
                         "shrinks with what they wait for; the time on the clock may gain more than is said, or less.",
                         100 * share);
    return fmin(share, 0.9);
}

bool lwp_gain_known(const struct lwp_profile *profile)
{
    return lwp_unit_row(profile->weight_unit)->gain;
}

struct lwp_gain_range lwp_gain_speedup(double saved_low, double saved_high)
{
    return (struct lwp_gain_range){1 / (1 - fmin(saved_low, most)), 1 / (1 - fmin(saved_high, most))};
}
