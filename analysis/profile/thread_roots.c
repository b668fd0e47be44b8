/* Programs run the same function in the main thread and as the start routine of other threads: run() <- main() <- ... and
 * run() <- start_thread() <- clone3(). Users do not want the two distinguished. In: the calling context tree. Out: the functions
 * that only the C library or a threading runtime (OpenMP's) calls, and paths that begin with them. Limits: by machine code; where
 * run() is inlined into main(), its path stays separate. */
#include "analysis/profile/thread_roots.h"

#include "base/arena.h"

#include "analysis/profile/contexts.h"
#include "analysis/profile/objects.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

enum { FRAMES_MAX = 512 };

static bool root_is_runtime(const struct lwp_profile *profile, uint32_t module)
{
    static const char *const runtimes[] = {"/libpthread", "/libgomp.so", "/libomp.so", "/libiomp5.so", "/libtbb.so"};
    const struct lwp_module *info = module == LWP_NONE ? NULL : lwp_code_module_info(profile->code, module);
    for (size_t i = 0; info && info->path && i < sizeof runtimes / sizeof *runtimes; i++)
        if (strstr(info->path, runtimes[i]))
            return true;
    return lwp_objects_library_code(profile, module);
}

static uint64_t root_key(struct lwp_profile *profile, const struct lwp_context_node *node)
{
    return lwp_hash_mix(node->module, lwp_contexts_function(profile, node->module, node->address));
}

static bool root_is_main(struct lwp_profile *profile, const struct lwp_context_node *node)
{
    const struct lwp_symbolized *place = lwp_code_symbolize(profile->code, node->module, node->address);
    const char *function = place->frame_count ? place->frames[place->frame_count - 1].function : NULL;
    return function && strcmp(function, "main") == 0;
}

void lwp_thread_roots_find(struct lwp_profile *profile, struct lwp_thread_roots *roots)
{
    *roots = (struct lwp_thread_roots){0};
    bool *outside = lwp_zeroed(profile->context_count, sizeof *outside); /* no frame of the program on the path yet */
    outside[0] = true;
    for (size_t i = 1; i < profile->context_count; i++) { /* parents come first */
        const struct lwp_context_node *node = &profile->contexts[i];
        if (node->module == LWP_NONE || node->parent >= i || !outside[node->parent])
            continue;
        outside[i] = root_is_runtime(profile, node->module);
        if (!outside[i] && node->parent && !root_is_main(profile, node))
            *lwp_map_at(&roots->starts, root_key(profile, node)) = 1;
    }
    free(outside);
}

void lwp_thread_roots_free(struct lwp_thread_roots *roots)
{
    lwp_map_fini(&roots->starts);
}

uint32_t lwp_thread_roots_cut(struct lwp_profile *profile, const struct lwp_thread_roots *roots, uint32_t context)
{
    struct lwp_context_node frames[FRAMES_MAX];
    size_t count = 0, kept = 0;
    if (!roots->starts.count)
        return context;
    for (uint32_t at = context; at; at = profile->contexts[at].parent) {
        if (count == FRAMES_MAX)
            return context;
        const struct lwp_context_node *node = &profile->contexts[at];
        frames[count++] = *node;
        if (node->module != LWP_NONE && lwp_map_get(&roots->starts, root_key(profile, node)) != LWP_MAP_NONE)
            kept = count;
    }
    if (kept == 0 || kept == count)
        return context;
    uint32_t node = 0;
    while (kept--)
        node = lwp_contexts_child(profile, node, frames[kept].module, frames[kept].address, frames[kept].is_function);
    return node;
}

uint64_t lwp_thread_roots_object(struct lwp_profile *profile, const struct lwp_thread_roots *roots, uint32_t index)
{
    const struct lwp_object *object = index == LWP_NONE ? NULL : &profile->objects[index];
    if (!object || !object->context)
        return index;
    return lwp_hash_mix(lwp_hash_mix(object->kind, object->pool_size), lwp_thread_roots_cut(profile, roots, object->context));
}
