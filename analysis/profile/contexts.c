/* One calling context tree for all processes and threads. In: frames as (module, address in its file), outermost first. Out: node
 * ids that are equal for equal paths. Limits: at most profile->contexts_most nodes. Longer paths are cut, and which ones depends
 * on the order: load.c starts again with shorter paths then. */
#include "analysis/profile/contexts.h"

#include <stdlib.h>

enum { FRAMES_MAX = 512, CALLERS_ASKED = 16 };

struct context_sorted {
    struct lwp_context_node node;
    uint32_t old;
};

static uint64_t context_key(const struct lwp_context_node *node)
{
    return lwp_hash_mix(lwp_hash_mix(node->parent, node->module), node->address * 2 + node->is_function);
}

uint32_t lwp_contexts_child(struct lwp_profile *profile, uint32_t parent, uint32_t module, uint64_t address, bool is_function)
{
    if (profile->contexts[parent].depth >= profile->context_depth)
        return parent;
    uint64_t key =
        context_key(&(struct lwp_context_node){.parent = parent, .module = module, .address = address, .is_function = is_function});
    for (;; key++) {
        uint32_t *at = lwp_map_at(profile->context_index, key);
        if (*at == LWP_MAP_NONE) {
            if (profile->context_count >= profile->contexts_most) {
                profile->contexts_refused = true;
                return parent;
            }
            *at = (uint32_t)profile->context_count;
            LWP_PUSH(profile->context, (struct lwp_context_node){.parent = parent, .module = module, .address = address,
                                                                 .depth = profile->contexts[parent].depth + 1,
                                                                 .is_function = is_function});
            return (uint32_t)profile->context_count - 1;
        }
        const struct lwp_context_node *node = &profile->contexts[*at];
        if (node->parent == parent && node->module == module && node->address == address && node->is_function == is_function)
            return *at;
    }
}

uint32_t lwp_contexts_various(struct lwp_profile *profile)
{
    return lwp_contexts_child(profile, 0, LWP_NONE, 0, false);
}

bool lwp_contexts_is_various(const struct lwp_profile *profile, uint32_t context)
{
    const struct lwp_context_node *node = &profile->contexts[context];
    return context && !node->parent && node->module == LWP_NONE && !node->address && !node->is_function;
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

uint32_t lwp_contexts_shared(const struct lwp_profile *profile, uint32_t a, uint32_t b)
{
    if (a == LWP_NONE || b == LWP_NONE)
        return a == LWP_NONE ? b : a;
    return lwp_contexts_common(profile, a, b);
}

/* Of the same parent. */
static int context_compare(const void *a, const void *b)
{
    const struct context_sorted *x = a, *y = b;
    if (x->node.module != y->node.module)
        return x->node.module < y->node.module ? -1 : 1;
    if (x->node.address != y->node.address)
        return x->node.address < y->node.address ? -1 : 1;
    return x->node.is_function - y->node.is_function;
}

/* All but the root, those of one parent together; ends[]: where each parent's end. */
static struct context_sorted *contexts_by_parent(const struct lwp_profile *profile, uint32_t *ends)
{
    struct context_sorted *children = lwp_zeroed(profile->context_count, sizeof *children);
    uint32_t before = 0;
    for (size_t i = 1; i < profile->context_count; i++)
        ends[profile->contexts[i].parent]++;
    for (size_t i = 0; i < profile->context_count; i++) {
        uint32_t here = ends[i];
        ends[i] = before;
        before += here;
    }
    for (size_t i = 1; i < profile->context_count; i++)
        children[ends[profile->contexts[i].parent]++] = (struct context_sorted){.node = profile->contexts[i], .old = (uint32_t)i};
    return children;
}

void lwp_contexts_sort(struct lwp_profile *profile, uint32_t *numbers)
{
    size_t count = profile->context_count, made = 1;
    uint32_t *ends = lwp_zeroed(count, sizeof *ends), *olds = lwp_zeroed(count, sizeof *olds);
    struct context_sorted *children = contexts_by_parent(profile, ends);
    numbers[0] = 0;
    for (size_t parent = 0; parent < made; parent++) { /* level by level: all are copied, so their places are free */
        uint32_t old = olds[parent], first = old ? ends[old - 1] : 0, end = ends[old];
        if (end - first > 1)
            qsort(children + first, end - first, sizeof *children, context_compare);
        for (; first < end; first++, made++) {
            profile->contexts[made] = children[first].node;
            profile->contexts[made].parent = (uint32_t)parent;
            olds[made] = children[first].old;
            numbers[olds[made]] = (uint32_t)made;
        }
    }
    free(children);
    free(ends);
    free(olds);
}

void lwp_contexts_index(struct lwp_profile *profile)
{
    lwp_map_free(profile->context_index);
    profile->context_index = lwp_map_new();
    lwp_map_reserve(profile->context_index, profile->context_count);
    for (size_t i = 1; i < profile->context_count; i++) {
        uint64_t key = context_key(&profile->contexts[i]);
        while (*lwp_map_at(profile->context_index, key) != LWP_MAP_NONE)
            key++;
        *lwp_map_at(profile->context_index, key) = (uint32_t)i;
    }
}

uint64_t lwp_contexts_function(struct lwp_profile *profile, uint32_t module, uint64_t address)
{
    if (module == LWP_NONE)
        return address;
    const struct lwp_symbolized *place = lwp_code_symbolize(profile->code, module, address);
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
        node = lwp_contexts_child(profile, node, frames[count].module, frames[count].address, frames[count].is_function);
    return node;
}

uint32_t lwp_contexts_block(const struct lwp_profile *profile, uint32_t node, struct lwp_candidate *candidate)
{
    bool is_result = true;
    for (int i = 0; i < CALLERS_ASKED && node; i++, node = profile->contexts[node].parent) {
        const struct lwp_context_node *call = &profile->contexts[node];
        if (call->is_function || call->module == LWP_NONE)
            continue;
        const enum lwp_block_answer answer = lwp_types_of_block(profile->code, call->module, call->address, is_result, candidate);
        if (answer == LWP_BLOCK_KNOWN || answer == LWP_BLOCK_UNKNOWN)
            return answer == LWP_BLOCK_KNOWN ? node : 0;
        is_result &= answer != LWP_BLOCK_INSIDE;
    }
    return 0;
}
