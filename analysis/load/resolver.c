/* Many threads read files at once. What they share (code, objects, contexts: one table each, so that one allocation site is one
 * object) is behind the profile's lock, and looked up once for each new instruction, path or variable. Results are cached here, in
 * tables of the reading thread:
 *   where     ip -> code location, for one process
 *   ranges    address -> variable: static ones of the process, and those in frames
 *   calls, functions, allocated: (context, what) -> context or object, for good. */
#include "analysis/load/resolver.h"

#include "base/arena.h"

#include "analysis/profile/contexts.h"
#include "analysis/profile/objects.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

enum { RANGES = 1 << 13 };
enum { FINE = 3, COARSE = 12 }; /* address bits of a place in `ranges` */

struct resolver_where {
    uint64_t from, until; /* times at which the answer holds */
    const struct lwp_location *location;
};

struct resolver_range {
    uint64_t tag; /* 0: empty; 1: a static variable; else the location in whose frame it is */
    uint64_t start, end, base;
    uint32_t object;
};

struct resolver_unrecorded {
    uint32_t object;
    uint64_t at;
};

struct lwp_resolver {
    struct lwp_profile *profile;
    struct lwp_address_map *map;
    uint32_t map_number;
    struct lwp_map where_index;
    struct resolver_where *where;
    size_t where_count, where_room;
    struct resolver_range *ranges;
    struct lwp_map unrecorded_index; /* location -> unrecorded[], for one process */
    struct resolver_unrecorded *unrecorded;
    size_t unrecorded_count, unrecorded_room;
    struct lwp_map calls, functions, allocated;
    uint32_t special[LWP_OBJECT_SPECIALS];
};

struct lwp_resolver *lwp_resolver_new(struct lwp_profile *profile)
{
    struct lwp_resolver *self = lwp_zeroed(1, sizeof *self);
    self->ranges = lwp_zeroed(RANGES, sizeof *self->ranges);
    self->profile = profile;
    memset(self->special, 0xff, sizeof self->special); /* LWP_NONE */
    return self;
}

void lwp_resolver_free(struct lwp_resolver *self)
{
    struct lwp_map *tables[] = {&self->where_index, &self->unrecorded_index, &self->calls, &self->functions, &self->allocated};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        lwp_map_fini(tables[i]);
    free(self->where);
    free(self->unrecorded);
    free(self->ranges);
    free(self);
}

void lwp_resolver_enter(struct lwp_resolver *self, struct lwp_address_map *map)
{
    if (self->map == map && self->map_number == lwp_address_map_number(map))
        return;
    self->map = map;
    self->map_number = lwp_address_map_number(map);
    lwp_map_clear(&self->where_index);
    self->where_count = 0;
    lwp_map_clear(&self->unrecorded_index);
    self->unrecorded_count = 0;
    for (int i = 0; i < RANGES; i++)
        self->ranges[i].tag = 0;
}

void lwp_resolver_expect(struct lwp_resolver *self, size_t calls, size_t objects)
{
    lwp_map_reserve(&self->calls, calls);
    lwp_map_reserve(&self->allocated, objects);
    pthread_mutex_lock(&self->profile->lock);
    lwp_map_reserve(self->profile->context_index, calls);
    lwp_map_reserve(self->profile->object_index, objects);
    pthread_mutex_unlock(&self->profile->lock);
}

const struct lwp_location *lwp_resolver_location(struct lwp_resolver *self, uint64_t ip, uint64_t time)
{
    uint32_t *at = lwp_map_at(&self->where_index, ip);
    if (*at != LWP_MAP_NONE) {
        const struct resolver_where *known = &self->where[*at];
        if (known->from <= time && time < known->until)
            return known->location;
    } else {
        *at = (uint32_t)self->where_count;
        LWP_GROW(&self->where, self->where_count, &self->where_room);
        self->where_count++;
    }
    struct resolver_where *where = &self->where[*at];
    uint32_t module;
    uint64_t address;
    lwp_address_map_code(self->map, ip, time, &module, &address, &where->from, &where->until);
    pthread_mutex_lock(&self->profile->lock);
    where->location = lwp_locations_at(self->profile, module, address);
    pthread_mutex_unlock(&self->profile->lock);
    return where->location;
}

/* Frames of lwp's own code are left out of every path. */
static uint32_t resolver_child(struct lwp_resolver *self, uint32_t *known, uint32_t parent, uint32_t module, uint64_t address,
                               bool is_function)
{
    if (*known != LWP_MAP_NONE)
        return *known;
    pthread_mutex_lock(&self->profile->lock);
    *known = lwp_objects_own_code(self->profile, module) ? parent : lwp_contexts_child(self->profile, parent, module, address, is_function);
    pthread_mutex_unlock(&self->profile->lock);
    return *known;
}

uint32_t lwp_resolver_call(struct lwp_resolver *self, uint32_t parent, const struct lwp_location *location)
{
    uint32_t *known = lwp_map_at(&self->calls, (uint64_t)parent << 32 | location->id);
    return resolver_child(self, known, parent, location->module, location->address, false);
}

uint32_t lwp_resolver_various(struct lwp_resolver *self)
{
    pthread_mutex_lock(&self->profile->lock);
    uint32_t various = lwp_contexts_various(self->profile);
    pthread_mutex_unlock(&self->profile->lock);
    return various;
}

uint32_t lwp_resolver_function(struct lwp_resolver *self, uint32_t parent, const struct lwp_location *location)
{
    uint32_t *known = lwp_map_at(&self->functions, (uint64_t)parent << 32 | location->function_id);
    return resolver_child(self, known, parent, location->module, location->function, true);
}

uint32_t lwp_resolver_common(struct lwp_resolver *self, uint32_t a, uint32_t b)
{
    pthread_mutex_lock(&self->profile->lock);
    uint32_t common = lwp_contexts_common(self->profile, a, b);
    pthread_mutex_unlock(&self->profile->lock);
    return common;
}

uint32_t lwp_resolver_allocated(struct lwp_resolver *self, enum lwp_object_kind kind, uint32_t context, uint64_t pool_size)
{
    uint64_t key = lwp_hash_mix(lwp_hash_mix(context, pool_size), kind);
    uint32_t *at = lwp_map_at(&self->allocated, key);
    if (*at == LWP_MAP_NONE) {
        pthread_mutex_lock(&self->profile->lock);
        *at = lwp_objects_allocated(self->profile, kind, context, pool_size);
        pthread_mutex_unlock(&self->profile->lock);
    }
    return *at;
}

/* ---- variables ---- */

static struct resolver_range *resolver_range_at(struct lwp_resolver *self, uint64_t tag, uint64_t address, int bits)
{
    return &self->ranges[(lwp_hash_mix(tag, address >> bits) ^ (uint64_t)bits) & (RANGES - 1)];
}

static const struct resolver_range *resolver_range(struct lwp_resolver *self, uint64_t tag, uint64_t address)
{
    for (int bits = FINE; bits <= COARSE; bits += COARSE - FINE) {
        const struct resolver_range *range = resolver_range_at(self, tag, address, bits);
        if (range->tag == tag && address >= range->start && address < range->end)
            return range;
    }
    return NULL;
}

static void resolver_keep(struct lwp_resolver *self, const struct resolver_range *range, uint64_t address)
{
    int bits = range->end - range->start >= 1u << COARSE ? COARSE : FINE;
    *resolver_range_at(self, range->tag, address, bits) = *range;
}

/* The variable at an address of a module's file, and around which addresses of the process it is. */
static struct resolver_range resolver_variable(struct lwp_resolver *self, uint64_t tag, uint64_t address, uint32_t module, uint64_t in_file,
                                               uint64_t *offset)
{
    struct resolver_range range = {.tag = tag, .start = address, .end = address + 1};
    uint64_t last;
    pthread_mutex_lock(&self->profile->lock);
    range.object = lwp_objects_static(self->profile, module, in_file, offset, &last);
    pthread_mutex_unlock(&self->profile->lock);
    range.base = address - *offset;
    if (last > in_file) {
        range.start = range.base;
        range.end = address + (last - in_file);
    }
    return range;
}

static uint32_t resolver_static(struct lwp_resolver *self, uint64_t address, uint64_t time, uint64_t *offset)
{
    enum { TAG = 1 };
    const struct resolver_range *known = resolver_range(self, TAG, address);
    if (known) {
        *offset = address - known->base;
        return known->object;
    }
    uint32_t module;
    uint64_t in_file, from, until;
    lwp_address_map_data(self->map, address, time, &module, &in_file, &from, &until);
    if (module == LWP_NONE)
        return LWP_NONE;
    const struct resolver_range range = resolver_variable(self, TAG, address, module, in_file, offset);
    if (from == 0 && until == UINT64_MAX)
        resolver_keep(self, &range, address);
    return range.object;
}

uint32_t lwp_resolver_thread_local(struct lwp_resolver *self, uint64_t pointer, uint64_t address, uint64_t *offset)
{
    uint32_t module;
    uint64_t in_file;
    if (!lwp_address_map_thread_local(self->map, pointer, address, &module, &in_file))
        return LWP_NONE;
    const struct resolver_range *known = resolver_range(self, pointer, address);
    if (known) {
        *offset = address - known->base;
        return known->object;
    }
    const struct resolver_range range = resolver_variable(self, pointer, address, module, in_file, offset);
    resolver_keep(self, &range, address);
    return range.object;
}

uint32_t lwp_resolver_data(struct lwp_resolver *self, struct lwp_extent *last, uint32_t hint, uint64_t address, uint64_t time,
                           uint64_t *offset)
{
    uint32_t object = lwp_address_map_object(self->map, last, hint, address, time, offset);
    return object == LWP_NONE ? resolver_static(self, address, time, offset) : object;
}

uint32_t lwp_resolver_stack(struct lwp_resolver *self, const struct lwp_location *owner, uint64_t from_cfa, uint64_t *offset)
{
    enum { FIRST_TAG = 2, SMALL = 256 };
    uint64_t tag = FIRST_TAG + (uint64_t)owner->id, place = from_cfa ^ (uint64_t)1 << 63; /* below and above in order */
    const struct resolver_range *known = resolver_range(self, tag, place);
    if (known) {
        *offset = place - known->base;
        return known->object;
    }
    struct resolver_range range = {.tag = tag, .start = place, .end = place + 1};
    pthread_mutex_lock(&self->profile->lock);
    range.object = lwp_objects_stack(self->profile, owner->module, owner->address, (int64_t)from_cfa, offset);
    const struct lwp_object *object = &self->profile->objects[range.object];
    uint64_t bytes = object->kind == LWP_OBJECT_STACK && object->variable ? object->bytes : 0;
    pthread_mutex_unlock(&self->profile->lock);
    range.base = place - *offset;
    if (bytes >= SMALL && *offset < bytes) {
        range.start = range.base;
        range.end = range.base + bytes;
    }
    resolver_keep(self, &range, place);
    return range.object;
}

uint32_t lwp_resolver_unrecorded(struct lwp_resolver *self, const struct lwp_location *location, uint64_t address, uint64_t *offset)
{
    if (!lwp_address_map_leaves_out(self->map))
        return LWP_NONE;
    uint32_t *at = lwp_map_at(&self->unrecorded_index, location->id);
    if (lwp_number_new(at, self->unrecorded_count)) {
        struct resolver_unrecorded found = {.object = LWP_NONE};
        pthread_mutex_lock(&self->profile->lock);
        found.object = lwp_address_map_unrecorded(self->map, location->module, location->address, &found.at);
        pthread_mutex_unlock(&self->profile->lock);
        LWP_APPEND(&self->unrecorded, &self->unrecorded_count, &self->unrecorded_room, found);
    }
    const struct resolver_unrecorded *known = &self->unrecorded[*at];
    if (known->object == LWP_NONE || !lwp_address_map_begins_block(address - known->at))
        return LWP_NONE;
    *offset = known->at;
    return known->object;
}

uint32_t lwp_resolver_special(struct lwp_resolver *self, enum lwp_object_special which)
{
    if (self->special[which] == LWP_NONE) {
        pthread_mutex_lock(&self->profile->lock);
        self->special[which] = lwp_objects_special(self->profile, which);
        pthread_mutex_unlock(&self->profile->lock);
    }
    return self->special[which];
}
