/* The kernel says where data came from twice: in an old field of bits (mem_lvl), and in a newer one of numbers
 * (mem_lvl_num) with remote, hops and snoops beside it. Which of the two is filled depends on processor and kernel. */
#include "collector/perf/record.h"

/* Of Linux 6.6 to 6.18, which older headers do not have: the buffer of what the second level misses, a cache on the memory's side, what is
 * before the first level, and uncached memory. */
enum { NUMBER_L2_MHB = 5, NUMBER_MSC = 6, NUMBER_L0 = 7, NUMBER_UNC = 8 };

static enum lwps_level level_of_number(unsigned number)
{
    switch (number) {
    case PERF_MEM_LVLNUM_L1:
    case NUMBER_L0:
        return LWPS_LEVEL_L1;
    case PERF_MEM_LVLNUM_LFB:
    case NUMBER_L2_MHB:
        return LWPS_LEVEL_BUFFER;
    case PERF_MEM_LVLNUM_L2:
        return LWPS_LEVEL_L2;
    case PERF_MEM_LVLNUM_L3:
    case PERF_MEM_LVLNUM_ANY_CACHE: /* of another core */
        return LWPS_LEVEL_L3;
    case PERF_MEM_LVLNUM_CXL:
    case PERF_MEM_LVLNUM_RAM:
    case PERF_MEM_LVLNUM_PMEM:
        return LWPS_LEVEL_MEMORY;
    case PERF_MEM_LVLNUM_L4:
    case NUMBER_MSC:
    case PERF_MEM_LVLNUM_IO:
    case NUMBER_UNC:
        return LWPS_LEVEL_OTHER;
    default:
        return LWPS_LEVEL_UNKNOWN;
    }
}

enum {
    OTHER_CACHE = PERF_MEM_LVL_REM_CCE1 | PERF_MEM_LVL_REM_CCE2,
    OTHER_MEMORY = PERF_MEM_LVL_REM_RAM1 | PERF_MEM_LVL_REM_RAM2
};

static enum lwps_level level_of_bits(unsigned bits)
{
    if (bits & PERF_MEM_LVL_L1)
        return LWPS_LEVEL_L1;
    if (bits & PERF_MEM_LVL_LFB)
        return LWPS_LEVEL_BUFFER;
    if (bits & PERF_MEM_LVL_L2)
        return LWPS_LEVEL_L2;
    if (bits & (PERF_MEM_LVL_L3 | OTHER_CACHE))
        return LWPS_LEVEL_L3;
    if (bits & (PERF_MEM_LVL_LOC_RAM | OTHER_MEMORY))
        return LWPS_LEVEL_MEMORY;
    return bits & (PERF_MEM_LVL_IO | PERF_MEM_LVL_UNC) ? LWPS_LEVEL_OTHER : LWPS_LEVEL_UNKNOWN;
}

static enum lwps_tlb level_tlb(unsigned bits)
{
    if (bits & (PERF_MEM_TLB_WK | PERF_MEM_TLB_OS | PERF_MEM_TLB_MISS))
        return LWPS_TLB_WALK;
    switch (bits & (PERF_MEM_TLB_L1 | PERF_MEM_TLB_L2)) {
    case PERF_MEM_TLB_L1:
        return LWPS_TLB_L1;
    case PERF_MEM_TLB_L2:
        return LWPS_TLB_L2;
    default: /* Intel's "hit in one of the two" */
        return LWPS_TLB_UNKNOWN;
    }
}

static uint8_t level_of(union perf_mem_data_src source)
{
    enum lwps_level where = level_of_number(source.mem_lvl_num);
    if (where == LWPS_LEVEL_UNKNOWN)
        where = level_of_bits(source.mem_lvl);
    else if (where == LWPS_LEVEL_L3 && source.mem_lvl & OTHER_MEMORY) /* Intel's source 0xb, which the kernel says in two ways */
        where = LWPS_LEVEL_MEMORY;
    if (source.mem_lvl & PERF_MEM_LVL_MISS && where <= LWPS_LEVEL_L3)
        where = LWPS_LEVEL_UNKNOWN; /* not there: what follows is not said */
    bool remote = source.mem_hops ? source.mem_hops > PERF_MEM_HOPS_0 /* 0: another core of the node */
                                  : source.mem_remote || source.mem_lvl & (OTHER_CACHE | OTHER_MEMORY);
    return (uint8_t)(where | (remote ? LWPS_LEVEL_REMOTE : 0) |
                     (source.mem_snoop & PERF_MEM_SNOOP_HITM ? LWPS_LEVEL_MODIFIED : 0) |
                     level_tlb(source.mem_dtlb) << LWPS_TLB_SHIFT |
                     (source.mem_lock & PERF_MEM_LOCK_LOCKED ? LWPS_LEVEL_LOCKED : 0));
}

static uint64_t record_weight(const struct lwp_perf_sample *from, enum lwps_weight_unit unit)
{
    const uint64_t most = UINT64_MAX >> 16;
    uint64_t events = from->period ? from->period : 1, latency = from->weight ? from->weight : 1, weight;
    if (unit != LWPS_WEIGHT_CYCLES)
        return events;
    return __builtin_mul_overflow(latency, events, &weight) || weight > most ? most : weight;
}

void lwp_perf_record(const struct lwp_perf_sample *from, enum lwps_weight_unit unit, struct lwps_sample *to)
{
    *to = (struct lwps_sample){.time = from->time, .ip = from->ip, .weight = record_weight(from, unit)};
    if (!from->has_address)
        return;
    union perf_mem_data_src source = {.val = from->data_source};
    bool load = source.mem_op & PERF_MEM_OP_LOAD, store = source.mem_op & PERF_MEM_OP_STORE;
    to->kind = store && !load ? LWPS_SAMPLE_STORE : LWPS_SAMPLE_STALL;
    to->access_count = 1;
    to->access[0] = (struct lwps_access){.ip = from->ip,
                                         .address = from->address,
                                         .flags = LWPS_ACCESS_KNOWN | LWPS_ACCESS_WEIGHTED,
                                         .source = LWPS_SOURCE_HARDWARE,
                                         .level = from->has_data_source ? level_of(source) : 0};
    to->access[0].flags |= (uint8_t)((load ? LWPS_ACCESS_LOAD : 0) | (store ? LWPS_ACCESS_STORE : 0));
}
