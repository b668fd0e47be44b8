/* lwp's Valgrind tool: start, options, forks, end. `lwp collect -e exact` starts it; nobody types its options. */
#include "collector/exact/detectors.h"
#include "collector/exact/program/blocks.h"
#include "collector/exact/program/calls.h"
#include "collector/exact/program/checkpoint.h"
#include "collector/exact/program/contexts.h"
#include "collector/exact/program/detector.h"
#include "collector/exact/program/exec.h"
#include "collector/exact/program/heap.h"
#include "collector/exact/program/modules.h"
#include "collector/exact/program/options.h"
#include "collector/exact/program/pools.h"
#include "collector/exact/program/process.h"
#include "collector/exact/program/random_bytes.h"
#include "collector/exact/program/thread.h"
#include "collector/exact/trace/region.h"
#include "collector/exact/trace/sampling.h"
#include "collector/exact/trace/speed.h"
#include "collector/exact/trace/trace.h"
#include "collector/exact/valgrind/duplication.h"
#include "collector/exact/valgrind/environment.h"
#include "collector/exact/valgrind/file_limit.h"
#include "collector/exact/valgrind/out_of_memory.h"
#include "collector/exact/valgrind/scheduling_order.h"
#include "collector/exact/valgrind/tool.h"
#include "collector/lwp.h"
#include "collector/record/value.h"

static Long option_threshold = 65536, option_on = 20000, option_off = 2000000, option_page_fault;
static Bool option_follow = True, option_grow = False, option_windows = False, option_copies = False;
static const HChar *option_region;
static bool main_recorded; /* when the files were last closed, there were some */

static Bool main_option(const HChar *argument)
{
    if VG_STR_CLO(argument, "--lwp-dir", lwp_exact_options.folder) {}
    else if VG_STR_CLO(argument, "--lwp-caches", lwp_exact_options.caches) {}
    else if VG_BINT_CLO(argument, "--lwp-heap-threshold", option_threshold, 0, (Long)1 << 40) {}
    else if VG_BINT_CLO(argument, "--lwp-on", option_on, 0, (Long)1 << 40) {}
    else if VG_BINT_CLO(argument, "--lwp-off", option_off, 0, (Long)1 << 40) {}
    else if VG_BOOL_CLO(argument, "--lwp-grow", option_grow) {}
    else if VG_BOOL_CLO(argument, "--lwp-windows", option_windows) {}
    else if VG_BOOL_CLO(argument, "--lwp-copies", option_copies) {}
    else if VG_BINT_CLO(argument, "--lwp-page-fault", option_page_fault, 0, (Long)1 << 32) {}
    else if VG_STR_CLO(argument, "--lwp-region", option_region) {
    } else if VG_STR_CLO (argument, "--lwp-allocator", lwp_exact_options.allocators) {
    } else if VG_DBL_CLO (argument, "--lwp-close", lwp_value_close) {
    } else if VG_BOOL_CLO (argument, "--lwp-follow", option_follow) {
    } else
        return lwp_detectors_option(argument);
    return True;
}

static void main_usage(void)
{
    VG_(printf)("    this tool is started by 'lwp collect -e exact'\n");
}

static void main_debug_usage(void)
{
}

static void main_close(void)
{
    lwp_trace_drain();
    for (const struct lwp_detector **at = lwp_detectors; *at; at++) {
        if ((*at)->finish)
            (*at)->finish();
        if ((*at)->write)
            (*at)->write();
        if ((*at)->reset)
            (*at)->reset();
    }
    lwp_threads_finish();
    lwp_region_finish();
    lwp_heap_finish();
    main_recorded = lwp_exact_process.active;
    if (!main_recorded)
        return;
    lwp_pools_write();
    lwp_exact_process_finish();
}

static void main_finish(Int status)
{
    (void)status;
    main_close();
}

/* The process has a new folder, and everything that is there is written to it. */
static void main_again(void)
{
    if (!lwp_exact_process_start())
        return;
    lwp_modules_write_all();
    lwp_blocks_write_all();
}

/* What the parent has traced so far is the parent's. */
static void main_before_fork(ThreadId id)
{
    (void)id;
    lwp_trace_leave_thread();
}

static void main_in_child(ThreadId id)
{
    (void)id;
    lwp_threads_abandon();
    lwp_exact_process_abandon();
    LWP_DETECTORS(reset);
    if (lwp_exact_options.follow)
        main_again();
}

/* An exec leaves nobody behind who could close the files. Should it fail, recording goes on in a new folder; but that it
 * fails for want of the file is known before. */
static void main_before_call(ThreadId id, UInt number, UWord *arguments, UInt count)
{
    static bool order_noted;
    (void)count;
    if (lwp_schedule_call(number, arguments) && !order_noted) {
        order_noted = true;
        lwp_exact_process_note("Threads waited for a time, or for other processes: in another run they may be scheduled in another order, "
                               "and shares differ a little.");
    }
    lwp_checkpoint_before_call(number);
    lwp_speed_call(id, number, arguments);
    if (!lwp_exec_is(number) || !lwp_exec_may_succeed(number, arguments))
        return;
    lwp_exec_before(number, arguments);
    main_close();
    lwp_file_limit_before_exec();
}

static void main_after_call(ThreadId id, UInt number, UWord *arguments, UInt count, SysRes result)
{
    (void)count;
    lwp_random_bytes_after_call(id, number, arguments, result);
    if (!lwp_exec_is(number))
        return;
    lwp_exec_after();
    lwp_file_limit_after_exec();
    if (main_recorded && !lwp_exact_process.active)
        main_again();
}

static void main_kernel_wrote(CorePart part, ThreadId id, Addr address, SizeT bytes)
{
    (void)part, (void)id;
    LWP_DETECTORS(kernel_wrote, address, bytes);
}

/* What the program itself asks for by the macros of collector/lwp.h. */
static Bool main_request(ThreadId id, UWord *arguments, UWord *result)
{
    lwp_trace_drain();
    *result = 0;
    switch (arguments[0]) {
    case LWP_REQUEST_BEGIN:
    case LWP_REQUEST_END:
        lwp_region_mark(arguments[0] == LWP_REQUEST_BEGIN);
        return True;
    case LWP_REQUEST_ALLOC:
        lwp_heap_told(arguments[2], arguments[3]);
        return True;
    case LWP_REQUEST_FREE:
        lwp_heap_told_free(arguments[2]);
        return True;
    case LWP_REQUEST_ARRAY:
        if (lwp_trace_inside)
            LWP_DETECTORS(array, id, arguments);
        return True;
    default:
        return False;
    }
}

static void main_returned(Addr slot, bool in_order, ULong result)
{
    lwp_heap_returned(slot, in_order, result);
    lwp_region_returned(slot);
}

static void main_start(void)
{
    lwp_environment_hide();
    lwp_random_bytes_start();
    lwp_exact_options.heap_threshold = (uint64_t)option_threshold;
    lwp_exact_options.window_on = (uint64_t)option_on;
    lwp_exact_options.window_off = (uint64_t)option_off;
    lwp_exact_options.window_grows = option_grow;
    lwp_exact_options.follow = option_follow;
    lwp_exact_options.copies = option_copies;
    lwp_exact_options.page_fault_ns = (uint64_t)option_page_fault;
    lwp_exact_options.windows = option_windows;
    VG_(clo_vex_control).guest_chase = False;
    if (!lwp_exact_options.folder || !lwp_sampling_start(lwp_exact_options.caches)) {
        VG_(umsg)("this tool is started by 'lwp collect -e exact'\n");
        VG_(exit)(1);
    }
    __builtin_cpu_init(); /* what checksums are computed by */
    lwp_contexts_start();
    lwp_calls_start(main_returned);
    lwp_blocks_start();
    unsigned needs = lwp_detectors_needs();
    lwp_trace_start(needs);
    lwp_exact_options.windows &= !lwp_trace_all;
    lwp_calls_lazy = !(lwp_trace_all && needs & LWP_NEEDS_PATHS) && (lwp_exact_options.windows || !(needs & LWP_NEEDS_EVERY_PATH));
    if (lwp_calls_lazy && !lwp_trace_all)
        lwp_duplication_start();
    lwp_exact_process_start();
    lwp_detectors_start();
    lwp_region_start(option_region);
    lwp_out_of_memory_start(main_close);
    VG_(track_post_mem_write)(main_kernel_wrote);
    VG_(atfork)(main_before_fork, NULL, main_in_child);
}

static void main_before_options(void)
{
    VG_(details_name)("lwp");
    VG_(details_version)(NULL);
    VG_(details_description)("the exact engine of lwp");
    VG_(details_copyright_author)("");
    VG_(details_bug_reports_to)("lwp");
    VG_(details_avg_translation_sizeB)(400);
    VG_(basic_tool_funcs)(main_start, lwp_instrument, main_finish);
    VG_(needs_syscall_wrapper)(main_before_call, main_after_call);
    VG_(needs_command_line_options)(main_option, main_usage, main_debug_usage);
    VG_(needs_client_requests)(main_request);
    lwp_file_limit_start();
    lwp_threads_start(lwp_trace_leave_thread, lwp_region_switch, lwp_speed_look);
    lwp_modules_start();
}

VG_DETERMINE_INTERFACE_VERSION(main_before_options)
