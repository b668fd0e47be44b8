#include "collector/machine/machine.h"

#include "base/json_file.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const json_int_t line_most = 4096, bytes_most = (json_int_t)1 << 40;
enum { LINE_LEAST = 16, WAYS_MOST = 1024, LEVEL_MOST = 8 };

/* A whole number from `least` to `most`; 0: it is not. */
static json_int_t machine_file_number(const json_t *object, const char *key, json_int_t least, json_int_t most)
{
    const json_t *value = json_object_get(object, key);
    json_int_t number = json_is_integer(value) ? json_integer_value(value) : 0;
    return number >= least && number <= most ? number : 0;
}

static int machine_file_cache(const json_t *json, json_int_t line, struct lwp_machine_cache *cache, struct lwp_error *err)
{
    json_int_t level = machine_file_number(json, "level", 1, LEVEL_MOST);
    json_int_t bytes = machine_file_number(json, "bytes", 1, bytes_most);
    json_int_t ways = machine_file_number(json, "ways", 1, WAYS_MOST);
    if (!level || !bytes || !ways)
        return lwp_error_set(err, LWP_ERR_USAGE, "each of its caches needs level (1 is the first), bytes and ways (at most %d) as whole numbers", (int)WAYS_MOST);
    if (bytes % (ways * line))
        return lwp_error_set(err, LWP_ERR_USAGE, "%lld bytes of level %d are no multiple of %lld ways of lines of %lld bytes",
                             (long long)bytes, (int)level, (long long)ways, (long long)line);
    *cache = (struct lwp_machine_cache){.level = (unsigned)level,
                                .bytes = (uint64_t)bytes,
                                .ways = (unsigned)ways,
                                .shared_by = (unsigned)machine_file_number(json, "shared_by", 1, 1 << 20)};
    const json_t *group;
    size_t i, length = 0;
    json_array_foreach(json_object_get(json, "groups"), i, group) {
        const char *list = json_string_value(group);
        if (!list || length + strlen(list) + 2 > sizeof cache->groups)
            return lwp_error_set(err, LWP_ERR_USAGE,
                                 "the groups of level %d are to be lists of processors like \"0-3,8\", at most %zu bytes", (int)level,
                                 sizeof cache->groups);
        length += (size_t)sprintf(cache->groups + length, "%s%s", length ? ";" : "", list);
    }
    return LWP_OK;
}

static int machine_file_take(struct lwp_machine *machine, const json_t *json, struct lwp_error *err)
{
    struct lwp_machine made = *machine;
    const json_t *caches = json_object_get(json, "caches"), *cache;
    json_int_t line = machine_file_number(json, "line_bytes", LINE_LEAST, line_most);
    size_t i;
    if (!line || line & (line - 1))
        return lwp_error_set(err, LWP_ERR_USAGE, "its line_bytes is to be a power of two from %d to %d", (int)LINE_LEAST, (int)line_most);
    if (!json_array_size(caches) || json_array_size(caches) > LWP_CACHES_MAX)
        return lwp_error_set(err, LWP_ERR_USAGE, "its caches is to be a list of one to %d", (int)LWP_CACHES_MAX);
    made.cache_count = 0;
    json_array_foreach(caches, i, cache)
    {
        if (machine_file_cache(cache, line, &made.caches[i], err))
            return err->status;
        if (i && made.caches[i].level <= made.caches[i - 1].level)
            return lwp_error_set(err, LWP_ERR_USAGE, "its caches are to be in the order of their levels");
        made.cache_count++;
    }
    const char *cpu = json_string_value(json_object_get(json, "cpu"));
    snprintf(made.cpu, sizeof made.cpu, "%s", cpu ? cpu : "");
    made.line_bytes = (unsigned)line;
    *machine = made;
    return LWP_OK;
}

int lwp_machine_file(struct lwp_machine *machine, const char *path, struct lwp_error *err)
{
    json_error_t problem;
    struct lwp_error why;
    json_t *root = lwp_json_read(path, 0, &problem);
    if (!root && problem.line > 0)
        return lwp_error_set(err, LWP_ERR_USAGE, "collect: --machine %s: no JSON at line %d: %s", path, problem.line, problem.text);
    if (!root)
        return lwp_error_set(err, LWP_ERR_USAGE, "collect: --machine %s: %s", path, problem.text);
    const json_t *inner = json_object_get(root, "machine"), *run = json_object_get(json_object_get(root, "run"), "machine");
    int status = machine_file_take(machine, inner ? inner : run ? run : root, &why);
    json_decref(root);
    return status ? lwp_error_set(err, status, "collect: --machine %s: %s", path, why.text) : LWP_OK;
}
