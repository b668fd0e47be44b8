/* "run", "types" and "modules" of analysis.json: what was run, where, and how much is known of it. */
#include "analysis/json/json_parts.h"

#include "analysis/elements/field_coverage.h"

#include <math.h>

enum { PROCESSES_LISTED = 1000 };

static json_t *json_copied(const json_t *from, const char *key)
{
    json_t *value = json_object_get(from, key);
    return value ? json_incref(value) : json_null();
}

static json_t *json_machine(const struct lwp_profile *profile)
{
    static const char *const keys[] = {"cpu", "cores", "line_bytes", "page_bytes", "numa_nodes"};
    static const char *const cache_keys[] = {"level", "bytes", "ways", "shared_by"};
    const json_t *from = json_object_get(profile->run, "machine");
    json_t *machine = json_object(), *caches = json_null();
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        json_object_set_new(machine, keys[i], json_copied(from, keys[i]));
    size_t i;
    json_t *cache;
    if (json_is_array(json_object_get(from, "caches"))) {
        caches = json_array();
        json_array_foreach(json_object_get(from, "caches"), i, cache)
        {
            json_t *copy = json_object();
            for (size_t k = 0; k < sizeof cache_keys / sizeof *cache_keys; k++)
                json_object_set_new(copy, cache_keys[k], json_copied(cache, cache_keys[k]));
            json_array_append_new(caches, copy);
        }
    }
    json_object_set_new(machine, "caches", caches);
    return machine;
}

static json_t *json_processes(const struct lwp_profile *profile)
{
    json_t *processes = json_array();
    for (size_t i = 0; i < profile->process_count && i < PROCESSES_LISTED; i++)
        json_array_append_new(
            processes,
            json_pack("{s:I,s:o,s:i,s:o}", "pid", (json_int_t)profile->processes[i].pid, "command",
                      lwp_json_text(profile->processes[i].command), "threads", (int)profile->processes[i].threads,
                      "rank", profile->processes[i].rank < 0 ? json_null() : json_integer(profile->processes[i].rank)));
    return processes;
}

json_t *lwp_json_run(const struct lwp_profile *profile)
{
    static const char *const engines[] = {NULL, "timer", "pmu", "exact"};
    static const char *const units[] = {NULL, "ns", "cycles", "simulated cycles", "events"};
    json_t *run = json_object(), *exit_status = json_copied(profile->run, "exit");
    double cpu = (double)(profile->user_ns + profile->system_ns);
    json_object_set_new(run, "command",
                        json_is_array(json_object_get(profile->run, "command")) ? json_copied(profile->run, "command")
                                                                                : json_array());
    json_object_set_new(run, "cwd", json_copied(profile->run, "cwd"));
    json_object_set_new(run, "host", json_copied(profile->run, "host"));
    json_object_set_new(run, "started", json_copied(profile->run, "started"));
    json_object_set_new(run, "wall_s", json_copied(profile->run, "wall_s"));
    json_object_set_new(run, "cpu_s", cpu > 0 ? lwp_json_share(cpu / 1e9) : json_copied(profile->run, "cpu_s"));
    if (!json_is_object(exit_status)) {
        json_decref(exit_status);
        exit_status = json_pack("{s:n,s:n}", "code", "signal");
    }
    json_object_set_new(run, "exit", exit_status);
    json_object_set_new(run, "engine", lwp_json_text(profile->engine < 4 ? engines[profile->engine] : NULL));
    json_object_set_new(run, "event", json_copied(profile->run, "event"));
    json_object_set_new(run, "options", json_copied(profile->run, "options"));
    json_object_set_new(run, "weight_unit",
                        lwp_json_text(profile->weight_unit < 5 ? units[profile->weight_unit] : NULL));
    json_object_set_new(run, "weight", json_real(profile->total.weight));
    json_object_set_new(run, "stall_share",
                        profile->weight_unit == LWPS_WEIGHT_NS || profile->weight_unit == LWPS_WEIGHT_SIMULATED_CYCLES
                            ? lwp_json_share(lwp_share_of(&profile->stalled, &profile->total).value)
                            : json_null()); /* all weight there is is of accesses */
    json_object_set_new(run, "samples", lwp_json_count(profile->samples));
    json_object_set_new(run, "samples_with_address", lwp_json_count(profile->samples_with_address));
    json_object_set_new(run, "samples_lost", lwp_json_count(profile->samples_lost));
    json_object_set_new(run, "overhead_percent",
                        cpu > 0 && profile->engine != LWPS_ENGINE_EXACT
                            ? json_real(round(1e4 * (double)profile->own_ns / cpu) / 100)
                            : json_null());
    json_object_set_new(run, "machine", json_machine(profile));
    json_object_set_new(run, "processes", json_processes(profile));
    if (json_array_size(profile->runs) > 1)
        json_object_set(run, "runs", profile->runs);
    json_t *notes = json_array();
    for (size_t i = 0; i < profile->note_count; i++)
        json_array_append_new(notes, lwp_json_text(profile->notes[i]));
    json_object_set_new(run, "notes", notes);
    return run;
}

/* How much of the weight on heap and static data has a type, and a field; null when there is no such weight. */
json_t *lwp_json_types(const struct lwp_profile *profile)
{
    struct lwp_field_coverage typed = lwp_field_coverage_weigh(profile);
    if (typed.weight <= 0)
        return json_null();
    return json_pack("{s:o,s:o,s:o}", "weight_share",
                     lwp_json_share(fmin(1, typed.weight / fmax(1, profile->total.weight))), "share",
                     lwp_json_share(typed.type / typed.weight), "share_with_field",
                     lwp_json_share(typed.field / typed.weight));
}

json_t *lwp_json_modules(const struct lwp_profile *profile)
{
    static const char *const debug[] = {"none", "symbols", "full", "replaced"};
    json_t *modules = json_array();
    uint32_t count = lwp_code_module_count(profile->code);
    for (uint32_t i = 0; i < count; i++) {
        const struct lwp_module *module = lwp_code_module_info(profile->code, i);
        json_array_append_new(modules,
                              json_pack("{s:o,s:o,s:s}", "path", lwp_json_text(module->path), "build_id",
                                        lwp_json_text(module->build_id), "debug_info", debug[module->debug_info]));
    }
    return modules;
}
