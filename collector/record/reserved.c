/* Any thread may ask at any time, also in a signal's handler; nothing waits. What finds no room is not known. */
#include "collector/record/reserved.h"

enum { RESERVED_MOST = 64 };

/* An entry is its thread's from when `high` is taken until it is given back; while it is BUSY others pass it by. */
static struct {
    uint64_t low, high; /* high 0: free */
} reserved[RESERVED_MOST];

static const uint64_t BUSY = UINT64_MAX;

/* Its end, when this thread has it now; 0: another one does, or it is free. */
static uint64_t reserved_seize(unsigned i)
{
    uint64_t high = __atomic_load_n(&reserved[i].high, __ATOMIC_ACQUIRE);
    return high && high != BUSY && __atomic_compare_exchange_n(&reserved[i].high, &high, BUSY, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)
               ? high
               : 0;
}

static void reserved_give(unsigned i, uint64_t low, uint64_t high)
{
    reserved[i].low = low;
    __atomic_store_n(&reserved[i].high, low < high ? high : 0, __ATOMIC_RELEASE);
}

void lwp_reserved_add(uint64_t address, uint64_t bytes)
{
    for (unsigned i = 0; i < RESERVED_MOST; i++) {
        uint64_t none = 0;
        if (__atomic_compare_exchange_n(&reserved[i].high, &none, BUSY, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
            reserved_give(i, address, address + bytes);
            return;
        }
    }
}

/* Of a hole's two sides the longer one stays: what was reserved for its alignment is cut off at both ends. */
void lwp_reserved_remove(uint64_t address, uint64_t bytes)
{
    const uint64_t end = address + bytes;
    for (unsigned i = 0; i < RESERVED_MOST; i++) {
        uint64_t high = reserved_seize(i);
        if (!high)
            continue;
        uint64_t low = reserved[i].low;
        if (low < end && high > address) {
            const uint64_t below = address > low ? address - low : 0, above = high > end ? high - end : 0;
            low = below > above ? low : end;
            high = below > above ? address : high;
        }
        reserved_give(i, low, high);
    }
}

bool lwp_reserved_take(uint64_t address, uint64_t *low, uint64_t *bytes)
{
    for (unsigned i = 0; i < RESERVED_MOST; i++) {
        const uint64_t high = reserved_seize(i);
        if (!high)
            continue;
        const uint64_t from = reserved[i].low;
        const bool found = address >= from && address < high;
        reserved_give(i, from, found ? 0 : high);
        if (!found)
            continue;
        *low = from;
        *bytes = high - from;
        return true;
    }
    return false;
}
