#include "collector/exact/detectors.h"

#include "collector/exact/program/detector.h"
#include "collector/exact/program/process.h"

/* Each is defined in the file of its name. */
extern const struct lwp_detector lwp_sampling_detector, lwp_redundancy_detector, lwp_values_detector, lwp_registers_detector,
    lwp_trace_file_detector, lwp_spatial_detector, lwp_arrays_detector, lwp_communication_detector;

/* They are called in this order. Value numbers come behind redundancies, as both number accesses; spatial redundancy behind
 * what drains the trace before it forgets. */
static const struct lwp_detector *const table[] = {
    &lwp_sampling_detector,   &lwp_redundancy_detector, &lwp_values_detector, &lwp_registers_detector,
    &lwp_trace_file_detector, &lwp_spatial_detector,    &lwp_arrays_detector, &lwp_communication_detector,
};
enum { COUNT = sizeof table / sizeof *table };
_Static_assert((int)COUNT <= (int)LWP_DETECTORS_MOST, "room");

static unsigned asked[COUNT];

static bool option_value(const HChar *text, unsigned most, unsigned *value)
{
    HChar *end;
    bool yes = VG_(strcmp)(text, "yes") == 0;
    if (!most) {
        *value = yes;
        return yes || VG_(strcmp)(text, "no") == 0;
    }
    Long number = VG_(strtoll10)(text, &end);
    *value = (unsigned)number;
    return end > text && !*end && number >= 0 && number <= (Long)most;
}

bool lwp_detectors_option(const HChar *argument)
{
    HChar start[64];
    for (unsigned i = 0; i < COUNT; i++) {
        SizeT length = table[i]->option ? VG_(snprintf)(start, sizeof start, "--lwp-%s=", table[i]->option) : 0;
        if (length && VG_(strncmp)(argument, start, length) == 0)
            return option_value(argument + length, table[i]->most, &asked[i]);
    }
    return false;
}

unsigned lwp_detectors_needs(void)
{
    unsigned needs = 0;
    for (unsigned i = 0; i < COUNT; i++)
        needs |= asked[i] ? table[i]->needs : 0;
    return needs;
}

void lwp_detectors_start(void)
{
    for (unsigned i = 0; i < COUNT; i++) {
        if (table[i]->option && !asked[i])
            continue;
        if (!table[i]->start || table[i]->start(asked[i]))
            lwp_detector_add(table[i]);
        else
            lwp_exact_process_note(table[i]->failed);
    }
}
