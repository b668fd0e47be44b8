#include "collector/exact/detect/redundancy/redundancy_windows.h"

#include "collector/exact/detect/redundancy/redundancy_counts.h"
#include "collector/exact/detect/redundancy/shadow_fast.h"
#include "collector/exact/program/contexts.h"

enum {
    TOUCHED_MOST = 1 << 20,
    PIECE = 8,
    STACK_MOVE_MOST = 2000000, /* larger ones lead to another stack, as Valgrind has it, too */
};

bool lwp_redundancy_windows;

/* In the window, one after the other, many of them time and again; of longer windows all of the shadow is forgotten. */
static struct touched {
    Addr address;
    SizeT bytes;
} *touched;
static uint32_t touched_count;

void lwp_redundancy_touched(Addr address, SizeT bytes)
{
    if (!touched)
        touched = VG_(malloc)("lwp.touched", TOUCHED_MOST * sizeof *touched);
    if (touched_count < TOUCHED_MOST)
        touched[touched_count] = (struct touched){address, bytes};
    touched_count += touched_count <= TOUCHED_MOST;
}

void lwp_redundancy_window_ends(void)
{
    if (!lwp_redundancy_windows)
        return;
    if (touched_count > TOUCHED_MOST)
        lwp_shadow_forget_all(&lwp_redundancy_shadow);
    else
        for (uint32_t i = 0; i < touched_count; i++)
            lwp_shadow_forget(&lwp_redundancy_shadow, touched[i].address, touched[i].bytes);
    touched_count = 0;
}

/* ---- what a superblock did ---- */

static UInt steps_done; /* of the one that runs */

static void step_store(Addr address, unsigned bytes, uint32_t number, const ULong *before, unsigned element)
{
    const ULong *after = before + (bytes + PIECE - 1) / PIECE;
    for (; bytes > PIECE; bytes -= PIECE, address += PIECE)
        lwp_shadow_store(&lwp_redundancy_shadow, address, PIECE, number, *before++, *after++, element);
    ULong mask = ~0ull >> (64 - 8 * bytes);
    lwp_shadow_store(&lwp_redundancy_shadow, address, bytes, number, *before & mask, *after & mask, element);
}

/* What is not below the stack pointer by more than the red zone is still in use. */
static void step_stack(Addr from, Addr to)
{
    if (to > from && to - from <= STACK_MOVE_MOST)
        lwp_shadow_forget(&lwp_redundancy_shadow, from - LWP_REDUNDANCY_REDZONE, to - from);
}

static void step_run(const struct lwp_redundancy_step *step, const ULong *words, uint32_t number)
{
    Addr address = words[step->word];
    lwp_redundancy_number = number;
    switch (step->kind) {
    case LWP_REDUNDANCY_LOAD:
        lwp_redundancy_touched(address, step->bytes);
        lwp_shadow_load_all(&lwp_redundancy_shadow, address, step->bytes, number);
        return;
    case LWP_REDUNDANCY_STORE:
        lwp_redundancy_touched(address, step->bytes);
        step_store(address, step->bytes, number, &words[step->values], step->element);
        return;
    case LWP_REDUNDANCY_DEAD:
        lwp_shadow_forget(&lwp_redundancy_shadow, address, step->bytes);
        return;
    default:
        step_stack(address, words[step->word + 1]);
    }
}

static void steps_run(const struct lwp_redundancy_site *site, const ULong *words, UInt until)
{
    if (site->numbers && site->numbers->node != lwp_context_now)
        lwp_numbers_enter(site->numbers);
    uint32_t first = site->numbers ? site->numbers->base : 0;
    for (UInt i = steps_done; i < until; i++)
        if (words[site->steps[i].word])
            step_run(&site->steps[i], words, first + site->steps[i].number);
    steps_done = until;
}

void lwp_redundancy_windows_ran(const struct lwp_redundancy_site *site, const ULong *words)
{
    steps_run(site, words, site->count);
    steps_done = 0;
}

VG_REGPARM(2) void lwp_redundancy_windows_until(const struct lwp_redundancy_site *site, ULong steps)
{
    if (lwp_trace_pending && lwp_trace_open)
        steps_run(site, lwp_trace_words, (UInt)steps);
}
