#include "collector/exact/trace/region.h"

#include "collector/exact/program/calls.h"
#include "collector/exact/program/detector.h"
#include "collector/exact/program/process.h"
#include "collector/exact/program/thread.h"
#include "collector/exact/trace/trace.h"

static const char *region_function; /* NULL: any */
static const char *region_asked;
static bool region_open = true; /* by the program's marks */
static bool region_met;

static void region_update(void)
{
    bool inside = region_open && (!region_function || (lwp_thread_now && lwp_thread_now->region_slot));
    if (inside == lwp_trace_inside)
        return;
    region_met |= inside;
    lwp_trace_region(inside);
    LWP_DETECTORS(region);
}

void lwp_region_start(const char *region)
{
    region_asked = region;
    region_open = !region || VG_(strcmp)(region, "LWP_BEGIN") != 0;
    region_function = region && region_open ? region : NULL;
    region_met = !region;
    region_update();
}

/* The compiler's clones (f.part.0, f._omp_fn.1) are the function, too, as are all of C++ that are called so. */
bool lwp_region_is(Addr address)
{
    const HChar *name;
    if (!region_function || !VG_(get_fnname_if_entry)(VG_(current_DiEpoch)(), address, &name))
        return false;
    SizeT length = VG_(strlen)(region_function);
    return VG_(strncmp)(name, region_function, length) == 0 &&
           (name[length] == '\0' || name[length] == '.' || name[length] == '(');
}

VG_REGPARM(1) void lwp_region_entered(Addr sp)
{
    struct lwp_exact_thread *thread = lwp_thread_now;
    if (thread->region_slot || !lwp_calls_hook(sp))
        return;
    thread->region_slot = sp;
    region_update();
}

void lwp_region_returned(Addr slot)
{
    if (!region_function || lwp_thread_now->region_slot != slot)
        return;
    lwp_thread_now->region_slot = 0;
    region_update();
}

void lwp_region_switch(void)
{
    if (region_function)
        region_update();
}

void lwp_region_mark(bool begin)
{
    region_open = begin;
    region_update();
}

void lwp_region_finish(void)
{
    static HChar note[300];
    if (region_met)
        return;
    if (region_function)
        VG_(snprintf)(note, sizeof note, "Nothing was recorded: no function %s was entered; it may have been inlined.", region_asked);
    else
        VG_(snprintf)(note, sizeof note, "Nothing was recorded: the program did not come to LWP_BEGIN().");
    lwp_exact_process_note(note);
}
