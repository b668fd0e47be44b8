#define _GNU_SOURCE
#include "collector/light/own/real_syscall.h"

#include <dlfcn.h>
#include <errno.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* The C library's own `syscall`; until it is known, the same thing. */
HIDDEN long lwp_next_syscall_bare(long number, ...);
long (*lwp_next_syscall)(long number, ...) = lwp_next_syscall_bare;

HIDDEN long lwp_next_syscall_failed(long status);

__asm__(".pushsection .text\n"
        ".hidden lwp_next_syscall_bare\n"
        ".globl lwp_next_syscall_bare\n"
        ".type lwp_next_syscall_bare, @function\n"
        "lwp_next_syscall_bare:\n"
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
        "    jmp lwp_next_syscall_failed\n"
        "    .cfi_endproc\n"
        ".size lwp_next_syscall_bare, . - lwp_next_syscall_bare\n"
        ".popsection\n");

long lwp_next_syscall_failed(long status)
{
    errno = (int)-status;
    return -1;
}

void lwp_next_syscall_start(void)
{
    long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    if (next)
        lwp_next_syscall = next;
}
