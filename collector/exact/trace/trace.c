#include "collector/exact/trace/trace.h"

#include "base/random.h"
#include "collector/exact/checkpoint.h"
#include "collector/exact/detect/communication/communication.h"
#include "collector/exact/detect/redundancy/redundancy_windows.h"
#include "collector/exact/detect/registers/register_counts.h"
#include "collector/exact/detect/registers/register_windows.h"
#include "collector/exact/detect/registers/spatial.h"
#include "collector/exact/detect/registers/spatial_registers.h"
#include "collector/exact/detect/values/values.h"
#include "collector/exact/program/calls.h"
#include "collector/exact/trace/sampling.h"
#include "collector/exact/trace/trace_file.h"
#include "collector/exact/valgrind/options.h"

enum { LOOK = 1 << 20 }; /* instructions until it is asked what time it is */

static uint64_t trace_looked;     /* ... when lwp_keep_look was last called */
static Long trace_phase;          /* instructions of the window, or of the gap, still to come at that moment */
static bool trace_window;         /* it is a window */
static uint64_t trace_grown[2];   /* the last gaps, where they grow */
static UInt trace_random = 0x2545f491;

/* Of single superblocks. */
static bool trace_has_readers(void)
{
    return lwp_trace_open && (lwp_trace_file_runs || lwp_spatial_runs);
}

static void trace_read(struct lwp_trace_block *block, const ULong *addresses)
{
    if (lwp_trace_file_runs)
        lwp_trace_file_block(block, addresses);
    if (lwp_spatial_runs)
        lwp_spatial_block(block, addresses);
}

/* More than to `end`, as it is by whole lines. */
static void trace_clear(ULong *begin, const ULong *end)
{
    typedef ULong two __attribute__((vector_size(16)));
    for (two *at = (two *)begin; (const ULong *)at < end; at += 4)
        at[0] = at[1] = at[2] = at[3] = (two){0};
}

static void trace_hand_on(void)
{
    if (lwp_trace_filters) {
        lwp_sampling_filtered(lwp_trace_open);
        return;
    }
    ULong *begin = lwp_trace_words, *end = lwp_trace_state.at;
    if (!lwp_trace_all)
        end = begin + 1 + lwp_trace_length((const void *)*begin);
    lwp_trace_state.at = begin;
    lwp_trace_pending = false;
    if (lwp_trace_open && lwp_exact_options.sample)
        lwp_sampling_words(begin, end);
    if (lwp_communication_runs)
        lwp_communication_words(begin, end);
    const struct lwp_trace_block *first = (const void *)*begin;
    bool looked_at = !lwp_trace_all && lwp_trace_open;
    if (looked_at && first->registers)
        lwp_register_windows_ran(first->registers, begin);
    if (looked_at && first->redundancy)
        lwp_redundancy_windows_ran(first->redundancy, begin);
    for (const ULong *at = begin; trace_has_readers() && at < end;) {
        struct lwp_trace_block *block = (void *)*at++;
        trace_read(block, at);
        at += lwp_trace_length(block);
    }
    if (lwp_values_runs && lwp_trace_open)
        lwp_values_ran(begin, end);
    trace_clear(begin, end);
}

/* 1, 1, 2, 3, 5, ... times the first (MACPO 4.2): windows grow in number as the logarithm of the run. */
static Long trace_gap_grown(void)
{
    uint64_t next = trace_grown[0] + trace_grown[1];
    next = next ? next : lwp_exact_options.window_off;
    trace_grown[0] = trace_grown[1];
    trace_grown[1] = next;
    return next < (uint64_t)1 << 60 ? (Long)next : (Long)1 << 60;
}

/* Gaps vary by half their length, lest they keep step with the program. */
static Long trace_gap(void)
{
    if (lwp_exact_options.window_grows)
        return trace_gap_grown();
    uint64_t off = lwp_exact_options.window_off;
    return (Long)(off / 2 + lwp_random_next(&trace_random) % (off + 1));
}

static void trace_set(void)
{
    bool open = lwp_trace_open;
    lwp_trace_open = trace_window && lwp_trace_inside;
    if (!open && lwp_trace_open) {
        lwp_values_window();
        lwp_register_windows_open();
        if (lwp_trace_file_runs)
            lwp_trace_file_window();
    }
    if (open && !lwp_trace_open) {
        lwp_spatial_look();
        lwp_redundancy_window_ends();
    }
    if (open != lwp_trace_open)
        lwp_register_counts_part();
    Long most = lwp_trace_filters ? LOOK : lwp_trace_all ? LWP_TRACE_QUANTUM : lwp_trace_open ? 0 : LOOK;
    Long quantum = lwp_trace_inside && !lwp_trace_open && trace_phase < most ? trace_phase : most;
    lwp_trace_state.left += (Long)lwp_trace_left((ULong)(quantum - lwp_trace_left_now()));
    lwp_trace_quantum = quantum;
}

/* What has run since trace_set() is counted. */
static void trace_pass(void)
{
    lwp_trace_drain();
    Long done = lwp_trace_quantum - lwp_trace_left_now();
    lwp_trace_count += (uint64_t)done;
    lwp_trace_quantum -= done;
    if (lwp_trace_inside)
        trace_phase -= done;
}

void lwp_trace_region(bool inside)
{
    trace_pass();
    if (lwp_trace_filters)
        lwp_sampling_look(lwp_trace_open);
    lwp_trace_inside = inside;
    lwp_sampling_flush();
    trace_set();
}

/* The superblock's words are still those of one outside of the window. */
static void trace_take(const struct lwp_trace_block *block)
{
    lwp_trace_words[0] = (ULong)block;
    for (uint32_t i = 1; i <= lwp_trace_length(block); i++)
        lwp_trace_words[i] = 0;
    lwp_trace_pending = true;
    if (block->registers)
        lwp_register_windows_begin(block->registers, lwp_trace_words);
}

VG_REGPARM(1) void lwp_trace_tick(struct lwp_trace_block *block)
{
    trace_pass();
    if (trace_phase <= 0 && !lwp_trace_all) {
        trace_window = !trace_window;
        if (lwp_spatial_runs && lwp_trace_inside && !trace_window)
            lwp_spatial_registers_look();
        trace_phase = trace_window ? (Long)lwp_exact_options.window_on : trace_gap();
        lwp_sampling_flush();
    }
    trace_set();
    if (lwp_trace_open && !lwp_trace_all) {
        lwp_calls_know();
        trace_take(block);
    }
    if (lwp_trace_count - trace_looked >= LOOK) {
        trace_looked = lwp_trace_count;
        lwp_keep_look();
    }
}

VG_REGPARM(2) void lwp_trace_full(struct lwp_trace_block *block, ULong instructions)
{
    lwp_trace_state.left -= (Long)lwp_trace_left(instructions);
    if (lwp_trace_state.left < 0)
        lwp_trace_tick(block);
}

void lwp_trace_attend(void)
{
    if (lwp_trace_waits())
        lwp_sampling_filtered(lwp_trace_open);
    if (lwp_trace_left_now() < 0)
        lwp_trace_tick(NULL);
}

void lwp_trace_leave_thread(void)
{
    lwp_trace_drain();
    lwp_sampling_flush();
    lwp_trace_file_flush();
}

void lwp_trace_start(bool read)
{
    lwp_trace_all = !lwp_exact_options.window_off || lwp_exact_options.communication;
    lwp_trace_filters = lwp_trace_all && lwp_exact_options.sample && !read;
    lwp_trace_accesses = lwp_exact_options.sample || read;
    lwp_trace_state.at = lwp_trace_words;
    lwp_trace_state.self = &lwp_trace_state;
    lwp_trace_hand_on = trace_hand_on;
    trace_window = lwp_exact_options.window_on > 0;
    trace_phase = lwp_trace_all ? (Long)1 << 62 : (Long)lwp_exact_options.window_on;
    trace_set();
}
