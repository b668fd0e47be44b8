#include "collector/exact/program/process.h"

#include "collector/exact/program/trace_words.h"
#include "collector/exact/program/options.h"
#include "collector/exact/valgrind/client_pages.h"
#include "collector/exact/valgrind/port.h"
#include "collector/exact/valgrind/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

struct lwp_exact_options lwp_exact_options;
struct lwp_exact_process lwp_exact_process;

static HChar process_folder[400];

static bool process_make_folder(void)
{
    enum { GENERATIONS = 10000 };
    for (int generation = 0; generation < GENERATIONS; generation++) {
        UInt length = VG_(snprintf)(process_folder, sizeof process_folder, generation ? "%s/p%d.%d" : "%s/p%d",
                                    lwp_exact_options.folder, VG_(getpid)(), generation);
        if (length >= sizeof process_folder - 1)
            return false;
        if (mkdir(process_folder, 0777) == 0)
            return true;
        if (errno != EEXIST)
            return false;
    }
    return false;
}

/* Times of this engine are counts of instructions, a microsecond each (trace.h), from 0: the same in every run. */
static int process_open(struct lwps_writer *file, const char *path, uint32_t tid)
{
    struct vki_timespec wall;
    VG_(clock_gettime)(&wall, VKI_CLOCK_REALTIME);
    struct lwps_file head = {.engine = LWPS_ENGINE_EXACT, .weight_unit = LWPS_WEIGHT_SIMULATED_CYCLES,
                             .pid = (uint32_t)VG_(getpid)(), .tid = tid, .start_ns = 0,
                             .start_wall_ns = (uint64_t)wall.tv_sec * 1000000000u + (uint64_t)wall.tv_nsec};
    return lwps_writer_open(file, path, &head);
}

bool lwp_exact_process_open(struct lwps_writer *file, const char *name, uint32_t tid)
{
    HChar path[512];
    int status = -EEXIST;
    for (int again = 0; status == -EEXIST && again < 1000; again++) { /* thread ids are used again */
        VG_(snprintf)(path, sizeof path, again ? "%s/%s.%d.lwps" : "%s/%s.lwps", process_folder, name, again);
        status = process_open(file, path, tid);
    }
    return status == 0;
}

static void process_path(HChar *path, SizeT size, const char *name, const char *suffix)
{
    VG_(snprintf)(path, (Int)size, "%s/%s.lwps%s", process_folder, name, suffix);
}

bool lwp_exact_process_rewrite(struct lwps_writer *file, const char *name)
{
    HChar path[512];
    if (!lwp_exact_process.active)
        return false;
    process_path(path, sizeof path, name, ".new");
    VG_(unlink)(path);
    return process_open(file, path, 0) == 0;
}

void lwp_exact_process_rewritten(struct lwps_writer *file, const char *name)
{
    HChar path[512], place[512];
    struct vg_stat st;
    bool whole = !file->failed;
    lwps_writer_close(file);
    process_path(path, sizeof path, name, ".new");
    process_path(place, sizeof place, name, "");
    if (whole || sr_isError(VG_(stat)(place, &st)))
        VG_(rename)(path, place);
    else
        VG_(unlink)(path);
}

static void process_describe(void)
{
    static HChar command[LWPS_STRING_MAX];
    Int length = (Int)VG_(strlen)(VG_(args_the_exename)) + 1; /* /proc/self/cmdline is the tool's own */
    VG_(strncpy)(command, VG_(args_the_exename), sizeof command - 1);
    for (Word i = 0; i < VG_(sizeXA)(VG_(args_for_client)); i++) {
        const HChar *argument = *(HChar **)VG_(indexXA)(VG_(args_for_client), i);
        Int bytes = (Int)VG_(strlen)(argument) + 1;
        if (length + bytes > (Int)sizeof command)
            break;
        VG_(memcpy)(command + length, argument, (SizeT)bytes);
        length += bytes;
    }
    lwps_put_process(&lwp_exact_process.file,
                     &(struct lwps_process){.pid = (uint32_t)VG_(getpid)(), .parent_pid = (uint32_t)VG_(getppid)(),
                                            .time = lwp_trace_time(), .command = command,
                                            .command_bytes = (uint32_t)length});
}

bool lwp_exact_process_start(void)
{
    if (!process_make_folder() || !lwp_exact_process_open(&lwp_exact_process.file, "process", 0)) {
        VG_(umsg)("cannot write to %s: this process is not recorded\n", lwp_exact_options.folder);
        return false;
    }
    lwp_exact_process.active = true;
    process_describe();
    return true;
}

static uint64_t process_nanoseconds(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

static uint64_t process_ran_before, process_recorded_before; /* instructions of the process that forked it */

static void process_reset(void)
{
    process_ran_before = lwp_trace_ran();
    process_recorded_before = lwp_trace_recorded();
    lwp_context_map_clear(&lwp_exact_process.contexts);
    lwp_exact_process.active = false;
    lwp_exact_process.samples = lwp_exact_process.samples_with_address = lwp_exact_process.allocations = 0;
    lwp_exact_process.native_instructions = lwp_exact_process.native_page_faults = 0;
    lwp_exact_process.native_ns = lwp_exact_process.native_least_ns = lwp_exact_process.native_most_ns = 0;
}

static void process_totals(uint64_t page_faults)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    struct lwps_totals totals = {.time = lwp_trace_time(),
                                 .user_ns = process_nanoseconds(usage.ru_utime),
                                 .system_ns = process_nanoseconds(usage.ru_stime),
                                 .samples = lwp_exact_process.samples,
                                 .samples_with_address = lwp_exact_process.samples_with_address,
                                 .allocations = lwp_exact_process.allocations,
                                 .instructions = lwp_trace_ran() - process_ran_before,
                                 .instructions_recorded = lwp_trace_recorded() - process_recorded_before,
                                 .page_faults = page_faults,
                                 .native_instructions = lwp_exact_process.native_instructions,
                                 .native_ns = lwp_exact_process.native_ns,
                                 .native_least_ns = lwp_exact_process.native_least_ns,
                                 .native_most_ns = lwp_exact_process.native_most_ns,
                                 .native_page_faults = lwp_exact_process.native_page_faults};
    lwps_put_totals(&lwp_exact_process.file, &totals);
}

void lwp_exact_process_totals(void)
{
    process_totals(0);
}

void lwp_exact_process_finish(void)
{
    if (!lwp_exact_process.active)
        return;
    process_totals(process_ran_before ? 0 : lwp_client_page_faults()); /* a forked one has its parent's pages */
    lwps_writer_close(&lwp_exact_process.file);
    process_reset();
}

void lwp_exact_process_abandon(void)
{
    if (!lwp_exact_process.active)
        return;
    lwps_writer_abandon(&lwp_exact_process.file);
    process_reset();
}

void lwp_exact_process_note(const char *text)
{
    if (lwp_exact_process.active)
        lwps_put_note(&lwp_exact_process.file, &(struct lwps_note){text});
}

uint32_t lwp_exact_process_context(uint32_t node)
{
    return lwp_exact_process.active ? lwp_context_in_file(&lwp_exact_process.contexts, &lwp_exact_process.file, node) : 0;
}
