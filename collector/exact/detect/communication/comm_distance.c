/* A trace's elements are in a hash table with the time of their last read; times are places in a Fenwick tree, which has 1
 * where an element was last read. When its places are used up, those in use are given new times in their order. */
#include "collector/exact/detect/communication/comm_distance.h"

#include <string.h>

enum { TRACES_FIRST = 64, PLACES_FIRST = 16 };

struct element {
    uint64_t name; /* + 1; 0: free */
    uint32_t time; /* from 1 */
    uint32_t site; /* that read it last */
};

struct lwp_comm_trace {
    uint64_t key;
    struct element *last;     /* that was read last; NULL: not known */
    struct element *elements; /* 2 * room slots */
    uint32_t *tree;           /* room + 1 */
    uint32_t *slot_of;        /* room + 1: slot + 1 of the element of each time, 0: of none any more */
    uint32_t room, count, time;
};

static uint64_t hash(uint64_t key)
{
    key = (key ^ key >> 32) * 0x9e3779b97f4a7c15u;
    return key ^ key >> 29;
}

/* ---- traces ---- */

static void trace_free(struct lwp_comm_distances *distances, struct lwp_comm_trace *trace)
{
    distances->port->free(trace->elements);
    distances->port->free(trace->tree);
    distances->port->free(trace->slot_of);
}

/* Tables for `room` times. False: no memory, and nothing has changed. */
static bool trace_tables(struct lwp_comm_distances *distances, struct lwp_comm_trace *trace, uint32_t room)
{
    const struct lwp_comm_port *port = distances->port;
    struct lwp_comm_trace made = *trace;
    made.room = room;
    made.count = made.time = 0;
    made.last = NULL;
    made.elements = port->alloc(2 * (size_t)room * sizeof *made.elements);
    made.tree = port->alloc(((size_t)room + 1) * sizeof *made.tree);
    made.slot_of = port->alloc(((size_t)room + 1) * sizeof *made.slot_of);
    if (made.elements && made.tree && made.slot_of) {
        *trace = made;
        return true;
    }
    trace_free(distances, &made);
    distances->full = true;
    return false;
}

static struct element *trace_slot(const struct lwp_comm_trace *trace, uint64_t name)
{
    uint64_t mask = 2 * (uint64_t)trace->room - 1, at = hash(name) >> 8 & mask;
    while (trace->elements[at].name && trace->elements[at].name != name)
        at = (at + 1) & mask;
    return &trace->elements[at];
}

static void tree_add(struct lwp_comm_trace *trace, uint32_t time, uint32_t by)
{
    for (; time <= trace->room; time += time & -time)
        trace->tree[time] += by;
}

static uint32_t tree_sum(const struct lwp_comm_trace *trace, uint32_t time)
{
    uint32_t sum = 0;
    for (; time; time &= time - 1)
        sum += trace->tree[time];
    return sum;
}

static void trace_stamp(struct lwp_comm_trace *trace, struct element *element)
{
    element->time = ++trace->time;
    trace->slot_of[element->time] = (uint32_t)(element - trace->elements) + 1;
    tree_add(trace, element->time, 1);
}

static bool element_followed(const struct lwp_comm_distances *distances, uint64_t element)
{
    return !distances->thinned || hash(element * 2 + 1) >> (64 - distances->thinned) == 0;
}

/* New tables with all elements that are followed, in their order. */
static bool trace_again(struct lwp_comm_distances *distances, struct lwp_comm_trace *trace)
{
    struct lwp_comm_trace old = *trace;
    uint32_t room = PLACES_FIRST;
    while (room < 2 * old.count + 2)
        room *= 2;
    if (!trace_tables(distances, trace, room))
        return false;
    for (uint32_t time = 1; time <= old.time; time++) {
        const struct element *element = old.slot_of[time] ? &old.elements[old.slot_of[time] - 1] : NULL;
        if (!element || !element_followed(distances, element->name - 1))
            continue;
        struct element *slot = trace_slot(trace, element->name);
        slot->name = element->name;
        slot->site = element->site;
        trace_stamp(trace, slot);
        trace->count++;
    }
    distances->elements -= old.count - trace->count;
    trace_free(distances, &old);
    return true;
}

static void distances_thin(struct lwp_comm_distances *distances)
{
    distances->thinned++;
    distances->events = 0;
    for (size_t i = 0; i < distances->room; i++)
        if (distances->traces[i])
            trace_again(distances, distances->traces[i]);
}

/* Who read the element last is `site` now. */
static uint32_t element_read(struct element *element, uint32_t site)
{
    uint32_t before = element->site;
    element->site = site;
    return before;
}

int64_t lwp_comm_trace_read(struct lwp_comm_distances *distances, struct lwp_comm_trace *trace, uint64_t element, uint32_t site, uint32_t *before)
{
    uint64_t name = element + 1;
    if (!element_followed(distances, element))
        return LWP_COMM_UNFOLLOWED;
    if (trace->last && trace->last->name == name) {
        *before = element_read(trace->last, site);
        return 0;
    }
    if (distances->elements >= distances->elements_most ||
        (++distances->events >= distances->events_most && distances->elements > LWP_COMM_FEW)) {
        distances_thin(distances);
        if (!element_followed(distances, element))
            return LWP_COMM_UNFOLLOWED;
    }
    if (trace->time == trace->room && !trace_again(distances, trace))
        return LWP_COMM_UNFOLLOWED;
    struct element *slot = trace_slot(trace, name);
    int64_t distance = LWP_COMM_FIRST;
    if (slot->name) {
        distance = trace->count - tree_sum(trace, slot->time);
        tree_add(trace, slot->time, (uint32_t)-1);
        trace->slot_of[slot->time] = 0;
    } else {
        slot->name = name;
        trace->count++;
        distances->elements++;
    }
    trace_stamp(trace, slot);
    *before = element_read(slot, site);
    trace->last = slot;
    return distance <= 0 ? distance : distance << distances->thinned;
}

/* ---- all of them ---- */

static size_t distances_at(const struct lwp_comm_distances *distances, uint64_t key)
{
    size_t mask = distances->room - 1, at = hash(key) >> 8 & mask;
    while (distances->traces[at] && distances->traces[at]->key != key)
        at = (at + 1) & mask;
    return at;
}

static bool distances_grow(struct lwp_comm_distances *distances)
{
    struct lwp_comm_distances old = *distances;
    distances->room = 2 * old.room;
    distances->traces = old.port->alloc(distances->room * sizeof *distances->traces);
    if (!distances->traces) {
        *distances = old;
        distances->full = true;
        return false;
    }
    for (size_t i = 0; i < old.room; i++)
        if (old.traces[i])
            distances->traces[distances_at(distances, old.traces[i]->key)] = old.traces[i];
    old.port->free(old.traces);
    return true;
}

struct lwp_comm_trace *lwp_comm_trace_of(struct lwp_comm_distances *distances, uint64_t key)
{
    size_t at = distances_at(distances, key);
    if (distances->traces[at])
        return distances->traces[at];
    if (2 * distances->count >= distances->room && !distances_grow(distances))
        return NULL;
    struct lwp_comm_trace *trace = distances->port->alloc(sizeof *trace);
    if (!trace || !trace_tables(distances, trace, PLACES_FIRST)) {
        distances->port->free(trace);
        return NULL;
    }
    trace->key = key;
    distances->count++;
    return distances->traces[distances_at(distances, key)] = trace;
}

bool lwp_comm_distances_init(struct lwp_comm_distances *distances, const struct lwp_comm_port *port)
{
    *distances = (struct lwp_comm_distances){
        .port = port, .room = TRACES_FIRST, .elements_most = LWP_COMM_ELEMENTS, .events_most = LWP_COMM_EXACT};
    distances->traces = port->alloc(distances->room * sizeof *distances->traces);
    return distances->traces != NULL;
}

void lwp_comm_distances_clear(struct lwp_comm_distances *distances)
{
    for (size_t i = 0; i < distances->room; i++)
        if (distances->traces[i]) {
            trace_free(distances, distances->traces[i]);
            distances->port->free(distances->traces[i]);
            distances->traces[i] = NULL;
        }
    distances->count = distances->elements = 0;
    distances->events = 0;
    distances->thinned = 0;
}

void lwp_comm_distances_fini(struct lwp_comm_distances *distances)
{
    lwp_comm_distances_clear(distances);
    distances->port->free(distances->traces);
    *distances = (struct lwp_comm_distances){0};
}
