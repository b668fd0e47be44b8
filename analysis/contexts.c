/* One tree of calling contexts for all processes and threads. In: frames as (module, address in its file), outermost
 * first. Out: node ids that are equal for equal paths. Limits: at most CONTEXTS_MAX nodes; deeper paths then end early.
 */
#include "analysis/contexts.h"

enum { CONTEXTS_MAX = 1 << 21, FRAMES_MAX = 512 };

uint32_t lwp_contexts_child(struct lwp_profile *profile, uint32_t parent, uint32_t module, uint64_t address,
                            bool is_function)
{
    uint64_t key = lwp_hash_mix(lwp_hash_mix(parent, module), address * 2 + is_function);
    for (;; key++) {
        uint32_t *at = lwp_map_at(profile->context_index, key);
        if (*at == LWP_MAP_NONE) {
            if (profile->context_count >= CONTEXTS_MAX)
                return parent;
            *at = (uint32_t)profile->context_count;
            LWP_GROW(&profile->contexts, profile->context_count, &profile->context_room);
            profile->contexts[profile->context_count++] =
                (struct lwp_context_node){.parent = parent,
                                          .module = module,
                                          .address = address,
                                          .depth = profile->contexts[parent].depth + 1,
                                          .is_function = is_function};
            return (uint32_t)profile->context_count - 1;
        }
        const struct lwp_context_node *node = &profile->contexts[*at];
        if (node->parent == parent && node->module == module && node->address == address &&
            node->is_function == is_function)
            return *at;
    }
}

uint32_t lwp_contexts_common(const struct lwp_profile *profile, uint32_t a, uint32_t b)
{
    while (a != b) {
        if (profile->contexts[a].depth >= profile->contexts[b].depth)
            a = profile->contexts[a].parent;
        else
            b = profile->contexts[b].parent;
    }
    return a;
}

uint64_t lwp_contexts_function(struct lwp_profile *profile, uint32_t module, uint64_t address)
{
    if (module == LWP_NONE)
        return address;
    const struct lwp_place *place = lwp_code_place(profile->code, module, address);
    return place && place->function_low < place->function_high ? place->function_low : address;
}

uint32_t lwp_contexts_unrecursed(struct lwp_profile *profile, uint32_t context)
{
    struct lwp_context_node frames[FRAMES_MAX];
    uint64_t functions[FRAMES_MAX];
    size_t count = 0;
    bool recursion = false;
    for (uint32_t at = context; at; at = profile->contexts[at].parent) {
        struct lwp_context_node node = profile->contexts[at];
        uint64_t function = lwp_contexts_function(profile, node.module, node.address);
        size_t seen = 0;
        while (seen < count && !(functions[seen] == function && frames[seen].module == node.module))
            seen++;
        if (seen < count) { /* the frames between are one more round of the recursion */
            count = seen + 1;
            recursion = true;
        } else if (count < FRAMES_MAX) {
            frames[count] = node;
            functions[count++] = function;
        }
    }
    if (!recursion)
        return context;
    uint32_t node = 0;
    while (count--)
        node = lwp_contexts_child(profile, node, frames[count].module, frames[count].address, false);
    return node;
}
