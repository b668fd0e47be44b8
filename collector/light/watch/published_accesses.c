#include "collector/light/watch/published_accesses.h"

#include "collector/light/own/hot.h"

#include <stdatomic.h>
#include <string.h>

enum { ENTRIES = LWP_PUBLISHED_STORES + LWP_PUBLISHED_LOADS, BESIDE = 8 };

/* A sequence lock: its only writer makes the number odd while it writes. A reader takes a copy and drops it if the number was odd or
 * has changed. */
struct published {
    atomic_uint sequence;
    struct lwp_published_access access;
};

struct slot {
    atomic_uint tid; /* 0: free */
    atomic_uint stores, loads;
    struct published accesses[ENTRIES];      /* stores, then loads; each the oldest replaced by the newest */
    _Atomic uint64_t lines[ENTRIES]; /* of the accesses, so that most need not be read */
} __attribute__((aligned(128)));

static LWP_LARGE struct slot slots[LWP_PUBLISHED_SLOTS];
static atomic_uint slots_used; /* no slot from here on was ever taken */

int lwp_published_join(uint32_t tid)
{
    for (unsigned i = 0; i < LWP_PUBLISHED_SLOTS; i++) {
        unsigned none = 0;
        if (!atomic_compare_exchange_strong(&slots[i].tid, &none, tid))
            continue;
        unsigned used = atomic_load(&slots_used);
        while (used <= i && !atomic_compare_exchange_weak(&slots_used, &used, i + 1))
            ;
        return (int)i;
    }
    return -1;
}

void lwp_published_leave(int slot)
{
    if (slot < 0)
        return;
    for (unsigned i = 0; i < ENTRIES; i++)
        atomic_store(&slots[slot].lines[i], 0);
    atomic_store(&slots[slot].stores, 0);
    atomic_store(&slots[slot].loads, 0);
    atomic_store(&slots[slot].tid, 0);
}

void lwp_published_add(int slot, const struct lwp_published_access *entry)
{
    struct slot *own = &slots[slot];
    bool store = entry->access.flags & LWPS_ACCESS_STORE;
    unsigned count = atomic_load_explicit(store ? &own->stores : &own->loads, memory_order_relaxed);
    unsigned at = store ? count % LWP_PUBLISHED_STORES : LWP_PUBLISHED_STORES + count % LWP_PUBLISHED_LOADS;
    struct published *published = &own->accesses[at];
    unsigned sequence = atomic_load_explicit(&published->sequence, memory_order_relaxed);
    atomic_store_explicit(&published->sequence, sequence | 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    published->access = *entry;
    atomic_store_explicit(&published->sequence, (sequence | 1) + 1, memory_order_release);
    atomic_store_explicit(&own->lines[at], entry->access.address / LWP_PUBLISHED_LINE, memory_order_release);
    atomic_store_explicit(store ? &own->stores : &own->loads, count + 1, memory_order_release);
}

static bool published_read(struct published *published, struct lwp_published_access *entry)
{
    unsigned sequence = atomic_load_explicit(&published->sequence, memory_order_acquire);
    *entry = published->access;
    atomic_thread_fence(memory_order_acquire);
    return !(sequence & 1) && sequence && atomic_load_explicit(&published->sequence, memory_order_relaxed) == sequence;
}

unsigned lwp_published_used(void)
{
    return atomic_load_explicit(&slots_used, memory_order_acquire);
}

bool lwp_published_beside(int slot, const struct lwps_access *access, uint64_t since, struct lwp_published_access *found)
{
    uint64_t line = access->address / LWP_PUBLISHED_LINE;
    unsigned used = lwp_published_used();
    bool any = false;
    for (unsigned i = 0; i < used; i++) {
        if ((int)i == slot || !atomic_load_explicit(&slots[i].tid, memory_order_relaxed))
            continue;
        unsigned stores = atomic_load_explicit(&slots[i].stores, memory_order_acquire);
        for (unsigned n = 0; n < BESIDE + LWP_PUBLISHED_LOADS; n++) {
            unsigned k = n < BESIDE ? (stores - 1 - n) % LWP_PUBLISHED_STORES : LWP_PUBLISHED_STORES + n - BESIDE;
            struct lwp_published_access entry;
            if (atomic_load_explicit(&slots[i].lines[k], memory_order_acquire) != line ||
                !published_read(&slots[i].accesses[k], &entry) || entry.access.address / LWP_PUBLISHED_LINE != line)
                continue;
            bool stored = (entry.access.flags | access->flags) & LWPS_ACCESS_STORE;
            if (!stored || entry.time < since || (any && entry.time <= found->time))
                continue;
            *found = entry;
            any = true;
        }
    }
    return any;
}

uint32_t lwp_published_writer(unsigned slot)
{
    uint32_t tid = atomic_load_explicit(&slots[slot].tid, memory_order_relaxed);
    return atomic_load_explicit(&slots[slot].stores, memory_order_acquire) ? tid : 0;
}

unsigned lwp_published_stores(unsigned at, uint64_t since, struct lwp_published_access *entries, unsigned most)
{
    struct slot *slot = &slots[at];
    unsigned stores = atomic_load_explicit(&slot->stores, memory_order_acquire), count = 0;
    uint32_t tid = atomic_load_explicit(&slot->tid, memory_order_relaxed);
    for (unsigned i = 0; i < LWP_PUBLISHED_STORES && i < stores && count < most; i++) {
        if (!published_read(&slot->accesses[(stores - 1 - i) % LWP_PUBLISHED_STORES], &entries[count]) || entries[count].tid != tid)
            continue;
        if (entries[count].time < since)
            break; /* those before are older still */
        count++;
    }
    return count;
}
