#include "collector/light/board.h"

#include <stdatomic.h>
#include <string.h>

struct note {
    atomic_uint turn; /* odd: being written */
    struct lwp_board_entry entry;
};

struct slot {
    atomic_uint tid; /* 0: free */
    atomic_uint count, last_store;
    _Atomic uint64_t lines[LWP_BOARD_ENTRIES]; /* of the notes, so that most need not be read */
    struct note notes[LWP_BOARD_ENTRIES];      /* the first half for stores, the other for loads */
} __attribute__((aligned(128)));

enum { HALF = LWP_BOARD_ENTRIES / 2 };

static struct slot slots[LWP_BOARD_SLOTS];
static atomic_uint slots_used; /* no slot from here on was ever taken */

int lwp_board_join(uint32_t tid)
{
    for (unsigned i = 0; i < LWP_BOARD_SLOTS; i++) {
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

void lwp_board_leave(int slot)
{
    if (slot < 0)
        return;
    for (unsigned i = 0; i < LWP_BOARD_ENTRIES; i++)
        atomic_store(&slots[slot].lines[i], 0);
    atomic_store(&slots[slot].last_store, 0);
    atomic_store(&slots[slot].count, 0);
    atomic_store(&slots[slot].tid, 0);
}

void lwp_board_show(int slot, const struct lwp_board_entry *entry)
{
    struct slot *own = &slots[slot];
    bool store = entry->access.flags & LWPS_ACCESS_STORE;
    unsigned count = atomic_fetch_add_explicit(&own->count, 1, memory_order_relaxed);
    unsigned at = count % HALF + (store ? 0 : HALF);
    struct note *note = &own->notes[at];
    unsigned turn = atomic_load_explicit(&note->turn, memory_order_relaxed);
    atomic_store_explicit(&note->turn, turn | 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    note->entry = *entry;
    atomic_store_explicit(&note->turn, (turn | 1) + 1, memory_order_release);
    atomic_store_explicit(&own->lines[at], entry->access.address / LWP_BOARD_LINE, memory_order_release);
    if (store)
        atomic_store_explicit(&own->last_store, at + 1, memory_order_release);
}

static bool note_read(struct note *note, struct lwp_board_entry *entry)
{
    unsigned turn = atomic_load_explicit(&note->turn, memory_order_acquire);
    *entry = note->entry;
    atomic_thread_fence(memory_order_acquire);
    return !(turn & 1) && turn && atomic_load_explicit(&note->turn, memory_order_relaxed) == turn;
}

bool lwp_board_beside(int slot, const struct lwps_access *access, uint64_t since, struct lwp_board_entry *found)
{
    uint64_t line = access->address / LWP_BOARD_LINE;
    unsigned used = atomic_load_explicit(&slots_used, memory_order_acquire);
    bool any = false;
    for (unsigned i = 0; i < used; i++) {
        if ((int)i == slot || !atomic_load_explicit(&slots[i].tid, memory_order_relaxed))
            continue;
        for (unsigned k = 0; k < LWP_BOARD_ENTRIES; k++) {
            struct lwp_board_entry entry;
            if (atomic_load_explicit(&slots[i].lines[k], memory_order_acquire) != line ||
                !note_read(&slots[i].notes[k], &entry) || entry.access.address / LWP_BOARD_LINE != line)
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

int lwp_board_store(int slot, unsigned *turn, uint64_t since, struct lwp_board_entry *found)
{
    unsigned used = atomic_load_explicit(&slots_used, memory_order_acquire);
    for (unsigned i = 0; i < used; i++) {
        unsigned at = (*turn)++ % used;
        unsigned last = atomic_load_explicit(&slots[at].last_store, memory_order_acquire);
        if ((int)at != slot && last && note_read(&slots[at].notes[last - 1], found) && found->time >= since &&
            atomic_load_explicit(&slots[at].tid, memory_order_relaxed) == found->tid)
            return (int)at;
    }
    return -1;
}
