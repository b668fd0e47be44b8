/* A signal whose handler wants an alternate stack arrives on lwp's. Its frame (registers, siginfo) moves to where the kernel would
 * have written it, and the handler starts there with the registers that it would have found. When it returns, a few instructions
 * put lwp's stack back into the frame before the kernel reads it. */
#include "collector/light/process/alternate_stack.h"

#include "collector/light/own/image.h"
#include "collector/light/own/own_stack.h"
#include "collector/light/own/real_calls.h"
#include "collector/record/build_id.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1U << 31)
#endif

enum { RED_ZONE = 128, XSTATE_ALIGN = 64, FXSAVE_BYTES = 512, SOFTWARE_BYTES_AT = 464, XSTATE_MAGIC = 0x46505853, SMALLEST = 2048 };

/* struct rt_sigframe of the kernel's on x86-64. */
struct signal_frame {
    void *restorer;
    struct {
        unsigned long flags;
        ucontext_t *link;
        stack_t stack;
        mcontext_t machine;
        uint64_t mask;
    } context;
    siginfo_t info;
};
_Static_assert(sizeof(struct signal_frame) == 440 && offsetof(ucontext_t, uc_mcontext) == 40, "as in the kernel");

static bool is_enabled(const stack_t *stack)
{
    return stack->ss_size != 0 && !(stack->ss_flags & SS_DISABLE);
}

/* Whether a stack pointer is on it. */
static bool is_on(const stack_t *stack, uint64_t sp)
{
    return !(stack->ss_flags & SS_AUTODISARM) && sp > (uint64_t)stack->ss_sp && sp - (uint64_t)stack->ss_sp <= stack->ss_size;
}

static void forget(stack_t *stack)
{
    *stack = (stack_t){.ss_flags = SS_DISABLE};
}

/* ---- sigaltstack ---- */

static int alternate_set(struct lwp_own_stack *stack, const stack_t *now, bool inside)
{
    int mode = now->ss_flags & ~SS_AUTODISARM;
    if (inside)
        return EPERM;
    if (mode != SS_DISABLE && mode != SS_ONSTACK && mode != 0)
        return EINVAL;
    if (mode == SS_DISABLE) {
        forget(&stack->theirs);
        stack->theirs.ss_flags = now->ss_flags;
        return 0;
    }
    if (now->ss_size < SMALLEST)
        return ENOMEM;
    stack->theirs = *now;
    return 0;
}

static int alternate(const stack_t *now, stack_t *before, const void *frame)
{
    struct lwp_own_stack *stack = lwp_own_stack_self;
    if (!stack)
        return (int)lwp_real_syscall(SYS_sigaltstack, now, before); /* `syscall` is lwp's, and would come back here */
    bool inside = is_enabled(&stack->theirs) && is_on(&stack->theirs, (uint64_t)frame);
    stack_t was = stack->theirs, wanted = now ? *now : was;
    was.ss_flags = (was.ss_flags & SS_AUTODISARM) | (!is_enabled(&was) ? SS_DISABLE : inside ? SS_ONSTACK : 0);
    int status = now ? alternate_set(stack, &wanted, inside) : 0;
    if (status) {
        errno = status;
        return -1;
    }
    if (before)
        *before = was;
    return 0;
}

LWP_EXPORT int sigaltstack(const stack_t *restrict now, stack_t *restrict before)
{
    return alternate(now, before, __builtin_frame_address(0));
}

LWP_HIDDEN long lwp_alternate_syscall(long number, const stack_t *now, stack_t *before);

long lwp_alternate_syscall(long number, const stack_t *now, stack_t *before)
{
    (void)number;
    return alternate(now, before, __builtin_frame_address(0));
}

/* ---- signals ---- */

static size_t xstate_bytes(const struct signal_frame *frame)
{
    const char *state = (const char *)frame->context.machine.fpregs;
    uint32_t magic, bytes;
    if (!state)
        return 0;
    memcpy(&magic, state + SOFTWARE_BYTES_AT, sizeof magic);
    memcpy(&bytes, state + SOFTWARE_BYTES_AT + sizeof magic, sizeof bytes);
    return frame->context.flags & 1 && magic == XSTATE_MAGIC ? bytes : FXSAVE_BYTES;
}

LWP_HIDDEN void lwp_alternate_left(struct signal_frame *frame, struct lwp_own_stack *stack);

/* The handler has returned. What it did to its context's stack counts, as it would have. */
void lwp_alternate_left(struct signal_frame *frame, struct lwp_own_stack *stack)
{
    if (!is_enabled(&stack->theirs) || !is_on(&stack->theirs, (uint64_t)frame))
        stack->theirs = frame->context.stack;
    frame->context.stack = lwp_own_stack_ours(stack);
}

/* Jumps to the handler on its new stack. Below the frame lies the address of what runs when it returns, so that handler and
 * frame can be unwound as ever. */
LWP_HIDDEN _Noreturn void lwp_alternate_enter(struct signal_frame *frame, void *handler, int signal, struct lwp_own_stack *stack);

__asm__(".pushsection .text\n"
        ".hidden lwp_alternate_enter\n"
        ".globl lwp_alternate_enter\n"
        ".type lwp_alternate_enter, @function\n"
        "lwp_alternate_enter:\n"
        "    endbr64\n"
        "    leaq -16(%rdi), %rsp\n"
        "    leaq 1f(%rip), %rax\n"
        "    movq %rax, (%rsp)\n"
        "    movq %rcx, 8(%rsp)\n"
        "    movq %rsi, %r11\n"
        "    movl %edx, %eax\n"
        "    leaq 8(%rdi), %rdx\n"
        "    leaq 312(%rdi), %rsi\n"
        "    movq 80(%rdi), %r12\n"
        "    movq 88(%rdi), %r13\n"
        "    movq 96(%rdi), %r14\n"
        "    movq 104(%rdi), %r15\n"
        "    movq 128(%rdi), %rbp\n"
        "    movq 136(%rdi), %rbx\n"
        "    movl %eax, %edi\n"
        "    xorl %eax, %eax\n"
        "    jmp *%r11\n"
        "    .cfi_startproc\n"
        "    .cfi_def_cfa rsp, 16\n"
        "    nop\n"
        "1:  leaq 8(%rsp), %rdi\n"
        "    movq (%rsp), %rsi\n"
        "    call lwp_alternate_left\n"
        "    addq $8, %rsp\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size lwp_alternate_enter, . - lwp_alternate_enter\n"
        ".popsection\n");
_Static_assert(offsetof(struct signal_frame, context) == 8 && offsetof(struct signal_frame, info) == 312 &&
                   offsetof(struct signal_frame, context.machine.gregs) == 48 && REG_R12 == 4 && REG_RBP == 10 && REG_RBX == 11,
               "as above");

/* The program's stack has no room, and the kernel would have given up. */
static void deliver_nowhere(void)
{
    const struct sigaction fatal = {.sa_handler = SIG_DFL};
    LWP_REAL(sigaction)(SIGSEGV, &fatal, NULL);
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGSEGV);
    syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &mask, NULL, sizeof(uint64_t));
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGSEGV);
}

/* Go's runtime (with cgo) asks by a bare system call for its thread's alternate stack, finds lwp's, and takes it for the program's:
 * its handlers give up on any other. */
static bool is_go(const void *code)
{
    enum { GO_BUILD_ID = 4 };
    struct lwp_image image;
    size_t bytes;
    if (!lwp_image_find(code, &image))
        return false;
    for (unsigned i = 0; i < image.header_count; i++)
        if (image.headers[i].p_type == PT_NOTE && lwp_note_find((const void *)(image.map->l_addr + image.headers[i].p_vaddr),
                                                                image.headers[i].p_memsz, "Go\0", GO_BUILD_ID, &bytes))
            return true;
    return false;
}

void lwp_alternate_deliver(const struct lwp_handler *handler, int signal, ucontext_t *context)
{
    struct signal_frame *from = (struct signal_frame *)((char *)context - offsetof(struct signal_frame, context));
    struct lwp_own_stack *stack = lwp_own_stack_at(from);
    if (!stack)
        return;
    stack_t *theirs = &stack->theirs;
    if (handler->on_stack && !is_enabled(theirs) && is_go(handler->function))
        return;
    uint64_t sp = (uint64_t)from->context.machine.gregs[REG_RSP], low = 0;
    size_t bytes = xstate_bytes(from);
    bool switches = handler->on_stack && is_enabled(theirs) && !is_on(theirs, sp);
    uint64_t top = switches ? (uint64_t)theirs->ss_sp + theirs->ss_size : sp - RED_ZONE;
    uint64_t state = (top - bytes) & ~(uint64_t)(XSTATE_ALIGN - 1);
    uint64_t at = ((state - sizeof *from) & ~(uint64_t)15) - 8;
    if (switches || (is_enabled(theirs) && is_on(theirs, sp)))
        low = (uint64_t)theirs->ss_sp;
    if (low && at < low)
        deliver_nowhere();
    struct signal_frame *to = (struct signal_frame *)at;
    memcpy((void *)state, from->context.machine.fpregs, bytes);
    memcpy(to, from, sizeof *to);
    if (bytes)
        to->context.machine.fpregs = (fpregset_t)state;
    to->context.stack = *theirs;
    if (switches && theirs->ss_flags & SS_AUTODISARM)
        forget(theirs);
    lwp_alternate_enter(to, handler->function, signal, stack);
}
