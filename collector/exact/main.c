/* lwp's Valgrind tool: start, options, forks, end. `lwp collect -e exact` starts it; nobody types its options. */
#include "collector/exact/checkpoint.h"
#include "collector/exact/detect/communication/communication.h"
#include "collector/exact/detect/redundancy/redundancy.h"
#include "collector/exact/detect/registers/register_counts.h"
#include "collector/exact/detect/registers/registers.h"
#include "collector/exact/detect/registers/spatial.h"
#include "collector/exact/detect/registers/spatial_counts.h"
#include "collector/exact/detect/registers/spatial_registers.h"
#include "collector/exact/detect/values/values.h"
#include "collector/exact/instrument.h"
#include "collector/exact/program/blocks.h"
#include "collector/exact/program/calls.h"
#include "collector/exact/program/contexts.h"
#include "collector/exact/program/exec.h"
#include "collector/exact/program/heap.h"
#include "collector/exact/program/modules.h"
#include "collector/exact/program/pools.h"
#include "collector/exact/program/process.h"
#include "collector/exact/program/region.h"
#include "collector/exact/program/requests.h"
#include "collector/exact/program/threads.h"
#include "collector/exact/trace/sampling.h"
#include "collector/exact/trace/trace.h"
#include "collector/exact/trace/trace_file.h"
#include "collector/exact/valgrind/duplication.h"
#include "collector/exact/valgrind/environment.h"
#include "collector/exact/valgrind/options.h"
#include "collector/exact/valgrind/out_of_memory.h"
#include "collector/exact/valgrind/scheduling_order.h"
#include "collector/exact/valgrind/tool.h"
#include "collector/record/value.h"

extern UWord *VG_(client_auxv); /* of Valgrind's core, not in the headers for tools */

static Long option_threshold = 65536, option_on = 20000, option_off = 2000000;
static Long option_values = 0, option_communication = 0;
static Bool option_sample = True, option_follow = True, option_redundancy = False, option_registers = False, option_spatial = False, option_grow = False,
            option_windows = False;
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
    else if VG_STR_CLO(argument, "--lwp-region", option_region) {}
    else if VG_DBL_CLO(argument, "--lwp-close", lwp_value_close) {}
    else if VG_BOOL_CLO(argument, "--lwp-follow", option_follow) {}
    else if VG_BOOL_CLO(argument, "--lwp-redundancy", option_redundancy) {}
    else if VG_BOOL_CLO(argument, "--lwp-sample", option_sample) {}
    else if VG_BINT_CLO(argument, "--lwp-communication", option_communication, 0, 64) {}
    else if VG_BINT_CLO(argument, "--lwp-values", option_values, 0, 1 << 16) {}
    else if VG_BOOL_CLO(argument, "--lwp-registers", option_registers) {}
    else if VG_BOOL_CLO(argument, "--lwp-spatial", option_spatial) {}
    else if VG_BOOL_CLO(argument, "--lwp-trace", lwp_trace_file_runs) {}
    else return False;
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
    lwp_redundancy_keep();
    lwp_redundancy_anew();
    lwp_values_keep();
    lwp_values_anew();
    lwp_register_counts_keep();
    lwp_register_counts_anew();
    lwp_spatial_look();
    lwp_spatial_keep();
    lwp_spatial_registers_finish();
    lwp_spatial_anew();
    lwp_spatial_registers_anew();
    lwp_communication_keep();
    lwp_communication_anew();
    lwp_threads_finish();
    lwp_trace_file_finish();
    lwp_region_finish();
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

/* The process has a new folder, and everything that is there is told to it. */
static void main_again(void)
{
    if (!lwp_exact_process_start())
        return;
    lwp_modules_again();
    lwp_blocks_again();
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
    lwp_trace_file_abandon();
    lwp_exact_process_abandon();
    lwp_redundancy_anew();
    lwp_values_anew();
    lwp_register_counts_anew();
    lwp_spatial_anew();
    lwp_spatial_registers_anew();
    lwp_communication_anew();
    if (lwp_exact_options.follow)
        main_again();
}

/* An exec leaves nobody behind who could close the files. Should it fail, recording goes on in a new folder; but that it
 * fails for want of the file is known before. */
static void main_before_call(ThreadId id, UInt number, UWord *arguments, UInt count)
{
    static bool order_noted;
    (void)id, (void)count;
    if (lwp_schedule_call(number, arguments) && !order_noted) {
        order_noted = true;
        lwp_exact_process_note("Threads waited for a time, or for other processes: in another run their turns may come otherwise, "
                               "and shares differ a little.");
    }
    lwp_keep_before_call(number);
    if (!lwp_exec_is(number) || !lwp_exec_may_succeed(number, arguments))
        return;
    lwp_exec_before(number, arguments);
    main_close();
}

static void main_after_call(ThreadId id, UInt number, UWord *arguments, UInt count, SysRes result)
{
    (void)id, (void)arguments, (void)count, (void)result;
    if (!lwp_exec_is(number))
        return;
    lwp_exec_after();
    if (main_recorded && !lwp_exact_process.active)
        main_again();
}

static void main_kernel_wrote(CorePart part, ThreadId id, Addr address, SizeT bytes)
{
    (void)part, (void)id;
    lwp_redundancy_forget(address, bytes);
    lwp_values_forget(address, bytes);
    lwp_communication_wrote(address, bytes);
}

/* The kernel gives each process 16 random bytes, of which the C library makes its stack guard: values that differ from run
 * to run, and with them which stores are silent. */
static void main_fix_random(void)
{
    enum { AUXV_RANDOM = 25, RANDOM_BYTES = 16 };
    for (const UWord *entry = VG_(client_auxv); entry && entry[0]; entry += 2)
        if (entry[0] == AUXV_RANDOM)
            VG_(memset)((void *)entry[1], 0x5a, RANDOM_BYTES);
}

static void main_returned(Addr slot, bool in_order, ULong result)
{
    lwp_heap_returned(slot, in_order, result);
    lwp_region_returned(slot);
}

static void main_start(void)
{
    lwp_environment_hide();
    main_fix_random();
    lwp_exact_options.heap_threshold = (uint64_t)option_threshold;
    lwp_exact_options.window_on = (uint64_t)option_on;
    lwp_exact_options.window_off = (uint64_t)option_off;
    lwp_exact_options.window_grows = option_grow;
    lwp_exact_options.follow = option_follow;
    lwp_exact_options.sample = option_sample;
    lwp_exact_options.communication = (unsigned)option_communication;
    VG_(clo_vex_control).guest_chase = False;
    if (!lwp_exact_options.folder || !lwp_sampling_start(lwp_exact_options.caches)) {
        VG_(umsg)("this tool is started by 'lwp collect -e exact'\n");
        VG_(exit)(1);
    }
    __builtin_cpu_init(); /* what checksums are computed by */
    lwp_contexts_start();
    lwp_calls_start(main_returned);
    lwp_blocks_start(lwp_trace_file_flush);
    lwp_trace_start(option_values || option_communication || option_spatial || lwp_trace_file_runs || (option_redundancy && option_windows));
    bool windows = option_windows && !lwp_trace_all;
    bool traced = lwp_trace_all && (option_sample || option_values || option_spatial || lwp_trace_file_runs); /* else for communication alone */
    lwp_calls_lazy = !traced && (windows || (!option_redundancy && !option_registers)); /* only windows and allocations ask for it */
    if (lwp_calls_lazy && !lwp_trace_all)
        lwp_duplication_start();
    lwp_exact_process_start();
    if (option_redundancy && !lwp_redundancy_start(windows))
        lwp_exact_process_note("Redundant accesses were not counted: there is not enough memory.");
    if (option_values && !lwp_values_start((uint32_t)option_values))
        lwp_exact_process_note("Redundant computations were not counted: there is not enough memory.");
    if (option_registers && !lwp_registers_start(windows))
        lwp_exact_process_note("Values written to registers were not counted: there is not enough memory.");
    if (windows && option_redundancy)
        lwp_exact_process_note("Redundant accesses were counted in windows of the run: pairs that lie further apart than a window are not among them.");
    if (option_communication && !lwp_communication_start((unsigned)option_communication))
        lwp_exact_process_note("Communication between threads was not counted: there is not enough memory.");
    lwp_spatial_runs = option_spatial;
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
    lwp_requests_start();
    lwp_threads_start();
    lwp_modules_start();
}

VG_DETERMINE_INTERFACE_VERSION(main_before_options)
