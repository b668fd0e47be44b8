/* Code behind an "if" that is hardly ever true (a new least one of all, an error) is part of the loop, and takes no time.
 *
 * A block that ran each time would take as long as processors take at least for its instructions, and as large a part of the loop's samples
 * would fall on it. Where there are fewer than a part of that, sampling error aside, it is taken not to run. Samples fall on what waits for
 * memory rather than on what waits for nothing; instructions that wait for nothing still take their turn. */
#include "analysis/advice/gain/ran.h"

#include "analysis/profile/locations.h"
#include "analysis/tables/engines.h"

#include <math.h>

enum { PARTS_MOST = 64 };

/* Instructions a cycle, and a cycle, of the fastest processors; of all iterations those that run the block. */
static const double widest = 8, shortest_ns = 1 / 6.0, rare = 0.25;

/* So many samples may be meant where these were seen (95 %). */
static double ran_most(uint64_t samples)
{
    return (double)samples + 3 + 1.645 * sqrt((double)samples);
}

bool lwp_gain_leave_out(const struct lwp_profile *profile, uint32_t region, double iteration_ns, struct lwp_loop_work *work)
{
    const struct lwp_region *loop = &profile->regions[region];
    struct lwp_loop_part parts[PARTS_MOST];
    if (!lwp_engine_row(profile->engine)->cpu_time || iteration_ns <= 0 || !profile->code)
        return false;
    const size_t count = lwp_loop_parts(profile->code, loop->module, loop->address, parts, PARTS_MOST);
    size_t left_out = 0;
    for (size_t i = 0; i < count; i++) {
        const double expected = (double)loop->weight.samples * parts[i].instructions / widest * shortest_ns / iteration_ns;
        const uint64_t seen = lwp_locations_samples(profile, loop->module, parts[i].low, parts[i].high);
        if (ran_most(seen) < rare * expected)
            parts[left_out++] = parts[i];
    }
    if (left_out)
        lwp_loop_work_without(profile->code, loop->module, loop->address, parts, left_out, work);
    return left_out > 0;
}
