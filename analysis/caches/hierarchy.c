#include "analysis/caches/hierarchy.h"

#include "base/arena.h"
#include "base/json_file.h"
#include "base/pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const json_t *lwp_machine_cache(const json_t *machine, unsigned level)
{
    size_t i;
    const json_t *cache;
    json_array_foreach(json_object_get(machine, "caches"), i, cache) {
        const char *type = json_string_value(json_object_get(cache, "type"));
        if (lwp_json_natural(cache, "level") == level && !(type && (type[0] == 'I' || type[0] == 'i')))
            return cache;
    }
    return NULL;
}

static void plan_say(struct lwp_hierarchy_plan *plan, unsigned level, uint64_t bytes)
{
    size_t used = strlen(plan->text);
    const char *unit = bytes >= 1 << 20 && bytes % (1 << 20) == 0 ? "MiB" : "KiB";
    snprintf(plan->text + used, sizeof plan->text - used, "%sL%u %llu %s", used ? ", " : "", level,
             (unsigned long long)(bytes >> (*unit == 'M' ? 20 : 10)), unit);
}

bool lwp_hierarchy_plan_of(struct lwp_hierarchy_plan *plan, const json_t *machine)
{
    enum { OWN_MOST = 2 }; /* two threads of one core share its caches */
    char text[256] = "";
    uint64_t line = lwp_json_natural(machine, "line_bytes");
    *plan = (struct lwp_hierarchy_plan){.cores = (unsigned)lwp_json_natural(machine, "cores"),
                                        .nodes = (unsigned)lwp_json_natural(machine, "numa_nodes")};
    for (unsigned level = 1; level <= LWP_CACHE_LEVELS; level++) {
        const json_t *cache = lwp_machine_cache(machine, level);
        uint64_t bytes = lwp_json_natural(cache, "bytes"), ways = lwp_json_natural(cache, "ways");
        size_t used = strlen(text);
        if (!bytes || !ways)
            break;
        snprintf(text + used, sizeof text - used, "%s%llu:%llu:%llu", used ? "," : "", (unsigned long long)bytes, (unsigned long long)ways,
                 (unsigned long long)(line ? line : 64));
        plan->own += plan->own + 1 == level && level < LWP_CACHE_LEVELS && lwp_json_natural(cache, "shared_by") <= OWN_MOST;
        plan_say(plan, level, bytes);
    }
    return lwp_cache_parse(&plan->caches, text);
}

int lwp_hierarchy_plan_read(struct lwp_hierarchy_plan *plan, const char *path, struct lwp_error *err)
{
    json_error_t problem;
    json_t *root = lwp_json_read(path, 0, &problem);
    if (!root)
        return lwp_error_set(err, LWP_ERR_USAGE, "--machine %s: %s%s", path, problem.line > 0 ? "no JSON: " : "", problem.text);
    const json_t *inner = json_object_get(root, "machine"), *run = json_object_get(json_object_get(root, "run"), "machine");
    bool known = lwp_hierarchy_plan_of(plan, inner ? inner : run ? run : root);
    json_decref(root);
    return known ? LWP_OK
                 : lwp_error_set(err, LWP_ERR_USAGE,
                                 "--machine %s: no caches with level, bytes and ways in it; for example "
                                 "{\"line_bytes\": 64, \"cores\": 8, \"caches\": [{\"level\": 1, \"bytes\": 32768, \"ways\": 8}]}",
                                 path);
}

static struct lwp_cache *hierarchy_core(struct lwp_hierarchy *hierarchy, unsigned thread)
{
    unsigned cores = hierarchy->plan.cores && hierarchy->plan.cores < LWP_HIERARCHY_CORES ? hierarchy->plan.cores : LWP_HIERARCHY_CORES;
    struct lwp_cache **core = &hierarchy->core[thread % cores];
    if (*core)
        return *core;
    *core = lwp_zeroed(1, sizeof **core);
    **core = hierarchy->plan.caches;
    for (unsigned i = 0; i < hierarchy->plan.caches.levels; i++) {
        struct lwp_cache_level *level = &(*core)->level[i];
        bool own = i < hierarchy->plan.own;
        if (own || !hierarchy->shared[i])
            level->tags = lwp_pages_alloc(lwp_cache_tag_bytes(level));
        if (!own)
            level->tags = hierarchy->shared[i] = hierarchy->shared[i] ? hierarchy->shared[i] : level->tags;
    }
    return *core;
}

void lwp_hierarchy_free(struct lwp_hierarchy *hierarchy)
{
    const struct lwp_cache *caches = &hierarchy->plan.caches;
    for (unsigned c = 0; c < LWP_HIERARCHY_CORES; c++) {
        for (unsigned i = 0; hierarchy->core[c] && i < hierarchy->plan.own; i++)
            lwp_pages_free(hierarchy->core[c]->level[i].tags, lwp_cache_tag_bytes(&caches->level[i]));
        free(hierarchy->core[c]);
    }
    for (unsigned i = 0; i < caches->levels; i++)
        if (hierarchy->shared[i])
            lwp_pages_free(hierarchy->shared[i], lwp_cache_tag_bytes(&caches->level[i]));
    *hierarchy = (struct lwp_hierarchy){.plan = hierarchy->plan};
}

unsigned lwp_hierarchy_access(struct lwp_hierarchy *hierarchy, unsigned thread, uint64_t address, unsigned bytes, uint8_t *where)
{
    struct lwp_cache *core = hierarchy_core(hierarchy, thread);
    if (lwp_cache_hits_last(core, address, bytes ? bytes : 1)) {
        *where = LWP_CACHE_L1;
        return LWP_CACHE_L1_CYCLES;
    }
    return lwp_cache_access(core, address, bytes, where);
}

void lwp_hierarchy_take(struct lwp_hierarchy *hierarchy, unsigned thread, uint64_t line, uint64_t others)
{
    const struct lwp_cache *mine = hierarchy_core(hierarchy, thread);
    for (; others; others &= others - 1) {
        struct lwp_cache *core = hierarchy_core(hierarchy, (unsigned)__builtin_ctzll(others));
        for (unsigned i = 0; core != mine && i < hierarchy->plan.own; i++)
            lwp_cache_drop(&core->level[i], line);
    }
}
