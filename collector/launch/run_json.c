/* Written twice: at the start without an end, so that a killed lwp leaves a usable result, and whole at the end.
 * Command lines and paths are bytes; where they are not UTF-8 the JSON has U+FFFD and is lossy there. */
#include "collector/launch/run_json.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

json_t *lwp_run_json_text(const char *text)
{
    char *clean = lwp_utf8_clean(text);
    json_t *json = clean ? json_string(clean) : NULL;
    free(clean);
    return json;
}

static json_t *run_json_time(const struct timespec *time)
{
    char text[64], whole[32];
    struct tm tm;
    gmtime_r(&time->tv_sec, &tm);
    strftime(whole, sizeof whole, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(text, sizeof text, "%s.%03ldZ", whole, time->tv_nsec / 1000000);
    return json_string(text);
}

/* 0 stands for "unknown" in struct lwp_machine. */
static json_t *run_json_known(uint64_t number)
{
    return number ? json_integer((json_int_t)number) : json_null();
}

/* A list of each cache's CPUs. */
static json_t *run_json_groups(const char *groups)
{
    json_t *list = *groups ? json_array() : json_null();
    for (const char *at = groups; *at;) {
        size_t length = strcspn(at, ";");
        json_array_append_new(list, json_stringn(at, length));
        at += length + (at[length] == ';');
    }
    return list;
}

static json_t *run_json_machine(const struct lwp_machine *machine)
{
    json_t *caches = machine->cache_count ? json_array() : json_null();
    for (unsigned i = 0; i < machine->cache_count; i++) {
        const struct lwp_machine_cache *cache = &machine->caches[i];
        json_array_append_new(caches, json_pack("{s:i,s:I,s:o,s:o,s:o}", "level", (int)cache->level, "bytes", (json_int_t)cache->bytes,
                                                "ways", run_json_known(cache->ways), "shared_by", run_json_known(cache->shared_by),
                                                "groups", run_json_groups(cache->groups)));
    }
    return json_pack("{s:o,s:o,s:o,s:o,s:i,s:o,s:o,s:o,s:o,s:i,s:o}", "cpu",
                     machine->cpu[0] ? lwp_run_json_text(machine->cpu) : json_null(), "cores",
                     run_json_known(machine->cores), "cpus", run_json_known(machine->cpus), "line_bytes",
                     run_json_known(machine->line_bytes), "page_bytes", (int)machine->page_bytes, "tick_ns",
                     run_json_known(machine->tick_ns), "start_ns", run_json_known(machine->start_ns), "page_fault_ns",
                     run_json_known(machine->page_fault_ns), "cycle_ps", run_json_known(machine->cycle_ps), "numa_nodes",
                     (int)machine->numa_nodes, "caches", caches);
}

static json_t *run_json_build(const struct lwp_run *run)
{
    json_t *command = json_array();
    for (char *const *argument = run->command; *argument; argument++)
        json_array_append_new(command, lwp_run_json_text(*argument));
    json_t *root = json_pack("{s:s,s:s,s:s,s:o,s:o,s:o,s:s,s:s,s:s,s:O,s:o,s:o}", "schema", "lwp-run", "version", "1.0",
                             "lwp_version", LWP_VERSION, "command", command, "cwd", lwp_run_json_text(run->cwd), "host",
                             lwp_run_json_text(run->host), "engine", run->engine, "event", run->event, "weight_unit",
                             run->weight_unit, "options", run->options, "machine", run_json_machine(&run->machine),
                             "started", run_json_time(&run->started));
    if (root) /* says to who shows it whether it is still the file that was written here */
        json_object_set_new(root, "written_s", json_integer(time(NULL)));
    if (root && run->source_roots)
        json_object_set(root, "source_roots", run->source_roots);
    if (root && json_array_size(run->notes))
        json_object_set(root, "notes", run->notes);
    if (root && run->ranks)
        json_object_set_new(root, "ranks", json_integer(run->ranks));
    if (root && run->ranks && run->folders) {
        json_object_set_new(root, "rank", json_integer(run->rank));
        json_object_set(root, "folders", run->folders);
    }
    if (!root || !run->ended)
        return root;
    json_t *end = json_pack("{s:o,s:f,s:f,s:{s:o,s:o}}", "ended", run_json_time(&run->end), "wall_s", run->wall_s,
                            "cpu_s", run->cpu_s, "exit", "code",
                            run->exit_signal || run->exit_unknown ? json_null() : json_integer(run->exit_code), "signal",
                            run->exit_signal ? json_integer(run->exit_signal) : json_null());
    if (end && run->huge_pages_kib >= 0)
        json_object_set_new(end, "huge_pages_kib", json_integer(run->huge_pages_kib));
    if (end && run->looked_at_kib >= 0)
        json_object_set_new(end, "looked_at_kib", json_integer(run->looked_at_kib));
    if (end && run->overhead_known)
        json_object_set_new(end, "overhead_percent", json_real(run->overhead_percent));
    int failed = end ? json_object_update_new(root, end) : -1;
    if (failed) {
        json_decref(root);
        return NULL;
    }
    return root;
}

void lwp_run_exited(struct lwp_run *run, int wait_status)
{
    run->exit_code = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
    run->exit_signal = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
}

int lwp_run_json_write(const struct lwp_run *run, const char *dir, const char *name, struct lwp_error *err)
{
    json_t *root = run_json_build(run);
    char *text = root ? json_dumps(root, JSON_INDENT(2)) : NULL, *line = lwp_format("%s\n", text ? text : "");
    char *path = lwp_format("%s/%s", dir, name);
    int status = text ? lwp_path_replace(path, line, err) : lwp_error_set(err, LWP_ERR_MEMORY, "out of memory while writing %s", name);
    free(text);
    free(line);
    free(path);
    json_decref(root);
    return status;
}
