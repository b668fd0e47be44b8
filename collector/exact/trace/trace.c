#include "collector/exact/trace/trace.h"

#include "base/random.h"
#include "collector/exact/program/calls.h"
#include "collector/exact/program/checkpoint.h"
#include "collector/exact/program/detector.h"
#include "collector/exact/program/options.h"
#include "collector/exact/trace/sampling.h"

enum { LOOK = 1 << 20 }; /* instructions until it is asked what time it is */

static uint64_t trace_looked;     /* ... when lwp_checkpoint was last called */
static Long trace_phase;          /* instructions of the window, or of the gap, still to come at that moment */
static bool trace_window;         /* it is a window */
static uint64_t trace_grown[2];   /* the last gaps, where they grow */
static UInt trace_random = 0x2545f491;

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
    for (void (**words)(ULong *, ULong *) = lwp_detector_words; *words; words++)
        (*words)(begin, end);
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
    if (open != lwp_trace_open)
        LWP_DETECTORS(window, lwp_trace_open);
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
    lwp_trace_count_open += lwp_trace_open ? (uint64_t)done : 0;
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
}

VG_REGPARM(1) void lwp_trace_tick(struct lwp_trace_block *block)
{
    trace_pass();
    if (trace_phase <= 0 && !lwp_trace_all) {
        trace_window = !trace_window;
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
        lwp_checkpoint();
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
    LWP_DETECTORS(flush);
}

void lwp_trace_start(unsigned needs)
{
    bool read = needs & LWP_NEEDS_ADDRESSES || (lwp_exact_options.windows && needs & LWP_NEEDS_WINDOW_WORDS);
    lwp_trace_all = !lwp_exact_options.window_off || needs & LWP_NEEDS_WHOLE_RUN;
    lwp_trace_filters = lwp_trace_all && needs & LWP_NEEDS_SAMPLES && !read;
    lwp_trace_accesses = needs & LWP_NEEDS_SAMPLES || read;
    lwp_trace_state.at = lwp_trace_words;
    lwp_trace_state.self = &lwp_trace_state;
    lwp_trace_hand_on = trace_hand_on;
    trace_window = lwp_exact_options.window_on > 0;
    trace_phase = lwp_trace_all ? (Long)1 << 62 : (Long)lwp_exact_options.window_on;
    trace_set();
}
