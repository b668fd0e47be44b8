#include "collector/exact/program/trace_words.h"

struct lwp_trace_state lwp_trace_state;
bool lwp_trace_all, lwp_trace_filters, lwp_trace_open, lwp_trace_accesses, lwp_trace_pending;
bool lwp_trace_inside = true;
void (*lwp_trace_hand_on)(void);
Long lwp_trace_quantum;
uint64_t lwp_trace_count, lwp_trace_count_open;
ULong lwp_trace_words[LWP_TRACE_WORDS] __attribute__((aligned(64)));
_Static_assert(LWP_TRACE_WORDS % 8 == 0, "whole lines");

uint64_t lwp_trace_ran(void)
{
    return lwp_trace_count + (uint64_t)(lwp_trace_quantum - lwp_trace_left_now());
}

uint64_t lwp_trace_recorded(void)
{
    return lwp_trace_count_open + (lwp_trace_open ? lwp_trace_ran() - lwp_trace_count : 0);
}

uint64_t lwp_trace_time(void)
{
    enum { NS_PER_INSTRUCTION = 1000 };
    return lwp_trace_ran() * NS_PER_INSTRUCTION;
}

struct lwp_trace_block *lwp_trace_block_new(Addr ip, UInt accesses)
{
    struct lwp_trace_block *block =
        VG_(calloc)("lwp.block", 1, sizeof *block + accesses * sizeof block->access[0]);
    block->ip = ip;
    return block;
}
