#include "analysis/advice/locality/object_memory.h"

#include "analysis/caches/tlb.h"
#include "base/order.h"

static void memory_of_samples(const struct lwp_profile *profile, uint32_t object, struct lwp_object_memory *memory)
{
    static const uint8_t places[LWP_OBJECT_LEVELS] = {[LWPS_LEVEL_L1] = 0, [LWPS_LEVEL_BUFFER] = 1, [LWPS_LEVEL_L2] = 1,
                                                      [LWPS_LEVEL_L3] = 2, [LWPS_LEVEL_MEMORY] = 3, [LWPS_LEVEL_OTHER] = 4};
    size_t count;
    const struct lwp_object_use *uses = lwp_object_uses_of(&profile->uses, object, &count);
    for (size_t i = 0; i < count; i++) {
        for (unsigned level = LWPS_LEVEL_L1; level <= LWPS_LEVEL_OTHER; level++) {
            memory->at[places[level]] += uses[i].at[level];
            memory->accesses += uses[i].at[level];
            memory->cycles += uses[i].cycles[level];
        }
        memory->translated += uses[i].translated;
        memory->walks += uses[i].walks;
        memory->remote += uses[i].remote;
        memory->modified += uses[i].modified;
    }
    memory->nodes_known = true;
}

static void memory_of_trace(const struct lwp_profile *profile, uint32_t object, struct lwp_object_memory *memory)
{
    const struct lwp_locality_counts *counts = &profile->locality;
    size_t first = LWP_PARTITION_POINT(i, 0, counts->count, counts->items[i].object < object);
    uint64_t local = 0;
    for (size_t i = first; i < counts->count && counts->items[i].object == object; i++) {
        const struct lwp_locality_count *count = &counts->items[i];
        for (unsigned place = 0; place < LWP_LOCALITY_PLACES; place++)
            memory->at[place] += count->found.at[place];
        memory->accesses += count->accesses;
        memory->cycles += count->found.cycles;
        memory->walks += count->walks;
        local += count->local;
    }
    memory->translated = memory->accesses;
    memory->walk_cycles = memory->walks * LWP_TLB_CYCLES;
    memory->nodes_known = counts->touched_count && !counts->gaps;
    memory->remote = memory->nodes_known ? memory->accesses - local : 0;
}

struct lwp_object_memory lwp_object_memory(const struct lwp_profile *profile, uint32_t object)
{
    struct lwp_object_memory memory = {0};
    if (profile->locality.traced)
        memory_of_trace(profile, object, &memory);
    else
        memory_of_samples(profile, object, &memory);
    if (memory.accesses || memory.translated)
        memory.from = profile->locality.traced ? LWP_MEMORY_MODEL : LWP_MEMORY_HARDWARE;
    return memory;
}
