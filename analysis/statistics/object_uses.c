#include "analysis/statistics/object_uses.h"

#include "base/arena.h"
#include "base/order.h"

#include <stdlib.h>

enum { USES_MOST = 1 << 16 }; /* some 30 MiB */

/* NULL: it would be one too many. */
static struct lwp_object_use *uses_at(struct lwp_object_uses *uses, uint32_t object, uint32_t tid)
{
    if (uses->last < uses->count && uses->items[uses->last].object == object && uses->items[uses->last].tid == tid) // NOLINT(clang-analyzer-core.NullDereference): those of a count
        return &uses->items[uses->last];
    uint32_t at = lwp_map_index(&uses->index, (uint64_t)object << 32 | tid, uses->count, USES_MOST);
    if (at == LWP_MAP_NONE)
        return NULL;
    if (at == uses->count)
        LWP_APPEND(&uses->items, &uses->count, &uses->room, (struct lwp_object_use){.object = object, .tid = tid, .first_ns = UINT64_MAX});
    uses->last = at;
    return &uses->items[at];
}

/* Each bin takes two. */
static void use_widen(struct lwp_object_use *use)
{
    for (unsigned i = 0; i < LWP_OBJECT_BINS; i++)
        use->bins[i] = 2 * i < LWP_OBJECT_BINS ? use->bins[2 * i] + use->bins[2 * i + 1] : 0;
    use->shift++;
}

void lwp_object_uses_add(struct lwp_object_uses *uses, const struct lwp_object_access *access)
{
    const unsigned where = access->level & LWPS_LEVEL_MASK, translation = access->level >> LWPS_TLB_SHIFT & 3;
    struct lwp_object_use *use = access->known || access->level ? uses_at(uses, access->object, access->tid) : NULL;
    if (!use)
        return;
    if (access->known) {
        while (access->offset >> use->shift >= LWP_OBJECT_BINS)
            use_widen(use);
        use->bins[access->offset >> use->shift]++;
        use->accesses++;
        LWP_LOWER(use->first_ns, access->time_ns);
    }
    if (where != LWPS_LEVEL_UNKNOWN) {
        use->at[where]++;
        use->cycles[where] += access->weight;
        use->remote += (access->level & LWPS_LEVEL_REMOTE) != 0;
        use->modified += (access->level & LWPS_LEVEL_MODIFIED) != 0;
    }
    use->translated += translation != LWPS_TLB_UNKNOWN;
    use->walks += translation == LWPS_TLB_WALK;
}

static void use_merge(struct lwp_object_use *to, struct lwp_object_use from)
{
    while (to->shift < from.shift)
        use_widen(to);
    while (from.shift < to->shift)
        use_widen(&from);
    for (unsigned i = 0; i < LWP_OBJECT_BINS; i++)
        to->bins[i] += from.bins[i];
    for (unsigned i = 0; i < LWP_OBJECT_LEVELS; i++) {
        to->at[i] += from.at[i];
        to->cycles[i] += from.cycles[i];
    }
    to->accesses += from.accesses;
    to->remote += from.remote;
    to->modified += from.modified;
    to->translated += from.translated;
    to->walks += from.walks;
    LWP_LOWER(to->first_ns, from.first_ns);
}

void lwp_object_uses_merge(struct lwp_object_uses *into, struct lwp_object_uses *from)
{
    for (size_t i = 0; i < from->count; i++) {
        struct lwp_object_use *to = uses_at(into, from->items[i].object, from->items[i].tid);
        if (to)
            use_merge(to, from->items[i]);
    }
    lwp_object_uses_free(from);
}

static int use_compare(const void *a, const void *b)
{
    const struct lwp_object_use *x = a, *y = b;
    return LWP_COMPARE(x->object, y->object) ?: LWP_COMPARE(x->tid, y->tid);
}

/* Ids of threads differ from run to run, and begin again. */
static int use_first(const void *a, const void *b)
{
    const struct lwp_object_use *x = a, *y = b;
    return LWP_COMPARE(x->object, y->object) ?: LWP_COMPARE(x->first_ns, y->first_ns) ?: LWP_COMPARE(x->tid, y->tid);
}

void lwp_object_uses_renumber(struct lwp_object_uses *uses, const uint32_t *objects)
{
    size_t kept = 0;
    for (size_t i = 0; i < uses->count; i++)
        uses->items[i].object = objects[uses->items[i].object];
    LWP_SORT(uses->items, uses->count, use_compare);
    for (size_t i = 0; i < uses->count; i++)
        if (kept && use_compare(&uses->items[kept - 1], &uses->items[i]) == 0)
            use_merge(&uses->items[kept - 1], uses->items[i]);
        else
            uses->items[kept++] = uses->items[i];
    uses->count = kept;
    LWP_SORT(uses->items, uses->count, use_first);
    lwp_map_fini(&uses->index);
}

const struct lwp_object_use *lwp_object_uses_of(const struct lwp_object_uses *uses, uint32_t object, size_t *count)
{
    size_t first = LWP_PARTITION_POINT(i, 0, uses->count, uses->items[i].object < object);
    for (*count = 0; first + *count < uses->count && uses->items[first + *count].object == object;)
        ++*count;
    return uses->items + first;
}

void lwp_object_uses_free(struct lwp_object_uses *uses)
{
    lwp_map_fini(&uses->index);
    free(uses->items);
    *uses = (struct lwp_object_uses){0};
}
