#include "collector/light/own/real_calls.h"

#include <dlfcn.h>
#include <errno.h>

LWP_HIDDEN extern struct lwp_real_call __start_lwp_real_calls[], __stop_lwp_real_calls[];

/* Of a C library that does not have it. */
static long real_missing(void)
{
    errno = ENOSYS;
    return -1;
}

void *lwp_real_call_find(struct lwp_real_call *call)
{
    void *found = dlsym(RTLD_NEXT, call->name);
    if (!found)
        found = (void *)real_missing;
    __atomic_store_n(&call->function, found, __ATOMIC_RELEASE);
    return found;
}

LWP_HIDDEN long lwp_bare_syscall(long number, ...);
LWP_HIDDEN long lwp_bare_syscall_failed(long status);
long (*lwp_real_syscall)(long number, ...) = lwp_bare_syscall;

void lwp_real_calls_start(void)
{
    for (struct lwp_real_call *call = __start_lwp_real_calls; call < __stop_lwp_real_calls; call++)
        lwp_real_call_find(call);
    long (*found)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    if (found)
        lwp_real_syscall = found;
}

__asm__(".pushsection .text\n"
        ".hidden lwp_bare_syscall\n"
        ".globl lwp_bare_syscall\n"
        ".type lwp_bare_syscall, @function\n"
        "lwp_bare_syscall:\n"
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
        "    jmp lwp_bare_syscall_failed\n"
        "    .cfi_endproc\n"
        ".size lwp_bare_syscall, . - lwp_bare_syscall\n"
        ".popsection\n");

long lwp_bare_syscall_failed(long status)
{
    errno = (int)-status;
    return -1;
}
