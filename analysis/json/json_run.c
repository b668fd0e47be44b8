/* "run", "types" and "modules" of analysis.json: what was run, where, and how much is known of it. */
#include "analysis/json/json_parts.h"

#include "analysis/advice/gain/gain_model.h"
#include "analysis/elements/elements.h"
#include "analysis/tables/engines.h"

#include <math.h>

enum { PROCESSES_LISTED = 1000 };

/* From run.json; null where it is not there. */
static json_t *json_copied(const json_t *from, const char *key)
{
    json_t *value = json_object_get(from, key);
    return value ? json_incref(value) : json_null();
}

static json_t *json_copies(const json_t *from, const char *const *keys, size_t count)
{
    json_t *json = json_object();
    for (size_t i = 0; i < count; i++)
        json_object_set_new(json, keys[i], json_copied(from, keys[i]));
    return json;
}

static json_t *json_machine(const struct lwp_profile *profile)
{
    static const char *const keys[] = {"cpu", "cores", "line_bytes", "page_bytes", "numa_nodes"};
    static const char *const cache_keys[] = {"level", "bytes", "ways", "shared_by", "groups"};
    const json_t *from = json_object_get(profile->run, "machine"), *cache;
    json_t *machine = json_copies(from, keys, sizeof keys / sizeof *keys);
    json_t *caches = json_is_array(json_object_get(from, "caches")) ? json_array() : json_null();
    size_t i;
    json_array_foreach(json_object_get(from, "caches"), i, cache)
        json_array_append_new(caches, json_copies(cache, cache_keys, sizeof cache_keys / sizeof *cache_keys));
    json_object_set_new(machine, "caches", caches);
    return machine;
}

static json_t *json_processes(const struct lwp_profile *profile)
{
    const struct lwp_process_summary *processes = profile->processes;
    size_t count = profile->process_count < PROCESSES_LISTED ? profile->process_count : PROCESSES_LISTED;
    return LWP_JSON_LIST(i, count,
                         lwp_json_new("pid", json_integer((json_int_t)processes[i].pid), "command", lwp_json_text(processes[i].command),
                                      "threads", json_integer((json_int_t)processes[i].threads), "rank",
                                      processes[i].rank < 0 ? json_null() : json_integer(processes[i].rank), NULL));
}

/* Of the run, stalled on memory; null where most of it is not known. */
static json_t *json_stall_share(const struct lwp_json_tables *tables)
{
    const struct lwp_profile *profile = tables->profile;
    const struct lwp_coverage *coverage = &tables->answers->coverage;
    bool known = !coverage->of || profile->instructions || coverage->share >= 0.5;
    return lwp_unit_row(profile->weight_unit)->whole_run && known ? lwp_json_share(lwp_share_of(&profile->stalled, &profile->total).value)
                                                                  : json_null();
}

/* Whether the run is all its processes. */
static bool json_is_of_all(const struct lwp_profile *profile)
{
    const json_t *options = json_object_get(profile->run, "options");
    return !json_is_string(json_object_get(options, "only")) && !json_is_true(json_object_get(options, "no-follow-fork"));
}

/* Of the run's processes: what those said that were recorded and ended by themselves, or what the system says of all that were waited for.
 * Each may lack some: who was killed, or never set up, said nothing; a daemon is not waited for. Samples may show time that nobody said. */
static json_t *json_cpu_seconds(const struct lwp_profile *profile)
{
    const double said = (double)(profile->user_ns + profile->system_ns) / 1e9, waited = lwp_json_amount(profile->run, "cpu_s");
    const bool missing = lwp_unit_row(profile->weight_unit)->seconds && 1e9 * said < profile->total.weight;
    const bool less = !lwp_engine_row(profile->engine)->exact && json_is_of_all(profile) && said < waited;
    return said > 0 && !missing && !less ? lwp_json_share(said) : json_copied(profile->run, "cpu_s");
}

json_t *lwp_json_run(struct lwp_json_tables *tables)
{
    const struct lwp_profile *profile = tables->profile;
    const struct lwp_engine_row *engine = lwp_engine_row(profile->engine);
    const struct lwp_unit_row *unit = lwp_unit_row(profile->weight_unit);
    const json_t *run = profile->run, *command = json_object_get(run, "command"), *status = json_object_get(run, "exit");
    double cpu = (double)(profile->user_ns + profile->system_ns);
    return lwp_json_new(
        "command", json_is_array(command) ? json_copied(run, "command") : json_array(), "cwd", json_copied(run, "cwd"), "host",
        json_copied(run, "host"), "started", json_copied(run, "started"), "wall_s", json_copied(run, "wall_s"), "cpu_s",
        json_cpu_seconds(profile), "exit", json_is_object(status) ? json_copied(run, "exit") : json_pack("{s:n,s:n}", "code", "signal"),
        "engine", lwp_json_text(engine->name), "event", json_copied(run, "event"), "options", json_copied(run, "options"), "weight_unit",
        lwp_json_text(unit->name), "weight", json_real(profile->total.weight), "stall_share", json_stall_share(tables), "samples",
        lwp_json_count(profile->samples), "samples_with_address", lwp_json_count(profile->samples_with_address), "samples_lost",
        lwp_json_count(profile->samples_lost), "allocations_unrecorded",
        profile->allocations_unrecorded ? lwp_json_count(profile->allocations_unrecorded) : NULL, "kernel_ns",
        lwp_gain_kernel(profile) > 0 ? lwp_json_count((uint64_t)lwp_gain_kernel(profile)) : NULL, "overhead_percent",
        json_is_number(json_object_get(run, "overhead_percent")) ? json_copied(run, "overhead_percent")
        : cpu > 0 && !engine->exact                              ? json_real(round(1e4 * (double)profile->own_ns / cpu) / 100)
                                                                 : json_null(),
        "machine", json_machine(profile), "processes", json_processes(profile), "runs",
        json_array_size(profile->runs) > 1 ? json_incref(profile->runs) : NULL, "notes",
        LWP_JSON_LIST(i, profile->note_count, lwp_json_text(profile->notes[i])), NULL);
}

/* How much of the weight on heap, mapped and static data has a type, and a field; null when there is no such weight. */
json_t *lwp_json_types(struct lwp_json_tables *tables)
{
    const struct lwp_field_coverage typed = lwp_field_coverage_weigh(tables->profile);
    if (typed.weight <= 0)
        return json_null();
    return lwp_json_new("weight_share", lwp_json_share(fmin(1, typed.weight / fmax(1, tables->profile->total.weight))), "share",
                        lwp_json_share(typed.type / typed.weight), "share_with_field", lwp_json_share(typed.field / typed.weight),
                        "agreement",
                        typed.agreement.compared > 0 ? lwp_json_share(typed.agreement.agree / typed.agreement.compared) : json_null(),
                        "compared", lwp_json_share(fmin(1, typed.agreement.compared / fmax(1, typed.agreement.looked_at))), NULL);
}

static json_t *json_module(const struct lwp_module *module)
{
    static const char *const debug[] = {"none", "symbols", "full", "replaced"};
    return lwp_json_new("path", lwp_json_text(module->path), "build_id", lwp_json_text(module->build_id), "debug_info",
                        json_string(debug[module->debug_info]), NULL);
}

json_t *lwp_json_modules(struct lwp_json_tables *tables)
{
    struct lwp_code *code = tables->profile->code;
    return LWP_JSON_LIST(i, lwp_code_module_count(code), json_module(lwp_code_module_info(code, (uint32_t)i)));
}
