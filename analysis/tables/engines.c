#include "analysis/tables/engines.h"

#include <string.h>

static const struct lwp_engine_row engines[] = {
    {.name = NULL},
    [LWPS_ENGINE_TIMER] = {.name = "timer", .cpu_time = true},
    [LWPS_ENGINE_PMU] = {.name = "pmu"},
    [LWPS_ENGINE_EXACT] = {.name = "exact",
                           .exact = true,
                           .note =
                               "The program ran under Valgrind, one thread at a time and many times slower: times are those of that run.",
                           .note_of_weights =
                               "Costs are cycles of a model of this machine's caches, fed with the accesses of the windows traced "
                               "(lwp collect --window); they do not depend on how busy the machine was."},
};

#define PROGRAM "the whole program"

static const struct lwp_unit_row units[] = {
    {.name = NULL, .words = "an unknown unit", .wasted = "unknown", .gain = true, .gain_of = PROGRAM},
    [LWPS_WEIGHT_NS] =
        {.name = "ns", .words = "nanoseconds", .wasted = "ns", .seconds = true, .whole_run = true, .gain = true, .gain_of = PROGRAM},
    [LWPS_WEIGHT_CYCLES] = {.name = "cycles",
                            .words = "cycles",
                            .wasted = "cycles",
                            .gain = true,
                            .gain_of = "the time that accesses take",
                            .note = "Costs are latencies: shares and expected speed-ups are of the time that accesses took. How much "
                                    "of the run that is, this engine does not measure."},
    [LWPS_WEIGHT_SIMULATED_CYCLES] = {.name = "simulated cycles",
                                      .words = "simulated cycles",
                                      .wasted = "cycles",
                                      .whole_run = true,
                                      .gain = true,
                                      .gain_of = "the program without what the kernel does for it"},
    [LWPS_WEIGHT_EVENTS] = {.name = "events",
                            .words = "an unknown unit",
                            .wasted = "events",
                            .gain_of = PROGRAM,
                            .note = "Events were counted, not time: which data they fell on is known, what another layout would save "
                                    "is not, so none is advised."},
};

enum { ENGINES = sizeof engines / sizeof *engines, UNITS = sizeof units / sizeof *units };

const struct lwp_engine_row *lwp_engine_row(uint8_t engine)
{
    return &engines[engine < ENGINES ? engine : 0];
}

const struct lwp_engine_row *lwp_engine_named(const char *name)
{
    size_t i = ENGINES;
    while (--i && (!name || strcmp(engines[i].name, name) != 0))
        ;
    return &engines[i];
}

const struct lwp_unit_row *lwp_unit_row(uint8_t unit)
{
    return &units[unit < UNITS ? unit : 0];
}

const struct lwp_unit_row *lwp_unit_named(const char *name)
{
    size_t i = UNITS;
    while (--i && (!name || strcmp(units[i].name, name) != 0))
        ;
    return &units[i];
}
