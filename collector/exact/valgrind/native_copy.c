#include "collector/exact/valgrind/native_copy.h"

#include "collector/exact/valgrind/client_pages.h"

#include "libvex_guest_amd64.h"

#include <asm/prctl.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS_MOST = 3, PAGES_MOST = 1 << 14, STACK_BYTES = 1 << 16, ALL_CHILDREN = 0x40000000 /* __WALL */ };

/* All system calls of this file: the only ones that the copy gets done. */
extern long lwp_native_call(long number, long a, long b, long c, long d);
extern const char lwp_native_called[];
__asm__(".text\n"
        "lwp_native_call:\n\t"
        "mov %rdi, %rax\n\tmov %rsi, %rdi\n\tmov %rdx, %rsi\n\tmov %rcx, %rdx\n\tmov %r8, %r10\n\txor %r8d, %r8d\n\t"
        "syscall\n"
        "lwp_native_called:\n\t"
        "ret\n");

struct native_registers {
    ULong general[16]; /* in the order of VexGuestAMD64State */
    ULong flags, avx;
    U256 vectors[16];
};

/* With the program's registers, on its stack. */
extern void lwp_native_go(const struct native_registers *registers) __attribute__((noreturn));
extern ULong lwp_native_target;
ULong lwp_native_target;
#define NATIVE_VECTOR(n, move, register) move " 144+32*" #n "(%rdi), %" register #n "\n\t"
#define NATIVE_VECTORS(move, register)                                                                                                     \
    NATIVE_VECTOR(0, move, register)                                                                                                       \
    NATIVE_VECTOR(1, move, register)                                                                                                       \
    NATIVE_VECTOR(2, move, register)                                                                                                       \
    NATIVE_VECTOR(3, move, register) NATIVE_VECTOR(4, move, register) NATIVE_VECTOR(5, move, register) NATIVE_VECTOR(6, move, register)    \
        NATIVE_VECTOR(7, move, register) NATIVE_VECTOR(8, move, register) NATIVE_VECTOR(9, move, register)                                 \
            NATIVE_VECTOR(10, move, register) NATIVE_VECTOR(11, move, register) NATIVE_VECTOR(12, move, register)                          \
                NATIVE_VECTOR(13, move, register) NATIVE_VECTOR(14, move, register) NATIVE_VECTOR(15, move, register)
_Static_assert(offsetof(struct native_registers, flags) == 128 && offsetof(struct native_registers, vectors) == 144, "lwp_native_go");
__asm__(".text\n"
        "lwp_native_go:\n\t"
        "cmpq $0, 136(%rdi)\n\t"
        "je 1f\n\t" NATIVE_VECTORS(
            "vmovups",
            "ymm") "jmp 2f\n"
                   "1:\n\t" NATIVE_VECTORS(
                       "movups",
                       "xmm") "2:\n\t"
                              "pushq 128(%rdi)\n\tpopfq\n\t"
                              "mov 0(%rdi), %rax\n\tmov 8(%rdi), %rcx\n\tmov 16(%rdi), %rdx\n\tmov 24(%rdi), %rbx\n\tmov 32(%rdi), %rsp\n\t"
                              "mov 40(%rdi), %rbp\n\tmov 48(%rdi), %rsi\n\tmov 64(%rdi), %r8\n\tmov 72(%rdi), %r9\n\tmov 80(%rdi), %r10\n\t"
                              "mov 88(%rdi), %r11\n\tmov 96(%rdi), %r12\n\tmov 104(%rdi), %r13\n\tmov 112(%rdi), %r14\n\tmov 120(%rdi), "
                              "%r15\n\t"
                              "mov 56(%rdi), %rdi\n\t"
                              "jmp *lwp_native_target(%rip)\n");

/* What the copy says, in memory that it shares with the process. */
struct native_shared {
    uint64_t begin_ns, begin_faults;
    struct lwp_native_copy copy;
    bool done;
};
static struct native_shared *native_shared;
static Int native_process; /* that it is of: a forked one has it, too */
static unsigned char native_stack[STACK_BYTES];

/* Not of the process: with a limit of CPU time (native_confine()) Linux moves that clock at ticks only. */
static uint64_t native_ns(void)
{
    struct timespec now = {0};
    lwp_native_call(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (long)&now, 0, 0);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t native_faults(void)
{
    struct rusage usage = {0};
    lwp_native_call(SYS_getrusage, RUSAGE_SELF, (long)&usage, 0, 0);
    return (uint64_t)(usage.ru_minflt + usage.ru_majflt);
}

/* ---- in the copy ---- */

static void native_end(int signal, siginfo_t *info, void *context)
{
    (void)context;
    const uint64_t now = native_ns();
    if (signal == SIGSYS) {
        native_shared->copy.ns = now - native_shared->begin_ns;
        native_shared->copy.page_faults = native_faults() - native_shared->begin_faults;
        native_shared->copy.call = (uint32_t)info->si_syscall;
        native_shared->copy.address = (Addr)info->si_call_addr;
        native_shared->done = true;
    }
    lwp_native_call(SYS_exit_group, 0, 0, 0, 0);
}

/* A fault ends it, too: what the program does then is not known here. */
static bool native_catch(void)
{
    static const int signals[] = {SIGSYS, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
    const struct {
        void (*handler)(int, siginfo_t *, void *);
        unsigned long flags;
        const void *restorer; /* it never returns */
        unsigned long mask;
    } action = {native_end, SA_SIGINFO | SA_ONSTACK | 0x04000000 /* SA_RESTORER */, lwp_native_called, ~0ul};
    const stack_t stack = {.ss_sp = native_stack, .ss_size = sizeof native_stack};
    unsigned long mask = ~0ul;
    bool sound = lwp_native_call(SYS_sigaltstack, (long)&stack, 0, 0, 0) == 0;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        mask &= ~(1ul << (signals[i] - 1));
        sound &= lwp_native_call(SYS_rt_sigaction, signals[i], (long)&action, 0, sizeof action.mask) == 0;
    }
    return sound && lwp_native_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof mask) == 0;
}

/* Where memory runs out, it is the copy that ends. */
static bool native_expendable(void)
{
    static const char most[] = "1000";
    const int file = (int)lwp_native_call(SYS_open, (long)"/proc/self/oom_score_adj", O_WRONLY, 0, 0);
    const bool sound = file >= 0 && lwp_native_call(SYS_write, file, (long)most, sizeof most - 1, 0) == sizeof most - 1;
    if (file >= 0)
        lwp_native_call(SYS_close, file, 0, 0, 0); /* the process has the same files */
    return sound;
}

/* "begin-end rwxs ..." */
static bool native_unmap(const HChar *line)
{
    HChar *end;
    const Addr begin = VG_(strtoull16)(line, &end);
    if (*end != '-')
        return false;
    const Addr behind = VG_(strtoull16)(end + 1, &end);
    const NSegment *segment = VG_(am_find_nsegment)(begin);
    if (end[0] != ' ' || end[2] != 'w' || end[4] != 's' || !segment || !(segment->kind & (SkAnonC | SkFileC | SkShmC)))
        return end[0] == ' ';
    return lwp_native_call(SYS_munmap, (long)begin, (long)(behind - begin), 0, 0) == 0;
}

/* What it stored there others would see. */
static bool native_unshare(void)
{
    static HChar text[4096];
    HChar line[64];
    UInt length = 0;
    bool sound = true;
    const int maps = (int)lwp_native_call(SYS_open, (long)"/proc/self/maps", O_RDONLY, 0, 0);
    if (maps < 0)
        return false;
    for (long got; (got = lwp_native_call(SYS_read, maps, (long)text, sizeof text, 0)) > 0;)
        for (long i = 0; i < got; i++)
            if (text[i] == '\n') {
                line[length] = '\0';
                sound &= native_unmap(line);
                length = 0;
            } else if (length < sizeof line - 1)
                line[length++] = text[i];
    lwp_native_call(SYS_close, maps, 0, 0, 0);
    return sound;
}

/* The loader was told of a processor with fewer registers (Valgrind's CPUID), and has no room for those that there are: when it binds a
 * function, its XSAVE would write over the stack. FXSAVE is as long; the rest of the vectors the loader leaves alone. */
static bool native_saves(unsigned char *code, SizeT bytes)
{
    enum { LENGTH = 5, SAVE = 0x44, RESTORE = 0x4c }; /* 0F, opcode, ModRM, SIB: the stack pointer, displacement */
    const Addr page = VG_PGROUNDDN((Addr)code);
    bool open = false;
    for (SizeT i = 0; i + LENGTH <= bytes; i++) {
        unsigned char *at = code + i;
        const bool saves = (at[1] == 0xae || at[1] == 0xc7) && at[2] == 0x64, restores = at[1] == 0xae && at[2] == 0x6c;
        if (at[0] != 0x0f || at[3] != 0x24 || !(saves || restores))
            continue;
        open = open || lwp_native_call(SYS_mprotect, (long)page, (long)(VG_PGROUNDUP((Addr)code + bytes) - page),
                                       PROT_READ | PROT_WRITE | PROT_EXEC, 0) == 0;
        if (!open)
            return false;
        at[1] = 0xae;
        at[2] = saves ? SAVE : RESTORE;
    }
    return true;
}

static bool native_loader(void)
{
    for (const DebugInfo *module = VG_(next_DebugInfo)(NULL); module; module = VG_(next_DebugInfo)(module)) {
        const HChar *name = VG_(DebugInfo_get_soname)(module);
        if (name && VG_(strcmp)(name, "ld-linux-x86-64.so.2") == 0)
            return native_saves((unsigned char *)VG_(DebugInfo_get_text_avma)(module), VG_(DebugInfo_get_text_size)(module));
    }
    return true;
}

static bool native_confine(void)
{
    const unsigned allowed = (unsigned)(unsigned long)lwp_native_called;
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer) + 4),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
    };
    const struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    struct rlimit limit = {0};
    if (lwp_native_call(SYS_getrlimit, RLIMIT_CPU, (long)&limit, 0, 0) != 0)
        return false;
    limit.rlim_cur = limit.rlim_max = limit.rlim_max < SECONDS_MOST ? limit.rlim_max : SECONDS_MOST;
    return lwp_native_call(SYS_setrlimit, RLIMIT_CPU, (long)&limit, 0, 0) == 0 &&
           lwp_native_call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0) == 0 &&
           lwp_native_call(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (long)&program, 0) == 0;
}

static void native_start(const VexGuestAMD64State *state, const struct native_registers *registers)
{
    const unsigned rounding = 0x1f80 | (unsigned)(state->guest_SSEROUND & 3) << 13;
    const unsigned short control = (unsigned short)(0x37f | (state->guest_FPROUND & 3) << 10);
    if (lwp_native_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0) != 0 || !native_expendable() || !native_unshare() || !native_loader() ||
        !native_catch() || lwp_native_call(SYS_arch_prctl, ARCH_SET_FS, (long)state->guest_FS_CONST, 0, 0) != 0 ||
        lwp_native_call(SYS_arch_prctl, ARCH_SET_GS, (long)state->guest_GS_CONST, 0, 0) != 0)
        return;
    lwp_client_pages_touch(PAGES_MOST); /* the process has them */
    if (!native_confine())
        return;
    lwp_native_target = state->guest_RIP;
    native_shared->begin_faults = native_faults();
    native_shared->begin_ns = native_ns();
    __asm__ volatile("ldmxcsr %0\n\tfninit\n\tfldcw %1" : : "m"(rounding), "m"(control));
    lwp_native_go(registers);
}

/* ---- in the process ---- */

static bool native_share(void)
{
    if (native_shared && native_process == VG_(getpid)())
        return true;
    native_process = VG_(getpid)();
    const int file = (int)lwp_native_call(SYS_memfd_create, (long)"lwp", 0, 0, 0);
    if (file < 0)
        return false;
    void *memory = lwp_native_call(SYS_ftruncate, file, VKI_PAGE_SIZE, 0, 0) == 0
                       ? mmap(NULL, VKI_PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                       : MAP_FAILED;
    lwp_native_call(SYS_close, file, 0, 0, 0);
    native_shared = memory == MAP_FAILED ? NULL : memory;
    return native_shared;
}

/* False: there is something in the registers of the x87, of which Valgrind has 64 bits only. */
static bool native_take(const VexGuestAMD64State *state, struct native_registers *registers)
{
    VexArch arch;
    VexArchInfo info;
    for (int i = 0; i < 8; i++)
        if (state->guest_FPTAG[i])
            return false;
    VG_(machine_get_VexArchInfo)(&arch, &info);
    VG_(memcpy)(registers->general, &state->guest_RAX, sizeof registers->general);
    VG_(memcpy)(registers->vectors, &state->guest_YMM0, sizeof registers->vectors);
    registers->flags = LibVEX_GuestAMD64_get_rflags(state);
    registers->avx = (info.hwcaps & VEX_HWCAPS_AMD64_AVX) != 0;
    return true;
}

bool lwp_native_copy_run(ThreadId id, struct lwp_native_copy *copy)
{
    static VexGuestAMD64State state;
    static struct native_registers registers;
    const unsigned long all = ~0ul;
    unsigned long before;
    int status;
    VG_(get_shadow_regs_area)(id, (UChar *)&state, 0, 0, sizeof state);
    if (!native_share() || !native_take(&state, &registers))
        return false;
    native_shared->done = false;
    lwp_native_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&before, sizeof all); /* none is the copy's */
    /* Its end is no signal to the process, and nothing that the program could wait for. */
    const long child = lwp_native_call(SYS_clone, CLONE_FILES | CLONE_FS, 0, 0, 0);
    if (child == 0) {
        native_start(&state, &registers);
        lwp_native_call(SYS_exit_group, 1, 0, 0, 0);
    }
    const bool ended = child > 0 && lwp_native_call(SYS_wait4, child, (long)&status, ALL_CHILDREN, 0) == child;
    lwp_native_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, sizeof before);
    *copy = native_shared->copy;
    return ended && native_shared->done;
}
