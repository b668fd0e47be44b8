#include "collector/launch/engine.h"

#include "collector/perf/probe.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void engine_names(const struct lwp_pmu_events *events, char *names, size_t room)
{
    size_t used = 0;
    names[0] = '\0';
    for (unsigned i = 0; i < events->count && used < room; i++)
        used += (size_t)snprintf(names + used, room - used, "%s%s", i ? ", " : "", events->event[i].name);
}

int lwp_engine_pmu(struct lwp_pmu_events *events, struct lwp_error *found)
{
    struct lwp_pmu_cpu cpu;
    lwp_pmu_cpu_here(&cpu);
    if (lwp_pmu_events_find("/sys/bus/event_source/devices", &cpu, LWP_ENGINE_LATENCY, events, found))
        return ENOENT;
    int why = lwp_pmu_probe(events);
    char names[LWP_ERROR_TEXT / 2];
    engine_names(events, names, sizeof names);
    lwp_error_set(found, LWP_ERR_MISSING, "%s: %s", names, lwp_pmu_probe_text(why));
    return why;
}

static int engine_timer(struct lwp_engine *engine)
{
    *engine = (struct lwp_engine){.name = "timer", .weight_unit = "ns", .event = "task-clock"};
    return LWP_OK;
}

static int engine_of_events(const struct lwp_pmu_events *events, struct lwp_engine *engine, struct lwp_error *err)
{
    *engine = (struct lwp_engine){.name = "pmu", .weight_unit = events->unit == LWPS_WEIGHT_CYCLES ? "cycles" : "events"};
    engine_names(events, engine->event, sizeof engine->event);
    if (lwp_pmu_events_print(events, engine->pmu, sizeof engine->pmu))
        return LWP_OK;
    return lwp_error_set(err, LWP_ERR_LIMIT, "collect: too many events for the environment");
}

int lwp_engine_choose(const char *wanted, const char *event, bool period, struct lwp_engine *engine,
                      struct lwp_error *err)
{
    struct lwp_pmu_events events;
    struct lwp_error found = {0};
    bool faults = event && strcmp(event, "page-faults") == 0, must = faults || period || strcmp(wanted, "pmu") == 0;
    if (strcmp(wanted, "timer") == 0)
        return engine_timer(engine);
    if (strcmp(wanted, "exact") == 0) {
        *engine = (struct lwp_engine){.name = "exact", .weight_unit = "simulated cycles", .event = "cache model", .exact = true};
        return LWP_OK;
    }
    if (faults) {
        lwp_pmu_events_of_faults(&events);
        int why = lwp_pmu_probe(&events);
        if (!why)
            return engine_of_events(&events, engine, err);
        return lwp_error_set(err, LWP_ERR_SYSTEM, "collect: page faults cannot be sampled here: %s; 'lwp doctor' says what would help",
                             lwp_pmu_probe_text(why));
    }
    if (lwp_engine_pmu(&events, &found) == 0)
        return engine_of_events(&events, engine, err);
    if (!must)
        return engine_timer(engine);
    return lwp_error_set(err, LWP_ERR_MISSING, "collect: the pmu engine cannot sample here: %s; use -e timer, or see 'lwp doctor'",
                         found.text);
}
