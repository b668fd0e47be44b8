/* A program that opens breakpoint events of its own (perf_event_open, through the C library's syscall) gets all debug
 * registers of all its threads, before it is told that there are none, and for good: nothing is watched from then on.
 * Not seen: bare system calls, and events that another process opens for this one. */
#define _GNU_SOURCE
#include "collector/light/own_breakpoints.h"

#include "collector/light/debug_registers.h"
#include "collector/light/ours.h"
#include "collector/light/process.h"
#include "collector/light/thread.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* The C library's own `syscall`; until it is known, the same thing. */
HIDDEN long lwp_own_syscall_bare(long number, ...);
long (*lwp_own_syscall)(long number, ...) = lwp_own_syscall_bare;

HIDDEN long lwp_own_syscall_failed(long status);
HIDDEN long lwp_own_perf_event_open(long number, const struct perf_event_attr *attributes, long pid, long cpu,
                                    long group, long flags);

/* Counted (counted_calls.c); everything but perf_event_open, seccomp and prctl (confined.c), execve and execveat (replaced.c)
 * is passed on as it came, stack and all: the call may be a clone or a vfork. */
__asm__(".pushsection .text\n"
        ".globl syscall\n"
        ".type syscall, @function\n"
        "syscall:\n"
        "    .cfi_startproc\n"
        "    endbr64\n"
        "    movq lwp_counted_calls@gottpoff(%rip), %r11\n"
        "    incl %fs:(%r11)\n"
        "    cmpq $298, %rdi\n"
        "    je lwp_own_perf_event_open\n"
        "    cmpq $317, %rdi\n"
        "    je lwp_confined_syscall\n"
        "    cmpq $157, %rdi\n"
        "    je lwp_confined_syscall\n"
        "    cmpq $59, %rdi\n"
        "    je lwp_replaced_syscall\n"
        "    cmpq $322, %rdi\n"
        "    je lwp_replaced_syscall\n"
        "    jmp *lwp_own_syscall(%rip)\n"
        "    .cfi_endproc\n"
        ".size syscall, . - syscall\n"
        ".hidden lwp_own_syscall_bare\n"
        ".globl lwp_own_syscall_bare\n"
        ".type lwp_own_syscall_bare, @function\n"
        "lwp_own_syscall_bare:\n"
        "    .cfi_startproc\n"
        "    endbr64\n"
        "    movq %rdi, %rax\n"
        "    movq %rsi, %rdi\n"
        "    movq %rdx, %rsi\n"
        "    movq %rcx, %rdx\n"
        "    movq %r8, %r10\n"
        "    movq %r9, %r8\n"
        "    movq 8(%rsp), %r9\n"
        "    syscall\n"
        "    cmpq $-4095, %rax\n"
        "    jae 1f\n"
        "    ret\n"
        "1:  movq %rax, %rdi\n"
        "    jmp lwp_own_syscall_failed\n"
        "    .cfi_endproc\n"
        ".size lwp_own_syscall_bare, . - lwp_own_syscall_bare\n"
        ".popsection\n");
_Static_assert(SYS_perf_event_open == 298 && SYS_seccomp == 317 && SYS_prctl == 157 && SYS_execve == 59 && SYS_execveat == 322,
               "as above");

long lwp_own_syscall_failed(long status)
{
    errno = (int)-status;
    return -1;
}

void lwp_own_breakpoints_start(void)
{
    long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    if (next)
        lwp_own_syscall = next;
}

static bool is_breakpoint(const struct perf_event_attr *attributes)
{
    uint32_t type; /* read through the kernel: the pointer may be a bad one */
    struct iovec here = {&type, sizeof type}, there = {(void *)&attributes->type, sizeof type};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == sizeof type && type == PERF_TYPE_BREAKPOINT;
}

static void note_once(void)
{
    static int noted;
    if (__atomic_exchange_n(&noted, 1, __ATOMIC_RELAXED))
        return;
    struct lwp_thread *self = lwp_thread_self();
    if (self)
        self->busy++;
    if (lwp_process_lock_soon()) {
        lwps_put_note(&lwp_process.file, &(struct lwps_note){"the program uses hardware breakpoints of its own: from "
                                                             "then on lwp did without debug registers and watched "
                                                             "no accesses"});
        lwp_process_unlock();
    }
    if (self)
        self->busy--;
}

long lwp_own_perf_event_open(long number, const struct perf_event_attr *attributes, long pid, long cpu, long group,
                             long flags)
{
    enum { MOMENT_NS = 50000000, PAUSE_US = 200 };
    int saved = errno;
    bool theirs = lwp_process.active && getpid() == lwp_process.pid && !lwp_is_ours(__builtin_return_address(0)) &&
                  is_breakpoint(attributes);
    if (theirs) {
        lwp_debug_give_up();
        note_once();
    }
    errno = saved;
    long fd = lwp_own_syscall(number, attributes, pid, cpu, group, flags);
    /* one that a thread was using while it was closed goes a moment later */
    while (theirs && fd < 0 && errno == ENOSPC && lwp_clock(CLOCK_MONOTONIC) < lwp_debug_given_up() + MOMENT_NS) {
        usleep(PAUSE_US);
        errno = saved;
        fd = lwp_own_syscall(number, attributes, pid, cpu, group, flags);
    }
    return fd;
}
