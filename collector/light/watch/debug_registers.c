#include "collector/light/watch/debug_registers.h"

#include "collector/env.h"
#include "collector/light/own/confinement.h"
#include "collector/light/own/hot.h"
#include "collector/light/own/own_files.h"
#include "collector/light/own/own_memory.h"
#include "collector/light/own/perf_signal.h"
#include "collector/light/own/process.h"
#include "collector/light/own/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <linux/rseq.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SIGNAL_DATA = 0x6c777062, REFUSALS_MOST = 8, RETRY_EVERY = 1024, FDS_MOST = 64 * sizeof lwp_debug.open / sizeof *lwp_debug.open };

LWP_LARGE struct lwp_debug lwp_debug;

static bool register_claim(int fd)
{
    uint64_t bit = (uint64_t)1 << fd % 64;
    return __atomic_fetch_and(&lwp_debug.open[fd / 64], ~bit, __ATOMIC_SEQ_CST) & bit;
}

/* The program may have closed our descriptor and reused its number: the ioctl fails on its files. */
static void register_close(int fd)
{
    if (register_claim(fd) && ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) == 0)
        close(fd);
}

static void registers_clear(struct lwp_debug_registers *registers)
{
    *registers = (struct lwp_debug_registers){0};
    for (unsigned i = 0; i < LWP_DEBUG_REGISTERS; i++)
        lwp_own_stops_at(i, 0, 0);
}

static struct perf_event_attr register_attributes(unsigned which, enum lwp_debug_kind kind, uint64_t address,
                                                  unsigned bytes)
{
    static const uint32_t types[] = {HW_BREAKPOINT_X, HW_BREAKPOINT_W, HW_BREAKPOINT_RW};
    return (struct perf_event_attr){.size = sizeof(struct perf_event_attr),
                                    .type = PERF_TYPE_BREAKPOINT,
                                    .bp_type = types[kind],
                                    .bp_addr = address,
                                    .bp_len = kind == LWP_DEBUG_EXECUTE ? sizeof(long) : bytes,
                                    .sample_period = 1,
                                    .exclude_kernel = !lwp_debug.sees_kernel,
                                    .exclude_hv = 1,
                                    .sigtrap = 1,
                                    .remove_on_exec = 1,
                                    .sig_data = SIGNAL_DATA + which};
}

static bool register_open(struct lwp_debug_registers *registers, unsigned which, struct perf_event_attr *attributes)
{
    int low = lwp_own_files_room() ? (int)syscall(SYS_perf_event_open, attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC) : -1;
    if (low < 0)
        return false;
    int fd = lwp_own_files_raise(low);
    if (fd < 0) {
        close(low); /* the low numbers are the program's */
        return false;
    }
    if (fd >= FDS_MOST) {
        close(fd);
        return false;
    }
    registers->at[which].fd = fd;
    registers->at[which].event = lwp_own_files_event(fd);
    registers->at[which].open = true;
    __atomic_fetch_or(&lwp_debug.open[fd / 64], (uint64_t)1 << fd % 64, __ATOMIC_SEQ_CST);
    if (lwp_debug_given_up()) { /* meanwhile */
        register_close(fd);
        registers->at[which].open = false;
    }
    return registers->at[which].open;
}

/* A register whose descriptor the program has closed went with it. Its number may be another event's of ours since. */
static bool register_is_there(struct lwp_debug_registers *registers, unsigned which)
{
    uint64_t event = registers->at[which].open ? lwp_own_files_event(registers->at[which].fd) : 0;
    if (registers->at[which].open && event != registers->at[which].event) {
        if (!event)
            register_claim(registers->at[which].fd);
        registers->at[which].open = registers->at[which].armed = false;
    }
    return registers->at[which].open;
}

void lwp_debug_init(void)
{
    static uint64_t never;
    const char *forced = lwp_setting(LWP_ENV_WATCH_KERNEL);
    lwp_debug.sees_kernel = true;
    struct perf_event_attr attributes = register_attributes(0, LWP_DEBUG_ACCESS, (uint64_t)&never, sizeof never);
    attributes.disabled = 1;
    int fd = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    lwp_debug.sees_kernel = fd >= 0 && !(forced && forced[0] == '0');
    if (fd >= 0)
        close(fd);
}

/* Where the kernel tells a thread its processor, for restartable sequences; the C library's since 2.35. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));

enum { RSEQ_BYTES = 32 /* what the kernel writes, and what the area's address is a multiple of */ };

/* The kernel refuses to register a second area; how it does so says whether it is the first once more. Never registers anything as
 * long as there is one, or the area is the kernel's. */
static int register_refusal(uint64_t area, uint64_t bytes)
{
    return syscall(SYS_rseq, area, bytes, 0, 0) ? errno : 0;
}

/* Whether it is where the program has registered an area, by whichever way. Areas are 32 bytes long, or what the kernel says. */
static bool register_is_programs(uint64_t address)
{
    enum { SIZE = 27, ALIGNMENT = 28 }; /* AT_RSEQ_FEATURE_SIZE, AT_RSEQ_ALIGN */
    const uint64_t kernels = -(uint64_t)RSEQ_BYTES, area = address & -(uint64_t)RSEQ_BYTES;
    const uint64_t size = getauxval(SIZE), alignment = getauxval(ALIGNMENT);
    if (lwp_confinement_came()) /* must not ask */
        return true;
    int saved = errno;
    bool found = false;
    if (register_refusal(kernels, RSEQ_BYTES) == EINVAL) { /* there is one */
        const uint64_t lengths[] = {RSEQ_BYTES, size, alignment ? (size + alignment - 1) / alignment * alignment : size};
        for (unsigned i = 0; i < sizeof lengths / sizeof *lengths && !found; i++) {
            int refusal = register_refusal(area, lengths[i]);
            found = refusal == EPERM || refusal == EBUSY;
        }
    }
    errno = saved;
    return found;
}

/* lwp's handlers keep and restore it, where they must not stop (own_memory.h). */
static bool register_is_errno(uint64_t address, unsigned bytes)
{
    const uint64_t number = (uint64_t)&errno;
    return address < number + sizeof errno && number < address + bytes;
}

/* The kernel writes there on its way back to the program: the stop would be on that way, too, and have it write again, for ever. */
static bool register_never_returns(uint64_t address, unsigned bytes)
{
    enum { LIBRARYS_MOST = 64 };
    if (!lwp_debug.sees_kernel)
        return false;
    if (!&__rseq_offset)
        return register_is_programs(address);
    const struct rseq *librarys = (const void *)((uint64_t)__builtin_thread_pointer() + (uint64_t)__rseq_offset);
    if ((int)__atomic_load_n(&librarys->cpu_id, __ATOMIC_RELAXED) < 0) /* not registered, or given back */
        return register_is_programs(address);
    return address < (uint64_t)librarys + LIBRARYS_MOST && address + bytes > (uint64_t)librarys;
}

bool lwp_debug_arm(struct lwp_debug_registers *registers, unsigned which, enum lwp_debug_kind kind, uint64_t address,
                   unsigned bytes)
{
    const bool data = kind != LWP_DEBUG_EXECUTE;
    if (lwp_debug_given_up() || (data && (register_is_errno(address, bytes) || register_never_returns(address, bytes))))
        return false;
    if (registers->refusals >= REFUSALS_MOST && ++registers->refusals % RETRY_EVERY)
        return false;
    /* changed and enabled in one go: an event whose new attributes are not `disabled` starts at once */
    struct perf_event_attr attributes = register_attributes(which, kind, address, bytes);
    bool set = register_is_there(registers, which) ? ioctl(registers->at[which].fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attributes) == 0
                                                   : register_open(registers, which, &attributes);
    registers->at[which].armed = registers->at[which].open; /* also when refused: the kernel switches on again what it
                                                               could not change */
    registers->at[which].data = set && data;
    lwp_own_stops_at(which, address, set && data ? bytes : 0);
    if (set) {
        registers->refusals = 0;
        return true;
    }
    lwp_debug_disarm(registers, which);
    if (registers->refusals < REFUSALS_MOST)
        registers->refusals++;
    return false;
}

void lwp_debug_disarm(struct lwp_debug_registers *registers, unsigned which)
{
    if (registers->at[which].armed && !lwp_debug_given_up() && register_is_there(registers, which))
        ioctl(registers->at[which].fd, PERF_EVENT_IOC_DISABLE, 0);
    registers->at[which].armed = registers->at[which].data = false;
    lwp_own_stops_at(which, 0, 0);
}

unsigned lwp_debug_armed(const struct lwp_debug_registers *registers)
{
    unsigned armed = 0;
    for (unsigned i = 0; i < LWP_DEBUG_REGISTERS; i++)
        armed += registers->at[i].armed;
    return armed;
}

void lwp_debug_is_on(struct lwp_debug_registers *registers, unsigned which)
{
    registers->at[which].armed = registers->at[which].open;
}

void lwp_debug_close(struct lwp_debug_registers *registers)
{
    for (unsigned i = 0; i < LWP_DEBUG_REGISTERS; i++)
        if (register_is_there(registers, i))
            register_close(registers->at[i].fd);
    registers_clear(registers);
}

void lwp_debug_forget(struct lwp_debug_registers *registers)
{
    for (unsigned i = 0; i < LWP_DEBUG_REGISTERS; i++)
        if (register_is_there(registers, i) && register_claim(registers->at[i].fd))
            close(registers->at[i].fd);
    registers_clear(registers);
}

void lwp_debug_give_up(void)
{
    uint64_t ours = 0;
    __atomic_compare_exchange_n(&lwp_debug.given_up_ns, &ours, lwp_clock(CLOCK_MONOTONIC), false, __ATOMIC_SEQ_CST,
                                __ATOMIC_SEQ_CST);
    for (unsigned i = 0; i < FDS_MOST / 64; i++)
        for (uint64_t open; (open = __atomic_load_n(&lwp_debug.open[i], __ATOMIC_SEQ_CST));)
            register_close((int)(i * 64 + (unsigned)__builtin_ctzll(open)));
}

uint64_t lwp_debug_given_up(void)
{
    return __atomic_load_n(&lwp_debug.given_up_ns, __ATOMIC_SEQ_CST);
}

int lwp_debug_sender(int signal, const siginfo_t *info)
{
    uint64_t data = signal == SIGTRAP ? lwp_perf_signal_data(info) : 0;
    return data >= SIGNAL_DATA && data < SIGNAL_DATA + LWP_DEBUG_REGISTERS ? (int)(data - SIGNAL_DATA) : -1;
}
